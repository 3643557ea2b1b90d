/** The door for clients of 2025-11-25 and older over HTTP: sessions, a stream for each request, and one of the session's own. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { INVALID_REQUEST, isObject, type Message, readMessage, type RequestId } from '../../mcp/message.ts';
import { eraOf } from '../../mcp/versions.ts';
import type { Json } from '../../types.ts';
import { refuse } from '../http/answers.ts';
import type { Incoming } from '../http/door.ts';
import type { Owner } from '../../servers/server.ts';
import type { Principal } from '../access/principal.ts';
import type { Endpoint } from './endpoint.ts';
import {
  ANSWER_WITHIN,
  BATCH_MAX,
  BATCHES,
  LegacySession,
  type Outlet,
  type SessionOptions,
} from './sessions.ts';
import { ALL_KEPT, type Store, type Stream, Streams } from './streams.ts';

/** Sessions at a time, of one principal and of all; the one that was quiet longest goes where another is opened. */
export const SESSIONS_PER_PRINCIPAL = 2_048;
export const SESSIONS_MAX = 8_192;
/** How long a session may be quiet while nobody listens. Milliseconds. */
export const SESSION_HOLDS = 30 * 60_000;
const LOOKED_AFTER = 60_000;
/** How long what it missed is kept while nobody listens and nothing runs. Milliseconds. */
export const EVENTS_HOLD = 5 * 60_000;
/** From this revision on streams begin with an event that a client can take them up from. */
const PRIMED_SINCE = '2025-11-25';

export interface LegacyDoor {
  /** @param body JSON, parsed. */
  post(incoming: Incoming, body: Json): Promise<void>;
  get(incoming: Incoming): void;
  delete(incoming: Incoming): void;
  /** Takes no more sessions, and ends the streams on which nothing but changes come. */
  drain(): void;
  close(): void;
}

export interface SessionLimits {
  perPrincipal?: number;
  max?: number;
  /** How long a quiet one is kept, and how often they are looked at. Milliseconds. */
  holds?: number;
  lookedAfter?: number;
  /** How long its events are kept meanwhile. Milliseconds. */
  eventsHold?: number;
  /** How long a client may take to answer a question. Milliseconds; default ANSWER_WITHIN. */
  answerWithin?: number;
}

export interface LegacyDoorOptions extends SessionLimits {
  /** Hears of each session that has ended. */
  onGone?: (owner: Owner) => void;
  /** Faults of ours, for the log. */
  onFault?: (problem: string) => void;
}

