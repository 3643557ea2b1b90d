/**
 * What a server asks of the person or program behind the host, in one shape for both eras: legacy servers send
 * requests of their own, modern ones return `input_required` and the call is retried with the answers.
 */
import { isObject } from './message.ts';
import type { Json, JsonObject } from '../types.ts';

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

const ACTIONS: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel']);

/** Whether this is a result of the request at all; what is in it is checked by whoever asked. */
export function isAnswer({ method }: InputRequest, answer: Json | undefined): answer is JsonObject {
  if (!isObject(answer)) return false;
  const { action, content, roots } = answer;
  if (method === 'elicitation/create') return ACTIONS.has(action);
  if (method === 'sampling/createMessage') return isObject(content) || Array.isArray(content);
  return method !== 'roots/list' || Array.isArray(roots);
}
