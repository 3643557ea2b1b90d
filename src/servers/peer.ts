/**
 * The request table over one channel: which of our requests wait for which answer, and what the server asks meanwhile.
 * One number is both the id and the progress token of a request, so that every look-up is one Map access.
 */
import { performance } from 'node:perf_hooks';
import { MidspanError, messageOf } from '../errors.ts';
import { NOTICE_MS } from '../mcp/limits.ts';
import { IN_FLIGHT_MAX, NOTIFICATIONS_PER_SECOND, QUEUE_MAX, REPLIES_MAX } from '../mcp/protocol-limits.ts';
import { INVALID_PARAMS, isObject, readMessage } from '../mcp/message.ts';
import { RELATED_TASK } from '../mcp/tasks.ts';
import { safeText } from '../mcp/text.ts';
import { Stop } from './abort.ts';
import {
  broken,
  cancelled,
  expired,
  failure,
  outcomeUnknown,
  outOfTurn,
  rpcFailure,
  unsent,
} from './failure.ts';
import { Inbound } from './inbound.ts';
import { Left } from './left.ts';
import { HttpStatusError } from './http-error.ts';
import { RateLimit } from './rate.ts';
import { Pending } from './request.ts';
import { redactedError } from './secrets.ts';
import type { Channel, SendOptions, Sent } from './channel.ts';
import type { Asker, Meant, Running } from './inbound.ts';
import type { RequestOptions } from './request.ts';
import type { Redact } from './secrets.ts';
import type { Owner } from './server.ts';
import type { Answer, Codec } from '../mcp/codec.ts';
import type { Message, RequestId, RpcErrorObject } from '../mcp/message.ts';
import type { JsonObject } from '../types.ts';

/** How long a question may wait until it is clear what it is about. Milliseconds. */
const UNCLEAR_MAX = 60_000;

/** How long requests wait for one that waits for its client, where they could not be told apart. Milliseconds. */
const HELD_PATIENCE = 2_000;

/** Whatever ends one of our requests. */
type Answering = Message & { kind: 'result' | 'error' | 'malformed' };

export interface PeerEvents {
  notification: (method: string, params: JsonObject) => void;
  warning: (message: string) => void;
  redact: Redact;
  /** Who is asked what is about no call, where only one client could be meant. */
  home?: Asker | undefined;
  /** The channel ended by itself. */
  closed: (reason: MidspanError, peer: Peer) => void;
}

export class Peer {
  readonly label: string;
  readonly channel: Channel;
  codec: Codec;
  /** HTTP: the legacy session that later requests echo. */
  sessionId: string | undefined;
  readonly #events: PeerEvents;
  readonly #pending = new Map<RequestId, Pending>();
  readonly #queue: Pending[] = [];
  readonly #inbound: Inbound;
  readonly #rate = new RateLimit(NOTIFICATIONS_PER_SECOND);
  readonly #left = new Left();
  #nextId = 1;
  #inFlight = 0;
  /** The server has asked something, and not said which request it is about. */
  #oneByOne = false;
  /** Questions that wait for calls to end. */
  readonly #unclear = new Set<() => void>();
  #replies = 0;
  #ended: MidspanError | undefined;

