/**
 * One client over a pipe, in either era: a message is a line, requests that say who asks are of the newer one, `initialize`
 * opens a session of the older one, and the end of the input ends everything (MCP stdio).
 */
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { JsonLimitError, parseJson } from '../../mcp/json.ts';
import {
  INVALID_REQUEST,
  isObject,
  PARSE_ERROR,
  readMessage,
  type RequestId,
  TOO_MANY_REQUESTS,
} from '../../mcp/message.ts';
import { META } from '../../mcp/modern.ts';
import { LineReader, LineTooLongError } from '../../servers/line-reader.ts';
import type { Owner } from '../../servers/server.ts';
import type { Json, JsonObject } from '../../types.ts';
import type { Principal } from '../access/principal.ts';
import type { Endpoint } from './endpoint.ts';
import type { ModernDoor } from './modern.ts';
import { BATCH_MAX, BATCHES, LegacySession, RUNNING_MAX } from './sessions.ts';

/** What waits for a client that does not read. Bytes; beyond, it is taken to be gone. */
export const UNREAD_BYTES = 64 * 1024 * 1024;

export interface PipeOptions {
  endpoint: Endpoint;
  principal: Principal;
  modern: ModernDoor;
  input: Readable;
  output: Writable;
  /** Ends it as the end of the input does. */
  signal?: AbortSignal;
  /** Hears of the client's end, by each name that it had. */
  onGone?: (owner: Owner) => void;
  /** Faults of ours, for the log. */
  onFault?: (problem: string) => void;
  /** Bytes; default UNREAD_BYTES. */
  unread?: number;
}

/** Serves until the input ends. Requests that run then are canceled. */
export async function serveStdio(options: PipeOptions): Promise<void> {
  const { endpoint, principal, modern, input, output, signal, onGone, unread = UNREAD_BYTES } = options;
  const gone = new AbortController();
  const write = (json: string): void => {
    if (gone.signal.aborted) return;
    output.write(`${json}\n`);
    if (output.writableLength > unread) gone.abort();
  };
  const session = new LegacySession({
    id: randomUUID(),
    endpoint,
    principal,
    outlet: { send: write, answer: write, drop: () => undefined },
    ...(options.onFault && { onFault: options.onFault }),
  });
  const running = new Map<RequestId, AbortController>();

  const modernRequest = async (message: ReturnType<typeof readMessage> & { kind: 'request' }) => {
    const { id } = message;
    if (running.has(id))
      return write(errorText(id, INVALID_REQUEST, 'A request with this id is running already'));
    if (running.size >= RUNNING_MAX)
      return write(errorText(id, TOO_MANY_REQUESTS, `The limit is ${RUNNING_MAX} requests at a time`));
    const taken = new AbortController();
    running.set(id, taken);
    // What was taken back is not answered.
    const tell = (json: string): void => {
      if (!taken.signal.aborted) write(json);
    };
    const sink = { notify: tell, end: tell };
    await modern.handle({ message, endpoint, principal, sink, signal: taken.signal });
    running.delete(id);
    return undefined;
  };

  const take = (body: Json): void => {
    if (!isObject(body)) return write(errorText(null, INVALID_REQUEST, 'The line is not a JSON-RPC message'));
    const message = readMessage(body);
    if (message.kind === 'request' && isModern(message)) return void modernRequest(message);
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      const id = message.params['requestId'];
      const taken = typeof id === 'string' || typeof id === 'number' ? running.get(id) : undefined;
      if (taken !== undefined) return taken.abort();
    }
    return void session.receive(message);
  };

  const takeLine = (line: string): void => {
    let body;
    try {
      body = parseJson(line);
    } catch (error) {
      const problem = error instanceof JsonLimitError ? error.message : 'The line is not JSON';
      return write(errorText(null, PARSE_ERROR, problem));
    }
    if (!Array.isArray(body) || session.version !== BATCHES) return take(body);
    if (body.length === 0 || body.length > BATCH_MAX)
      return write(errorText(null, INVALID_REQUEST, `A batch has 1 to ${BATCH_MAX} messages`));
    for (const each of body) take(each);
  };

  const lines = new LineReader();
  await new Promise<void>((resolve) => {
    let isOver = false;
    const over = (): void => {
      isOver = true;
      input.off('data', read);
      resolve();
    };
    const read = (chunk: Buffer): void => {
      try {
        lines.push(chunk, (line) => {
          const text = line.toString('utf8').trim();
          if (text !== '' && !isOver) takeLine(text);
        });
      } catch (error) {
        if (!(error instanceof LineTooLongError)) throw error;
        write(errorText(null, INVALID_REQUEST, `The line is longer than is read: ${error.message}`));
        over();
      }
    };
    input.on('data', read);
    for (const event of ['end', 'close', 'error']) input.on(event, over);
    for (const event of ['close', 'error']) output.on(event, over);
    gone.signal.addEventListener('abort', over, { once: true });
    signal?.addEventListener('abort', over, { once: true });
    if (signal?.aborted === true) over();
  });
  session.close();
  for (const taken of running.values()) taken.abort();
  for (const client of [session.id, principal.id]) onGone?.({ principal: principal.id, client });
}

/** Those that only the newer era has are of it whatever they say: they are told what they lack. */
function isModern({ method, params: { _meta: meta } }: { method: string; params: JsonObject }): boolean {
  return (isObject(meta) && meta[META.version] !== undefined) || NEW.has(method);
}

const NEW = new Set(['server/discover', 'subscriptions/listen']);

const errorText = (id: RequestId | null, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
