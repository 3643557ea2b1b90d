/** How long one request may take: without progress, and in all. It stands still while a person is asked about it. */
import { performance } from 'node:perf_hooks';

/** Longer timers fire at once. Milliseconds, almost 25 days. */
const TIMER_MAX = 2 ** 31 - 1;

export class RequestClock {
  readonly #timeout: number;
  readonly #expired: (over: boolean) => void;
  #timer: NodeJS.Timeout | undefined;
  /** On the monotonic clock; moves while the clock stands still. */
  #deadline: number;
  #heldSince: number | undefined;
  /** The timer that runs is for the whole time, not for the next progress. */
  #last: boolean;

  /**
   * @param timeout milliseconds without progress
   * @param timeoutMax milliseconds whatever the progress
   * @param expired runs once; `over` says which of the two it was
   */
  constructor(timeout: number, timeoutMax: number, expired: (over: boolean) => void) {
    this.#timeout = Math.min(timeout, TIMER_MAX);
    this.#expired = expired;
    this.#deadline = performance.now() + timeoutMax;
    this.#last = timeoutMax <= timeout;
    this.#timer = setTimeout(this.#expire, Math.min(this.#timeout, timeoutMax));
  }

  /** Progress winds the clock up again, but never past the deadline. */
  wind(): void {
    if (this.#timer === undefined || this.#heldSince !== undefined) return;
    if (this.#deadline - performance.now() >= this.#timeout) this.#timer.refresh();
    else this.#start();
  }

  hold(): void {
    this.#heldSince ??= performance.now();
    clearTimeout(this.#timer);
  }

  release(): void {
    if (this.#timer === undefined || this.#heldSince === undefined) return;
    this.#deadline += performance.now() - this.#heldSince;
    this.#heldSince = undefined;
    this.#start();
  }

  /** For good. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    clearTimeout(this.#timer);
    const left = Math.max(0, this.#deadline - performance.now());
    this.#last = left <= this.#timeout;
    this.#timer = setTimeout(this.#expire, Math.min(this.#timeout, left));
  }

  readonly #expire = (): void => this.#expired(this.#last);
}