  constructor(label: string, channel: Channel, codec: Codec, events: PeerEvents) {
    this.label = label;
    this.channel = channel;
    this.codec = codec;
    this.#events = events;
    this.#inbound = new Inbound({
      label,
      about: (origin, params, open) => this.#about(origin, params, open),
      held: () => this.#held(),
      reply: (reply) => this.#reply(reply),
      warning: events.warning,
    });
  }

  open(signal: AbortSignal): Promise<void> {
    return this.channel.open(
      {
        message: (message, origin, text) => this.#receive(message, origin, text),
        noise: (text) =>
          this.#events.warning(`wrote something that is not a message: ${safeText(text, 200)}`),
        closed: (reason) => {
          this.end(reason);
          this.#events.closed(reason, this);
        },
      },
      signal,
    );
  }

  /** Ends the channel; what still waits rejects with `reason`. */
  async close(reason: MidspanError): Promise<void> {
    this.end(reason);
    await this.channel.close();
  }

  /**
   * Sends a request and resolves with its answer in neutral form; an invalid one rejects with `protocol`. `data.sent === false`
   * on an error says that the server never saw the request.
   */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<Answer> {
    return new Promise((answered, failed) => {
      if (this.#ended !== undefined) return failed(unsent(this.label, this.#ended));
      if (options.signal?.aborted === true) return failed(cancelled(this.label, method, false));
      const entry: Pending = new Pending(this.#nextId++, method, params, options, {
        answered,
        failed,
        expired: (over) => this.#expire(entry, over),
        aborted: () => this.#abort(entry),
      });
      if (options.stream !== undefined || this.#mayGo(entry)) this.#transmit(entry);
      else if (this.#queue.length < QUEUE_MAX) this.#queue.push(entry);
      else
        this.#settle(
          entry,
          new MidspanError({
            code: 'limit',
            label: this.label,
            what: `${QUEUE_MAX} requests are already waiting for the server`,
            next: 'Make fewer calls at once',
            data: { sent: false },
          }),
        );
    });
  }

  notify(method: string, params: JsonObject): Promise<void> {
    return this.#post({ jsonrpc: '2.0', method, params }, this.sendOptions(method, params));
  }

  /** What a server asks in a flood, and does not take the answers of, may not gather here. */
  async #reply(reply: JsonObject): Promise<void> {
    if (this.#replies >= REPLIES_MAX) {
      return this.#events.warning(
        `asks without taking our answers: ${REPLIES_MAX} are on their way, so it gets no more`,
      );
    }
    this.#replies += 1;
    await this.#post({ jsonrpc: '2.0', ...reply }, this.sendOptions('', {}));
    this.#replies -= 1;
  }

  /** Never rejects: a notification or an answer that is lost is lost. */
  async #post(message: JsonObject, options: SendOptions | undefined): Promise<void> {
    try {
      await this.channel.send(
        message,
        options === undefined ? undefined : { ...options, signal: AbortSignal.timeout(NOTICE_MS) },
      );
    } catch {
      // Whatever ended the channel is told to those who wait for answers.
    }
  }

  /** HTTP headers of a message in the present revision and session. */
  sendOptions(
    method: string,
    params: JsonObject,
    mirrored?: Record<string, string>,
  ): SendOptions | undefined {
    if (this.channel.kind === 'stdio') return undefined;
    const headers = this.codec.headers(method, params, mirrored);
    if (this.sessionId !== undefined) headers['Mcp-Session-Id'] = this.sessionId;
    return { headers };
  }

  /** Why nothing can be sent any more. */
  get ended(): MidspanError | undefined {
    return this.#ended;
  }

  // ---- out ----

  /**
   * Requests that a question can be about go one by one where it would not be clear which of them it is about. One that waits
   * for its client is not waited for long: that may be for ever. The same client is asked either way.
   */
  #mayGo(entry: Pending): boolean {
    if (this.#inFlight >= IN_FLIGHT_MAX) return false;
    if (!this.#oneByOne || !entry.takesTurns) return true;
    const { owner } = entry.options;
    const now = performance.now();
    for (const other of this.#pending.values()) {
      if (!other.takesTurns) continue;
      const isMine = owner !== undefined && isSameOwner(other.options.owner, owner);
      if (!other.isHeld || (!isMine && now - other.heldAt < HELD_PATIENCE)) return false;
    }
    return true;
  }

  /** A request waits for its client from now on. */
  #held(): void {
    this.#next();
    // Timers may be a little early.
    if (this.#oneByOne) setTimeout(() => this.#next(), HELD_PATIENCE + 10).unref();
  }

  #transmit(entry: Pending): void {
    const { id, method, options } = entry;
    entry.state = 'sent';
    this.#pending.set(id, entry);
    if (options.stream === undefined) this.#inFlight += 1;
    const params = this.codec.params(entry.params, id, options.asking);
    const send = this.sendOptions(method, params, options.mirrored);
    if (send !== undefined) {
      entry.exchange = new Stop();
      send.signal = entry.exchange;
      send.resumable = this.codec.sessions;
      if (method === this.codec.opening.method && this.codec.sessions)
        send.started = (sent) => this.#session(sent);
    }
    options.stream?.(id);
    try {
      this.channel.send({ jsonrpc: '2.0', id, method, params }, send).then(
        () => this.#delivered(entry),
        (error: unknown) => this.#undelivered(entry, error),
      );
    } catch (error) {
      // JSON.stringify refuses what is nested too deeply, or has a cycle.
      this.#settle(
        entry,
        new MidspanError({
          code: 'usage',
          label: this.label,
          what: `the params of ${method} cannot be sent: ${messageOf(error)}`,
          cause: error,
          data: { sent: false },
        }),
      );
    }
  }

  #session(sent: Sent): void {
    this.sessionId = sent.headers?.['mcp-session-id'];
  }

  #delivered(entry: Pending): void {
    if (!this.channel.perRequestStream) return;
    entry.exchange = undefined;
    if (entry.state !== 'sent') return;
    this.#settle(
      entry,
      outcomeUnknown(this.label, `the response to ${entry.method} ended without an answer`),
    );
  }

  #undelivered(entry: Pending, error: unknown): void {
    entry.exchange = undefined;
    if (entry.state !== 'sent') return;
    const known = failure(this.label, error, 'closed');
    const said =
      error instanceof HttpStatusError && error.json !== undefined ? readMessage(error.json) : undefined;
    // An error without an id is about the request that it answers.
    const about =
      said?.kind === 'error' && (said.id === undefined || said.id === entry.id) ? said.error : undefined;
    this.#settle(
      entry,
      about === undefined ? known : this.#refused(entry, about, known.data.status as number),
    );
  }

  // ---- in ----

  #receive(raw: JsonObject, origin: RequestId | undefined, text: string): void {
    const message = readMessage(raw);
    switch (message.kind) {
      case 'notification':
        return this.#notification(message.method, message.params, origin);
      case 'request':
        return void this.#inbound.serve(message, origin, this.codec);
      case 'result':
        return this.#answer(message, message.id, origin, text);
      case 'error':
        return this.#answer(message, message.id ?? origin ?? this.#onlyOne(), origin, text);
      case 'malformed':
        return this.#answer(message, message.id ?? origin, origin, text);
    }
  }

  #answer(message: Answering, id: RequestId | undefined, origin: RequestId | undefined, text: string): void {
    const entry = id === undefined ? undefined : this.#pending.get(id);
    if (entry === undefined) return this.#unasked(message, id);
    // A frame on another stream, or one that does not name its request, leaves the stream of this one open.
    if (message.id !== entry.id || (origin !== entry.id && this.channel.perRequestStream))
      entry.exchange?.abort();
    switch (message.kind) {
      case 'error':
        return this.#settle(entry, this.#refused(entry, message.error));
      case 'malformed':
        // The request that a frame names fails at once instead of waiting for its time-out.
        return this.#settle(entry, this.#broken(entry, message.problem));
      case 'result': {
        entry.options.frame?.(text);
        const answer = this.codec.answer(entry.method, message.result);
        return this.#settle(entry, answer.kind === 'invalid' ? this.#broken(entry, answer.problem) : answer);
      }
    }
  }

  #unasked(message: Answering, id: RequestId | undefined): void {
    const { warning } = this.#events;
    if (message.kind === 'malformed') {
      warning(`sent a message that breaks JSON-RPC: ${message.problem}`);
      if (message.asked === undefined || this.codec.serverRequests.size === 0) return;
      const error = { code: INVALID_PARAMS, message: message.problem };
      return void this.#reply({ id: message.asked, error });
    }
    // A late answer to a request that was given up is expected; an answer to a request that never was is not.
    if (typeof id === 'number' && id > 0 && id < this.#nextId) return this.#left.answered(id);
    if (id !== undefined)
      return warning(
        `answered a request that was never made (id ${safeText(JSON.stringify(id).slice(0, 200), 100)})`,
      );
    if (message.kind === 'error')
      warning(`reported an error for no request: ${safeText(message.error.message, 200)}`);
  }

  /** An error without an id can only be about the one request that is to be answered. */
  #onlyOne(): RequestId | undefined {
    const answerable = [...this.#pending.values()].filter(({ options }) => options.stream === undefined);
    return answerable.length === 1 ? answerable[0]?.id : undefined;
  }

  #notification(method: string, params: JsonObject, origin: RequestId | undefined): void {
    if (method === 'notifications/progress') return this.#progress(params);
    if (method === 'notifications/cancelled') return this.#inbound.cancel(params.requestId);
    if (method === 'notifications/message') {
      if (!this.#allowed()) return this.#limited();
      const log = this.#logOf(origin);
      if (log !== undefined) return log(params);
    }
    this.#events.notification(method, params);
  }

  /** Who hears what is logged: the request on whose stream it came, or the only one that it can be about. */
  #logOf(origin: RequestId | undefined): ((params: JsonObject) => void) | undefined {
    if (origin !== undefined) {
      const entry = this.#pending.get(origin);
      // What was logged about one client's request is not for others, though that one does not listen.
      const isPrivate = entry === undefined || entry.options.owner !== undefined;
      return entry?.options.log ?? (isPrivate ? unheard : undefined);
    }
    const calls = this.#asking();
    const about = this.codec.logsOnRequest ? calls.filter(({ options }) => options.log !== undefined) : calls;
    const [only] = about;
    return about.length === 1 && !this.#left.byOthers(only?.options.owner) ? only?.options.log : undefined;
  }

  /** Each request in flight has its share. */
  #allowed(): boolean {
    return this.#rate.allows(performance.now(), Math.max(1, this.#inFlight));
  }

  #progress(params: JsonObject): void {
    const entry = this.#pending.get(params.progressToken as RequestId);
    const seen = entry?.progressed(params);
    const onProgress = entry?.options.onProgress;
    if (seen === undefined || onProgress === undefined) return;
    if (!this.#allowed()) return this.#limited();
    try {
      onProgress(seen);
    } catch {
      // What a listener does with progress is not the call's business.
    }
  }

  #limited(): void {
    if (this.#rate.dropped === 1)
      this.#events.warning(
        `sends more than ${NOTIFICATIONS_PER_SECOND} log and progress messages a second; the rest is dropped`,
      );
  }

  /**
   * The request that a question is about: the one on whose stream it came, the one that waits for the task that it names, or the
   * only one that there is. From then on they run one by one.
   */
  #about(origin: RequestId | undefined, params: JsonObject, open: () => number): Meant | Promise<Meant> {
    if (origin !== undefined)
      return this.#pending.get(origin) ?? { unclear: 'about a request that has ended', among: [] };
    const asking = this.#asking();
    const related = isObject(params._meta) ? params._meta[RELATED_TASK] : undefined;
    if (isObject(related)) {
      const isMeant = ({ method, params: { taskId } }: Pending): boolean =>
        method === 'tasks/result' && taskId === related.taskId;
      return asking.find(isMeant) ?? { unclear: 'about a task that nobody waits for', among: [] };
    }
    // What it asks of its own accord, as many ask for roots when they start, is about none of them.
    if (asking.length > 0) this.#oneByOne = true;
    else if (this.#events.home !== undefined) return new AtHome(this.#events.home);
    return this.#candidate() ?? this.#last(open);
  }

  /**
   * The call that a question must be about, or why that cannot be told; undefined where it will be clear when others have
   * ended: the one that is asked about waits for its answer. That holds for calls of one principal alone, since a server
   * need not wait. Of one client's calls those that wait for it already are left out, since it is asked either way.
   */
  #candidate(): Meant | undefined {
    const asking = this.#asking();
    const [first] = asking;
    const owner = first?.options.owner;
    if (first === undefined || this.#left.byOthers(owner)) return unclear(asking, first !== undefined);
    if (asking.length === 1) return first;
    if (asking.some(({ options }) => options.owner?.principal !== owner?.principal)) return unclear(asking);
    const isOneClient =
      owner !== undefined && asking.every(({ options }) => isSameOwner(options.owner, owner));
    const free = isOneClient ? asking.filter(({ isHeld }) => !isHeld) : asking;
    return free.length === 1 ? free[0] : free.length === 0 ? asking.at(-1) : undefined;
  }

  /** The one call that is left, unless as many questions are open as calls run, so that none of them can end. */
  #last(open: () => number): Promise<Meant> {
    return new Promise((resolve) => {
      const tell = (meant: Meant): void => {
        this.#unclear.delete(look);
        clearTimeout(timer);
        resolve(meant);
      };
      const look = (): void => {
        const asking = this.#asking();
        const candidate = this.#candidate();
        // Those that wait for their clients end when these like.
        const isStuck = open() >= asking.filter(({ isHeld }) => !isHeld).length;
        if (candidate !== undefined) tell(candidate);
        else if (isStuck) tell(unclear(asking));
      };
      const timer = setTimeout(() => tell(unclear(this.#asking())), UNCLEAR_MAX).unref();
      this.#unclear.add(look);
      for (const each of this.#unclear) each();
    });
  }

  #asking(): Pending[] {
    return [...this.#pending.values()].filter((entry) => entry.asker !== undefined);
  }

  // ---- ends ----

  #expire(entry: Pending, over: boolean): void {
    const { method, options, state } = entry;
    const waitedForTurn = state === 'waiting' && this.#oneByOne && entry.takesTurns;
    this.#giveUp(entry, 'timed out');
    this.#settle(
      entry,
      waitedForTurn
        ? outOfTurn(this.label, method, options)
        : expired(this.label, method, options, over, state === 'sent'),
    );
  }

  #abort(entry: Pending): void {
    const sent = entry.state === 'sent';
    this.#giveUp(entry, 'cancelled by the caller');
    this.#settle(entry, cancelled(this.label, entry.method, sent));
  }

  /** Tells the server that nobody waits any more. */
  #giveUp(entry: Pending, reason: string): void {
    if (entry.state !== 'sent') return;
    const { exchange, asker } = entry;
    entry.exchange = undefined;
    if (asker !== undefined && this.codec.serverRequests.size > 0)
      this.#left.add(entry.id, entry.options.owner);
    const byClosing = this.codec.cancelByClosing && this.channel.perRequestStream;
    if (!byClosing && entry.options.uncancellable !== true) {
      void this.notify('notifications/cancelled', { requestId: entry.id, reason });
    }
    exchange?.abort();
  }

  #settle(entry: Pending, outcome: Answer | MidspanError): void {
    if (entry.state === 'settled') return;
    const counted = entry.state === 'sent' && entry.options.stream === undefined;
    if (entry.state === 'waiting') {
      const place = this.#queue.indexOf(entry);
      if (place >= 0) this.#queue.splice(place, 1);
    }
    this.#pending.delete(entry.id);
    entry.settle(outcome);
    for (const look of this.#unclear) look();
    if (!counted) return;
    this.#inFlight -= 1;
    if (this.#queue.length > 0) this.#next();
  }

  /** Sends those that wait no longer, in their order. */
  #next(): void {
    for (let place = 0; place < this.#queue.length && this.#inFlight < IN_FLIGHT_MAX;) {
      const entry = this.#queue[place] as Pending;
      if (this.#mayGo(entry)) {
        this.#queue.splice(place, 1);
        this.#transmit(entry);
      } else place += 1;
    }
  }

  /** Ends what waits, with `reason`. The channel itself stays open. */
  end(reason: MidspanError): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#inbound.end();
    for (const entry of this.#queue.splice(0)) this.#settle(entry, unsent(this.label, reason));
    for (const entry of this.#pending.values()) {
      entry.exchange?.abort();
      entry.exchange = undefined;
      this.#settle(
        entry,
        outcomeUnknown(this.label, `the connection ended while ${entry.method} was running`, reason),
      );
    }
  }

  #refused({ method }: Pending, error: RpcErrorObject, status?: number): MidspanError {
    return rpcFailure(this.label, method, redactedError(error, this.#events.redact), status);
  }

  #broken({ method }: Pending, problem: string): MidspanError {
    return broken(this.label, `the server answered ${method} with ${this.#events.redact(problem)}`);
  }
}

/** Questions about no call have no clock that could stand still. */
class AtHome implements Running {
  readonly questions = 0;
  readonly asker: Asker;
  constructor(asker: Asker) {
    this.asker = asker;
  }
  hold(): void {}
  release(): void {}
}

/** Why nobody is asked: several calls may be meant, none, or one that was given up. */
function unclear(asking: readonly Pending[], given = false): Meant {
  const among = asking.flatMap(({ asker }) => asker ?? []);
  if (asking.length === 0) return { unclear: 'outside of any call', among };
  return given
    ? { unclear: "when it might have been about somebody else's call that was given up", among }
    : {
        unclear: 'while several calls were running, and nobody could tell which of them it was about',
        among,
      };
}

function isSameOwner(one: Owner | undefined, other: Owner): boolean {
  return one?.principal === other.principal && one.client === other.client;
}

function unheard(): void {
  // Nobody listens.
}
