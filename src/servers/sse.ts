/**
 * The HTTP+SSE transport of revision 2024-11-05: one event stream carries everything that the server says; its first event
 * names the URL to which messages are POSTed.
 */
import { MidspanError, messageOf } from '../errors.ts';
import { ENDPOINT_MS } from '../mcp/limits.ts';
import type { JsonObject } from '../types.ts';
import type { Channel, ChannelHandlers, SendOptions, Sent } from './channel.ts';
import { eventStream } from './event-stream.ts';
import { IGNORE_BODY } from './exchange.ts';
import { contentType, HttpClient, type HttpClientOptions, withHeaders } from './http-client.ts';
import { shownUrl } from './http-error.ts';
import { noiseOf } from './printable.ts';

/**
 * A channel to a server that speaks HTTP+SSE.
 * @throws MidspanError `config` when the URL is none
 */
export function sseChannel(options: HttpClientOptions): Channel {
  return new SseChannel(options);
}

class SseChannel implements Channel {
  readonly kind = 'sse';
  readonly perRequestStream = false;
  readonly #client: HttpClient;
  #handlers: ChannelHandlers | undefined;
  #endpoint: URL | undefined;

  constructor(options: HttpClientOptions) {
    this.#client = new HttpClient(options);
  }

  async open(handlers: ChannelHandlers, signal?: AbortSignal): Promise<void> {
    await this.#client.open();
    this.#handlers = handlers;
    try {
      await this.#openStream(signal);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async send(message: JsonObject, options: SendOptions = {}): Promise<Sent> {
    if (this.#endpoint === undefined) throw this.#client.error('closed', 'the event stream is not open');
    return await this.#client.exchange(
      {
        method: 'POST',
        url: this.#endpoint,
        headers: withHeaders(options.headers, { 'content-type': 'application/json' }),
        body: JSON.stringify(message),
        signal: options.signal,
      },
      (answer) => {
        options.started?.(answer);
        return IGNORE_BODY; // the answer comes on the event stream
      },
    );
  }

  stderrTail(): string {
    return '';
  }

  async close(): Promise<void> {
    this.#handlers = undefined;
    await this.#client.close();
  }

  /** Resolves when the stream has named its endpoint; from then on its end is the end of the channel. */
  #openStream(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const where = shownUrl(this.#client.url);
      const stop = new AbortController();
      const giveUp = (error: MidspanError) => {
        reject(error);
        stop.abort(error);
      };
      const timer = setTimeout(
        () =>
          giveUp(
            this.#client.error('timeout', `${where} named no endpoint in ${ENDPOINT_MS / 1000} s`, ADVICE),
          ),
        ENDPOINT_MS,
      );
      const onAbort = () =>
        giveUp(this.#client.error('cancelled', 'the start was cancelled', undefined, signal?.reason));
      signal?.addEventListener('abort', onAbort);
      const settled = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const ended = (error: MidspanError) => {
        settled();
        reject(error);
        if (this.#endpoint === undefined) return;
        this.#endpoint = undefined;
        const handlers = this.#handlers;
        this.#handlers = undefined;
        handlers?.closed(error);
      };
      const feed = eventStream({
        error: this.#client.error,
        onEvent: ({ event = 'message', data }) => {
          if (event === 'endpoint' && this.#endpoint === undefined) {
            this.#endpoint = this.#endpointOf(data);
            settled();
            resolve();
          } else if (event === 'message' && this.#endpoint !== undefined) this.#deliver(data);
        },
      });
      const request = {
        method: 'GET' as const,
        headers: { accept: 'text/event-stream' },
        signal: stop.signal,
      };
      this.#client
        .exchange(request, (answer) => {
          if (contentType(answer) !== 'text/event-stream') throw this.#client.unexpected(answer);
          return { stream: true, data: feed, end() {} };
        })
        .then(
          () =>
            ended(
              this.#client.error('closed', `${where} ended its event stream`, 'It has to be opened again'),
            ),
          (error: unknown) => ended(this.#asError(error)),
        );
      if (signal?.aborted) onAbort();
    });
  }

  #endpointOf(data: string): URL {
    const { url } = this.#client;
    const endpoint = URL.canParse(data, url.href) ? new URL(data, url) : undefined;
    if (endpoint?.origin === url.origin) return endpoint;
    throw this.#client.error(
      'protocol',
      `${shownUrl(url)} named an endpoint outside of its own origin`,
      'Do not use this server',
    );
  }

  #deliver(data: string): void {
    for (const message of this.#client.messages(data)) {
      if (message === undefined) this.#handlers?.noise(noiseOf(data));
      else this.#handlers?.message(message, undefined, data);
    }
  }

  #asError(error: unknown): MidspanError {
    if (error instanceof MidspanError) return error;
    return this.#client.error(
      'internal',
      `the event stream could not be read: ${messageOf(error)}`,
      undefined,
      error,
    );
  }
}

const ADVICE = 'Check that its "url" is an HTTP+SSE endpoint';
