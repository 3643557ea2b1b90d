// What both eras share of Streamable HTTP.
import { createServer } from 'node:http';
import { CODES, RpcError, failure } from './rpc.mjs';

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];
const LIMIT = 4 * 1024 * 1024;

const isLocal = (host) => LOCAL.includes(host.replace(/:\d+$/, ''));

/** Whether a page of somebody else's could not have sent this (DNS rebinding). */
function isTrusted({ host = '', origin }) {
  return isLocal(host) && (origin === undefined || isLocal(origin.replace(/^https?:\/\//, '')));
}

export function sendJson(response, status, body, headers = {}) {
  response.writeHead(status, {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

export const openEvents = (response) =>
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });

/** The one JSON-RPC message of a POST. */
export async function readMessage(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > LIMIT) throw new RpcError(CODES.invalidRequest, 'The message is too large');
    chunks.push(chunk);
  }
  let message;
  try {
    message = JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new RpcError(-32700, 'The body is not JSON');
  }
  if (message?.jsonrpc !== '2.0')
    throw new RpcError(CODES.invalidRequest, 'The body is not one JSON-RPC message');
  return message;
}

/** Serves `endpoint(request, response)` on loopback at `/mcp`; resolves to its URL. */
export async function listen(endpoint, port) {
  const server = createServer(async (request, response) => {
    try {
      if (!isTrusted(request.headers))
        return sendJson(response, 403, failure(null, new Error('Wrong Host or Origin')));
      if (request.url !== '/mcp') return sendJson(response, 404);
      return await endpoint(request, response);
    } catch (error) {
      if (response.headersSent) return response.destroy();
      return sendJson(response, 400, failure(null, error));
    }
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return `http://127.0.0.1:${server.address().port}/mcp`;
}
