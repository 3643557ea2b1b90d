/**
 * The events of one run on their way to their reader. What is unread is merged, so that the queue never holds more than
 * the transcript does: deltas of the same kind join, and only the newest progress of a call is kept.
 */
import type { RunEvent } from './events.ts';

export class EventQueue implements AsyncIterable<RunEvent> {
  #unread: RunEvent[] = [];
  #ended = false;
  #waiting: (() => void)[] = [];
  readonly #left: () => void;

  /** @param left is called when the reader leaves before the end. */
  constructor(left: () => void) {
    this.#left = left;
  }

  push(event: RunEvent): void {
    const last = this.#unread.at(-1);
    if (last?.type === 'text' && event.type === 'text') {
      this.#unread[this.#unread.length - 1] = { type: 'text', delta: last.delta + event.delta };
    } else if (last?.type === 'reasoning' && event.type === 'reasoning') {
      this.#unread[this.#unread.length - 1] = { type: 'reasoning', delta: last.delta + event.delta };
    } else {
      if (event.type === 'call.progress') {
        this.#unread = this.#unread.filter((unread) => unread.type !== event.type || unread.id !== event.id);
      }
      this.#unread.push(event);
    }
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void> {
    try {
      for (;;) {
        const event = this.#unread.shift();
        if (event !== undefined) yield event;
        else if (this.#ended) return;
        else await new Promise<void>((resume) => this.#waiting.push(resume));
      }
    } finally {
      if (!this.#ended) this.#left();
    }
  }
}
