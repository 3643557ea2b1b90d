/** The gate for everything but tools: prompts, resources, completion and tasks of one server, for a client or a model. */
import type { MidspanError } from '../errors.ts';
import type { Relayed } from '../servers/server.ts';
import type { JsonObject, Progress } from '../types.ts';
import type { Relaying } from './call.ts';
import type { Session } from './session.ts';

/** A request by the server's own names and URIs. */
export interface RelayRequest {
  label: string;
  method: 'prompts/get' | 'resources/read' | 'completion/complete' | 'tasks/get' | 'tasks/update' | 'tasks/cancel';
  params: JsonObject;
}

export interface RelaySettings {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** What it brings in taints this session. Default: one for the whole host. */
  session?: Session;
  relay?: Relaying;
}

/**
 * failed: with the reason: `unknown-item` (nothing of this name or URI is shown), `unapproved` (it waits for review), `rpc` (the
 * server refused), `unreachable`, `timeout`, `cancelled`, …
 */
export type RelayOutcome = Relayed | { kind: 'failed'; error: MidspanError };
