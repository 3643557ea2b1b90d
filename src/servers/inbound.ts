/** Requests of a server's own (legacy revisions): pings, and questions about one of our calls. */
import { INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, TOO_MANY_REQUESTS } from '../mcp/message.ts';
import { ERROR_TEXT_MAX, SERVER_REQUESTS_MAX } from '../mcp/protocol-limits.ts';
import { safeText } from '../mcp/text.ts';
import { messageOf } from '../errors.ts';
import type { Codec } from '../mcp/codec.ts';
import type { Message, RequestId } from '../mcp/message.ts';
import type { JsonObject } from '../types.ts';

/** What a server's own request is answered with when it cannot be answered. */
export class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Whoever made a request, as far as questions of the server about it are concerned. */
export interface Asker {
  /** Answers the server's request. @throws Refusal */
  answer(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  note(text: string): void;
}

/** One of our requests that a question may be about. Its clock stands still while the question is open. */
export interface Running {
  readonly asker: Asker | undefined;
  hold(question: AbortController): void;
  release(question: AbortController): void;
}

export interface InboundOptions {
  label: string;
  /**
   * The request that a question is about; undefined when that cannot be told. It may take until others have ended.
   * @param open how many questions are open that nothing is known of.
   */
  about: (
    origin: RequestId | undefined,
    open: () => number,
  ) => Running | undefined | Promise<Running | undefined>;
  /** Everybody who could have been meant. */
  askers: () => Asker[];
  reply: (reply: JsonObject) => Promise<void>;
  warning: (message: string) => void;
}

export class Inbound {
  readonly #options: InboundOptions;
  readonly #open = new Map<RequestId, AbortController>();
  /** Questions that wait until it can be told which request they are about. */
  #unclear = 0;

  constructor(options: InboundOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async serve(
    { id, method, params }: Message & { kind: 'request' },
    origin: RequestId | undefined,
    { serverRequests }: Codec,
  ): Promise<void> {
    const { reply, warning } = this.#options;
    const name = safeText(method, 100);
    if (serverRequests.size === 0) {
      return warning(`sent the request ${name}, which servers of its revision may not do`);
    }
    const refuse = (code: number, message: string): Promise<void> => reply({ id, error: { code, message } });
    if (method === 'ping') return reply({ id, result: {} });
    if (this.#open.has(id)) return refuse(INVALID_REQUEST, 'a request with this id is open already');
    if (this.#open.size >= SERVER_REQUESTS_MAX) return refuse(TOO_MANY_REQUESTS, 'too many requests at once');
    if (!serverRequests.has(method)) return refuse(METHOD_NOT_FOUND, `unknown method ${name}`);
    const question = new AbortController();
    this.#open.set(id, question);
    this.#unclear += 1;
    const told = this.#options.about(origin, () => this.#unclear);
    const running = told instanceof Promise ? await told : told;
    this.#unclear -= 1;
    running?.hold(question);
    try {
      const result = await this.#answer(running?.asker, method, params, question.signal);
      if (!question.signal.aborted) await reply({ id, result });
    } catch (error) {
      const code = error instanceof Refusal ? error.code : INTERNAL_ERROR;
      if (!question.signal.aborted) await refuse(code, safeText(messageOf(error), ERROR_TEXT_MAX));
    } finally {
      this.#open.delete(id);
      running?.release(question);
    }
  }

  /** The server takes a question back. */
  cancel(id: unknown): void {
    this.#open.get(id as RequestId)?.abort();
  }

  end(): void {
    for (const question of this.#open.values()) question.abort();
  }

  async #answer(
    asker: Asker | undefined,
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    if (asker !== undefined) return asker.answer(method, params, signal);
    const { label, askers, warning } = this.#options;
    const candidates = askers();
    for (const candidate of candidates) {
      candidate.note(
        `${label} asked for input (${method}) while several calls were running; nobody could tell which of them it was about, so it was declined`,
      );
    }
    if (candidates.length === 0) warning(`asked for input (${method}) outside of any call; it was declined`);
    if (method === 'elicitation/create') return { action: 'decline' };
    throw new Refusal(METHOD_NOT_FOUND, `${method} is answered only while a call runs`);
  }
}
