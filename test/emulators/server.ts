/**
 * What the emulated model APIs have in common: an HTTP server on the loopback that is driven by a script, answers whole or
 * streamed, records what it was asked, and can fail in the ways that real APIs fail.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../../src/errors.ts';
import type { JsonObject } from '../../src/types.ts';
import type { McpCall } from './connector.ts';

/** What the emulated model answers to one request. */
export interface EmulatorTurn {
  text?: string;
  reasoning?: string;
  /** Arguments as text are sent as they are, broken or not. */
  calls?: { id?: string; name: string; arguments?: JsonObject | string }[];
  /** The API's own word. Default: what its content implies. */
  stop?: string;
  stopDetails?: JsonObject;
  /** What the API's own connector did: items before the text. */
  opening?: JsonObject[];
  /** Further items of the API's own, before the text and the calls. */
  items?: JsonObject[];
  /** Calls that the model makes through the API's own MCP connector. */
  mcp?: McpCall[];
  /** A server that cannot be listed is told in the answer, instead of refusing the request. */
  listErrors?: boolean;
  usage?: { input?: number; output?: number; cacheRead?: number };
  fault?: Fault;
}

/** `after` counts events that are sent before it happens. */
export type Fault =
  | { kind: 'status'; status: number; type?: string; message?: string; headers?: Record<string, string> }
  /** Instead of any answer: the connection is closed. */
  | { kind: 'hang-up' }
  /** The connection breaks in the middle. */
  | { kind: 'cut'; after: number }
  /** The stream ends as if it were whole. */
  | { kind: 'short'; after: number }
  | { kind: 'error-event'; after: number; type: string; message: string }
  | { kind: 'garbage'; after: number; data: string }
  /** Nothing more comes until the promise resolves; `onHeld` is called when it has come to that. */
  | { kind: 'hold'; after: number; until: Promise<void>; onHeld?: () => void };

/** A list is used up turn by turn, by accepted requests; a function makes the turn from the request's body. */
export type EmulatorScript = readonly EmulatorTurn[] | ((body: JsonObject, index: number) => EmulatorTurn);

export interface RecordedRequest {
  path: string;
  headers: IncomingMessage['headers'];
  body: JsonObject;
  /** The status it was answered with. */
  status: number;
  /** The message of a refusal. */
  refusal?: string;
}

export interface Emulator {
  /** Without a path. */
  readonly url: string;
  readonly key: string;
  /** Everything that was asked, refused requests too, in order. */
  readonly requests: RecordedRequest[];
  close(): Promise<void>;
}

/** The API says no. */
export class Refusal extends Error {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;

  constructor(
    status: number,
    type: string,
    message: string,
    details: { param?: string; code?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.type = type;
    this.param = details.param ?? null;
    this.code = details.code ?? null;
  }
}

export interface StreamEvent {
  event?: string;
  data: JsonObject | string;
}

export interface ApiRequest {
  path: string;
  headers: IncomingMessage['headers'];
  body: JsonObject;
}

export interface EmulatedApi {
  key: string;
  /** Bytes of a request body. */
  maxBody: number;
  /** Whether this path is the API's. */
  serves(method: string, path: string): boolean;
  /** @throws Refusal */
  authorize(headers: IncomingMessage['headers'], path: string): void;
  /** @throws Refusal */
  check(request: ApiRequest): void;
  streams(request: ApiRequest): boolean;
  /** Does what the API does on the network for this turn, and adds it to the turn's items. */
  connect?(turn: EmulatorTurn, request: ApiRequest, index: number): Promise<EmulatorTurn>;
  answer(
    turn: EmulatorTurn,
    request: ApiRequest,
    index: number,
  ): { whole: JsonObject; events: StreamEvent[] };
  errorBody(refusal: Refusal): JsonObject;
  errorEvent(type: string, message: string): StreamEvent;
  /** The type of error that a bare status has. */
  typeOfStatus(status: number): string;
  headers?: Record<string, string>;
}

export async function startEmulator(api: EmulatedApi, script: EmulatorScript): Promise<Emulator> {
  const requests: RecordedRequest[] = [];
  let accepted = 0;

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = incoming.url ?? '/';
    const record: RecordedRequest = { path, headers: incoming.headers, body: {}, status: 200 };
    requests.push(record);
    try {
      if (!api.serves(incoming.method ?? '', path.split('?')[0] ?? '')) {
        throw new Refusal(404, api.typeOfStatus(404), `Not found: ${incoming.method} ${path}`);
      }
      api.authorize(incoming.headers, path);
      record.body = parseBody(await readBody(incoming, api));
      const request = { path, headers: incoming.headers, body: record.body };
      api.check(request);
      const index = accepted++;
      const turn = typeof script === 'function' ? script(record.body, index) : script[index];
      if (turn === undefined)
        throw new Refusal(500, api.typeOfStatus(500), `The script has no turn ${index}`);
      const { fault } = turn;
      if (fault?.kind === 'hang-up') {
        record.status = 0;
        incoming.socket.destroy();
        return;
      }
      if (fault?.kind === 'status') {
        for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
        throw new Refusal(
          fault.status,
          fault.type ?? api.typeOfStatus(fault.status),
          fault.message ?? `Fault ${fault.status}`,
        );
      }
      // What the network does is not part of a script.
      const connected = (await api.connect?.(turn, request, index)) ?? turn;
      const { whole, events } = api.answer(connected, request, index);
      if (api.streams(request)) await stream(response, events, fault, api);
      else json(response, 200, whole, api);
    } catch (error) {
      const refusal =
        error instanceof Refusal ? error : new Refusal(500, api.typeOfStatus(500), messageOf(error));
      record.status = refusal.status;
      record.refusal = refusal.message;
      json(response, refusal.status, api.errorBody(refusal), api);
    }
  };

