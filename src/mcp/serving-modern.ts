/** Clients of 2026-07-28 and later: every request says who asks, and every result what it is. */
import {
  HEADER_MISMATCH,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  MISSING_CAPABILITY,
  PARSE_ERROR,
  UNSUPPORTED_VERSION,
  isObject,
} from './message.ts';
import type { Message, RpcErrorObject } from './message.ts';
import { unreserved } from './meta.ts';
import { CACHEABLE, INTERRUPTIBLE, META, MODERN_REQUESTS } from './modern.ts';
import { toModernTask } from './tasks.ts';
import type { ClientRequest, ListKind, Self, Served, Serving } from './serving.ts';
import type { InputRequest } from './input.ts';
import type { Json, JsonObject } from '../types.ts';

/** HTTP statuses of errors that came up before anything was answered (Streamable HTTP). */
const STATUS: Readonly<Record<number, number>> = {
  [PARSE_ERROR]: 400,
  [INVALID_REQUEST]: 400,
  [METHOD_NOT_FOUND]: 404,
  [HEADER_MISMATCH]: 400,
  [MISSING_CAPABILITY]: 400,
  [UNSUPPORTED_VERSION]: 400,
};

/** The codes from here to here are the specification's alone. */
const RESERVED_CODES = { from: -32_099, to: -32_020 };
/** Codes of older revisions with a meaning of their own. */
const RESOURCE_NOT_FOUND = -32_002;

export function servingModern(version: string): Serving {
  return {
    era: 'modern',
    version,
    requests: MODERN_REQUESTS,
    read,
    result,
    items,
    question,
    error,
    status: ({ code }) => STATUS[code] ?? 200,
  };
}

function read({
  id,
  method,
  params,
}: Message & { kind: 'request' }): ClientRequest | { error: RpcErrorObject } {
  const { _meta: meta, inputResponses, requestState, ...rest } = params;
  if (!isObject(meta)) return invalid('params._meta must be an object');
  const { [META.version]: version, [META.capabilities]: capabilities, [META.clientInfo]: clientInfo } = meta;
  if (typeof version !== 'string') return invalid(`params._meta must have ${META.version}`);
  if (!isObject(capabilities)) return invalid(`params._meta must have ${META.capabilities}`);
  if (clientInfo !== undefined && !isObject(clientInfo))
    return invalid(`params._meta["${META.clientInfo}"] must be an object`);
  const round = readRound(method, inputResponses, requestState);
  if (round !== undefined && 'error' in round) return round;
  // Answers to the questions of a task are its own business: there is no round.
  if (method === 'tasks/update' && inputResponses !== undefined) rest.inputResponses = inputResponses;
  const { progressToken, [META.logLevel]: logLevel } = meta;
  const others = unreserved(meta);
  return {
    id,
    method,
    params: rest,
    capabilities,
    clientInfo,
    progressToken:
      typeof progressToken === 'string' || typeof progressToken === 'number' ? progressToken : undefined,
    logLevel: typeof logLevel === 'string' ? logLevel : undefined,
    round,
    meta: Object.keys(others).length === 0 ? undefined : others,
  };
}

function readRound(
  method: string,
  responses: Json | undefined,
  state: Json | undefined,
): ClientRequest['round'] | { error: RpcErrorObject } {
  if (!INTERRUPTIBLE.has(method)) return undefined;
  if ((responses ?? undefined) === undefined && (state ?? undefined) === undefined) return undefined;
  if ((responses ?? undefined) !== undefined && !isObject(responses))
    return invalid('params.inputResponses must be an object');
  if ((state ?? undefined) !== undefined && typeof state !== 'string')
    return invalid('params.requestState must be a string');
  return {
    responses: isObject(responses) ? responses : undefined,
    state: typeof state === 'string' ? state : undefined,
  };
}

const invalid = (message: string): { error: RpcErrorObject } => ({
  error: { code: INVALID_PARAMS, message },
});

function result(
  method: string,
  served: Served & { kind: 'complete' | 'input' | 'task' },
  { serverInfo }: Self,
): JsonObject {
  if (served.kind === 'input') {
    const { requests, state } = served;
    return {
      resultType: 'input_required',
      ...(Object.keys(requests).length > 0 && { inputRequests: questions(requests) }),
      ...(state !== undefined && { requestState: state }),
      _meta: { [META.serverInfo]: serverInfo },
    };
  }
  if (served.kind === 'task')
    return { ...served.task, resultType: 'task', _meta: { [META.serverInfo]: serverInfo } };
  const own = method === 'tasks/get' ? toModernTask(served.result) : served.result;
  // What it is, we say: a server of the older era may write anything there.
  const written: JsonObject = { ...own, resultType: 'complete' };
  if (CACHEABLE.has(method)) {
    written.ttlMs = served.ttlMs ?? 0;
    written.cacheScope = served.cacheScope ?? 'private';
  }
  written._meta = { ...metaOf(method, own), [META.serverInfo]: serverInfo };
  return written;
}

/** What servers write there under names of the protocol is about their hop alone; which stream has ended, we say ourselves. */
function metaOf(method: string, { _meta: meta }: JsonObject): JsonObject {
  if (!isObject(meta)) return {};
  return method === 'subscriptions/listen' ? meta : unreserved(meta);
}

const questions = (requests: Readonly<Record<string, InputRequest>>): JsonObject =>
  Object.fromEntries(Object.entries(requests).map(([key, request]) => [key, { ...question(request) }]));

/** Addresses have no id of their own any more: the round has one. */
function question({ method, params }: InputRequest): InputRequest {
  if (method !== 'elicitation/create' || params.elicitationId === undefined) return { method, params };
  const { elicitationId: _id, ...rest } = params;
  return { method, params: rest };
}

/** How a tool wants to be called as a task was said with the tool in 2025-11-25. */
function items(kind: ListKind, definitions: readonly JsonObject[]): JsonObject[] {
  if (kind !== 'tools') return [...definitions];
  return definitions.map((definition) => {
    if (definition.execution === undefined) return definition;
    const { execution: _execution, ...rest } = definition;
    return rest;
  });
}

function error({ code, message, data }: RpcErrorObject): RpcErrorObject {
  const more = data === undefined ? {} : { data };
  if (code === RESOURCE_NOT_FOUND) return { code: INVALID_PARAMS, message, ...more };
  const isReserved = code >= RESERVED_CODES.from && code <= RESERVED_CODES.to;
  const isOurs = code === HEADER_MISMATCH || code === MISSING_CAPABILITY || code === UNSUPPORTED_VERSION;
  return { code: isReserved && !isOurs ? INTERNAL_ERROR : code, message, ...more };
}
