/**
 * Hearing of changes: the GET stream of legacy HTTP, `subscriptions/listen` of the modern era. Opened again with back-off
 * whenever it ends, and after every gap the lists count as changed, since nothing is replayed.
 */
import { performance } from 'node:perf_hooks';
import { RETRY_MAX_MS } from '../mcp/limits.ts';
import { METHOD_NOT_FOUND, isObject } from '../mcp/message.ts';
import { META } from '../mcp/modern.ts';
import { failure } from './failure.ts';
import { onAbort } from './abort.ts';
import { backOff } from './timing.ts';
import type { Connection } from './connection.ts';
import type { Timing } from './timing.ts';
import type { RequestId } from '../mcp/message.ts';
import type { JsonObject } from '../types.ts';

export interface WatchOptions {
  timing: Timing;
  random: () => number;
  signal: AbortSignal;
  /** The stream is open; unless it is the first one, there was a gap in which changes went unheard. */
  established: (first: boolean) => void;
  warning: (message: string) => void;
}

/** How one change stream came to its end. `retry`: milliseconds that the server asked to wait. */
type Outcome = { ended: boolean; retry?: number } | 'unsupported';
const ENDED: Outcome = { ended: true };
const FAILED: Outcome = { ended: false };

/** What servers without a GET stream say to a GET. */
const NO_STREAM: ReadonlySet<unknown> = new Set([400, 404, 405, 406, 501]);

/** Failed attempts in a row after which people are told that changes go unheard. */
const DEAF_AFTER = 3;

export class Watch {
  readonly #connection: Connection;
  readonly #options: WatchOptions;
  #first = true;
  /** Our subscription, while it is not acknowledged. */
  #subscription: { id: RequestId; acknowledged: (honored: JsonObject) => void } | undefined;

  constructor(connection: Connection, options: WatchOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Runs until the signal aborts or the server has no such stream. Never rejects. */
  async run(): Promise<void> {
    const { peer, info } = this.#connection;
    const { changes } = peer.codec;
    if (
      changes === 'get'
        ? peer.channel.listen === undefined || peer.channel.kind !== 'http'
        : LISTS.every((list) => !announces(info.capabilities, list))
    )
      return;
    const { timing, random, signal, warning } = this.#options;
    let failures = 0;
    let short = 0;
    while (!signal.aborted) {
      const since = performance.now();
      const outcome = changes === 'get' ? await this.#get() : await this.#listen();
      if (signal.aborted || outcome === 'unsupported') return;
      failures = outcome.ended ? 0 : failures + 1;
      // Streams that end as soon as they are open are not opened again and again at once either.
      short = performance.now() - since < timing.relisten ? short + 1 : 0;
      if (failures === DEAF_AFTER)
        warning('changes of its lists go unheard: its change stream keeps failing; it is tried again');
      const wait = backOff(timing.relisten, timing.relistenMax, Math.max(0, short - 1), random);
      await pause(Math.max(wait, Math.min(outcome.retry ?? 0, RETRY_MAX_MS)), signal);
    }
  }

  readonly #established = (): void => {
    const first = this.#first;
    this.#first = false;
    this.#options.established(first);
  };

  /** `notifications/subscriptions/acknowledged`. */
  acknowledged({ notifications, _meta }: JsonObject): void {
    const waiting = this.#subscription;
    if (waiting === undefined || !isObject(_meta) || _meta[META.subscription] !== waiting.id) return;
    waiting.acknowledged(isObject(notifications) ? notifications : {});
  }

  async #get(): Promise<Outcome> {
    const { peer, session } = this.#connection;
    const { signal } = this.#options;
    try {
      const { retry } =
        (await peer.channel.listen?.({
          ...peer.sendOptions('', {}),
          resumable: !this.#first,
          signal,
          started: this.#established,
        })) ?? {};
      return { ended: true, ...(retry === undefined ? {} : { retry }) };
    } catch (error) {
      const { code, data } = failure(peer.label, error);
      if (signal.aborted) return FAILED;
      // Where there never was a stream, that alone is no sign of an expired session: many servers have no GET at all.
      if (this.#first && (NO_STREAM.has(data.status) || (code === 'protocol' && data.status === undefined)))
        return 'unsupported';
      return this.#connection.recover(error, session).then(
        () => ENDED,
        () => FAILED,
      );
    }
  }

  async #listen(): Promise<Outcome> {
    const { timing, signal, warning } = this.#options;
    const unheard = new AbortController();
    const stop = onAbort(signal, () => unheard.abort());
    let refused = false;
    const asked = LISTS.filter((list) => announces(this.#connection.info.capabilities, list));
    const timer = setTimeout(() => unheard.abort(), timing.acknowledge);
    try {
      await this.#connection.request(
        'subscriptions/listen',
        { notifications: Object.fromEntries(asked.map((list) => [`${list}ListChanged`, true])) },
        {
          timeout: 0,
          signal: unheard.signal,
          stream: (id) => {
            const acknowledged = (honored: JsonObject): void => {
              this.#subscription = undefined;
              clearTimeout(timer);
              // Those of tools are what the others may not go without.
              const [first = 'tools'] = asked;
              if (honored[`${first}ListChanged`] === true) return this.#established();
              refused = true;
              unheard.abort();
            };
            this.#subscription = { id, acknowledged };
          },
        },
      );
      return ENDED;
    } catch (error) {
      const { code } = failure(this.#connection.peer.label, error).data;
      if (refused) warning('does not tell when its lists change, although it says so');
      else if (code === METHOD_NOT_FOUND)
        warning('has no subscriptions/listen, although it announces changes of its lists');
      else return FAILED;
      return 'unsupported';
    } finally {
      this.#subscription = undefined;
      clearTimeout(timer);
      stop();
    }
  }
}

const LISTS = ['tools', 'prompts', 'resources'] as const;

/** Whether the server says that it announces changes of a list. */
function announces(capabilities: JsonObject, list: (typeof LISTS)[number]): boolean {
  const declared = capabilities[list];
  return isObject(declared) && declared.listChanged === true;
}

/** Resolves after that many milliseconds, or when the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, milliseconds);
    const stop = onAbort(signal, done);
    function done(): void {
      clearTimeout(timer);
      stop();
      resolve();
    }
  });
}