export function legacyDoor({
  perPrincipal = SESSIONS_PER_PRINCIPAL,
  max = SESSIONS_MAX,
  holds = SESSION_HOLDS,
  lookedAfter = LOOKED_AFTER,
  eventsHold = EVENTS_HOLD,
  answerWithin = ANSWER_WITHIN,
  onGone,
  onFault,
}: LegacyDoorOptions = {}): LegacyDoor {
  const sessions = new Map<string, HttpSession>();
  const store: Store = { bytes: 0, most: ALL_KEPT };
  let isDraining = false;
  const end = (session: HttpSession): void => {
    sessions.delete(session.id);
    session.close();
    onGone?.({ principal: session.principal.id, client: session.id });
  };
  const sweep = setInterval(() => {
    const now = performance.now();
    for (const session of sessions.values()) {
      if (session.isUsed) session.usedAt = now;
      else if (now - session.usedAt > holds) end(session);
      else if (now - session.usedAt > eventsHold) session.tidy();
    }
  }, lookedAfter).unref();

  /** The oldest of those that nothing runs in. False: none can go. */
  const makeRoom = (principal: string): boolean => {
    const own = [...sessions.values()].filter((session) => session.principal.id === principal);
    if (own.length < perPrincipal && sessions.size < max) return true;
    const idle = own.filter(({ isUsed }) => !isUsed).sort((a, b) => a.usedAt - b.usedAt)[0];
    if (idle !== undefined) end(idle);
    return idle !== undefined;
  };

  /** The session that a request names; an answer is given where there is none. */
  const sessionOf = ({ request, response, principal, endpoint }: Incoming): HttpSession | undefined => {
    const id = request.headers['mcp-session-id'];
    if (typeof id !== 'string') {
      refuse(response, 400, 'Mcp-Session-Id is needed: `initialize` opens a session');
      return undefined;
    }
    const session = sessions.get(id);
    // A session is known to its own principal and endpoint alone, and as long as that one may see what it could.
    if (session === undefined || !session.isFor(principal, endpoint)) {
      refuse(response, 404, 'There is no such session (any more): `initialize` opens another');
      return undefined;
    }
    const version = request.headers['mcp-protocol-version'];
    if (version !== undefined && (typeof version !== 'string' || eraOf(version) !== 'legacy')) {
      refuse(response, 400, 'This MCP-Protocol-Version is not one of a session');
      return undefined;
    }
    session.usedAt = performance.now();
    return session;
  };

  const initialize = async (incoming: Incoming, message: Message & { kind: 'request' }): Promise<void> => {
    const { endpoint, principal, response } = incoming;
    if (isDraining)
      return refuse(response, 503, 'The gateway is ending', { 'retry-after': '5', connection: 'close' });
    if (!makeRoom(principal.id))
      return refuse(response, 429, `The limit is ${perPrincipal} sessions at a time`, {
        'retry-after': '5',
      });
    const session = new HttpSession({
      id: randomUUID(),
      endpoint,
      principal,
      answerWithin,
      store,
      ...(onFault && { onFault }),
    });
    sessions.set(session.id, session);
    response.setHeader('mcp-session-id', session.id);
    await session.receive(message, incoming);
    if (session.version === undefined) end(session);
  };

  return {
    async post(incoming, body) {
      if (Array.isArray(body)) {
        const session = sessionOf(incoming);
        return session?.batch(body, incoming);
      }
      const message = readMessage(body as { [member: string]: Json });
      if (message.kind === 'request' && message.method === 'initialize') return initialize(incoming, message);
      const session = sessionOf(incoming);
      return session?.receive(message, incoming);
    },
    get(incoming) {
      const { request, response } = incoming;
      if (!acceptsEvents(request)) return refuse(response, 406, 'Accept must name text/event-stream');
      if (request.headers['mcp-session-id'] === undefined)
        return refuse(response, 405, 'A stream is opened in a session', { allow: 'POST' });
      sessionOf(incoming)?.listen(incoming);
    },
    delete(incoming) {
      if (incoming.request.headers['mcp-session-id'] === undefined)
        return refuse(incoming.response, 405, 'There is no session to end', { allow: 'POST' });
      const session = sessionOf(incoming);
      if (session === undefined) return;
      end(session);
      incoming.response.writeHead(204).end();
    },
    drain() {
      isDraining = true;
      for (const session of sessions.values()) session.quiet();
    },
    close() {
      clearInterval(sweep);
      for (const session of sessions.values()) end(session);
    },
  };
}

const acceptsEvents = ({ headers: { accept } }: IncomingMessage): boolean =>
  accept === undefined || /text\/(event-stream|\*)|\*\/\*/i.test(accept);

class HttpSession extends LegacySession {
  readonly #streams: Streams;
  /** Of each request that runs. Those of one batch have one together. */
  readonly #byRequest = new Map<RequestId, Stream>();
  #own: Stream | undefined;
  /** When the client was heard of last. Milliseconds of `performance.now()`. */
  usedAt = performance.now();

  constructor({ store, ...options }: Omit<SessionOptions, 'outlet'> & { store: Store }) {
    const outlet: Outlet = {
      send: (json, about) => this.#send(json, about),
      answer: (json, about) => this.#settled(about, json),
      drop: (about) => this.#settled(about, undefined),
    };
    super({ ...options, outlet });
    this.#streams = new Streams(store);
  }

  isFor(principal: Principal, endpoint: Endpoint): boolean {
    const own = this.principal;
    return (
      own.id === principal.id && own.filter === principal.filter && this.endpoint.label === endpoint.label
    );
  }

  /** Whether somebody listens, or a request runs. */
  get isUsed(): boolean {
    return this.isBusy || this.#streams.isRead;
  }

