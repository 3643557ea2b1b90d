import type { Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type ErrorCode, MidspanError, messageOf } from '../errors.ts';
import { BODY_BYTES, BODY_IDLE_MS, COMPRESSION_RATIO, ERROR_BODY_BYTES, REDIRECTS } from '../mcp/limits.ts';
import type { StopSignal } from './abort.ts';
import type { Sent } from './channel.ts';
import { decompressor, isBomb } from './decompression.ts';
import { HttpStatusError, networkFailure, shownUrl } from './http-error.ts';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Names in lower case. */
  headers: Record<string, string>;
  body?: string;
  /** Default: the URL of the client. */
  url?: URL;
  signal?: StopSignal | undefined;
}

export interface Answer extends Sent {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
}

/** Takes the decompressed body of a 2xx answer. What it throws ends the exchange with that error. */
export interface BodyReader {
  /** True for an event stream, which may be silent and lasts as long as its request. */
  readonly stream: boolean;
  data(chunk: Buffer): void;
  end(): void;
}

/** Chooses the reader by status and headers; through `exchange` it can end the exchange well. */
export type OpenReader = (
  answer: Answer,
  exchange: { finishWithin(milliseconds: number): void },
) => BodyReader;

export type MakeError = (code: ErrorCode, what: string, next?: string, cause?: unknown) => MidspanError;

export interface ExchangeContext {
  label: string;
  /** Where the request goes, when it names no URL of its own. */
  url: URL;
  /** Milliseconds for an answer that is not an event stream. */
  timeout: number;
  error: MakeError;
  /** Takes the secrets of the configuration and the request out of a text. */
  redact(text: string, request: HttpRequest): string;
  /** It is over. The lane can be used again when its answer was read to the end. */
  settled(exchange: Exchange, lane: Dispatcher | undefined, reusable: boolean): void;
}

