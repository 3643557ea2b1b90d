/** One request of ours while it waits for its answer: its time, its progress, and the questions that the server has about it. */
import { NOTIFICATION_TEXT_MAX } from '../mcp/protocol-limits.ts';
import { performance } from 'node:perf_hooks';
import { MidspanError } from '../errors.ts';
import { onAbort, type Stop } from './abort.ts';
import { RequestClock } from './clock.ts';
import type { Asker, Running } from './inbound.ts';
import type { Owner } from './server.ts';
import type { Answer, Asking } from '../mcp/codec.ts';
import type { RequestId } from '../mcp/message.ts';
import type { JsonObject, Progress } from '../types.ts';

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Milliseconds without progress; 0 waits for ever. */
  timeout: number;
  /** Milliseconds whatever the progress. Default `timeout`. */
  timeoutMax?: number;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Arguments that go as HTTP headers too. */
  mirrored?: Record<string, string> | undefined;
  asker?: Asker;
  /** Whose request it is: questions of one owner are put to the same person, whichever of its requests they are about. */
  owner?: Owner | undefined;
  /** Said of whoever asks. */
  asking?: Asking;
  /** Hears `notifications/message` that surely is about this request. */
  log?: ((params: JsonObject) => void) | undefined;
  /** It stays open and takes no place among the requests in flight. Called with its id once it is sent. */
  stream?: (id: RequestId) => void;
  /** Hears the text of the frame that carries the result, before the result itself. */
  frame?: (text: string) => void;
  /** The server may not be told to give it up (`initialize`). */
  uncancellable?: boolean;
}

export interface PendingEvents {
  answered: (answer: Answer) => void;
  failed: (error: MidspanError) => void;
  /** Its time is over; `over` says that it was the whole time, not the time without progress. */
  expired: (over: boolean) => void;
  aborted: () => void;
}

export class Pending implements Running {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RequestOptions;
  state: 'waiting' | 'sent' | 'settled' = 'waiting';
  /** Ends its HTTP exchange. */
  exchange: Stop | undefined;
  readonly #events: PendingEvents;
  readonly #clock: RequestClock | undefined;
  readonly #stopListening: (() => void) | undefined;
  /** Questions that no stream tells the request of can be about it, so that it may have to run alone. */
  readonly takesTurns: boolean;
  readonly #questions = new Set<AbortController>();
  #progress = -Infinity;

  constructor(
    id: number,
    method: string,
    params: JsonObject,
    options: RequestOptions,
    events: PendingEvents,
  ) {
    this.id = id;
    this.method = method;
    this.params = params;
    this.options = options;
    this.#events = events;
    // What a server asks about a task names the task.
    this.takesTurns = options.asker !== undefined && method !== 'tasks/result';
    const { signal, timeout, timeoutMax = timeout } = options;
    if (timeout !== 0) this.#clock = new RequestClock(timeout, timeoutMax, events.expired);
    if (signal !== undefined) this.#stopListening = onAbort(signal, events.aborted);
  }

  get asker(): Asker | undefined {
    return this.options.asker;
  }

  /** `notifications/progress`, unless it is stale; it winds the clock. */
  progressed({ progress, total, message }: JsonObject): Progress | undefined {
    if (!isFiniteNumber(progress) || progress <= this.#progress) return undefined;
    this.#progress = progress;
    this.#clock?.wind();
    const seen: Progress = { progress };
    if (isFiniteNumber(total)) seen.total = total;
    if (typeof message === 'string') seen.message = message.slice(0, NOTIFICATION_TEXT_MAX);
    return seen;
  }

  /** Whether it waits for its client. */
  get isHeld(): boolean {
    return this.#questions.size > 0;
  }

  get questions(): number {
    return this.#questions.size;
  }

  /** Since when it waits for its client, on the clock of `performance.now()`. */
  heldAt = 0;

  hold(question: AbortController): void {
    if (this.#questions.size === 0) this.heldAt = performance.now();
    this.#questions.add(question);
    this.#clock?.hold();
  }

  release(question: AbortController): void {
    this.#questions.delete(question);
    if (this.#questions.size === 0) this.#clock?.release();
  }

  settle(outcome: Answer | MidspanError): void {
    this.state = 'settled';
    this.#clock?.stop();
    this.#stopListening?.();
    for (const question of this.#questions) question.abort();
    if (outcome instanceof MidspanError) this.#events.failed(outcome);
    else this.#events.answered(outcome);
  }
}

/** JSON has no such numbers, but `1e999` is read as one. */
function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}
