/**
 * Keeps what one connection is told of in step with what is followed, and begins anew wherever a connection or session does: by
 * a request for each resource in the older era; by a stream for all of them in the newer one.
 */
import type { MidspanError } from '../errors.ts';
import { METHOD_NOT_FOUND, isObject } from '../mcp/message.ts';
import { META } from '../mcp/modern.ts';
import { safeText } from '../mcp/text.ts';
import { failure } from './failure.ts';
import { backOff } from './timing.ts';
import { pause } from './watch.ts';
import type { Connection } from './connection.ts';
import type { Followed } from './followed.ts';
import type { Timing } from './timing.ts';
import type { RequestId } from '../mcp/message.ts';
import type { JsonObject } from '../types.ts';

/** How long requests wait for a subscription that is under way, so that what they change is heard. Milliseconds. */
const PATIENCE = 1_000;
/** Subscriptions of one connection that are asked for at a time. */
const LANES = 8;

export interface FollowsOptions {
  followed: Followed;
  timing: Timing;
  random: () => number;
  warning: (message: string) => void;
}

export class Follows {
  readonly #options: FollowsOptions;
  readonly #off: () => void;
  /** What was subscribed by requests on the present connection. */
  #subscribed = new Set<string>();
  #connection: Connection | undefined;
  #isDirty = false;
  #settling: Promise<void> | undefined;
  #stream: AbortController | undefined;
  /** Our streams, while they are not acknowledged. */
  readonly #waiting = new Map<unknown, (honored: JsonObject) => void>();

  constructor(options: FollowsOptions) {
    this.#options = options;
    this.#off = options.followed.on(() => this.#change());
  }

  /** Resolves when what is followed by now is heard of, or cannot be for the moment; undefined when nothing is under way. */
  get settling(): Promise<void> | undefined {
    return this.#settling;
  }

