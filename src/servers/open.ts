/** One server's life: started in the background, brought back when it dies, given up for a while when it keeps dying. */
import { MidspanError } from '../errors.ts';
import { relayable } from '../mcp/capabilities.ts';
import { untilAbort } from './abort.ts';
import { BRANCHES_MAX, Branches, declaredBy } from './branches.ts';
import { connect } from './connect.ts';
import { Connection } from './connection.ts';
import { Events } from './events.ts';
import { cancelled, failure, serverClosed, startTooSlow, stillStarting } from './failure.ts';
import { Followed } from './followed.ts';
import { Follows } from './follows.ts';
import { Lists } from './lists.ts';
import { isAtLeast } from './log-level.ts';
import { Questions } from './questions.ts';
import { relay } from './relay.ts';
import { redactorOf } from './secrets.ts';
import { RESTARTS_MAX, TIMING, backOff } from './timing.ts';
import { Verdict } from './verdict.ts';
import { Watch, pause } from './watch.ts';
import type { Channel } from './channel.ts';
import type { Place } from './branches.ts';
import type { ConnectSetup } from './connect.ts';
import type {
  CallOptions,
  LogMessage,
  Owner,
  Relayed,
  RelayOptions,
  Server,
  ServerDeps,
  ServerEvent,
  ServerInfo,
  ServerState,
} from './server.ts';
import type { ToolFacts } from './relay.ts';
import type { Redact } from './secrets.ts';
import type { Timing } from './timing.ts';
import type { JsonObject, ServerSpec, Surface, ToolDefinition, ToolResult } from '../types.ts';

/** How a channel of the configured transport is made; `sse` asks for HTTP+SSE at the same address. */
export type MakeChannel = (spec: ServerSpec, sse: boolean) => Channel;

/** What a connection beside the first one has from it: it lists nothing itself. */
export interface Trunk {
  tools: ToolFacts;
  /** Undefined: what changes here is nothing for others. */
  followed: Followed | undefined;
  /** Resources are followed on this connection, too. */
  follows: boolean;
  /** `list_changed`. */
  changed: (method: string) => void;
  /** The request of its only client, who is asked what is about no call: the roots, as soon as it is connected to. */
  home: RelayOptions | undefined;
}

/** How long a connection that is to be opened anew waits for what it lists. Milliseconds. */
const LISTING_PATIENCE = 5_000;

