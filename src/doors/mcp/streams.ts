/**
 * Event streams that clients of the older era can take up again: each event has an id that leads to its stream, and what a
 * client missed of a stream is sent again, within bounds (MCP Streamable HTTP, resumability).
 */
import type { ServerResponse } from 'node:http';
import { Reply } from './reply.ts';

/** Events and characters that one session keeps for streams that break; characters that all of them keep. */
export const EVENTS_KEPT = 256;
export const BYTES_KEPT = 4 * 1024 * 1024;
export const ALL_KEPT = 128 * 1024 * 1024;
/** When a client may take a stream up again. Milliseconds. */
export const RETRY = 500;
/** An answer that takes longer comes on a stream. Milliseconds. */
export const STREAM_AFTER = 50;

interface Kept {
  stream: Stream;
  index: number;
  json: string;
}

/** What all sessions of a door keep together. */
export interface Store {
  bytes: number;
  readonly most: number;
}

/** The streams of one session. */
export class Streams {
  readonly #streams = new Map<string, Stream>();
  readonly #kept: Kept[] = [];
  readonly #store: Store;
  #bytes = 0;
  #next = 0;

  constructor(store: Store = { bytes: 0, most: ALL_KEPT }) {
    this.#store = store;
  }

  /** @param isPrimed its first event has no data, so that a client can take it up from the beginning (2025-11-25). */
  open(isPrimed: boolean): Stream {
    const stream = new Stream(String((this.#next += 1)), isPrimed, (kept) => this.#keep(kept));
    this.#streams.set(stream.id, stream);
    return stream;
  }

  /** Goes on with the stream of an event, from the event after it. False: nothing is known of it. */
  resume(lastEventId: string, response: ServerResponse): boolean {
    const [id = '', last = ''] = lastEventId.split('_');
    const stream = /^\d+$/.test(last) ? this.#streams.get(id) : undefined;
    if (stream === undefined) return false;
    const missed = this.#kept.filter((kept) => kept.stream === stream && kept.index > Number(last));
    stream.attach(response, missed, Number(last));
    return true;
  }

  /** Whether a client reads one of them. */
  get isRead(): boolean {
    return [...this.#streams.values()].some(({ isRead }) => isRead);
  }

  close(): void {
    for (const stream of this.#streams.values()) stream.close();
    this.#streams.clear();
    this.tidy();
  }

  /** Keeps nothing of what was said so far: the client has been away for too long. */
  tidy(): void {
    while (this.#kept.length > 0) this.#forgetOldest();
  }

  #keep(kept: Kept): void {
    this.#kept.push(kept);
    this.#bytes += kept.json.length;
    this.#store.bytes += kept.json.length;
    // The last one is kept however large it is: it may be the answer.
    while (this.#kept.length > 1 && this.#isTooMuch) this.#forgetOldest();
  }

  get #isTooMuch(): boolean {
    const isOver = this.#bytes > BYTES_KEPT || this.#store.bytes > this.#store.most;
    return isOver || this.#kept.length > EVENTS_KEPT;
  }

  #forgetOldest(): void {
    const oldest = this.#kept.shift() as Kept;
    this.#bytes -= oldest.json.length;
    this.#store.bytes -= oldest.json.length;
    this.#drop(oldest.stream);
  }

  /** A stream of which nothing is kept and nothing comes is forgotten. */
  #drop(stream: Stream): void {
    if (stream.isEnded && !this.#kept.some((kept) => kept.stream === stream)) this.#streams.delete(stream.id);
  }

  /** A stream that was answered without one event. */
  forget(stream: Stream): void {
    this.#drop(stream);
  }
}

export class Stream {
  readonly id: string;
  readonly #isPrimed: boolean;
  readonly #keep: (kept: Kept) => void;
  #reply: Reply | undefined;
  #index = 0;
  #timer: NodeJS.Timeout | undefined;
  isEnded = false;

  constructor(id: string, isPrimed: boolean, keep: (kept: Kept) => void) {
    this.id = id;
    this.#isPrimed = isPrimed;
    this.#keep = keep;
  }

  get isRead(): boolean {
    return this.#reply?.isOpen === true;
  }

  /** Sends on a response from now on, first what was missed. */
  attach(response: ServerResponse, missed: readonly Kept[] = [], last = this.#index): void {
    this.#reply?.close();
    const reply = new Reply(response);
    this.#reply = reply;
    reply.stream();
    this.#prime(last);
    for (const { index, json } of missed) reply.event(json, `${this.id}_${index}`);
    if (this.isEnded) reply.close();
  }

  /**
   * The response of a POST: an event stream once something must be said before the answer, or the answer takes a while, so
   * that nothing on the way takes the silence for an end.
   */
  answerOn(response: ServerResponse): void {
    this.#reply = new Reply(response);
    this.#timer = setTimeout(() => this.#begin(), STREAM_AFTER).unref();
  }

  #begin(): void {
    clearTimeout(this.#timer);
    if (this.#reply?.isOpen !== true || this.#reply.isStream) return;
    this.#reply.stream();
    this.#prime(this.#index);
  }

  /** One message before the last. */
  event(json: string): void {
    this.#begin();
    this.#send(json);
  }

  /** The last message: the answer to the request of this stream. */
  end(json: string): void {
    this.isEnded = true;
    clearTimeout(this.#timer);
    const reply = this.#reply;
    if (reply?.isOpen === true && !reply.isStream) return reply.end(json);
    this.#send(json);
    reply?.close();
  }

  /** Ends the response without another word: nothing is answered. */
  close(status = 202): void {
    this.isEnded = true;
    clearTimeout(this.#timer);
    this.#reply?.close(status);
  }

  header(name: string, value: string): void {
    this.#reply?.header(name, value);
  }

  #prime(last: number): void {
    if (this.#isPrimed) this.#reply?.field(`id: ${this.id}_${last}\nretry: ${RETRY}\ndata: `);
  }

  #send(json: string): void {
    this.#index += 1;
    this.#keep({ stream: this, index: this.#index, json });
    if (this.#reply?.isOpen === true) this.#reply.event(json, `${this.id}_${this.#index}`);
  }
}
