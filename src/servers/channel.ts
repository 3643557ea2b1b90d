/**
 * A channel carries JSON-RPC messages to and from one server. It knows bytes, processes and sockets, and enforces the
 * limits on them; it knows nothing of eras, methods or retries.
 */
import type { MidspanError } from '../errors.ts';
import type { JsonObject } from '../types.ts';
import type { StopSignal } from './abort.ts';

export interface ChannelHandlers {
  /**
   * One parsed JSON object from the server. `origin` is the id of our request on whose own stream it came (HTTP);
   * undefined on a shared stream (stdio, a GET stream, HTTP+SSE). `text` is the whole frame, which may be a batch.
   */
  message(message: JsonObject, origin: string | number | undefined, text: string): void;
  /** Not a message: noise on stdout, an unreadable frame. Bounded text. */
  noise(text: string): void;
  /** The channel ended by itself. Never called after close(). The error carries exit code and stderr tail where there are any. */
  closed(reason: MidspanError): void;
}

export interface SendOptions {
  /** HTTP only; stdio ignores it. */
  headers?: Record<string, string>;
  /** Ends this exchange: HTTP closes its response stream, stdio does nothing. */
  signal?: StopSignal;
  /** HTTP only: pick a broken response stream up again by GET with Last-Event-ID (legacy revisions only). */
  resumable?: boolean;
  /** HTTP only: called with status and headers of a 2xx response, before any of its messages is delivered. */
  started?: (sent: Sent) => void;
}

export interface Sent {
  /** HTTP status, when there is one. */
  status?: number;
  headers?: Record<string, string>;
  /** Milliseconds that an event stream asked to wait before it is opened again. */
  retry?: number;
}

export interface Channel {
  readonly kind: 'stdio' | 'http' | 'sse';
  /** True when each request has a stream of its own, whose end without an answer means the answer is lost. */
  readonly perRequestStream: boolean;
  /** Starts the process or prepares the connection. Rejects with `unreachable`. */
  open(handlers: ChannelHandlers, signal?: AbortSignal): Promise<void>;
  /**
   * stdio: resolves when the line is queued, in order. HTTP: resolves when the response has ended and all of its messages
   * were delivered. Rejects with HttpStatusError for a status other than 2xx, `unreachable` when nothing was sent,
   * `closed` when the exchange broke after it was sent.
   */
  send(message: JsonObject, options?: SendOptions): Promise<Sent>;
  /** HTTP only: opens the long GET stream of the legacy revisions; resolves when it ends. */
  listen?(options?: SendOptions): Promise<Sent>;
  /** HTTP only: ends a legacy session by DELETE; never rejects. */
  endSession?(headers: Record<string, string>): Promise<void>;
  /** The last of the server's stderr, safe for a terminal; empty when there is none. */
  stderrTail(): string;
  /** Everything is gone when this resolves: sockets, and the whole process tree. Never rejects. */
  close(): Promise<void>;
}
