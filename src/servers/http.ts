/**
 * The Streamable HTTP transport (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http, and the
 * legacy revisions' GET stream, resumption and session end): each message is a POST, answered by JSON or an event stream.
 */
import { isUtf8 } from 'node:buffer';
import { MidspanError } from '../errors.ts';
import {
  ANSWERED_STREAM_MS, END_SESSION_MS, EVENT_ID_CHARACTERS, EVENTS_PER_REQUEST, RESUME_ATTEMPTS, RETRY_MAX_MS,
  RETRY_MIN_MS, RETRY_MS,
} from '../mcp/limits.ts'; // prettier-ignore
import type { JsonObject } from '../types.ts';
import type { Channel, ChannelHandlers, SendOptions, Sent } from './channel.ts';
import { ACCEPT_ENCODING } from './decompression.ts';
import { eventStream } from './event-stream.ts';
import { type Answer, type BodyReader, IGNORE_BODY, type OpenReader } from './exchange.ts';
import { contentType, HttpClient, type HttpClientOptions, withHeaders } from './http-client.ts';
import { HttpStatusError, shownUrl } from './http-error.ts';
import { Pieces } from './pieces.ts';
import { noiseOf } from './printable.ts';

export { HttpStatusError } from './http-error.ts';

/**
 * A channel to a server behind a Streamable HTTP URL.
 * @throws MidspanError `config` when the URL is none
 */
export function httpChannel(options: HttpClientOptions): Channel {
  return new HttpChannel(options);
}

const POST_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'accept-encoding': ACCEPT_ENCODING,
};
const GET_HEADERS = { accept: 'text/event-stream', 'accept-encoding': ACCEPT_ENCODING };

/** What is known of one request, over all streams that carry its answer. */
interface Delivery {
  /** The id of the request; undefined for what has no answer, and for the GET stream. */
  readonly origin: string | number | undefined;
  /** The GET stream has no end and no limit; it brings messages of any number of requests. */
  readonly listening: boolean;
  events: number;
  answered: boolean;
  lastEventId: string | undefined;
  retry: number | undefined;
}

class HttpChannel implements Channel {
  readonly kind = 'http';
  readonly perRequestStream = true;
  readonly #client: HttpClient;
  #handlers: ChannelHandlers | undefined;
  /** The last event of the GET stream, where a later one goes on. */
  #listenEventId: string | undefined;

  constructor(options: HttpClientOptions) {
    this.#client = new HttpClient(options);
  }

  async open(handlers: ChannelHandlers): Promise<void> {
    await this.#client.open();
    this.#handlers = handlers;
  }

  async send(message: JsonObject, options: SendOptions = {}): Promise<Sent> {
    const { id } = message;
    const isRequest = 'method' in message && (typeof id === 'string' || typeof id === 'number');
    const delivery = newDelivery(isRequest ? id : undefined, false);
    const request = {
      method: 'POST' as const,
      headers: withHeaders(options.headers, POST_HEADERS),
      body: JSON.stringify(message),
      signal: options.signal,
    };
    let first: Answer | undefined;
    const open: OpenReader = (answer, exchange) => {
      first = answer;
      options.started?.(answer);
      return this.#reader(answer, delivery, exchange);
    };
    try {
      await this.#client.exchange(request, open);
    } catch (error) {
      const broke = error instanceof MidspanError && error.code === 'closed' && first !== undefined;
      if (!broke || this.#handlers === undefined) throw error;
      if (!delivery.answered && !canResume(delivery, options)) throw error;
    }
    if (!delivery.answered && canResume(delivery, options)) await this.#resume(delivery, options);
    return first ?? {};
  }

  async listen(options: SendOptions = {}): Promise<Sent> {
    const delivery = newDelivery(undefined, true);
    const last = options.resumable === true ? this.#listenEventId : undefined;
    try {
      const answer = await this.#get(delivery, options, last);
      return delivery.retry === undefined ? answer : { ...answer, retry: delivery.retry };
    } finally {
      this.#listenEventId = delivery.lastEventId ?? last;
    }
  }

  async endSession(headers: Record<string, string>): Promise<void> {
    const signal = AbortSignal.timeout(END_SESSION_MS);
    const request = { method: 'DELETE' as const, headers: withHeaders(headers, {}), signal };
    await this.#client.exchange(request, () => IGNORE_BODY).catch(() => {}); // 405 is a proper answer too
  }

  stderrTail(): string {
    return '';
  }

  async close(): Promise<void> {
    this.#handlers = undefined;
    await this.#client.close();
  }

  /** Reads the rest of an answer whose stream has ended: a lost connection, or a server that lets its clients poll. */
  async #resume(delivery: Delivery, options: SendOptions): Promise<void> {
    let failures = 0;
    let problem: unknown;
    while (failures < RESUME_ATTEMPTS) {
      const wait = (delivery.retry ?? RETRY_MS) * 2 ** failures;
      await this.#client.pause(Math.min(Math.max(wait, RETRY_MIN_MS), RETRY_MAX_MS), options.signal);
      const before = delivery.events;
      try {
        await this.#get(delivery, options, delivery.lastEventId);
      } catch (error) {
        problem = error;
        if (!isTransient(error) || this.#handlers === undefined) break;
      }
      if (delivery.answered) return;
      failures = delivery.events > before ? 0 : failures + 1;
    }
    if (problem instanceof MidspanError && !(problem instanceof HttpStatusError) && !isTransient(problem))
      throw problem;
    throw this.#client.error(
      'closed',
      `the answer from ${shownUrl(this.#client.url)} broke off and could not be resumed`,
      'The request may have been carried out',
      problem,
    );
  }

