/** Tells of changes, however often a server says that something changed: a storm is passed on as six a minute, and its last one always is. */
import { LIST_CHANGED_DEBOUNCE, LIST_CHANGED_PER_MINUTE } from '../mcp/protocol-limits.ts';

const MINUTE = 60_000;

export class ChangeNotices {
  readonly #tell: () => void;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  #told: number[] = [];

  constructor(tell: () => void, now: () => number) {
    this.#tell = tell;
    this.#now = now;
  }

  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#told.push(this.#now());
      this.#tell();
    }, this.#delay()).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #delay(): number {
    const now = this.#now();
    this.#told = this.#told.filter((at) => now - at < MINUTE);
    const oldest = this.#told.length >= LIST_CHANGED_PER_MINUTE ? this.#told[0] : undefined;
    return oldest === undefined
      ? LIST_CHANGED_DEBOUNCE
      : Math.min(MINUTE, Math.max(LIST_CHANGED_DEBOUNCE, oldest + MINUTE - now));
  }
}
