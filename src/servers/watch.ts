/**
 * Hearing of changes: the GET stream of legacy HTTP, `subscriptions/listen` of the modern era. Opened again with back-off
 * whenever it ends, and after every gap the lists count as changed, since nothing is replayed.
 */
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
        : !announces(info.capabilities)
    )
      return;
    const { timing, random, signal, warning } = this.#options;
    for (let failures = 0; !signal.aborted;) {
      const outcome = changes === 'get' ? await this.#get() : await this.#listen();
      if (signal.aborted || outcome === 'unsupported') return;
      failures = outcome === 'ended' ? 0 : failures + 1;
      if (failures === DEAF_AFTER)
        warning('changes of its tools go unheard: its change stream keeps failing; it is tried again');
      await pause(backOff(timing.relisten, timing.relistenMax, failures, random), signal);
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

  async #get(): Promise<'ended' | 'failed' | 'unsupported'> {
    const { peer, session } = this.#connection;
    const { signal } = this.#options;
    try {
      await peer.channel.listen?.({ ...peer.sendOptions('', {}), signal, started: this.#established });
      return 'ended';
    } catch (error) {
      const { status } = failure(peer.label, error).data;
      if (status === 405 || status === 501) return 'unsupported';
      if (signal.aborted) return 'failed';
      try {
        await this.#connection.recover(error, session);
        return 'ended';
      } catch {
        // A server without sessions has no stream either when it knows no such address.
        return status === 404 || status === 400 || status === 406 ? 'unsupported' : 'failed';
      }
    }
  }

  async #listen(): Promise<'ended' | 'failed' | 'unsupported'> {
    const { timing, signal, warning } = this.#options;
    const unheard = new AbortController();
    const stop = onAbort(signal, () => unheard.abort());
    let refused = false;
    const timer = setTimeout(() => unheard.abort(), timing.acknowledge);
    try {
      await this.#connection.request(
        'subscriptions/listen',
        { notifications: { toolsListChanged: true } },
        {
          timeout: 0,
          signal: unheard.signal,
          stream: (id) => {
            const acknowledged = (honored: JsonObject): void => {
              this.#subscription = undefined;
              clearTimeout(timer);
              if (honored.toolsListChanged === true) return this.#established();
              refused = true;
              unheard.abort();
            };
            this.#subscription = { id, acknowledged };
          },
        },
      );
      return 'ended';
    } catch (error) {
      const { code } = failure(this.#connection.peer.label, error).data;
      if (refused) warning('does not tell when its tools change, although it says so');
      else if (code === METHOD_NOT_FOUND)
        warning('has no subscriptions/listen, although it announces changes of its tools');
      else return 'failed';
      return 'unsupported';
    } finally {
      this.#subscription = undefined;
      clearTimeout(timer);
      stop();
    }
  }
}

/** Whether the server says that it announces changes of its tools. */
function announces({ tools }: JsonObject): boolean {
  return isObject(tools) && tools.listChanged === true;
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
