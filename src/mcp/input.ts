/**
 * What a server asks of the person or program behind the host, in one shape for both eras: legacy servers send
 * requests of their own, modern ones return `input_required` and the call is retried with the answers.
 */
import type { JsonObject } from '../types.ts';

export interface InputRequest {
  /** `elicitation/create`, `sampling/createMessage` or `roots/list`. */
  method: string;
  params: JsonObject;
}

export interface InputContext {
  /** The label of the server that asks. */
  label: string;
  /** The server's own name of the tool whose call raised it, where that is known. */
  tool?: string;
  signal: AbortSignal;
}

/**
 * Resolves with the MCP result object of the request (`{action:'decline'}`, `{action:'accept',content}`, …).
 * Throwing means that we cannot answer: the server gets a JSON-RPC error and the call goes on.
 */
export type AnswerInput = (request: InputRequest, context: InputContext) => Promise<JsonObject>;
