// Streamable HTTP of 2026-07-28: one POST per request, mirrored in headers; a closed stream cancels.
import { openEvents, readMessage, sendJson } from './http.mjs';
import { createModern, checkMeta } from './modern.mjs';
import { CODES, RpcError, failure } from './rpc.mjs';

const STATUS = {
  [CODES.methodNotFound]: 404,
  [CODES.headerMismatch]: 400,
  [CODES.missingCapability]: 400,
  [CODES.unsupportedVersion]: 400,
};

const NAMED_BY = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decode(value) {
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value;
  const encoded = value.slice('=?base64?'.length, -'?='.length);
  if (!BASE64.test(encoded)) throw new RpcError(CODES.headerMismatch, 'A header is not valid Base64');
  return Buffer.from(encoded, 'base64').toString();
}

/** Every header says what the body says. */
function checkHeaders(headers, { method, params }, features) {
  const expect = (header, value) => {
    const given = headers[header.toLowerCase()];
    const isRight =
      value === undefined || value === null
        ? given === undefined
        : given !== undefined && decode(given) === String(value);
    if (!isRight) throw new RpcError(CODES.headerMismatch, `${header} does not say what the body says`);
  };
  expect('MCP-Protocol-Version', params._meta['io.modelcontextprotocol/protocolVersion']);
  expect('Mcp-Method', method);
  if (NAMED_BY[method] !== undefined) expect('Mcp-Name', params[NAMED_BY[method]]);
  if (method !== 'tools/call') return;
  const tool = features.list('tools').find(({ definition }) => definition.name === params.name);
  for (const [name, schema] of Object.entries(tool?.definition.inputSchema.properties ?? {})) {
    if (schema['x-mcp-header'] !== undefined)
      expect(`Mcp-Param-${schema['x-mcp-header']}`, params.arguments?.[name]);
  }
}

export function createModernHttp(features) {
  const modern = createModern(features);
  return async (request, response) => {
    if (request.method !== 'POST') return sendJson(response, 405, undefined, { allow: 'POST' });
    const message = await readMessage(request);
    if (message.id === undefined) return sendJson(response, 202);
    try {
      checkMeta(message);
      checkHeaders(request.headers, message, features);
    } catch (error) {
      return sendJson(response, 400, failure(message.id, error));
    }

    const controller = new AbortController();
    response.on('close', () => controller.abort());
    const write = (sent) => response.write(`data: ${JSON.stringify(sent)}\n\n`);
    const notify = (notification) => {
      if (!response.headersSent) openEvents(response);
      write(notification);
    };
    const answer = await modern.handle(message, { notify, signal: controller.signal });
    if (answer === undefined) return response.end();
    // Without anything before it, the answer is plain JSON, and its status can still say what it is.
    if (!response.headersSent) return sendJson(response, STATUS[answer.error?.code] ?? 200, answer);
    write(answer);
    return response.end();
  };
}
