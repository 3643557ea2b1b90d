/** What one revision of the protocol does to neutral requests and results. One implementation per era. */
import { eraOf } from './versions.ts';
import { legacyCodec } from './legacy.ts';
import { modernCodec } from './modern.ts';
import type { InputRequest } from './input.ts';
import type { RequestId } from './message.ts';
import type { Era, JsonObject } from '../types.ts';

/** What we say of ourselves. */
export interface Identity {
  clientInfo: { name: string; version: string };
  capabilities: JsonObject;
}

/** What a peer says of itself when a connection opens. */
export interface Opening {
  /** Every revision it offers (modern), or the one it chose (legacy). */
  versions: string[];
  serverInfo: JsonObject;
  capabilities: JsonObject;
  instructions?: string;
}

/** What a request says of whoever asks, beside its params. A revision leaves out what it has no words for. */
export interface Asking {
  /** MCP client capabilities of this request; absent: those of the identity. */
  capabilities?: JsonObject | undefined;
  /** MCP log level. */
  logLevel?: string | undefined;
  /** More members of `_meta`; reserved ones are left out. */
  meta?: JsonObject | undefined;
  /** What answers an earlier `input`. */
  round?: { responses?: JsonObject; state?: string } | undefined;
}

/** A result in neutral form: members that only one era has are lifted out. */
export type Answer =
  | { kind: 'complete'; result: JsonObject; ttlMs?: number; cacheScope?: string }
  | { kind: 'input'; requests: Record<string, InputRequest>; state: string | undefined }
  /** The flat task object of the tasks extension. */
  | { kind: 'task'; task: JsonObject }
  | { kind: 'invalid'; problem: string };

export interface Codec {
  readonly era: Era;
  readonly version: string;
  /** Methods that a client may send; one that the era lacks is absent. */
  readonly clientRequests: ReadonlySet<string>;
  /** Methods that a server may send as requests of its own. Empty: the peer gets no answers at all. */
  readonly serverRequests: ReadonlySet<string>;
  /** The request that opens a connection. */
  readonly opening: { method: string; params: JsonObject };
  /** The notification that follows a successful opening. */
  readonly opened?: string;
  /** HTTP: the server may hand out a session id, which later requests echo. */
  readonly sessions: boolean;
  /** How unasked notifications arrive over HTTP: on a GET stream, or on the stream of a request of this method. */
  readonly changes: 'get' | 'subscriptions/listen';
  /** True: a request with a stream of its own is given up by closing it. False: always by `notifications/cancelled`. */
  readonly cancelByClosing: boolean;
  /** HTTP: arguments that a tool marks `x-mcp-header` go as headers too. */
  readonly mirrorsArguments: boolean;
  /** True: a server logs about a request only where the request says from which level on. False: unasked, to the whole connection. */
  readonly logsOnRequest: boolean;
  /** True: the result of a task comes by `tasks/result`, on which the server asks, too. False: with `tasks/get`. */
  readonly fetchesTaskResults: boolean;
  /** Request params as this revision sends them. `token` asks for progress. */
  params(params: JsonObject, token?: RequestId, asking?: Asking): JsonObject;
  /** HTTP headers of a request; `mirrored` are arguments that its tool wants as headers (see headers.ts). */
  headers(method: string, params: JsonObject, mirrored?: Record<string, string>): Record<string, string>;
  answer(method: string, result: JsonObject): Answer;
  /** Reads the result of `opening`; undefined when it is not one. */
  readOpening(result: JsonObject): Opening | undefined;
}

export function codecFor(version: string, identity: Identity): Codec {
  return eraOf(version) === 'modern' ? modernCodec(version, identity) : legacyCodec(version, identity);
}
