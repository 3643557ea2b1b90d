/** What a server asks while one request runs: checked, counted, put to whoever answers for the caller. */
import { messageOf } from '../errors.ts';
import {
  ELICITATIONS_PER_CALL,
  ELICITATIONS_PER_HOUR,
  ELICITATIONS_PER_RELAY,
  NOTES_PER_CALL,
} from '../mcp/protocol-limits.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, isObject } from '../mcp/message.ts';
import { safeText } from '../mcp/text.ts';
import { untilAbort } from './abort.ts';
import { Refusal } from './inbound.ts';
import type { Asker } from './inbound.ts';
import type { RelayOptions } from './server.ts';
import type { JsonObject } from '../types.ts';

/** The capability that lets a server ask. */
const CAPABILITY: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

export interface QuestionsOptions {
  label: string;
  /** The server's own name of the tool that runs. */
  tool: string | undefined;
  /** What was declared that can be answered. */
  capabilities: JsonObject;
  call: RelayOptions;
  /** When this server put its questions to the host's people, over all calls, on our clock; undefined for those of a client. */
  asked: number[] | undefined;
  now: () => number;
}

export class Questions implements Asker {
  readonly #options: QuestionsOptions;
  #elicitations = 0;
  #notes = 0;
  /** Milliseconds spent waiting for answers. */
  waited = 0;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  note(text: string): void {
    const { label, call } = this.#options;
    this.#notes += 1;
    if (this.#notes > NOTES_PER_CALL) return;
    const last = this.#notes === NOTES_PER_CALL;
    try {
      call.onNote?.(last ? `${label}: there is more to note about this call than is shown` : text);
    } catch {
      // What a listener does with a note is not the call's business.
    }
  }

  async answer(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { label, tool, call, now } = this.#options;
    this.check(method, params);
    const elicitation = method === 'elicitation/create';
    if (call.onInput === undefined) {
      this.note(`${label} asked for input (${method}), and nobody was there to answer; it was declined`);
      if (elicitation) return { action: 'decline' };
      throw new Refusal(METHOD_NOT_FOUND, `nobody is there to answer ${method}`);
    }
    if (elicitation && !this.#mayAsk()) {
      this.note(`${label} asked for input more often than it may; it was declined`);
      return { action: 'decline' };
    }
    const since = now();
    try {
      // Whoever answers may not listen to the signal; nobody waits for that.
      const context = tool === undefined ? { label, signal } : { label, tool, signal };
      const answer = call.onInput({ method, params }, context);
      const result = await untilAbort(answer, signal, () => new Error('the question was taken back'));
      return elicitation ? this.#elicited(result) : result;
    } catch (error) {
      if (signal.aborted) throw error;
      this.note(
        `${label} asked for input (${method}), which could not be answered: ${safeText(messageOf(error), 300)}`,
      );
      throw error instanceof Refusal
        ? error
        : new Refusal(INTERNAL_ERROR, 'the question could not be answered');
    } finally {
      this.waited += now() - since;
    }
  }

  /** Only what was declared may be asked. @throws Refusal */
  check(method: string, params: JsonObject): void {
    const capability = CAPABILITY[method];
    const declared = capability === undefined ? undefined : this.#options.capabilities[capability];
    if (!isObject(declared))
      throw new Refusal(METHOD_NOT_FOUND, `${safeText(method, 100)} was not declared as a capability`);
    if (method === 'sampling/createMessage' && !isObject(declared.tools)) {
      if (params.tools !== undefined || params.toolChoice !== undefined)
        throw new Refusal(INVALID_PARAMS, 'sampling with tools was not declared');
    }
    if (method !== 'elicitation/create') return;
    const mode = params.mode ?? 'form';
    // An empty declaration means forms only.
    const modes = Object.keys(declared).length === 0 ? ['form'] : Object.keys(declared);
    if (typeof mode !== 'string' || !modes.includes(mode)) {
      throw new Refusal(
        INVALID_PARAMS,
        `elicitation mode ${safeText(JSON.stringify(mode), 40)} was not declared`,
      );
    }
  }

  #mayAsk(): boolean {
    const { asked, now } = this.#options;
    this.#elicitations += 1;
    if (asked === undefined) return this.#elicitations <= ELICITATIONS_PER_RELAY;
    while (asked.length > 0 && now() - (asked[0] as number) > 3_600_000) asked.shift();
    if (this.#elicitations > ELICITATIONS_PER_CALL || asked.length >= ELICITATIONS_PER_HOUR) return false;
    asked.push(now());
    return true;
  }

  /** Whoever answers checks a form against its schema; here only the shape of the answer itself is. */
  #elicited(result: JsonObject): JsonObject {
    const { action, content } = result;
    if (action !== 'accept' && action !== 'decline' && action !== 'cancel')
      throw new Error(`the answer has no action`);
    if (content !== undefined && !isObject(content)) throw new Error(`the answer's content is not an object`);
    return result;
  }
}