  override async receive(message: Message, incoming?: Incoming): Promise<void> {
    if (incoming === undefined) return super.receive(message);
    const { response } = incoming;
    if (message.kind === 'malformed') {
      this.unread(message);
      return refuseMessage(incoming, message);
    }
    if (message.kind !== 'request') {
      await super.receive(message);
      response.writeHead(202, { 'content-length': 0 }).end();
      return undefined;
    }
    if (this.#byRequest.has(message.id))
      return refuse(response, 400, 'A request with this id is running already');
    const stream = this.#open();
    stream.answerOn(response);
    this.#byRequest.set(message.id, stream);
    return super.receive(message);
  }

  /** Several messages in one body: their answers come as events of one stream. */
  async batch(messages: readonly Json[], incoming: Incoming): Promise<void> {
    const { response } = incoming;
    if (this.version !== BATCHES)
      return refuse(response, 400, `Batches are for ${BATCHES}; send one message at a time`);
    if (messages.length === 0 || messages.length > BATCH_MAX)
      return refuse(response, 400, `A batch has 1 to ${BATCH_MAX} messages`);
    const read = messages.map((each) =>
      isObject(each)
        ? readMessage(each)
        : ({ kind: 'malformed', id: undefined, problem: 'not an object' } as const),
    );
    const broken = read.find((message) => message.kind === 'malformed');
    if (broken !== undefined) return refuseMessage(incoming, broken);
    const requests = read.filter((message) => message.kind === 'request');
    const isClear = new Set(requests.map(({ id }) => id)).size === requests.length;
    if (!isClear || requests.some(({ id, method }) => this.#byRequest.has(id) || method === 'initialize'))
      return refuse(response, 400, 'Each request of a batch needs an id of its own, and none is initialize');
    if (requests.length === 0) {
      await Promise.all(read.map((message) => super.receive(message)));
      response.writeHead(202, { 'content-length': 0 }).end();
      return undefined;
    }
    const stream = this.#open();
    stream.answerOn(response);
    for (const { id } of requests) this.#byRequest.set(id, stream);
    await Promise.all(read.map((message) => super.receive(message)));
  }

  /** The stream on which what belongs to no request comes, or one that broke. */
  listen({ request, response }: Incoming): void {
    const last = request.headers['last-event-id'];
    if (typeof last === 'string' && last !== '') {
      if (!this.#streams.resume(last, response)) refuse(response, 400, 'This Last-Event-ID is not known');
      return;
    }
    this.#own ??= this.#streams.open(this.#isPrimed);
    this.#own.attach(response);
  }

  #send(json: string, about?: RequestId): void {
    const stream = about === undefined ? undefined : this.#byRequest.get(about);
    if (stream !== undefined) return stream.event(json);
    this.#own ??= this.#streams.open(this.#isPrimed);
    this.#own.event(json);
  }

  #settled(about: RequestId, answer: string | undefined): void {
    const stream = this.#byRequest.get(about);
    this.#byRequest.delete(about);
    if (stream === undefined) return;
    const isLast = ![...this.#byRequest.values()].includes(stream);
    if (answer !== undefined && isLast) stream.end(answer);
    else if (answer !== undefined) stream.event(answer);
    else if (isLast) stream.close();
    if (isLast) this.#streams.forget(stream);
  }

  tidy(): void {
    this.#streams.tidy();
  }

  /** Ends the stream on which only changes come. */
  quiet(): void {
    this.#own?.close();
  }

  override close(): void {
    super.close();
    this.#streams.close();
  }

  get #isPrimed(): boolean {
    return (this.version ?? '') >= PRIMED_SINCE;
  }

  #open(): Stream {
    return this.#streams.open(this.#isPrimed);
  }
}

function refuseMessage({ response }: Incoming, { asked, problem }: Message & { kind: 'malformed' }): void {
  const error = { code: INVALID_REQUEST, message: problem };
  const body = JSON.stringify({ jsonrpc: '2.0', id: asked ?? null, error });
  response.writeHead(400, { 'content-type': 'application/json' }).end(body);
}
