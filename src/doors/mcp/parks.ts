/**
 * Calls that wait for their client. A server of the older era asks while a call runs; a client of the newer one is answered
 * with the questions and comes back with the answers. Meanwhile the call stays where it is: it never runs twice.
 */
import { randomBytes } from 'node:crypto';
import { type InputRequest, isAnswer } from '../../mcp/input.ts';
import type { JsonObject } from '../../types.ts';

/** Calls that wait, of one principal and of all. */
export const PARKS_PER_PRINCIPAL = 64;
export const PARKS_MAX = 1_024;
/** How long a call waits for its client. Milliseconds. */
export const PARK_HOLDS = 10 * 60_000;
/** Questions that come one after the other at once go out together. Milliseconds. */
const TOGETHER = 10;

/** One request of the client that the call can be answered through. */
export interface Turn<Answer> {
  /** Whether the client can answer a question through this request: each of them declares that anew. */
  canAnswer(request: InputRequest): boolean;
  /** Asks, and closes the turn. @param park leads back to the call. */
  ask(requests: Record<string, InputRequest>, park: string): void;
  /** The answer to the call itself, and closes the turn. */
  end(answer: Answer): void;
}

interface Question {
  request: InputRequest;
  resolve: (answer: JsonObject) => void;
  reject: (error: Error) => void;
}

export interface Call<Answer, Open extends Turn<Answer> = Turn<Answer>> {
  /** The turn that is open now; undefined while the client is away. */
  readonly turn: Open | undefined;
  /** Puts a question to the client. Rejects when the client does not come back, or the signal aborts. */
  ask(request: InputRequest, signal: AbortSignal): Promise<JsonObject>;
  /** The call has ended: the open turn is told, or the next one. */
  end(answer: Answer): void;
  /** The client has left in the middle of a turn. */
  leave(turn: Open): void;
}

export interface ParksOptions {
  perPrincipal?: number;
  max?: number;
  /** Milliseconds. */
  holds?: number;
}

interface Parked<Answer, Open extends Turn<Answer>> {
  principal: string;
  questions: Map<string, Question>;
  turn: Open | undefined;
  answer: { value: Answer } | undefined;
  expiry: NodeJS.Timeout | undefined;
  flush: NodeJS.Timeout | undefined;
  count: number;
  /** Given up, and why: nothing is asked any more. */
  over: string | undefined;
  giveUp: (reason: string) => void;
}

export class Parks<Answer, Open extends Turn<Answer> = Turn<Answer>> {
  readonly #parked = new Map<string, Parked<Answer, Open>>();
  readonly #perPrincipal: number;
  readonly #max: number;
  readonly #holds: number;
  #closed = false;

  constructor({
    perPrincipal = PARKS_PER_PRINCIPAL,
    max = PARKS_MAX,
    holds = PARK_HOLDS,
  }: ParksOptions = {}) {
    this.#perPrincipal = perPrincipal;
    this.#max = max;
    this.#holds = holds;
  }

  get size(): number {
    return this.#parked.size;
  }

  /**
   * A call that may have to wait.
   * @param giveUp ends the call itself: its client has left, or did not come back.
   */
  open(principal: string, turn: Open, giveUp: (reason: string) => void): Call<Answer, Open> {
    const id = randomBytes(18).toString('base64url');
    const parked: Parked<Answer, Open> = {
      principal,
      questions: new Map(),
      turn,
      answer: undefined,
      expiry: undefined,
      flush: undefined,
      count: 0,
      over: undefined,
      giveUp,
    };
    return this.#callOf(id, parked);
  }

