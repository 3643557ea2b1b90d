/**
 * The resources that somebody wants to hear of: counted by URI, so that many followers are one subscription, and subscribed
 * anew wherever a connection begins. By requests of their own in the older era; by a stream with all of them in the newer one.
 */
import { METHOD_NOT_FOUND, isObject } from '../mcp/message.ts';
import { META } from '../mcp/modern.ts';
import { safeText } from '../mcp/text.ts';
import { failure } from './failure.ts';
import { backOff } from './timing.ts';
import { pause } from './watch.ts';
import type { Connection } from './connection.ts';
import type { Timing } from './timing.ts';
import type { RequestId } from '../mcp/message.ts';
import type { JsonObject } from '../types.ts';

/** Resources of one server that are followed at a time. */
export const FOLLOWED_MAX = 4_096;
/** Changes of the set that come at once make one subscription. Milliseconds. */
const TOGETHER = 20;

export interface FollowsOptions {
  timing: Timing;
  random: () => number;
  updated: (uri: string) => void;
  warning: (message: string) => void;
}

export class Follows {
  readonly #options: FollowsOptions;
  readonly #counts = new Map<string, number>();
  /** What was subscribed by requests on the present connection. */
  #subscribed = new Set<string>();
  #connection: Connection | undefined;
  #isAbsent = false;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #stream: AbortController | undefined;
  #waiting: { id: RequestId; acknowledged: () => void } | undefined;

  constructor(options: FollowsOptions) {
    this.#options = options;
  }

  /** @returns what ends it. */
  follow(uri: string): () => void {
    const count = this.#counts.get(uri) ?? 0;
    if (count === 0 && this.#counts.size >= FOLLOWED_MAX) {
      this.#options.warning(`more than ${FOLLOWED_MAX} of its resources would be followed; the rest is not`);
      return () => undefined;
    }
    this.#counts.set(uri, count + 1);
    if (count === 0) this.#change();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#counts.get(uri) ?? 1) - 1;
      if (left > 0) this.#counts.set(uri, left);
      else {
        this.#counts.delete(uri);
        this.#change();
      }
    };
  }

  /** A connection or session begins: nothing is subscribed in it. */
  connected(connection: Connection): void {
    this.#leave();
    this.#connection = connection;
    this.#isAbsent = false;
    if (this.#counts.size > 0) this.#change();
  }

  lost(): void {
    this.#leave();
  }

  /** `notifications/resources/updated`. */
  updated(uri: unknown): void {
    if (typeof uri === 'string' && this.#counts.has(uri)) this.#options.updated(uri);
  }

  /** `notifications/subscriptions/acknowledged`; false: it is of another stream. */
  acknowledged({ _meta }: JsonObject): boolean {
    const waiting = this.#waiting;
    if (waiting === undefined || !isObject(_meta) || _meta[META.subscription] !== waiting.id) return false;
    waiting.acknowledged();
    return true;
  }

  #leave(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stream?.abort();
    this.#stream = undefined;
    this.#subscribed = new Set();
    this.#connection = undefined;
  }

  #change(): void {
    if (this.#connection === undefined || this.#isAbsent) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const connection = this.#connection;
      if (connection === undefined) return;
      this.#working = this.#working.then(() => this.#settle(connection));
    }, TOGETHER).unref();
  }

  async #settle(connection: Connection): Promise<void> {
    if (connection !== this.#connection || this.#isAbsent) return;
    try {
      if (connection.peer.codec.changes === 'get') await this.#subscribe(connection);
      else await this.#listen(connection);
    } catch (error) {
      const { data, what } = failure(connection.peer.label, error);
      this.#isAbsent = data.code === METHOD_NOT_FOUND;
      this.#options.warning(`its resources cannot be followed: ${safeText(what, 300)}`);
    }
  }

  /** Older era: what is new is subscribed, what nobody follows any more is not. */
  async #subscribe(connection: Connection): Promise<void> {
    const subscribed = this.#subscribed;
    const options = { timeout: this.#options.timing.request };
    for (const uri of [...subscribed].filter((each) => !this.#counts.has(each))) {
      subscribed.delete(uri);
      await connection.request('resources/unsubscribe', { uri }, options);
    }
    for (const uri of [...this.#counts.keys()].filter((each) => !subscribed.has(each))) {
      if (subscribed !== this.#subscribed) return;
      // One that the server refuses is not asked for again and again.
      subscribed.add(uri);
      await connection.request('resources/subscribe', { uri }, options);
    }
  }

  /** Newer era: what is asked for is fixed when a stream opens, so another takes over before the last one ends. */
  async #listen(connection: Connection): Promise<void> {
    const before = this.#stream;
    this.#stream = undefined;
    if (this.#counts.size === 0) return before?.abort();
    const stream = new AbortController();
    this.#stream = stream;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#waiting = undefined;
        resolve();
      };
      const timer = setTimeout(settle, this.#options.timing.acknowledge);
      void this.#hear(connection, stream.signal, settle);
    });
    before?.abort();
  }

  /** Opens the stream again whenever it ends by itself. Never rejects. */
  async #hear(connection: Connection, signal: AbortSignal, acknowledged: () => void): Promise<void> {
    const { timing, random, warning } = this.#options;
    for (let failures = 0; !signal.aborted;) {
      try {
        await connection.request(
          'subscriptions/listen',
          { notifications: { resourceSubscriptions: [...this.#counts.keys()] } },
          {
            timeout: 0,
            signal,
            stream: (id) => {
              this.#waiting = {
                id,
                acknowledged: () => {
                  failures = 0;
                  acknowledged();
                },
              };
            },
          },
        );
      } catch (error) {
        acknowledged();
        const { data, what } = failure(connection.peer.label, error);
        if (signal.aborted) return;
        failures += 1;
        if (data.code === METHOD_NOT_FOUND) {
          this.#isAbsent = true;
          return warning(`its resources cannot be followed: ${safeText(what, 300)}`);
        }
      }
      await pause(backOff(timing.relisten, timing.relistenMax, failures, random), signal);
    }
  }
}
