/**
 * Requests that were given up: a server may go on with one all the same, and ask or log something about it. That is nothing
 * for another principal, whose request happens to be the only one by then.
 */
import { performance } from 'node:perf_hooks';
import type { Owner } from './server.ts';
import type { RequestId } from '../mcp/message.ts';

/** How long a server may take to notice. Milliseconds. */
const NOTICED_WITHIN = 30_000;
/** Remembered at a time, of one connection. */
const LEFT_MAX = 1_024;

export class Left {
  /** In the order of their times. */
  readonly #requests = new Map<RequestId, { principal: string | undefined; until: number }>();

  add(id: RequestId, owner: Owner | undefined): void {
    if (this.#requests.size >= LEFT_MAX) {
      const [oldest] = this.#requests.keys();
      if (oldest !== undefined) this.#requests.delete(oldest);
    }
    this.#requests.set(id, { principal: owner?.principal, until: performance.now() + NOTICED_WITHIN });
  }

  /** It came to its end after all. */
  answered(id: RequestId): void {
    this.#requests.delete(id);
  }

  /** Whether somebody else's request may still be worked on. */
  byOthers(owner: Owner | undefined): boolean {
    if (this.#requests.size === 0) return false;
    const now = performance.now();
    for (const [id, { until }] of this.#requests) {
      if (until > now) break;
      this.#requests.delete(id);
    }
    return [...this.#requests.values()].some(({ principal }) => principal !== owner?.principal);
  }
}