  #callOf(id: string, parked: Parked<Answer, Open>): Call<Answer, Open> {
    return {
      get turn() {
        return parked.turn;
      },
      ask: (request, signal) => this.#ask(id, parked, request, signal),
      end: (answer) => {
        parked.answer = { value: answer };
        const open = parked.turn;
        parked.turn = undefined;
        if (open === undefined) return;
        this.#forget(id, parked);
        open.end(answer);
      },
      leave: (left) => {
        if (parked.turn === left) this.#giveUp(id, parked, 'the client has left');
      },
    };
  }

  /**
   * A client comes back with answers. Undefined: there is no such call (any more). `busy`: another request of the client is
   * being answered through it.
   */
  resume(
    id: string,
    principal: string,
    responses: JsonObject,
    turn: Open,
  ): Call<Answer, Open> | 'busy' | undefined {
    const parked = this.#parked.get(id);
    if (parked === undefined || parked.principal !== principal) return undefined;
    if (parked.turn !== undefined) return 'busy';
    clearTimeout(parked.expiry);
    parked.turn = turn;
    for (const [key, { request, resolve }] of parked.questions) {
      const answer = responses[key];
      // What is no answer is asked for again.
      if (!Object.hasOwn(responses, key) || !isAnswer(request, answer)) continue;
      parked.questions.delete(key);
      resolve(answer);
    }
    if (parked.answer !== undefined) {
      parked.turn = undefined;
      this.#forget(id, parked);
      turn.end(parked.answer.value);
    } else if (parked.questions.size > 0) this.#flush(id, parked);
    return this.#callOf(id, parked);
  }

  /** Gives all of them up; none waits any more. */
  close(): void {
    this.#closed = true;
    for (const [id, parked] of this.#parked)
      if (parked.turn === undefined) this.#giveUp(id, parked, 'the gateway ends');
  }

  #ask(
    id: string,
    parked: Parked<Answer, Open>,
    request: InputRequest,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    if (parked.over !== undefined) return Promise.reject(new Error(parked.over));
    if (!this.#parked.has(id)) {
      const own = [...this.#parked.values()].filter(({ principal }) => principal === parked.principal).length;
      if (this.#closed) return Promise.reject(new Error('the gateway ends'));
      if (own >= this.#perPrincipal || this.#parked.size >= this.#max)
        return Promise.reject(new Error('too many calls wait for answers'));
      this.#parked.set(id, parked);
    }
    return new Promise((resolve, reject) => {
      const key = `q${(parked.count += 1)}`;
      const settle = (): void => {
        signal.removeEventListener('abort', abort);
        parked.questions.delete(key);
      };
      const abort = (): void => {
        settle();
        reject(new Error('the question was taken back'));
      };
      parked.questions.set(key, {
        request,
        resolve: (answer) => {
          settle();
          resolve(answer);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort, { once: true });
      parked.flush ??= setTimeout(() => this.#flush(id, parked), TOGETHER);
    });
  }

  /** Sends out what is asked, where the client waits for something; else the next turn does. */
  #flush(id: string, parked: Parked<Answer, Open>): void {
    clearTimeout(parked.flush);
    parked.flush = undefined;
    const { turn, questions } = parked;
    if (turn === undefined) return;
    for (const { request, reject } of questions.values())
      if (!turn.canAnswer(request)) reject(new Error(`the client cannot answer ${request.method} any more`));
    if (questions.size === 0) return;
    parked.turn = undefined;
    parked.expiry = setTimeout(
      () => this.#giveUp(id, parked, 'the client did not come back with an answer'),
      this.#holds,
    ).unref();
    turn.ask(Object.fromEntries([...questions].map(([key, { request }]) => [key, request])), id);
  }

  #giveUp(id: string, parked: Parked<Answer, Open>, reason: string): void {
    this.#forget(id, parked);
    parked.turn = undefined;
    parked.over = reason;
    for (const { reject } of parked.questions.values()) reject(new Error(reason));
    parked.giveUp(reason);
  }

  #forget(id: string, parked: Parked<Answer, Open>): void {
    this.#parked.delete(id);
    clearTimeout(parked.expiry);
    clearTimeout(parked.flush);
  }
}