export class LiveServer implements Server {
  readonly spec: ServerSpec;
  #deps: ServerDeps;
  readonly #timing: Timing;
  readonly #channel: MakeChannel;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #redact: Redact;
  readonly #events: Events;
  readonly #lists: Lists;
  readonly #tools: ToolFacts;
  readonly #followed: Followed;
  readonly #follows: Follows | undefined;
  readonly #trunk: Trunk | undefined;
  /** Undefined for one that is a branch itself. */
  readonly #branches: Branches | undefined;
  /** Whether anything but lists was ever asked of it. */
  #isUsed = false;
  /** While the first connection is opened anew, for the first client. */
  #adopting: Promise<void> | undefined;
  /** When it put questions to people. */
  readonly #asked: number[] = [];
  readonly #verdict: Verdict;
  readonly #closing = new AbortController();
  #state: ServerState = 'starting';
  #error: MidspanError | undefined;
  #connection: Connection | undefined;
  #attempt: Promise<Connection>;
  #watching: AbortController | undefined;
  #watch: Watch | undefined;
  #failures = 0;
  #readyAt = 0;
  #retryAt = 0;
  /** The last of a connection that was lost. */
  #ending: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(spec: ServerSpec, deps: ServerDeps, channel: MakeChannel, trunk?: Trunk) {
    this.spec = spec;
    this.#deps = deps;
    this.#channel = channel;
    this.#redact = redactorOf(spec.transport);
    this.#events = new Events(this.#redact);
    this.#timing = { ...TIMING, ...deps.timing, ...spec.timeouts };
    this.#now = deps.now ?? Date.now;
    this.#random = deps.random ?? Math.random;
    this.#verdict = new Verdict(spec, deps.verdicts, this.#timing.verdict, this.#now);
    this.#lists = new Lists({
      label: spec.label,
      connection: () => this.#usable(undefined),
      timeout: this.#timing.request,
      timeoutAll: this.#timing.listing,
      now: this.#now,
      toolsChanged: () => this.#events.emit({ type: 'tools-changed' }),
      othersChanged: () => this.#events.emit({ type: 'others-changed' }),
      warning: this.#events.warning,
    });
    this.#trunk = trunk;
    this.#tools = trunk?.tools ?? {
      mirrored: (name, args) => this.#lists.mirrored(name, args),
      relist: () => this.#lists.tools(true),
      taskSupport: (name) => this.#lists.taskSupport(name),
    };
    const { warning } = this.#events;
    const updated = (uri: string): void => this.#events.emit({ type: 'resource-updated', uri });
    this.#followed = trunk?.followed ?? new Followed({ updated, warning });
    if (trunk === undefined || trunk.follows)
      this.#follows = new Follows({
        followed: this.#followed,
        timing: this.#timing,
        random: this.#random,
        warning,
      });
    this.#branches =
      trunk === undefined
        ? new Branches({
            isolation: spec.isolation,
            own: deps.capabilities,
            open: (place, first) => this.#branch(place, first),
            holds: this.#timing.branch,
          })
        : undefined;
    this.#attempt = this.#start('starting', 0);
  }

  get label(): string {
    return this.spec.label;
  }

  get state(): ServerState {
    return this.#state;
  }

  get info(): ServerInfo | undefined {
    return this.#connection?.info;
  }

  get error(): MidspanError | undefined {
    return this.#error;
  }

  async ready(signal?: AbortSignal): Promise<void> {
    await this.#usable(signal);
  }

  async listTools({ signal, refresh = false }: { signal?: AbortSignal; refresh?: boolean } = {}): Promise<
    ToolDefinition[]
  > {
    if (this.#connection === undefined) await this.#usable(signal);
    return untilAbort(this.#lists.tools(refresh), signal, () => cancelled(this.label, 'tools/list', false));
  }

  async surface({
    signal,
    refresh = false,
  }: { signal?: AbortSignal; refresh?: boolean } = {}): Promise<Surface> {
    if (this.#connection === undefined) await this.#usable(signal);
    return untilAbort(this.#lists.surface(refresh), signal, () => cancelled(this.label, 'listing', false));
  }

  async callTool(name: string, args: JsonObject, options: CallOptions = {}): Promise<ToolResult> {
    const relayed = await this.relay('tools/call', { name, arguments: args }, options);
    // Without rounds and tasks there is no other end.
    return (relayed as Relayed & { kind: 'complete' }).result as ToolResult;
  }

  relay(method: string, params: JsonObject, options: RelayOptions = {}): Promise<Relayed> {
    const branches = this.#branches;
    const isPlain = branches === undefined || branches.isPlain(options);
    if (isPlain && this.#adopting === undefined) return this.#relay(method, params, options);
    if (this.#connection !== undefined && this.#adopting === undefined)
      return this.#through(this.#connection, method, params, options);
    return this.#settledConnection(options).then((connection) =>
      this.#through(connection, method, params, options),
    );
  }

  async #settledConnection({ signal, timeout = this.#timing.call }: RelayOptions): Promise<Connection> {
    while (this.#adopting !== undefined)
      await untilAbort(this.#adopting, signal, () => cancelled(this.label, 'waiting for the server', false));
    return this.#connection ?? (await this.#usable(signal, timeout));
  }

  /** Through the connection that is for requests like this. */
  #through(
    { info }: Connection,
    method: string,
    params: JsonObject,
    options: RelayOptions,
  ): Promise<Relayed> {
    const place = this.#branches?.placeOf(options, info.era);
    if (this.#branches === undefined || place === undefined) return this.#relay(method, params, options);
    if (!this.#isUsed && place.owner === undefined) {
      this.#isUsed = true;
      this.#adopting = this.#adopt(place).finally(() => (this.#adopting = undefined));
      return this.relay(method, params, options);
    }
    const relayed = this.#branches.run(place, options, (server) =>
      this.#onBranch(server, place, method, params, options),
    );
    if (relayed !== undefined) return relayed;
    const why = `${BRANCHES_MAX} connections for other clients are in use`;
    return place.owner === undefined
      ? this.#instead(why, method, params, options)
      : Promise.reject(
          new MidspanError({
            code: 'limit',
            label: this.label,
            what: `${why}, and this one's must be apart from them`,
            next: 'Try again when some of their calls have ended',
            data: { sent: false },
          }),
        );
  }

  async #onBranch(
    server: LiveServer,
    place: Place,
    method: string,
    params: JsonObject,
    options: RelayOptions,
  ): Promise<Relayed> {
    try {
      return await server.relay(method, params, options);
    } catch (error) {
      // Some servers run once at a time. What must be kept apart is not let through all the same.
      if (server.state !== 'failed' || server.#readyAt > 0 || place.owner !== undefined) throw error;
      return this.#instead(failure(this.label, error).what, method, params, options);
    }
  }

  /** The first connection declares other capabilities; what its server may ask is looked at with each question. */
  #instead(why: string, method: string, params: JsonObject, options: RelayOptions): Promise<Relayed> {
    const what = `could not be connected to with what this client can be asked (${why})`;
    this.#events.warning(`${what}; it goes through the first connection`);
    try {
      options.onNote?.(`${this.label} ${what}, so it may not know of that`);
    } catch {
      // What a listener does with a note is not the request's business.
    }
    return this.#relay(method, params, options);
  }

  /**
   * Connects anew with what its first client can be asked. Nothing was called so far, so that nothing is lost, and clients of
   * that kind, who are often all there are, share what the server keeps between calls. Never rejects.
   */
  async #adopt(place: Place): Promise<void> {
    await Promise.race([this.#lists.settled(), pause(LISTING_PATIENCE, this.#closing.signal)]);
    if (this.#closed !== undefined) return;
    this.#deps = { ...this.#deps, capabilities: place.declared.capabilities };
    this.#branches?.adopt(place);
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    this.#watching?.abort();
    this.#follows?.lost();
    this.#lists.changed();
    const what = 'it is connected to anew, for a client that can be asked other things';
    this.#ending = connection.close(new MidspanError({ code: 'closed', label: this.label, what }));
    await this.#start('restarting', 0).catch(() => undefined);
  }

  #branch({ declared: { capabilities }, owner }: Place, first: RelayOptions): LiveServer {
    const { isolation, ...spec } = this.spec;
    const isOwned = owner !== undefined;
    // What was found of it need not be found again.
    if (this.info?.era === 'legacy' && (spec.era ?? 'auto') === 'auto') spec.era = 'legacy';
    const branch = new LiveServer(spec, { ...this.#deps, capabilities }, this.#channel, {
      tools: this.#tools,
      followed: isOwned ? undefined : this.#followed,
      // Another session of the same process says nothing new; another process of nobody's does.
      follows: !isOwned && spec.transport.type === 'stdio',
      changed: (method) => this.#lists.changed(method),
      home: isOwned && isolation === 'client' ? first : undefined,
    });
    branch.on((event) => {
      // Events are for everybody, and what one's own process logs is not.
      if (event.type === 'warning' || (event.type === 'log' && !isOwned)) this.#events.emit(event);
    });
    return branch;
  }

  async #relay(method: string, params: JsonObject, options: RelayOptions): Promise<Relayed> {
    this.#isUsed = true;
    const { call, callMax, retryState } = this.#timing;
    const { signal, timeout = call, capabilities: declared, logLevel, onLog } = options;
    for (let last = false; ; last = true) {
      const connection = this.#connection ?? (await this.#usable(signal, timeout));
      const settling = this.#follows?.settling;
      if (settling !== undefined) await settling;
      if (logLevel !== undefined && connection.logsLess(logLevel))
        await untilAbort(connection.logFrom(logLevel), signal, () => cancelled(this.label, method, false));
      const capabilities = declared === undefined ? undefined : declaredTo(connection, declared);
      const asked =
        logLevel ??
        (declared === undefined && connection.logs && connection.peer.codec.logsOnRequest
          ? 'info'
          : undefined);
      const questions = new Questions({
        label: this.label,
        tool: method === 'tools/call' ? (params.name as string) : undefined,
        capabilities: capabilities ?? this.#deps.capabilities,
        call: options,
        asked: declared === undefined ? this.#asked : undefined,
        now: this.#now,
      });
      try {
        return await relay(
          {
            label: this.label,
            connection,
            tools: this.#tools,
            questions,
            asking: { capabilities, logLevel: asked, meta: options.meta, round: options.round },
            declared: capabilities ?? this.#deps.capabilities,
            log:
              onLog === undefined
                ? asked === undefined
                  ? undefined
                  : this.#events.log
                : this.#logTo(onLog, logLevel),
            timeout,
            timeoutMax: this.spec.timeouts?.callMax ?? Math.max(callMax, timeout),
            retryState,
            closing: this.#closing.signal,
            warning: this.#events.warning,
          },
          method,
          params,
          options,
        );
      } catch (error) {
        // It died before it saw the request, which waits for it to come back.
        const unseen = error instanceof MidspanError && error.code === 'closed' && error.data.sent === false;
        if (!unseen || last || this.#closed !== undefined) throw error;
      }
    }
  }

  #logTo(onLog: (message: LogMessage) => void, level: string | undefined): (params: JsonObject) => void {
    return (params) => {
      if (!isAtLeast(params.level, level)) return;
      try {
        onLog(this.#events.message(params));
      } catch {
        // What a listener does with it is not the request's business.
      }
    };
  }

  follow(uri: string): () => void {
    return this.#followed.follow(uri);
  }

  forget(owner: Owner): void {
    this.#branches?.forget(owner);
  }

  on(listener: (event: ServerEvent) => void): () => void {
    return this.#events.on(listener);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  // ---- life ----

  #start(state: 'starting' | 'restarting', delay: number): Promise<Connection> {
    this.#set(state, this.#error);
    const attempt = this.#connect(delay);
    // Whoever waits hears of it; when nobody does, the state says it.
    attempt.catch(() => undefined);
    this.#attempt = attempt;
    return attempt;
  }

  async #connect(delay: number): Promise<Connection> {
    const limit = new AbortController();
    const stop = (): void => limit.abort();
    this.#closing.signal.addEventListener('abort', stop);
    let timer: NodeJS.Timeout | undefined;
    try {
      await Promise.all([pause(delay, limit.signal), this.#ending]);
      timer = setTimeout(stop, this.#timing.start);
      const connection = await this.#reach(limit.signal);
      this.#ready(connection);
      return connection;
    } catch (error) {
      if (this.#closed !== undefined) throw serverClosed(this.label);
      const reason = limit.signal.aborted
        ? startTooSlow(this.label, this.#timing.start, error)
        : failure(this.label, error, 'unreachable');
      this.#failed(reason);
      throw reason;
    } finally {
      clearTimeout(timer);
      this.#closing.signal.removeEventListener('abort', stop);
    }
  }

  /** Connects by what is configured or remembered of its era, and remembers what was found. */
  async #reach(signal: AbortSignal): Promise<Connection> {
    const configured = this.#verdict.configured();
    const remembered = this.#verdict.remembered();
    const setup: ConnectSetup = {
      spec: this.spec,
      identity: this.#deps,
      timing: this.#timing,
      channel: (sse) => this.#channel(this.spec, sse),
      events: {
        notification: (method, params) => this.#notification(method, params),
        warning: this.#events.warning,
        redact: this.#redact,
        home: this.#home(),
        closed: (reason, peer) => {
          if (this.#connection?.peer === peer) this.#lost(reason);
        },
      },
    };
    let connected;
    try {
      connected = await connect(setup, remembered ?? configured, signal);
    } catch (error) {
      const code = error instanceof MidspanError ? error.code : 'internal';
      if (remembered === undefined || signal.aborted || code === 'sign-in') throw error;
      this.#verdict.drop();
      if (code === 'unreachable') throw error;
      connected = await connect(setup, configured, signal);
    }
    const connection: Connection = new Connection(connected, {
      identity: this.#deps,
      timeout: this.#timing.request,
      renewed: () => {
        this.#lists.changed();
        if (this.#connection !== connection) return;
        this.#followed.gap();
        this.#listen(connection);
      },
      warning: this.#events.warning,
    });
    // It may have ended, or this server may have been closed, while it was reached.
    const useless =
      connected.peer.ended ?? (this.#closed === undefined ? undefined : serverClosed(this.label));
    if (useless !== undefined) {
      await connection.close(useless);
      throw useless;
    }
    this.#verdict.keep(connected.info);
    return connection;
  }

  #home(): Questions | undefined {
    const call = this.#trunk?.home;
    if (call === undefined) return undefined;
    const { capabilities } = this.#deps;
    return new Questions({
      label: this.label,
      tool: undefined,
      capabilities,
      call,
      asked: undefined,
      now: this.#now,
    });
  }

  #ready(connection: Connection): void {
    this.#connection = connection;
    this.#readyAt = this.#now();
    if (this.#state === 'restarting') {
      this.#lists.changed();
      this.#followed.gap();
    }
    this.#set('ready', undefined);
    this.#listen(connection);
  }

  /** Hears of changes from now on. A stream of an earlier session ends. */
  #listen(connection: Connection): void {
    this.#follows?.connected(connection);
    // Changes of lists are heard of by the first connection. On a GET stream come questions, too.
    if (this.#trunk !== undefined && connection.peer.codec.changes !== 'get') return;
    this.#watching?.abort();
    const watching = new AbortController();
    this.#watching = watching;
    this.#watch = new Watch(connection, {
      timing: this.#timing,
      random: this.#random,
      signal: watching.signal,
      // A list that was there before the stream may have missed a change.
      established: (first) => {
        if (this.#trunk !== undefined) return;
        if (!first || this.#lists.listed) this.#lists.changed();
        if (!first && connection.peer.codec.changes === 'get') this.#followed.gap();
      },
      warning: this.#events.warning,
    });
    void this.#watch.run();
  }

  /** It was ready and ended by itself. */
  #lost(reason: MidspanError): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#ending = connection?.close(reason);
    this.#watching?.abort();
    this.#follows?.lost();
    this.#lists.changed();
    if (this.#now() - this.#readyAt >= this.#timing.stable) this.#failures = 0;
    this.#again(reason);
  }

  #failed(reason: MidspanError): void {
    // A server that never was ready is not started again by itself: its configuration is the likely cause.
    if (this.#state === 'restarting') this.#again(reason);
    else this.#giveUp(reason);
  }

  #again(reason: MidspanError): void {
    const { restart, restartMax } = this.#timing;
    if (this.#failures >= RESTARTS_MAX) return this.#giveUp(reason);
    const delay = backOff(restart, restartMax, this.#failures, this.#random);
    this.#failures += 1;
    this.#error = reason;
    void this.#start('restarting', delay);
  }

  #giveUp(reason: MidspanError): void {
    const { restart, restartMax } = this.#timing;
    this.#failures += 1;
    this.#retryAt = this.#now() + backOff(restart, restartMax, this.#failures - 1, this.#random);
    this.#set('failed', reason);
  }

  /** The connection, as soon as there is one. A server that was given up is tried again when its back-off is over. */
  async #usable(signal: AbortSignal | undefined, timeout = Infinity): Promise<Connection> {
    const limit = timeout === Infinity ? undefined : AbortSignal.timeout(timeout);
    for (;;) {
      if (this.#closed !== undefined) throw serverClosed(this.label);
      if (this.#connection !== undefined) return this.#connection;
      if (this.#state === 'failed') {
        if (this.#now() < this.#retryAt) throw this.#error as MidspanError;
        void this.#start('starting', 0);
      }
      const attempt = this.#attempt;
      try {
        const started = untilAbort(attempt, limit, () => stillStarting(this.label, this.#state, timeout));
        return await untilAbort(started, signal, () =>
          cancelled(this.label, 'waiting for the server', false),
        );
      } catch (error) {
        // One of several restarts failed, and the next is under way.
        if (
          this.#state === 'restarting' &&
          attempt !== this.#attempt &&
          limit?.aborted !== true &&
          signal?.aborted !== true
        )
          continue;
        throw error;
      }
    }
  }

  async #close(): Promise<void> {
    const reason = serverClosed(this.label);
    this.#closing.abort();
    this.#watching?.abort();
    this.#lists.close();
    const connection = this.#connection;
    this.#connection = undefined;
    this.#follows?.close();
    if (this.#trunk?.followed === undefined) this.#followed.close();
    this.#set('closed', undefined);
    await Promise.all([
      this.#branches?.close(),
      connection?.close(reason),
      this.#attempt.catch(() => undefined),
      this.#ending,
    ]);
    this.#events.clear();
  }

  // ---- what it says ----

  #notification(method: string, params: JsonObject): void {
    switch (method) {
      case 'notifications/tools/list_changed':
      case 'notifications/prompts/list_changed':
      case 'notifications/resources/list_changed':
        // Whether it announced such changes or not.
        return this.#trunk === undefined ? this.#lists.changed(method) : this.#trunk.changed(method);
      case 'notifications/message':
        return this.#events.log(params);
      case 'notifications/subscriptions/acknowledged':
        return this.#follows?.acknowledged(params) === true ? undefined : this.#watch?.acknowledged(params);
      case 'notifications/resources/updated':
        return this.#followed.updated(params);
      default:
      // Others are none of ours: an unknown notification is ignored, as JSON-RPC wants it.
    }
  }

  #set(state: ServerState, error: MidspanError | undefined): void {
    this.#state = state;
    this.#error = error;
    this.#events.emit({ type: 'state', state, ...(error === undefined ? {} : { error }) });
  }
}

/** What a client can be asked, as a server of that connection's era is told it. */
function declaredTo({ info }: Connection, capabilities: JsonObject): JsonObject {
  return info.era === 'legacy' ? declaredBy(capabilities).capabilities : relayable(capabilities, info.era);
}
