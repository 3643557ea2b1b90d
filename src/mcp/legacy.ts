/** 2025-11-25 and older: a handshake, sessions over HTTP, and requests of the server's own. */
import { isObject } from './message.ts';
import { unreserved } from './meta.ts';
import type { Codec, Identity } from './codec.ts';
import type { MidspanError } from '../errors.ts';

const CLIENT_REQUESTS: ReadonlySet<string> = new Set([
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
    clientRequests: CLIENT_REQUESTS,
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
    answer: (_method, result) => ({ kind: 'complete', result }),
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
