/** A client of the MCP door, and one of its requests while it runs, as the era-free part of the door sees them. */
import type { Relaying } from '../../host/call.ts';
import type { Session } from '../../host/session.ts';
import type { AnswerInput } from '../../mcp/input.ts';
import type { ClientRequest, Serving } from '../../mcp/serving.ts';
import type { LogMessage } from '../../servers/server.ts';
import type { JsonObject, Progress } from '../../types.ts';
import type { Principal } from '../access/principal.ts';

export interface Client {
  readonly principal: Principal;
  /** Of this session or connection; the principal's own id for clients without one. Servers may be isolated by it. */
  readonly id: string;
  /** What it has seen and what it was told. */
  readonly session: Session;
  readonly serving: Serving;
}

export interface Exchange {
  readonly client: Client;
  readonly request: ClientRequest;
  /** MCP client capabilities that hold for this request, as the client declared them. */
  readonly capabilities: JsonObject;
  /** Aborts when the client gives the request up. */
  readonly signal: AbortSignal;
  /** Set: the client wants to hear of progress. */
  readonly progress: ((progress: Progress) => void) | undefined;
  /** Set: the client wants to hear what is logged about this request, from this level on. */
  readonly log: { level: string; write: (message: LogMessage) => void } | undefined;
  /**
   * Puts a question to the client, one that its capabilities declare: a request on its channel (legacy), or a round that this
   * request is answered with meanwhile (modern). Rejects when the client is gone or answers with an error.
   */
  readonly ask: AnswerInput;
  /** Modern: rounds of a server are given back as `input` and answered in a next request. Legacy: they are asked for here. */
  readonly rounds: boolean;
  /** The opened seal of a next round: what the server's round needs, and the digest that was approved before. */
  readonly round: Relaying['round'];
}
