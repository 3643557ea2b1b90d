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
  /** Questions about it that are open. */
  readonly questions: number;
  hold(question: AbortController): void;
  release(question: AbortController): void;
}

/** Whom a question is for: the one request that it can be about, or why there is none. */
export type Meant =
  | Running
  /** `among`: everybody who could have been meant, where that is why. */
  | { unclear: string; among: Asker[] };

export interface InboundOptions {
  label: string;
  /**
   * It may take until others have ended.
   * @param open how many questions are open of which nothing is known.
   */
  about: (origin: RequestId | undefined, params: JsonObject, open: () => number) => Meant | Promise<Meant>;
  /** A request waits for its client from now on. */
  held: () => void;
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
    if (!serverRequests.has(method)) return refuse(METHOD_NOT_FOUND, `unknown method ${name}`);
    if (this.#unclear >= SERVER_REQUESTS_MAX) return refuse(TOO_MANY_REQUESTS, 'too many requests at once');
    const question = new AbortController();
    this.#open.set(id, question);
    this.#unclear += 1;
    const told = this.#options.about(origin, params, () => this.#unclear);
    const meant = told instanceof Promise ? await told : told;
    this.#unclear -= 1;
    const running = 'unclear' in meant ? undefined : meant;
    // For each request of ours, so that what is open for one client takes no place of another's.
    if (running !== undefined && running.questions >= SERVER_REQUESTS_MAX) {
      this.#open.delete(id);
      return refuse(TOO_MANY_REQUESTS, 'too many requests at once');
    }
    if (running !== undefined) {
      running.hold(question);
      this.#options.held();
    }
    try {
      const result =
        'unclear' in meant
          ? this.#decline(method, meant)
          : await this.#answer(meant, method, params, question.signal);
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

  #answer({ asker }: Running, method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    if (signal.aborted) throw new Error('the question was taken back');
    if (asker !== undefined) return asker.answer(method, params, signal);
    throw new Refusal(METHOD_NOT_FOUND, `${method} is answered only while a call runs`);
  }

  /** Nobody is asked what may be meant for somebody else. */
  #decline(method: string, { unclear, among }: { unclear: string; among: Asker[] }): JsonObject {
    const { label, warning } = this.#options;
    const what = `asked for input (${method}) ${unclear}`;
    for (const asker of among) asker.note(`${label} ${what}, so it was declined`);
    warning(`${what}; it was declined`);
    if (method === 'elicitation/create') return { action: 'decline' };
    throw new Refusal(METHOD_NOT_FOUND, `${method} is answered only while a call runs`);
  }
}