  /** A connection or session begins: nothing is subscribed in it. */
  connected(connection: Connection): void {
    this.lost();
    this.#connection = connection;
    if (this.#options.followed.size > 0) this.#change();
  }

  lost(): void {
    this.#stream?.abort();
    this.#stream = undefined;
    this.#subscribed = new Set();
    this.#connection = undefined;
    this.#settling = undefined;
  }

  close(): void {
    this.#off();
    this.lost();
  }

  /** `notifications/subscriptions/acknowledged`; false: it is of another stream. */
  acknowledged({ notifications, _meta }: JsonObject): boolean {
    const id = isObject(_meta) ? _meta[META.subscription] : undefined;
    const acknowledged = this.#waiting.get(id);
    if (acknowledged === undefined) return false;
    this.#waiting.delete(id);
    acknowledged(isObject(notifications) ? notifications : {});
    return true;
  }

  #change(): void {
    this.#isDirty = true;
    const connection = this.#connection;
    if (connection === undefined || this.#settling !== undefined) return;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE).unref();
    });
    const work = this.#settle(connection).finally(() => {
      clearTimeout(timer);
      if (this.#settling === settling) this.#settling = undefined;
    });
    const settling = Promise.race([work, patience]);
    this.#settling = settling;
  }

  /** One step for everything that changes meanwhile. Never rejects. */
  async #settle(connection: Connection): Promise<void> {
    const isCurrent = (): boolean => connection === this.#connection;
    // What changes in the same turn goes together.
    await Promise.resolve();
    while (this.#isDirty && isCurrent()) {
      this.#isDirty = false;
      if (!servesSubscriptions(connection)) return this.#refused('it does not serve subscriptions');
      if (connection.peer.codec.changes === 'get') await this.#subscribe(connection);
      else await this.#listen(connection);
    }
  }

  #refused(why: string): void {
    if (this.#options.followed.size > 0)
      this.#options.warning(`its resources cannot be followed: ${safeText(why, 300)}`);
    this.#connection = undefined;
  }

  /** Older era: what is new is subscribed, what nobody follows any more is not. */
  async #subscribe(connection: Connection): Promise<void> {
    const { followed, timing } = this.#options;
    const subscribed = this.#subscribed;
    const refused = new Map<string, MidspanError>();
    const ask = async (method: string, uri: string): Promise<void> => {
      if (subscribed !== this.#subscribed) return;
      try {
        await connection.request(method, { uri }, { timeout: timing.request });
      } catch (error) {
        refused.set(uri, failure(connection.peer.label, error));
      }
    };
    const gone = [...subscribed].filter((uri) => !followed.has(uri));
    for (const uri of gone) subscribed.delete(uri);
    await inLanes(gone, (uri) => ask('resources/unsubscribe', uri));
    refused.clear();
    const added = followed.uris.filter((uri) => !subscribed.has(uri));
    // One that the server refuses is not asked for again and again.
    for (const uri of added) subscribed.add(uri);
    await inLanes(added, (uri) => ask('resources/subscribe', uri));
    const [first] = refused.values();
    if (first === undefined || subscribed !== this.#subscribed) return;
    if (first.data.code === METHOD_NOT_FOUND) return this.#refused(first.what);
    for (const [uri, { code }] of refused) if (code !== 'rpc') subscribed.delete(uri);
    const what = refused.size === 1 ? 'a resource' : `${refused.size} of its resources`;
    this.#options.warning(`${what} cannot be followed: ${safeText(first.what, 300)}`);
  }

  /** Newer era: what is asked for is fixed when a stream opens, so another takes over before the last one ends. */
  async #listen(connection: Connection): Promise<void> {
    const before = this.#stream;
    this.#stream = undefined;
    if (this.#options.followed.size === 0) return before?.abort();
    const stream = new AbortController();
    this.#stream = stream;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(settle, this.#options.timing.acknowledge);
      void this.#hear(connection, stream, settle).finally(settle);
    });
    before?.abort();
  }

  /** Opens the stream again whenever it ends by itself. Never rejects. */
  async #hear(connection: Connection, stream: AbortController, opened: () => void): Promise<void> {
    const { timing, random, followed } = this.#options;
    const { signal } = stream;
    let failures = 0;
    let isFirst = true;
    while (!signal.aborted) {
      const asked = followed.uris;
      const acknowledged = (honored: JsonObject): void => {
        failures = 0;
        this.#compare(asked, honored, stream);
        // Nothing is replayed.
        if (!isFirst) followed.gap();
        isFirst = false;
        opened();
      };
      let id: RequestId | undefined;
      try {
        await connection.request(
          'subscriptions/listen',
          { notifications: { resourceSubscriptions: asked } },
          { timeout: 0, signal, stream: (sent) => void this.#waiting.set((id = sent), acknowledged) },
        );
      } catch (error) {
        if (signal.aborted) return;
        const { data, what } = failure(connection.peer.label, error);
        failures += 1;
        opened();
        if (data.code === METHOD_NOT_FOUND) return this.#refused(what);
      } finally {
        this.#waiting.delete(id);
      }
      await pause(backOff(timing.relisten, timing.relistenMax, failures, random), signal);
    }
  }

  #compare(asked: readonly string[], { resourceSubscriptions }: JsonObject, stream: AbortController): void {
    const honored = new Set(Array.isArray(resourceSubscriptions) ? resourceSubscriptions : []);
    const left = asked.filter((uri) => !honored.has(uri)).length;
    if (left === 0) return;
    if (left < asked.length)
      return this.#options.warning(`${left} of its resources cannot be followed: it does not say so of them`);
    stream.abort();
    this.#refused('it acknowledged none of them');
  }
}

function servesSubscriptions({ info }: Connection): boolean {
  const { resources } = info.capabilities;
  return isObject(resources) && resources.subscribe === true;
}

/** A few at a time, so that calls need not wait behind them. */
async function inLanes(uris: readonly string[], ask: (uri: string) => Promise<void>): Promise<void> {
  const left = uris.values();
  const lane = async (): Promise<void> => {
    for (const uri of left) await ask(uri);
  };
  await Promise.all(Array.from({ length: Math.min(LANES, uris.length) }, lane));
}
