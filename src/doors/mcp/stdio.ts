/**
 * One client over a pipe, in either era: a message is a line, requests that say who asks are of the newer one, `initialize`
 * opens a session of the older one, and the end of the input ends everything (MCP stdio).
 */
import type { Readable, Writable } from 'node:stream';
import { JsonLimitError, parseJson } from '../../mcp/json.ts';
import { INVALID_REQUEST, isObject, PARSE_ERROR, readMessage, type RequestId } from '../../mcp/message.ts';
import { META } from '../../mcp/modern.ts';
import { LineReader, LineTooLongError } from '../../servers/line-reader.ts';
import type { JsonObject } from '../../types.ts';
import type { Principal } from '../access/principal.ts';
import type { Endpoint } from './endpoint.ts';
import type { ModernDoor } from './modern.ts';
import { LegacySession } from './sessions.ts';

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
}

/** Serves until the input ends. Requests that run then are canceled. */
export async function serveStdio(options: PipeOptions): Promise<void> {
  const { endpoint, principal, modern, input, output, signal } = options;
  const gone = new AbortController();
  const write = (json: string): void => {
    if (gone.signal.aborted) return;
    output.write(`${json}\n`);
    if (output.writableLength > UNREAD_BYTES) gone.abort();
  };
  const session = new LegacySession({
    id: 'stdio',
    endpoint,
    principal,
    outlet: { send: write, answer: write, drop: () => undefined },
  });
  const running = new Map<RequestId, AbortController>();

  const modernRequest = async (message: ReturnType<typeof readMessage> & { kind: 'request' }) => {
    const { id } = message;
    if (running.has(id))
      return write(errorText(id, INVALID_REQUEST, 'A request with this id is running already'));
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

  const take = (line: string): void => {
    let body;
    try {
      body = parseJson(line);
    } catch (error) {
      const problem = error instanceof JsonLimitError ? error.message : 'The line is not JSON';
      return write(errorText(null, PARSE_ERROR, problem));
    }
    if (!isObject(body)) return write(errorText(null, INVALID_REQUEST, 'The line is not a JSON-RPC message'));
    const message = readMessage(body);
    if (message.kind === 'request' && isModern(message.params)) return void modernRequest(message);
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      const id = message.params['requestId'];
      if (typeof id === 'string' || typeof id === 'number') running.get(id)?.abort();
    }
    return void session.receive(message);
  };

  const lines = new LineReader();
  await new Promise<void>((resolve) => {
    const over = (): void => {
      input.off('data', read);
      resolve();
    };
    const read = (chunk: Buffer): void => {
      try {
        lines.push(chunk, (line) => {
          const text = line.toString('utf8').trim();
          if (text !== '') take(text);
        });
      } catch (error) {
        if (!(error instanceof LineTooLongError)) throw error;
        write(errorText(null, INVALID_REQUEST, `The line is longer than is read: ${error.message}`));
        over();
      }
    };
    input.on('data', read);
    for (const event of ['end', 'close', 'error']) input.once(event, over);
    output.once('error', over);
    output.once('close', over);
    gone.signal.addEventListener('abort', over, { once: true });
    signal?.addEventListener('abort', over, { once: true });
    if (signal?.aborted === true) over();
  });
  session.close();
  for (const taken of running.values()) taken.abort();
}

function isModern({ _meta: meta }: JsonObject): boolean {
  return isObject(meta) && meta[META.version] !== undefined;
}

const errorText = (id: RequestId | null, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
