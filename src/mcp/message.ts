/** JSON-RPC 2.0 messages, checked by hand: on the path of every call a schema library would be a fifth of the cost. */
import type { Json, JsonObject } from '../types.ts';

export type RequestId = string | number;

export interface RpcErrorObject {
  code: number;
  message: string;
  data?: Json;
}

export type Message =
  | { kind: 'request'; id: RequestId; method: string; params: JsonObject }
  | { kind: 'notification'; method: string; params: JsonObject }
  | { kind: 'result'; id: RequestId; result: JsonObject }
  /** No id: the peer could not read ours. */
  | { kind: 'error'; id: RequestId | undefined; error: RpcErrorObject }
  /** `id` names the request that it should have answered, `asked` the one that it should have been. */
  | { kind: 'malformed'; id: RequestId | undefined; asked?: RequestId; problem: string };

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** Ours, for a peer that asks too much at once. */
export const TOO_MANY_REQUESTS = -32000;
export const HEADER_MISMATCH = -32020;
export const MISSING_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;
/** 2025-11-25 only. */
export const URL_ELICITATION_REQUIRED = -32042;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a parsed JSON object is. Members beyond those of JSON-RPC are tolerated. */
export function readMessage(raw: JsonObject): Message {
  const rawId = raw.id;
  const id = typeof rawId === 'number' || typeof rawId === 'string' ? rawId : undefined;
  const { method, result, error } = raw;
  if (raw.jsonrpc !== '2.0') {
    return {
      kind: 'malformed',
      id: method === undefined ? id : undefined,
      problem: 'it is not JSON-RPC 2.0',
    };
  }
  if (method !== undefined) {
    // Serializers that write null for what is absent are common.
    const params = raw.params ?? {};
    if (typeof method !== 'string' || !isObject(params)) {
      const problem = 'a request with an invalid method or params';
      return { kind: 'malformed', id: undefined, ...(id === undefined ? {} : { asked: id }), problem };
    }
    if (rawId === undefined) return { kind: 'notification', method, params };
    if (id === undefined) return { kind: 'malformed', id, problem: 'a request with an invalid id' };
    return { kind: 'request', id, method, params };
  }
  if (error !== undefined) {
    if (result !== undefined) return { kind: 'malformed', id, problem: 'both a result and an error' };
    if (!isRpcError(error))
      return { kind: 'malformed', id, problem: 'an error without a code and a message' };
    return { kind: 'error', id, error };
  }
  if (id === undefined) return { kind: 'malformed', id, problem: 'neither a request nor an answer' };
  if (!isObject(result)) return { kind: 'malformed', id, problem: 'a result that is not an object' };
  return { kind: 'result', id, result };
}

function isRpcError(error: unknown): error is RpcErrorObject & JsonObject {
  return isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string';
}
