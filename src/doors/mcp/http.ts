/** MCP over HTTP: one endpoint for both eras. Which one a request is of it says itself (MCP Streamable HTTP, both revisions). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { INVALID_REQUEST, PARSE_ERROR, isObject, readMessage } from '../../mcp/message.ts';
import { JsonLimitError, parseJson } from '../../mcp/json.ts';
import { META } from '../../mcp/modern.ts';
import { latestVersion } from '../../mcp/versions.ts';
import type { Owner } from '../../servers/server.ts';
import type { Json, JsonObject } from '../../types.ts';
import { refuse } from '../http/answers.ts';
import type { Carrier, Incoming } from '../http/door.ts';
import { type LegacyDoor, legacyDoor, type SessionLimits } from './legacy.ts';
import { type ModernDoor, modernDoor, type Sink } from './modern.ts';
import { Parks, type ParksOptions } from './parks.ts';
import { Reply } from './reply.ts';
import type { Seal } from './seal.ts';

export interface McpDoor {
  readonly carry: Carrier;
  /** What a pipe uses as well. */
  readonly modern: ModernDoor;
  /** Takes no more sessions, ends streams in good order, gives up what waits for clients. */
  drain(): void;
  close(): void;
}

export interface McpDoorOptions {
  seal: Seal;
  /** How calls wait for their clients. */
  parks?: ParksOptions;
  /** How many sessions there are, and how long. */
  sessions?: SessionLimits;
  /** Hears of each session that has ended. */
  onGone?: (owner: Owner) => void;
  /** Faults of ours, for the log: clients are told that there was one. */
  onFault?: (problem: string) => void;
}

/** A client of the newer era that has heard nothing for so long is answered on a stream, which is kept open. Milliseconds. */
export const SILENT_FOR = 15_000;

export function mcpDoor({ seal, parks, sessions, onGone, onFault }: McpDoorOptions): McpDoor {
  const modern = modernDoor({ seal, parks: new Parks(parks), ...(onFault && { onFault }) });
  const legacy = legacyDoor({ ...sessions, ...(onGone && { onGone }), ...(onFault && { onFault }) });
  let isDraining = false;
  return {
    modern,
    async carry(incoming) {
      const { request, response } = incoming;
      if (request.method === 'POST') return post(incoming, modern, legacy, isDraining);
      if (request.method === 'GET') return legacy.get(incoming);
      if (request.method === 'DELETE') return legacy.delete(incoming);
      return refuse(response, 405, `${request.method} is not answered here`, { allow: 'GET, POST, DELETE' });
    },
    drain() {
      isDraining = true;
      modern.drain();
      legacy.drain();
    },
    close() {
      legacy.close();
    },
  };
}

async function post(
  incoming: Incoming,
  modern: ModernDoor,
  legacy: LegacyDoor,
  isDraining: boolean,
): Promise<void> {
  const { request, response } = incoming;
  if (!isJson(request)) return refuse(response, 415, 'The body must be application/json');
  if (!takesBoth(request))
    return refuse(response, 406, 'Accept must name application/json and text/event-stream');
  const body = bodyOf(incoming.body, response);
  if (body === undefined) return undefined;
  // Answers and word of what is taken back still belong to what runs.
  if (isDraining && (Array.isArray(body) || (isObject(body) && body['method'] !== undefined && 'id' in body)))
    return refuse(response, 503, 'The gateway is ending', { 'retry-after': '5', connection: 'close' });
  if (Array.isArray(body)) return legacy.post(incoming, body);
  if (!isObject(body)) return refuse(response, 400, 'The body is not a JSON-RPC message');
  if (!isModern(body, request)) return legacy.post(incoming, body);
  const message = readMessage(body);
  if (message.kind === 'request') return modernRequest(incoming, message, modern);
  // What a client tells without a request of its own is nothing that we need.
  if (message.kind === 'notification') return void response.writeHead(202, { 'content-length': 0 }).end();
  const problem = message.kind === 'malformed' ? message.problem : 'a client does not answer requests here';
  return answerError(response, 400, message.kind === 'malformed' ? message.asked : undefined, problem);
}

function modernRequest(
  { endpoint, principal, request, response }: Incoming,
  message: Parameters<ModernDoor['handle']>[0]['message'],
  modern: ModernDoor,
): Promise<void> {
  const reply = new Reply(response);
  const left = new AbortController();
  let isAnswered = false;
  const silent = setTimeout(() => reply.stream(), SILENT_FOR).unref();
  const sink: Sink = {
    notify: (json) => reply.event(json),
    end(json, status) {
      isAnswered = true;
      clearTimeout(silent);
      reply.end(json, { status });
    },
  };
  // Closing the response is how clients of this era take a request back.
  response.once('close', () => {
    clearTimeout(silent);
    if (!isAnswered) left.abort();
  });
  return modern.handle({
    message,
    endpoint,
    principal,
    headers: request.headers,
    sink,
    signal: left.signal,
  });
}

/** By what the body says of itself, or its header; `initialize` opens the older era. */
function isModern(body: JsonObject, { headers }: IncomingMessage): boolean {
  const params = isObject(body['params']) ? body['params'] : {};
  const meta = params['_meta'];
  if (isObject(meta) && meta[META.version] !== undefined) return true;
  if (body['method'] === 'initialize') return false;
  const version = headers['mcp-protocol-version'];
  return typeof version === 'string' && version >= MODERN_SINCE && /^\d{4}-\d\d-\d\d/.test(version);
}

/** Any revision after the last one with a handshake. */
const MODERN_SINCE = `${latestVersion('legacy')}~`;

function isJson({ headers }: IncomingMessage): boolean {
  return /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');
}

function takesBoth({ headers: { accept } }: IncomingMessage): boolean {
  if (accept === undefined || accept.includes('*/*')) return true;
  return /application\/(json|\*)/i.test(accept) && /text\/(event-stream|\*)/i.test(accept);
}

/** Undefined where an answer was given. */
function bodyOf(bytes: Buffer, response: ServerResponse): Json | undefined {
  try {
    return parseJson(bytes.toString('utf8'));
  } catch (error) {
    const problem = error instanceof JsonLimitError ? error.message : 'The body is not JSON';
    answerError(response, 400, undefined, problem, PARSE_ERROR);
    return undefined;
  }
}

export function answerError(
  response: ServerResponse,
  status: number,
  id: string | number | undefined,
  message: string,
  code = INVALID_REQUEST,
): void {
  const text = JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } });
  new Reply(response).end(text, { status });
}
