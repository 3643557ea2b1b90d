/** What the HTTP door itself answers: JSON, small, never kept by anyone on the way. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { INTERNAL_ERROR, INVALID_REQUEST, TOO_MANY_REQUESTS } from '../../mcp/message.ts';
import type { Json, JsonObject } from '../../types.ts';
import type { Refusal } from '../access/refusal.ts';

export function answerJson(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(bytes);
}

/** A JSON-RPC error that answers no request in particular, since none was read. */
export function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  data?: Json,
): void {
  const code = status === 429 ? TOO_MANY_REQUESTS : status >= 500 ? INTERNAL_ERROR : INVALID_REQUEST;
  const error = { code, message, ...(data !== undefined && { data }) };
  answerJson(response, status, { jsonrpc: '2.0', id: null, error }, headers);
}

export function refuseBy(response: ServerResponse, refusal: Refusal): void {
  const { status, message, challenge, retryAfter } = refusal;
  refuse(response, status, message, {
    ...(challenge !== undefined && { 'www-authenticate': challenge }),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  });
}

const CORS_HEADERS = new Set([
  'accept',
  'authorization',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
]);
const CORS_PREFIX = 'mcp-param-';

/** Tells the browser of a configured page that it may read the answer. */
export function allowPage({ headers }: IncomingMessage, response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'mcp-session-id, www-authenticate, retry-after');
  response.setHeader('vary', 'origin');
  const asked = headers['access-control-request-headers'];
  if (asked === undefined) return;
  const allowed = asked
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => CORS_HEADERS.has(name) || (name.startsWith(CORS_PREFIX) && /^[a-z0-9-]+$/.test(name)));
  response.setHeader('access-control-allow-headers', allowed.join(', '));
  response.setHeader('access-control-allow-methods', 'GET, POST, DELETE');
  response.setHeader('access-control-max-age', '600');
}