  #get(delivery: Delivery, options: SendOptions, lastEventId: string | undefined): Promise<Answer> {
    const headers = withHeaders(options.headers, GET_HEADERS);
    if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
    return this.#client.exchange({ method: 'GET', headers, signal: options.signal }, (answer, exchange) => {
      if (contentType(answer) !== 'text/event-stream') throw this.#client.unexpected(answer);
      if (delivery.listening) options.started?.(answer);
      return this.#reader(answer, delivery, exchange);
    });
  }

  #reader(
    answer: Answer,
    delivery: Delivery,
    exchange: { finishWithin(milliseconds: number): void },
  ): BodyReader {
    const type = contentType(answer);
    if (type === 'text/event-stream') {
      return {
        stream: delivery.listening || delivery.origin !== undefined,
        data: eventStream({
          onEvent: (event) => {
            delivery.events += 1;
            if (delivery.events > EVENTS_PER_REQUEST && !delivery.listening) {
              throw this.#client.error(
                'limit',
                `it answered one request with more than ${EVENTS_PER_REQUEST} events`,
              );
            }
            if (event.id !== undefined && isSendable(event.id)) delivery.lastEventId = event.id;
            if (event.data === '' || (event.event ?? 'message') !== 'message') return;
            this.#deliver(this.#client.messages(event.data), event.data, delivery);
            if (delivery.answered) exchange.finishWithin(ANSWERED_STREAM_MS);
          },
          onRetry: (milliseconds) => {
            delivery.retry = milliseconds;
          },
          error: this.#client.error,
        }),
        end() {},
      };
    }
    if (type === 'application/json') return this.#jsonReader(delivery);
    // Nothing is expected after a notification or a response of ours, so anything will do.
    return delivery.origin === undefined || answer.status !== 200 ? IGNORE_BODY : this.#refusing(answer);
  }

  #jsonReader(delivery: Delivery): BodyReader {
    const pieces = new Pieces();
    return {
      stream: false,
      data: (chunk) => pieces.push(chunk),
      end: () => {
        const body = pieces.take();
        if (body.length === 0) return;
        if (!isUtf8(body)) throw this.#client.error('protocol', 'it answered with JSON that is not UTF-8');
        const text = body.toString('utf8');
        const messages = this.#client.messages(text);
        if (messages.length === 1 && messages[0] === undefined) {
          throw this.#client.error(
            'protocol',
            'it answered with JSON that is no message',
            undefined,
            noiseOf(text),
          );
        }
        this.#deliver(messages, text, delivery);
      },
    };
  }

  /** An empty body of any type is no answer, which the caller notices; anything else is not MCP. */
  #refusing(answer: Answer): BodyReader {
    return {
      stream: false,
      data: () => {
        throw this.#client.unexpected(answer);
      },
      end() {},
    };
  }

  #deliver(messages: readonly (JsonObject | undefined)[], text: string, delivery: Delivery): void {
    for (const message of messages) {
      if (message === undefined) {
        this.#handlers?.noise(noiseOf(text));
        continue;
      }
      delivery.answered ||=
        delivery.origin !== undefined && message['id'] === delivery.origin && !('method' in message);
      this.#handlers?.message(message, delivery.origin, text);
    }
  }
}

function newDelivery(origin: string | number | undefined, listening: boolean): Delivery {
  return { origin, listening, events: 0, answered: false, lastEventId: undefined, retry: undefined };
}

function canResume(delivery: Delivery, options: SendOptions): boolean {
  return options.resumable === true && delivery.origin !== undefined && delivery.lastEventId !== undefined;
}

/** Worth another attempt: the network failed, or the server is overloaded. */
function isTransient(error: unknown): boolean {
  if (error instanceof HttpStatusError) return error.status >= 500 || error.status === 429;
  return error instanceof MidspanError && (error.code === 'closed' || error.code === 'unreachable');
}

/** Whether an event id can stand in a header. */
function isSendable(id: string): boolean {
  return id.length <= EVENT_ID_CHARACTERS && /^[\u0020-\u007E]+$/.test(id);
}
