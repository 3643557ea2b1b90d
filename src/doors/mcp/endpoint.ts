/**
 * One MCP endpoint without eras: all servers under exposed names (`/mcp`), or one server as it is (`/mcp/<label>`). It answers
 * requests, says what it is, and tells of changes.
 */
import type { MirroredArgument } from '../../mcp/headers.ts';
import type { LogMessage } from '../../servers/server.ts';
import type { Served, Self, Serving } from '../../mcp/serving.ts';
import type { Principal } from '../access/principal.ts';
import type { JsonObject } from '../../types.ts';
import type { Exchange } from './client.ts';
import type { TaskFollower } from './tasks.ts';

/**
 * What of an endpoint has changed, for this principal. `updated` is told of every resource that anybody follows: whoever listens
 * passes on those that its client follows. `log`: what a server logs about no request in particular.
 */
export type EndpointChange =
  | { list: 'tools' | 'prompts' | 'resources' }
  | { updated: string }
  | { log: LogMessage };

export interface Endpoint {
  /** The server's label; undefined for all of them. */
  readonly label: string | undefined;
  /** Waits (bounded) until the servers behind it have listed what they have. */
  ready(signal: AbortSignal): Promise<void>;
  /** For `initialize` and `server/discover`, in the words of the client's revision. */
  self(serving: Serving): Self;
  /**
   * Answers lists, `tools/call`, `prompts/get`, `resources/read`, `completion/complete` and `tasks/*`. Whatever belongs to
   * an era alone (handshake, ping, levels, subscriptions, listening) is its carrier's. Never rejects.
   */
  answer(exchange: Exchange): Promise<Served>;
  /** The arguments that a tool wants repeated as headers, as its definition is shown; none for a tool that is not shown. */
  mirrored(principal: Principal, tool: string): readonly MirroredArgument[];
  /** Changes that a principal may hear of: a list only when what it is shown of it has changed. */
  on(principal: Principal, listener: (change: EndpointChange) => void): () => void;
  /** Follows one resource, by the URI that the client knows; undefined when there is no such resource. */
  follow(principal: Principal, uri: string): (() => void) | undefined;
  /**
   * Tells of each new state of a task, in neutral form and the present one first, until the returned function is called;
   * undefined when the client has no such task.
   */
  followTask(
    follower: TaskFollower,
    taskId: string,
    listener: (task: JsonObject) => void,
  ): (() => void) | undefined;
}
