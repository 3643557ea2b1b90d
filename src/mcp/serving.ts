/**
 * What one revision does to the requests of clients and to our answers: the other direction of codec.ts. A new revision is a
 * new row of versions.ts and, where it differs, a file beside serving-legacy.ts and serving-modern.ts.
 */
import type { Era, JsonObject } from '../types.ts';
import type { InputRequest } from './input.ts';
import type { Message, RequestId, RpcErrorObject } from './message.ts';
import { servingLegacy } from './serving-legacy.ts';
import { servingModern } from './serving-modern.ts';
import { eraOf } from './versions.ts';

/** A client's request in neutral form. */
export interface ClientRequest {
  id: RequestId;
  method: string;
  /** Without `_meta`, and without the members of an input round. */
  params: JsonObject;
  /** Modern: what this request declares. Legacy: empty here; the session knows what its client declared. */
  capabilities: JsonObject;
  /** What the client says of itself: for display and the record only. */
  clientInfo: JsonObject | undefined;
  progressToken: RequestId | undefined;
  /** Modern: from which level on the client wants to hear what is logged about this request. */
  logLevel: string | undefined;
  /** Modern: the next round of a request that was answered with `input`; `state` is what we gave out. */
  round: { responses: JsonObject | undefined; state: string | undefined } | undefined;
  /** The other members of `_meta`: trace context, vendors' keys. Nothing of `io.modelcontextprotocol/`. */
  meta: JsonObject | undefined;
}

/** Our answer in neutral form. */
export type Served =
  | { kind: 'complete'; result: JsonObject; ttlMs?: number; cacheScope?: 'public' | 'private' }
  /** JSON text of a result as the client's revision writes it: lists are written once for many. */
  | { kind: 'written'; text: string }
  /** `digest`: of the definition that the call was approved for; the next round brings it back. */
  | { kind: 'input'; requests: Record<string, InputRequest>; state: string | undefined; digest: string }
  | { kind: 'task'; task: JsonObject }
  | { kind: 'error'; error: RpcErrorObject };

/** What we say of ourselves. */
export interface Self {
  serverInfo: JsonObject;
  capabilities: JsonObject;
  instructions?: string;
}

export type ListKind = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

export interface Serving {
  readonly era: Era;
  readonly version: string;
  /** The requests that a client of this revision may make; any other is METHOD_NOT_FOUND. */
  readonly requests: ReadonlySet<string>;
  /** Reads a request; an error is what the revision says to one that breaks its rules. */
  read(message: Message & { kind: 'request' }): ClientRequest | { error: RpcErrorObject };
  /** An answer as this revision writes it. */
  result(method: string, served: Served & { kind: 'complete' | 'input' | 'task' }, self: Self): JsonObject;
  /** Definitions of one list as clients of this revision can read them: members that it lacks are left out, nothing is renamed. */
  items(kind: ListKind, definitions: readonly JsonObject[]): JsonObject[];
  /** A server's question as clients of this revision read it. */
  question(request: InputRequest): InputRequest;
  /** The codes that this revision has for ours: a modern client never sees -32002 or -32042, a legacy one never -32020 to -32022. */
  error(error: RpcErrorObject): RpcErrorObject;
  /** HTTP status of an error answer. */
  status(error: RpcErrorObject): number;
}

export function servingFor(version: string): Serving {
  return eraOf(version) === 'modern' ? servingModern(version) : servingLegacy(version);
}
