/** Everything that ends a run from outside, as one signal with its reason: the caller, `abort()`, the time limit. */
import { setMaxListeners } from 'node:events';

/** The longest time that a timer can hold. */
const LONGEST_TIMER = 2 ** 31 - 1;

export class Stop {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #onCaller = (): void => this.now('aborted', wordsOf(this.#caller?.reason));
  readonly #timer: NodeJS.Timeout | undefined;
  #cause: { reason: 'aborted' | 'time'; detail: string } | undefined;

  constructor(caller: AbortSignal | undefined, milliseconds: number) {
    // Every call of a turn and the model listen to it at the same time.
    setMaxListeners(0, this.#controller.signal);
    this.#caller = caller;
    if (milliseconds <= LONGEST_TIMER) {
      const detail = `the time limit of ${milliseconds / 1000} s was reached`;
      this.#timer = setTimeout(() => this.now('time', detail), milliseconds);
    }
    if (caller?.aborted === true) this.#onCaller();
    else caller?.addEventListener('abort', this.#onCaller, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the run was stopped; undefined while it may go on. */
  get cause(): { reason: 'aborted' | 'time'; detail: string } | undefined {
    return this.#cause;
  }

  now(reason: 'aborted' | 'time', detail: string = 'the run was aborted'): void {
    if (this.#cause !== undefined) return;
    this.#cause = { reason, detail };
    this.#controller.abort(new DOMException(detail, 'AbortError'));
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#onCaller);
  }
}

function wordsOf(reason: unknown): string | undefined {
  return typeof reason === 'string' ? reason : undefined;
}