  const server = createServer((incoming, response) => {
    response.on('error', () => undefined); // the client left
    void handle(incoming, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: api.key,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(incoming: IncomingMessage, api: EmulatedApi): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes <= api.maxBody) chunks.push(chunk);
  }
  if (bytes > api.maxBody) throw new Refusal(413, api.typeOfStatus(413), 'Request exceeds the maximum size');
  return Buffer.concat(chunks).toString('utf8');
}

function parseBody(text: string): JsonObject {
  try {
    const body = JSON.parse(text) as unknown;
    if (isObject(body)) return body;
  } catch {
    // told below
  }
  throw new Refusal(400, 'invalid_request_error', 'The request body is not valid JSON');
}

function json(response: ServerResponse, status: number, body: JsonObject, api: EmulatedApi): void {
  response.writeHead(status, { 'content-type': 'application/json', ...api.headers });
  response.end(JSON.stringify(body));
}

async function stream(
  response: ServerResponse,
  events: StreamEvent[],
  fault: Fault | undefined,
  api: EmulatedApi,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...api.headers,
  });
  const at = fault !== undefined && 'after' in fault ? fault.after : -1;
  for (let index = 0; index <= events.length; index += 1) {
    if (index === at && (await interrupt(response, fault, api))) return;
    const event = events[index];
    if (event === undefined) break;
    await write(response, event, index);
    if (response.destroyed) return;
  }
  response.end();
}

/** @returns whether the stream is over. */
async function interrupt(
  response: ServerResponse,
  fault: Fault | undefined,
  api: EmulatedApi,
): Promise<boolean> {
  switch (fault?.kind) {
    case 'cut':
      response.flushHeaders();
      response.destroy();
      return true;
    case 'short':
      response.end();
      return true;
    case 'error-event':
      await write(response, api.errorEvent(fault.type, fault.message), 0);
      response.end();
      return true;
    case 'garbage':
      await write(response, { data: fault.data }, 0);
      return false;
    case 'hold': {
      response.flushHeaders();
      fault.onHeld?.();
      const left = new Promise<void>((resolve) => response.once('close', resolve));
      await Promise.race([fault.until, left]);
      return response.destroyed;
    }
    default:
      return false;
  }
}

/** One event in two writes with a turn of the event loop between them: readers must not count on whole events per chunk. */
async function write(response: ServerResponse, { event, data }: StreamEvent, index: number): Promise<void> {
  const text = `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
  const bytes = Buffer.from(text);
  const middle = (index * 7) % bytes.length;
  response.write(bytes.subarray(0, middle));
  await new Promise<void>((resolve) => setImmediate(resolve));
  response.write(bytes.subarray(middle));
}

/** Any value as text, for messages and keys. */
export function show(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Text in pieces of a fixed length, never one only where there can be two. */
export function pieces(text: string, length: number): string[] {
  const characters = Array.from(text);
  const list: string[] = [];
  for (let start = 0; start < characters.length; start += length)
    list.push(characters.slice(start, start + length).join(''));
  return list;
}

/** JSON with sorted members and without nulls, for digests: what a client may change without changing the meaning. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (name, member: unknown) => {
    if (name === 'cache_control') return undefined;
    if (!isObject(member)) return member;
    return Object.fromEntries(
      Object.entries(member)
        .filter(([, each]) => each !== null && each !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  });
}
