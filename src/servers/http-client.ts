/**
 * HTTP exchanges with the origin of one server, on undici's dispatchers. No web streams, and no
 * AbortSignal that requests share: one would gather a listener per request.
 */
import type { Dispatcher } from 'undici';
import { type ErrorCode, MidspanError, messageOf } from '../errors.ts';
import { CONNECT_MS, CONNECTIONS, EXCHANGE_MS, HEADER_BYTES, SWEEP_MS } from '../mcp/limits.ts';
import {
  type Answer,
  Exchange,
  type ExchangeContext,
  type HttpRequest,
  type OpenReader,
} from './exchange.ts';
import type { StopSignal } from './abort.ts';
import { shownUrl } from './http-error.ts';
import { messagesIn } from './messages.ts';
import { redactor, redactorOf, valuesNamedSecret } from './secrets.ts';
import type { JsonObject } from '../types.ts';

export interface HttpClientOptions {
  label: string;
  url: string;
  /** Sent with every request. */
  headers: Readonly<Record<string, string>>;
  /** Milliseconds for a whole answer that is not an event stream. */
  exchangeTimeout?: number;
  /** Our own environment, of which the proxy variables are used. Default `process.env`. */
  environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Each exchange has a lane to itself, one undici client with one socket at most. A lane whose exchange was cut off is
 * thrown away: undici's pool would connect it again at once.
 */
export class HttpClient {
  readonly url: URL;
  readonly #label: string;
  readonly #headers: Record<string, string> = {};
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #active = new Set<{ abort(reason: MidspanError): void; checkTime?(now: number): void }>();
  readonly #context: ExchangeContext;
  #createLane: (() => Dispatcher) | undefined;
  readonly #lanes = new Set<Dispatcher>();
  readonly #idle: Dispatcher[] = [];
  readonly #waiting: Exchange[] = [];
  #sweep: NodeJS.Timeout | undefined;
  #closed = false;

