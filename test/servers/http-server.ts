/** A hand-written HTTP endpoint that lives in the test: it records what it gets and answers as the test says. */
import { createServer } from 'node:http';
import { afterEach } from 'vitest';
import type { IncomingHttpHeaders, Server as HttpServer, ServerResponse } from 'node:http';
import type { JsonObject } from '../../src/types.ts';

export interface Received {
  verb: string;
  headers: IncomingHttpHeaders;
  message: JsonObject & { method?: string; id?: number; params?: JsonObject };
}

export interface Answering {
  /** One JSON-RPC result or error as a JSON body. */
  json(answer: JsonObject, status?: number, headers?: Record<string, string>): void;
  plain(status: number, body?: string): void;
  /** Opens an event stream; returns how to send on it. */
  stream(headers?: Record<string, string>): (message: JsonObject) => void;
  response: ServerResponse;
}

export type Handler = (received: Received, answer: Answering) => void;

const running: HttpServer[] = [];

export async function endpoint(
  handler: Handler,
): Promise<{ url: string; received: Received[]; stop: () => void }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const message = (body === '' ? {} : JSON.parse(body)) as Received['message'];
      const one: Received = { verb: request.method!, headers: request.headers, message };
      received.push(one);
      const write = (status: number, headers: Record<string, string>, text: string): void => {
        response.writeHead(status, headers).end(text);
      };
      handler(one, {
        response,
        json: (answer, status = 200, headers = {}) =>
          write(
            status,
            { 'content-type': 'application/json', ...headers },
            JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }),
          ),
        plain: (status, text = '') => write(status, { 'content-type': 'text/plain' }, text),
        stream(headers = {}) {
          response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
          response.flushHeaders();
          return (event) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...event })}\n\n`);
        },
      });
    });
  });
  running.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}/mcp`, received, stop };
}

afterEach(() => {
  for (const server of running.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

export const TOOL = { name: 'echo', inputSchema: { type: 'object' } };

/** What a plain legacy server answers; undefined for what is none of its business. */
export function legacy(
  { verb, message }: Received,
  answer: Answering,
  headers: Record<string, string> = {},
): void {
  if (verb !== 'POST') return answer.plain(verb === 'DELETE' ? 200 : 405);
  switch (message.method) {
    case 'initialize':
      return answer.json(
        {
          result: {
            protocolVersion: message.params!.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: 'raw' },
          },
        },
        200,
        headers,
      );
    case 'tools/list':
      return answer.json({ result: { tools: [TOOL] } });
    case 'tools/call':
      return answer.json({
        result: { content: [{ type: 'text', text: JSON.stringify(message.params!.arguments) }] },
      });
    default:
      return message.id === undefined
        ? answer.plain(202)
        : answer.json({ error: { code: -32601, message: 'unknown method' } });
  }
}

/** What a plain modern server answers. */
export function modern(
  received: Received,
  answer: Answering,
  capabilities: JsonObject = { tools: {} },
): void {
  const { message, verb } = received;
  if (verb !== 'POST') return answer.plain(405);
  if (message.method === 'initialize') {
    return answer.json(
      { error: { code: -32022, message: 'unsupported', data: { supported: ['2026-07-28'] } } },
      400,
    );
  }
  if (message.method !== 'server/discover') return legacy(received, answer);
  return answer.json({
    result: {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities,
      ttlMs: 0,
      cacheScope: 'private',
    },
  });
}

/** The methods of all POSTs so far. */
export function methods(received: Received[]): string[] {
  return received.flatMap(({ verb, message }) => (verb === 'POST' ? [message.method ?? 'answer'] : []));
}