/** One request and its answer, redirects within the origin included. All limits on an answer are enforced here. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly answer: Promise<Answer>;
  readonly #context: ExchangeContext;
  readonly #request: HttpRequest;
  readonly #open: OpenReader;
  readonly #started = performance.now();
  #resolve!: (answer: Answer) => void;
  #reject!: (error: MidspanError) => void;
  #settled = false;
  #url: URL;
  #redirects = 0;
  #redirect: URL | undefined;
  #lane: Dispatcher | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #answer: Answer | undefined;
  #reader: BodyReader | undefined;
  #decompressor: Transform | undefined;
  /** By when it must be over, on the clock of `performance.now()`. */
  #deadline: number;
  #finishing = false;
  #complete = false;
  #lastData = Infinity;
  #received = 0;
  #decoded = 0;

  constructor(context: ExchangeContext, request: HttpRequest, open: OpenReader) {
    this.#context = context;
    this.#request = request;
    this.#open = open;
    this.#url = request.url ?? context.url;
    this.#deadline = this.#started + context.timeout;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { signal } = request;
    signal?.addEventListener('abort', this.#onAbort);
    if (signal?.aborted) this.#onAbort();
  }

  get over(): boolean {
    return this.#settled;
  }

  /** Sends the request, once, on a lane that carries nothing else meanwhile. */
  start(lane: Dispatcher): void {
    this.#lane = lane;
    this.#dispatch(lane);
  }

  /** Ends it with an error; its socket is closed. */
  abort(reason: MidspanError): void {
    if (this.#settled) return;
    this.#settle(() => this.#reject(reason));
    if (!this.#complete) this.#controller?.abort(reason);
  }

  /** The reader has what it wants: the exchange may end by itself until then, and ends well in any case. */
  finishWithin(milliseconds: number): void {
    this.#finishing = true;
    this.#deadline = performance.now() + milliseconds;
  }

  /** Called now and then, so that no exchange needs timers of its own. */
  checkTime(now: number): void {
    const where = shownUrl(this.#url);
    if (now >= this.#deadline) {
      if (this.#finishing) this.#finish();
      else {
        const seconds = Math.round((now - this.#started) / 1000);
        this.abort(
          this.#context.error(
            'timeout',
            `${where} did not complete its answer in ${seconds} s`,
            TIMEOUT_ADVICE,
          ),
        );
      }
    } else if (now - this.#lastData >= BODY_IDLE_MS && this.#reader?.stream !== true) {
      this.abort(
        this.#context.error('timeout', `${where} fell silent in the middle of its answer`, TIMEOUT_ADVICE),
      );
    }
  }

  // What undici calls.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error('ended before it was sent'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    raw: NodeJS.Dict<string | string[]>,
  ): void {
    if (status < 200) return;
    const headers = plainHeaders(raw);
    this.#answer = { status, headers };
    this.#lastData = performance.now();
    this.#redirect = this.#redirectOf(status, headers);
    if (this.#redirect !== undefined) this.#reader = IGNORE_BODY;
    else if (status >= 300) this.#reader = this.#errorReader(this.#answer);
    else this.#reader = this.#open(this.#answer, this);
    if (this.#reader.stream) this.#deadline = Infinity;
    this.#decompressor = this.#decompression(headers['content-encoding']);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length;
    this.#lastData = performance.now();
    const decompressor = this.#decompressor;
    if (decompressor === undefined) {
      this.#data(chunk);
    } else if (!decompressor.write(chunk)) {
      controller.pause();
      decompressor.once('drain', () => controller.resume());
    }
  }

  onResponseEnd(): void {
    this.#complete = true;
    this.#lastData = Infinity; // decompressing what is here is not the server's silence
    if (this.#decompressor === undefined) this.#end();
    else this.#decompressor.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, cause: Error): void {
    if (this.#settled) return;
    if (cause instanceof MidspanError) {
      this.abort(cause);
      return;
    }
    const { code, what, next } = networkFailure(cause, this.#url, this.#controller !== undefined);
    this.abort(this.#context.error(code, what, next, cause));
  }

  readonly #onAbort = (): void => {
    this.abort(
      this.#context.error('cancelled', 'the request was cancelled', undefined, this.#request.signal?.reason),
    );
  };

  #dispatch(lane: Dispatcher): void {
    const { method, headers, body } = this.#request;
    lane.dispatch(
      {
        origin: this.#url.origin,
        path: this.#url.pathname + this.#url.search,
        method,
        headers,
        body: body ?? null,
      },
      this,
    );
  }

  #data(chunk: Buffer): void {
    const reader = this.#reader;
    if (reader === undefined || this.#settled) return;
    this.#decoded += chunk.length;
    if (!reader.stream && this.#decoded > BODY_BYTES) {
      throw this.#context.error(
        'limit',
        `${shownUrl(this.#url)} answered with more than ${BODY_BYTES} bytes`,
      );
    }
    reader.data(chunk);
  }

  #end(): void {
    if (this.#settled) return;
    if (this.#redirect !== undefined && this.#lane !== undefined) {
      this.#url = this.#redirect;
      this.#controller = undefined;
      this.#complete = false;
      this.#decompressor = undefined;
      this.#lastData = Infinity;
      this.#dispatch(this.#lane);
      return;
    }
    try {
      this.#reader?.end();
    } catch (error) {
      this.abort(this.#wrap(error));
      return;
    }
    this.#finish();
  }

  #finish(): void {
    const answer = this.#answer;
    if (this.#settled || answer === undefined) return;
    this.#settle(() => this.#resolve(answer));
    if (!this.#complete) this.#controller?.abort(new Error('finished'));
  }

  #settle(outcome: () => void): void {
    this.#settled = true;
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    this.#decompressor?.destroy();
    this.#context.settled(this, this.#lane, this.#complete);
    outcome();
  }

  #wrap(error: unknown): MidspanError {
    if (error instanceof MidspanError) return error;
    return this.#context.error(
      'internal',
      `an answer could not be handled: ${messageOf(error)}`,
      undefined,
      error,
    );
  }

  #redirectOf(status: number, headers: Record<string, string>): URL | undefined {
    const { location } = headers;
    if (location === undefined || !REDIRECT_STATUSES.has(status) || !URL.canParse(location, this.#url.href))
      return undefined;
    const target = new URL(location, this.#url);
    // A POST stays a POST with these two only.
    const kept = status === 307 || status === 308 || this.#request.method === 'GET';
    if (target.origin !== this.#url.origin || !kept || this.#redirects >= REDIRECTS) return undefined;
    this.#redirects += 1;
    return target;
  }

  /** Reads the start of an error answer, and fails with it. */
  #errorReader(answer: Answer): BodyReader {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const fail = (): never => {
      const { label } = this.#context;
      const body = this.#context.redact(
        Buffer.concat(chunks).toString('utf8', 0, ERROR_BODY_BYTES),
        this.#request,
      );
      const { location } = answer.headers;
      const next =
        location !== undefined && URL.canParse(location, this.#url.href)
          ? `It redirects to ${shownUrl(new URL(location, this.#url))}, which is not followed; configure that "url" if you trust it`
          : undefined;
      throw new HttpStatusError({
        label,
        url: shownUrl(this.#url),
        ...answer,
        body,
        ...(next === undefined ? {} : { next }),
      });
    };
    return {
      stream: false,
      data: (chunk) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes >= ERROR_BODY_BYTES) fail();
      },
      end: fail,
    };
  }

  #decompression(encoding: string | undefined): Transform | undefined {
    if (encoding === undefined || encoding === '' || encoding === 'identity') return undefined;
    const { error } = this.#context;
    const where = shownUrl(this.#url);
    const stream = decompressor(encoding);
    if (stream === undefined) {
      const name = JSON.stringify(encoding.slice(0, 50));
      throw error('protocol', `${where} answered with the content encoding ${name}, which was not offered`);
    }
    stream.on('data', (chunk: Buffer) => {
      try {
        this.#data(chunk);
        if (isBomb(this.#received, this.#decoded)) {
          const grows = `a body that grows more than ${COMPRESSION_RATIO} times when it is decompressed`;
          throw error('limit', `${where} answered with ${grows}`);
        }
      } catch (problem) {
        this.abort(this.#wrap(problem));
      }
    });
    stream.once('end', () => this.#end());
    stream.once('error', (cause) =>
      this.abort(error('protocol', `${where} answered with a damaged compressed body`, undefined, cause)),
    );
    return stream;
  }
}

const TIMEOUT_ADVICE = 'The request may have been carried out';
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/** For an answer that says nothing beyond its status. */
export const IGNORE_BODY: BodyReader = { stream: false, data() {}, end() {} };

function plainHeaders(raw: NodeJS.Dict<string | string[]>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in raw) {
    const value = raw[name];
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return headers;
}
