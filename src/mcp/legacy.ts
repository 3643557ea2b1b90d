/** 2025-11-25 and older: a handshake, sessions over HTTP, and requests of the server's own. */
import { isObject } from './message.ts';
import { unreserved } from './meta.ts';
import { RELATED_TASK, fromLegacyTask, taskFault } from './tasks.ts';
import type { Answer, Codec, Identity } from './codec.ts';
import type { MidspanError } from '../errors.ts';
import type { JsonObject } from '../types.ts';

/** The requests that clients of these revisions make. */
export const LEGACY_REQUESTS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'logging/setLevel',
  // 2025-11-25 only.
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/cancel',
]);

const SERVER_REQUESTS: ReadonlySet<string> = new Set([
  'ping',
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
]);

export function legacyCodec(version: string, identity: Identity): Codec {
  return {
    era: 'legacy',
    version,
    clientRequests: LEGACY_REQUESTS,
    serverRequests: SERVER_REQUESTS,
    opening: {
      method: 'initialize',
      params: {
        protocolVersion: version,
        capabilities: identity.capabilities,
        clientInfo: { ...identity.clientInfo },
      },
    },
    opened: 'notifications/initialized',
    sessions: true,
    changes: 'get',
    cancelByClosing: false,
    mirrorsArguments: false,
    logsOnRequest: false,
    fetchesTaskResults: true,
    params(params, token, asking) {
      if (token === undefined) return params;
      const meta = asking?.meta === undefined ? params._meta : { ...unreserved(asking.meta) };
      // Not a spread: V8 gives each object that gains a member after one a shape of its own, and all that reads it is slow.
      return Object.assign({}, params, {
        _meta: isObject(meta) ? { ...meta, progressToken: token } : { progressToken: token },
      });
    },
    headers(method): Record<string, string> {
      return method === 'initialize' ? {} : { 'MCP-Protocol-Version': version };
    },
    answer,
    readOpening(result) {
      const { protocolVersion, capabilities, serverInfo, instructions } = result;
      if (typeof protocolVersion !== 'string') return undefined;
      return {
        versions: [protocolVersion],
        capabilities: isObject(capabilities) ? capabilities : {},
        serverInfo: isObject(serverInfo) ? serverInfo : {},
        ...(typeof instructions === 'string' ? { instructions } : {}),
      };
    },
  };
}

function answer(method: string, result: JsonObject): Answer {
  if (method === 'tools/call' && isObject(result.task) && result.content === undefined) {
    const task = fromLegacyTask(result.task);
    const problem = taskFault(task);
    return problem === undefined ? { kind: 'task', task } : { kind: 'invalid', problem };
  }
  if (method === 'tasks/get') return { kind: 'complete', result: fromLegacyTask(result) };
  if (method === 'tasks/result' && isObject(result._meta) && RELATED_TASK in result._meta) {
    const { [RELATED_TASK]: _task, ...meta } = result._meta;
    return { kind: 'complete', result: { ...result, _meta: meta } };
  }
  return { kind: 'complete', result };
}

const NO_SESSION =
  /session[^.]{0,40}(not found|expired|invalid|unknown|does not exist|terminated)|(no|invalid|unknown|missing|expired)( valid)? session|not initialized/i;

/**
 * True when the server refused a request because it no longer knows our session, so that the request surely did not run.
 * The specification says 404; servers also say it with 400, and with a JSON-RPC error inside a 200.
 */
export function sessionExpired(error: MidspanError): boolean {
  const { status, code } = error.data;
  if (status === 404) return code !== -32601 || NO_SESSION.test(error.message);
  if (status === 400) return NO_SESSION.test(error.message);
  // -32000 and others are for the server's own use, so that the call may have run.
  return error.code === 'rpc' && (code === -32600 || code === -32001) && NO_SESSION.test(error.message);
}