  /** @throws MidspanError `config` when the URL is none */
  constructor({ label, url, headers, exchangeTimeout, environment }: HttpClientOptions) {
    this.#label = label;
    this.#environment = environment ?? process.env;
    if (!/^https?:/i.test(url) || !URL.canParse(url)) {
      throw this.error('config', 'its "url" is no http or https URL', 'Correct it');
    }
    this.url = new URL(url);
    const { username, password } = this.url;
    if (username !== '' || password !== '') {
      const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
      this.#headers['authorization'] = `Basic ${login.toString('base64')}`;
    }
    for (const [name, value] of Object.entries(headers)) this.#headers[name.toLowerCase()] = value;
    const redact = redactorOf({ type: 'http', url, headers: this.#headers });
    this.#context = {
      label,
      url: this.url,
      timeout: exchangeTimeout ?? EXCHANGE_MS,
      error: this.error,
      redact: (text, { headers: sent }) => redactor(valuesNamedSecret(sent))(redact(text)),
      settled: this.#settled,
    };
  }

  /** Loads undici; no traffic yet. */
  async open(): Promise<void> {
    const { Client, EnvHttpProxyAgent } = await import('undici');
    const options = {
      connect: { timeout: CONNECT_MS },
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: 0, // exchanges watch the time: they know a body from an event stream
      bodyTimeout: 0,
    };
    const proxies = this.#proxies();
    this.#createLane = () =>
      proxies === undefined
        ? new Client(this.url.origin, options)
        : new EnvHttpProxyAgent({ ...options, ...proxies });
  }

  /**
   * Resolves with the answer when its body has ended and was read.
   * @throws HttpStatusError for a status other than 2xx; MidspanError `unreachable` when nothing was sent, `closed` when
   * the exchange broke, `cancelled`, `timeout`, `limit`, `protocol`
   */
  exchange(request: HttpRequest, open: OpenReader): Promise<Answer> {
    if (this.#createLane === undefined || this.#closed) {
      return Promise.reject(this.error('closed', 'the connection is closed'));
    }
    request.headers = Object.assign({}, this.#headers, request.headers);
    const exchange = new Exchange(this.#context, request, open);
    if (exchange.over) return exchange.answer;
    this.#active.add(exchange);
    this.#sweep ??= setInterval(this.#checkTimes, SWEEP_MS).unref();
    this.#waiting.push(exchange);
    this.#startWaiting();
    return exchange.answer;
  }

  /** Waits. The signal and `close` end the wait with an error. */
  pause(milliseconds: number, signal: StopSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (reason?: MidspanError) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#active.delete(waiting);
        if (reason === undefined) resolve();
        else reject(reason);
      };
      const waiting = { abort: settle };
      const onAbort = () =>
        settle(this.error('cancelled', 'the request was cancelled', undefined, signal?.reason));
      const timer = setTimeout(settle, milliseconds);
      this.#active.add(waiting);
      signal?.addEventListener('abort', onAbort);
      if (signal?.aborted) onAbort();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweep);
    const reason = this.error('closed', 'the connection was closed');
    for (const active of this.#active) active.abort(reason);
    await Promise.all([...this.#lanes].map(destroy));
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0 && !this.#closed) {
      const lane = this.#idle.shift() ?? this.#newLane();
      if (lane === undefined) return;
      this.#waiting.shift()?.start(lane);
    }
  }

  #newLane(): Dispatcher | undefined {
    if (this.#lanes.size >= CONNECTIONS) return undefined;
    const lane = this.#createLane?.();
    if (lane !== undefined) this.#lanes.add(lane);
    return lane;
  }

  readonly #settled = (exchange: Exchange, lane: Dispatcher | undefined, reusable: boolean): void => {
    this.#active.delete(exchange);
    if (lane === undefined) {
      const position = this.#waiting.indexOf(exchange);
      if (position !== -1) this.#waiting.splice(position, 1);
      return;
    }
    if (reusable) this.#idle.push(lane);
    else {
      this.#lanes.delete(lane);
      // Not in the middle of what undici does with it just now.
      queueMicrotask(() => void destroy(lane));
    }
    this.#startWaiting();
  };

  readonly error = (code: ErrorCode, what: string, next?: string, cause?: unknown): MidspanError =>
    new MidspanError({
      code,
      what,
      label: this.#label,
      ...(next === undefined ? {} : { next }),
      ...(cause === undefined ? {} : { cause }),
    });

  /** The messages in a text of the server. @throws MidspanError `limit` */
  messages(text: string): (JsonObject | undefined)[] {
    try {
      return messagesIn(text);
    } catch (cause) {
      throw this.error('limit', `it sent ${messageOf(cause)}`, undefined, cause);
    }
  }

  /** The error for a 2xx answer that is neither JSON nor an event stream. */
  unexpected(answer: Answer): MidspanError {
    const type = answer.headers['content-type'];
    const what = type === undefined ? 'something without a content type' : JSON.stringify(type.slice(0, 100));
    return this.error(
      'protocol',
      `${shownUrl(this.url)} answered with ${what}, not with JSON or an event stream`,
      'Check that its "url" is the MCP endpoint',
    );
  }

  readonly #checkTimes = (): void => {
    if (this.#active.size === 0) {
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }
    const now = performance.now();
    for (const active of this.#active) active.checkTime?.(now);
  };

  /** The proxies of the environment, when there is one for this URL. This machine is reached without. */
  #proxies(): { httpProxy: string; httpsProxy: string; noProxy: string } | undefined {
    const variable = (name: string) => this.#environment[name] ?? this.#environment[name.toUpperCase()] ?? '';
    const httpProxy = variable('http_proxy');
    const httpsProxy = variable('https_proxy');
    if ((this.url.protocol === 'https:' ? httpsProxy : httpProxy) === '') return undefined;
    if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(this.url.hostname)) return undefined;
    return { httpProxy, httpsProxy, noProxy: variable('no_proxy') };
  }
}

function destroy(lane: Dispatcher): Promise<void> {
  return lane.destroy().catch(() => {});
}

/** The media type of an answer, in lower case and without parameters. */
export function contentType({ headers }: Answer): string | undefined {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
}

/** The headers that a caller gave, in lower case, and ours, which win. */
export function withHeaders(
  given: Record<string, string> | undefined,
  ours: Record<string, string>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in given) headers[name.toLowerCase()] = given[name] ?? '';
  return Object.assign(headers, ours);
}
