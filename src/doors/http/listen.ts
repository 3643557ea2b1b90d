/** The HTTP server itself: where it listens, what it bears, how it ends. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { MidspanError } from '../../errors.ts';
import { bracketed } from './hosts.ts';

/** Connections at a time; more are closed at once. */
export const CONNECTIONS_MAX = 4_096;
/** Milliseconds to send all headers, and the whole request. */
export const HEADERS_WITHIN = 10_000;
export const REQUEST_WITHIN = 60_000;
/** How often slow ones are looked for. Milliseconds. */
const LOOKED_AFTER = 5_000;
/** Longer than what proxies and clients keep. Milliseconds. */
const KEPT_ALIVE = 75_000;
const HEADERS_MAX = 32 * 1024;
/** What is answered must have left within this time once all ends, looked for this often. Milliseconds. */
const FLUSHED_WITHIN = 500;
const IDLE_LOOKED = 10;

export interface Listening {
  /** Such as `http://127.0.0.1:7717`. */
  readonly origin: string;
  /** Takes no more connections; those that wait for nothing are closed, and each other one after its answer. */
  stop(): void;
  /** Ends whatever is left. Resolves when all is closed. */
  end(): Promise<void>;
}

export interface ListenOptions {
  host: string;
  /** 0: any free one. */
  port: number;
  listener: RequestListener;
  headersWithin?: number;
  requestWithin?: number;
  connectionsMax?: number;
}

/** @throws MidspanError `usage` when the address cannot be had. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { host, port, headersWithin = HEADERS_WITHIN, requestWithin = REQUEST_WITHIN } = options;
  let isStopping = false;
  const server = createServer(
    {
      headersTimeout: headersWithin,
      requestTimeout: requestWithin,
      connectionsCheckingInterval: Math.min(LOOKED_AFTER, headersWithin),
      keepAliveTimeout: KEPT_ALIVE,
      maxHeaderSize: HEADERS_MAX,
    },
    (request, response) => {
      if (isStopping) response.setHeader('connection', 'close');
      options.listener(request, response);
    },
  );
  server.maxConnections = options.connectionsMax ?? CONNECTIONS_MAX;
  server.on('clientError', refuseBroken);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(notListening(error, host, port)));
    server.listen({ host: host.replace(/^\[|\]$/g, ''), port }, resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  const closed = new Promise<void>((resolve) => void server.once('close', resolve));
  return {
    origin: `http://${bracketed(host)}:${actual}`,
    stop() {
      isStopping = true;
      server.close();
      server.closeIdleConnections();
    },
    async end() {
      isStopping = true;
      server.close();
      // What was answered just now is still on its way.
      const idle = setInterval(() => server.closeIdleConnections(), IDLE_LOOKED);
      const rest = setTimeout(() => server.closeAllConnections(), FLUSHED_WITHIN);
      server.closeIdleConnections();
      await closed;
      clearInterval(idle);
      clearTimeout(rest);
    },
  };
}

/** What is no HTTP, too slow, or too large in its head. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Duplex): void {
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

const PROBLEMS: Readonly<Record<string, (host: string, port: number) => [what: string, next: string]>> = {
  EADDRINUSE: (host, port) => [
    `port ${port} of ${host} is taken`,
    'End what listens there, or choose another: --port <port>, 0 for any',
  ],
  EACCES: (_host, port) => [`port ${port} needs more rights than we have`, 'Choose one above 1023'],
  EADDRNOTAVAIL: (host) => [`this machine has no address ${host}`, 'Give one that it has: --host <address>'],
  ENOTFOUND: (host) => [`${host} is no address and no name that is known`, 'Check --host'],
  EAI_AGAIN: (host) => [`${host} is no address, and no name that can be looked up now`, 'Check --host'],
};

function notListening(error: NodeJS.ErrnoException, host: string, port: number): MidspanError {
  const [what, next] = PROBLEMS[error.code ?? '']?.(host, port) ?? [error.message, 'Check --host and --port'];
  return new MidspanError({ code: 'usage', what: `cannot listen: ${what}`, next, cause: error });
}
