// What both eras share of JSON-RPC and of the capabilities that a client declares.

export const LATEST = { legacy: '2025-11-25', modern: '2026-07-28' };
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
export const SERVER_INFO = { name: 'midspan-conformance-server', version: '1.0.0' };
export const INSTRUCTIONS =
  'Every tool, prompt and resource here answers one question of a conformance suite.';
export const TASKS = 'io.modelcontextprotocol/tasks';

export const CODES = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
};

export class RpcError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

export const success = (id, result) => ({ jsonrpc: '2.0', id, result });

export function failure(id, error) {
  const { code = CODES.internal, message, data } = error;
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}

/** The capability that a client must have declared for `request`, as the client would declare it; `undefined` when it has. */
export function lacking(request, capabilities) {
  const [kind] = request.method.split('/');
  if (kind !== 'elicitation') return capabilities[kind] === undefined ? { [kind]: {} } : undefined;
  const mode = request.params.mode ?? 'form';
  const declared = capabilities.elicitation;
  // An empty declaration means forms alone.
  const modes = declared !== undefined && Object.keys(declared).length === 0 ? { form: {} } : declared;
  if (modes?.[mode] !== undefined) return undefined;
  return { elicitation: mode === 'form' ? {} : { [mode]: {} } };
}

/** Whether `answer` is what a client may answer to `request`. */
export function isAnswer(request, answer) {
  if (!isObject(answer)) return false;
  if (request.method === 'roots/list') return Array.isArray(answer.roots);
  if (request.method === 'sampling/createMessage')
    return typeof answer.role === 'string' && answer.content !== undefined;
  return ['accept', 'decline', 'cancel'].includes(answer.action);
}
