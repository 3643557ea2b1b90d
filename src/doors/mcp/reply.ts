/**
 * The answer to one POST: one JSON body where nothing must be said before it, else an event stream that ends with it. Whoever
 * writes gives JSON text; what is written after the client has gone is dropped.
 */
import type { ServerResponse } from 'node:http';

/** Comment lines keep proxies from closing a silent stream. Milliseconds. */
export const KEEP_ALIVE = 20_000;
/** A client that does not read is cut off when this much waits for it. Bytes. */
export const UNREAD_BYTES = 16 * 1024 * 1024;

export class Reply {
  readonly #response: ServerResponse;
  #timer: NodeJS.Timeout | undefined;
  #isStream = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** False once it was ended or the client has gone. */
  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  get isStream(): boolean {
    return this.#isStream;
  }

  /** A header of the answer, before anything was written. */
  header(name: string, value: string): void {
    if (!this.#response.headersSent) this.#response.setHeader(name, value);
  }

  /** Makes it an event stream. */
  stream(): void {
    if (this.#isStream || !this.isOpen) return;
    this.#isStream = true;
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    this.#response.flushHeaders();
    this.#timer = setInterval(() => this.#write(':\n\n'), KEEP_ALIVE);
    this.#timer.unref();
    this.#response.once('close', () => clearInterval(this.#timer));
  }

  /** One message before the answer. @param id for resumption, legacy revisions only. */
  event(json: string, id?: string): void {
    this.stream();
    this.#write(`${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${json}\n\n`);
  }

  /** A raw event-stream field block, such as `retry: 500`. */
  field(text: string): void {
    this.stream();
    this.#write(`${text}\n\n`);
  }

  /** The answer itself; ends it. */
  end(json: string, { status = 200, id }: { status?: number; id?: string } = {}): void {
    if (!this.isOpen) return;
    if (this.#isStream) {
      this.event(json, id);
      return this.close();
    }
    const body = Buffer.from(json);
    this.#response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
    this.#response.end(body);
  }

  /** Ends it with a status and no body, or ends a stream as it is. */
  close(status = 202): void {
    clearInterval(this.#timer);
    if (!this.isOpen) return;
    if (!this.#isStream) this.#response.writeHead(status, { 'content-length': 0 });
    this.#response.end();
  }

  #write(text: string): void {
    if (!this.isOpen) return;
    if (this.#response.writableLength > UNREAD_BYTES) this.#response.destroy();
    else this.#response.write(text);
  }
}
