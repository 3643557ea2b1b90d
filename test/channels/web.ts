import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Channel } from '../../src/servers/channel.ts';
import { httpChannel } from '../../src/servers/http.ts';
import { sseChannel } from '../../src/servers/sse.ts';
import { Recorder } from './support.ts';

export interface Request {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  json: { id?: number; method?: string } & Record<string, unknown>;
}
export type Respond = (request: Request, response: ServerResponse) => void;

/** An HTTP server that answers as a test says; it keeps the requests and the open sockets. */
export class Web {
  readonly requests: Request[] = [];
  readonly sockets = new Set<Socket>();
  readonly server: Server;

  constructor(respond: Respond) {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        const { method = '', url: path = '', headers } = request;
        const seen = { method, path, headers, body, json: body === '' ? {} : JSON.parse(body) };
        this.requests.push(seen);
        respond(seen, response);
      });
      response.on('error', () => {});
    });
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const running: { stop(): Promise<unknown> }[] = [];

export async function serve(respond: Respond): Promise<Web> {
  const web = new Web(respond);
  await new Promise<void>((resolve) => web.server.listen(0, '127.0.0.1', resolve));
  running.push(web);
  return web;
}

export async function connect(
  url: string,
  more: Record<string, unknown> = {},
  kind: 'http' | 'sse' = 'http',
) {
  const recorder = new Recorder();
  const options = { label: 'web', url, headers: {}, ...more };
  const channel: Channel = kind === 'http' ? httpChannel(options) : sseChannel(options);
  running.unshift({ stop: () => channel.close() });
  await channel.open(recorder);
  return { channel, recorder };
}

/** For afterEach: closes channels, then servers. */
export async function stopAll(): Promise<void> {
  for (const each of running.splice(0)) await each.stop();
}

export const call = (id: number, method = 'tools/call') => ({ jsonrpc: '2.0', id, method, params: {} });
export const result = (id: number, value: unknown = {}) => ({ jsonrpc: '2.0', id, result: value });
export const event = (message: unknown, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export function stream(response: ServerResponse, headers: Record<string, string> = {}): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  response.flushHeaders();
  return response;
}
