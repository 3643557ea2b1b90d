/** 2026-07-28 and later: no handshake and no session; every request says who asks and what that one can do. */
import { headerValue } from './headers.ts';
import { isObject } from './message.ts';
import { unreserved } from './meta.ts';
import { TTL_MAX } from './protocol-limits.ts';
import { taskFault } from './tasks.ts';
import { safeText } from './text.ts';
import type { Answer, Codec, Identity } from './codec.ts';
import type { InputRequest } from './input.ts';
import type { JsonObject } from '../types.ts';

export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
  logLevel: 'io.modelcontextprotocol/logLevel',
} as const;

/** The requests that clients of this revision make. */
export const MODERN_REQUESTS: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
  'subscriptions/listen',
  // Of the extension io.modelcontextprotocol/tasks.
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
]);

/** The requests that a server may interrupt to ask for input. */
export const INTERRUPTIBLE: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** The results that say how long they may be kept; one that does not say it is stale at once. */
export const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** Which member of the params a request is named by in `Mcp-Name`. */
export const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

export function modernCodec(version: string, identity: Identity): Codec {
  const envelope = {
    [META.version]: version,
    [META.clientInfo]: { ...identity.clientInfo },
    [META.capabilities]: identity.capabilities,
  };
  return {
    era: 'modern',
    version,
    clientRequests: MODERN_REQUESTS,
    serverRequests: new Set(),
    opening: { method: 'server/discover', params: {} },
    sessions: false,
    changes: 'subscriptions/listen',
    cancelByClosing: true,
    mirrorsArguments: true,
    logsOnRequest: true,
    fetchesTaskResults: false,
    params(params, token, asking) {
      // Not spreads: V8 gives each object that gains a member after one a shape of its own, and all that reads it is slow.
      const meta: JsonObject = Object.assign({}, isObject(params._meta) ? params._meta : undefined, envelope);
      if (token !== undefined) meta.progressToken = token;
      const sent: JsonObject = Object.assign({}, params, { _meta: meta });
      if (asking === undefined) return sent;
      const { capabilities, logLevel, meta: more, round } = asking;
      if (more !== undefined) sent._meta = Object.assign({}, unreserved(more), meta);
      const own = sent._meta as JsonObject;
      if (capabilities !== undefined) own[META.capabilities] = capabilities;
      if (logLevel !== undefined) own[META.logLevel] = logLevel;
      if (round?.responses !== undefined) sent.inputResponses = round.responses;
      if (round?.state !== undefined) sent.requestState = round.state;
      return sent;
    },
    headers(method, params, mirrored) {
      const headers: Record<string, string> = {
        'MCP-Protocol-Version': version,
        'Mcp-Method': method,
        ...mirrored,
      };
      const member = NAMED_BY[method];
      const name = member === undefined ? undefined : params[member];
      if (typeof name === 'string') headers['Mcp-Name'] = headerValue(name);
      return headers;
    },
    answer,
    readOpening(result) {
      const { supportedVersions, capabilities, instructions } = result;
      if (!Array.isArray(supportedVersions)) return undefined;
      const serverInfo = isObject(result._meta) ? result._meta[META.serverInfo] : undefined;
      return {
        versions: supportedVersions.filter((each) => typeof each === 'string'),
        capabilities: isObject(capabilities) ? capabilities : {},
        serverInfo: isObject(serverInfo) ? serverInfo : {},
        ...(typeof instructions === 'string' ? { instructions } : {}),
      };
    },
  };
}

function answer(method: string, raw: JsonObject): Answer {
  const { resultType: type, ttlMs, cacheScope, ...result } = raw;
  const resultType = type ?? 'complete';
  if (resultType === 'input_required') return input(method, raw);
  // A task has a ttlMs of its own, which is no caching hint.
  if (method.startsWith('tasks/') && ttlMs !== undefined) result.ttlMs = ttlMs;
  if (method === 'tasks/get') inner(result);
  if (resultType === 'task' && method === 'tools/call')
    return task(ttlMs === undefined ? result : { ...result, ttlMs });
  if (resultType !== 'complete') {
    return {
      kind: 'invalid',
      problem: `a result of the type ${safeText(JSON.stringify(resultType).slice(0, 200), 100)}, which we do not know`,
    };
  }
  // server/discover keeps its serverInfo: reading it is what that request is for.
  if (method !== 'server/discover') nameless(result);
  if (!CACHEABLE.has(method)) return { kind: 'complete', result };
  return {
    kind: 'complete',
    result,
    ttlMs: typeof ttlMs === 'number' && ttlMs > 0 ? Math.min(ttlMs, TTL_MAX) : 0,
    // Private is the safe reading of anything else.
    cacheScope: cacheScope === 'public' ? 'public' : 'private',
  };
}

/** Takes out what the server says of itself, which its opening has said. */
function nameless(result: JsonObject): void {
  if (!isObject(result._meta) || !(META.serverInfo in result._meta)) return;
  const { [META.serverInfo]: _own, ...meta } = result._meta;
  if (Object.keys(meta).length > 0) result._meta = meta;
  else delete result._meta;
}

function task(flat: JsonObject): Answer {
  nameless(flat);
  const problem = taskFault(flat);
  return problem === undefined
    ? { kind: 'task', task: flat }
    : { kind: 'invalid', problem: `a result of the type "task": ${problem}` };
}

/** The result in a task that was completed, in neutral form as well. */
function inner(task: JsonObject): void {
  if (!isObject(task.result)) return;
  const { resultType: _type, ...result } = task.result;
  nameless(result);
  task.result = result;
}

function input(method: string, raw: JsonObject): Answer {
  // Serializers that write null for what is absent are common.
  const inputRequests = raw.inputRequests ?? undefined;
  const requestState = raw.requestState ?? undefined;
  if (!INTERRUPTIBLE.has(method))
    return { kind: 'invalid', problem: `input_required as the answer to ${method}` };
  if (requestState !== undefined && typeof requestState !== 'string') {
    return { kind: 'invalid', problem: 'input_required with a requestState that is not a string' };
  }
  if (inputRequests === undefined && requestState === undefined) {
    return { kind: 'invalid', problem: 'input_required with neither inputRequests nor requestState' };
  }
  if (inputRequests !== undefined && !isObject(inputRequests)) {
    return { kind: 'invalid', problem: 'input_required with inputRequests that are not an object' };
  }
  const requests: [string, InputRequest][] = [];
  for (const [key, request] of Object.entries(inputRequests ?? {})) {
    if (!isObject(request) || typeof request.method !== 'string') {
      return { kind: 'invalid', problem: 'input_required with a request that has no method' };
    }
    requests.push([key, { method: request.method, params: isObject(request.params) ? request.params : {} }]);
  }
  return { kind: 'input', requests: Object.fromEntries(requests), state: requestState };
}
