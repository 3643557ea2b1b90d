/** The host: opens servers, keeps the catalog, and lets calls through its one gate. */
/// <reference lib="esnext.disposable" preserve="true" />
import { type Answer, type Asks, nobody } from '../asks/asks.ts';
import type { Config } from '../config/config.ts';
import type { Compiled, DialectId, ResultOptions } from '../dialects/dialect.ts';
import { dialectOf } from '../dialects/index.ts';
import { MidspanError, messageOf } from '../errors.ts';
import { openServer } from '../servers/index.ts';
import type { EraVerdicts, Server, ServerEvent, ServerInfo, ServerState } from '../servers/server.ts';
import type { UsageFile } from '../store/usage.ts';
import type { Json, ServerSpec, ToolDefinition } from '../types.ts';
import { VERSION } from '../version.ts';
import { type CallDeps, type CallOutcome, type CallRequest, type CallSettings, passCall } from './call.ts';
import { askApproval, type CallToApprove } from './approval.ts';
import { buildCatalog, type Catalog, type CatalogEntry } from './catalog.ts';
import { delegate, type Delegating, type Delegation, type DelegationOptions } from './delegation.ts';
import { ANSWERABLE } from './input.ts';
import { type Kept, keptResults, READ_RESULT } from './kept.ts';
import { checkNatives, type NativeFunction } from './natives.ts';

/** How long openHost waits for slow servers before it returns; they join when they are ready. Milliseconds. */
export const START_WITHIN = 15_000;
/** How long a call waits for a server that is still starting and that may own the tool. Milliseconds. */
export const JOIN_WITHIN = 30_000;

export interface HostOptions {
  /** Who answers what servers ask. Default: nobody, so that everything is declined with a reason. */
  asks?: Asks;
  natives?: readonly NativeFunction[];
  /**
   * Whether the native function `read_result` is offered, through which a model reads what its API could not carry.
   * Default true, unless a function of that name is registered.
   */
  readResult?: boolean;
  /** Milliseconds; default START_WITHIN. 0 returns at once. */
  startWithin?: number;
  signal?: AbortSignal;
  clientInfo?: { name: string; version: string };
  verdicts?: EraVerdicts;
  /** Where calls that reached a server are counted. */
  usage?: UsageFile;
  /** Globs over exposed names whose definitions ask for the schema-enforced mode, beside the `tools.strict` of servers. */
  strict?: readonly string[];
  onEvent?: (event: HostEvent) => void;
}

export type HostEvent =
  | { type: 'server'; label: string; state: ServerState; error?: MidspanError }
  | { type: 'catalog' }
  | { type: 'log'; label: string; level: string; logger?: string; data: Json | undefined }
  | { type: 'warning'; label?: string; message: string };

export interface ServerStatus {
  label: string;
  /** `delegated`: a model's provider connects to it; the host has not, so far. */
  state: ServerState | 'disabled' | 'delegated';
  info?: ServerInfo;
  error?: MidspanError;
  /** How many tools it listed; undefined when it has not yet. */
  tools?: number;
}

interface Member {
  server: Server;
  tools: readonly ToolDefinition[] | undefined;
  /** Why listing failed, while the server itself is up. */
  listError: MidspanError | undefined;
  /** Ends when it has listed its tools or failed, the first time. */
  first: Promise<void>;
}

export class CoreHost {
  readonly #specs: readonly ServerSpec[];
  readonly #members = new Map<string, Member>();
  readonly #natives: ReadonlyMap<string, NativeFunction>;
  readonly #listeners = new Set<(event: HostEvent) => void>();
  readonly #asks: Asks;
  readonly #gate: CallDeps;
  readonly #kept: Kept | undefined;
  readonly #usage: UsageFile | undefined;
  readonly #strict: readonly string[];
  readonly #options: HostOptions;
  #closed = false;
  #catalog: Catalog | undefined;
  #compiled = new Map<DialectId, Compiled>();

  constructor(config: Config, options: HostOptions) {
    const own = options.natives ?? [];
    checkNatives(own);
    const isOffered = options.readResult !== false && !own.some(({ name }) => name === READ_RESULT);
    this.#kept = isOffered ? keptResults() : undefined;
    const natives = this.#kept === undefined ? own : [...own, this.#kept.native];
    this.#natives = new Map(natives.map((native) => [native.name, native]));
    this.#asks = options.asks ?? nobody();
    this.#gate = {
      find: (wanted, signal) => this.#lookUp(wanted) ?? this.#find(wanted, signal),
      server: (label) => this.#members.get(label)?.server,
      native: (name) => this.#natives.get(name),
      asks: this.#asks,
      asksFirst: (label) => this.#specs.some((spec) => spec.label === label && isAskedFirst(spec)),
      reached: (label, tool) => this.#usage?.add(label, tool),
      warn: (label, message) =>
        this.#emit({ type: 'warning', ...(label !== undefined && { label }), message }),
    };
    this.#usage = options.usage;
    this.#strict = options.strict ?? [];
    this.#specs = config.servers;
    if (options.onEvent !== undefined) this.#listeners.add(options.onEvent);
    for (const message of config.warnings) this.#emit({ type: 'warning', message });
    this.#options = options;
    for (const spec of this.#specs) {
      if (spec.disabled !== true && spec.via !== 'provider') this.#open(spec, options);
    }
  }

  /** Every configured server, in configuration order. */
  servers(): ServerStatus[] {
    return this.#specs.map(({ label, disabled }) => {
      const member = this.#members.get(label);
      if (member === undefined) return { label, state: disabled === true ? 'disabled' : 'delegated' };
      const { server, tools, listError } = member;
      const error = server.error ?? listError;
      return {
        label,
        state: server.state,
        ...(server.info !== undefined && { info: server.info }),
        ...(error !== undefined && { error }),
        ...(tools !== undefined && { tools: tools.length }),
      };
    });
  }

  /** Resolves when every server has listed its tools or failed, or after `within` milliseconds. */
  async settled(options: { within?: number; signal?: AbortSignal } = {}): Promise<void> {
    await bounded(Promise.all([...this.#members.values()].map(({ first }) => first)), options);
  }

  /** What is shown now. A new object after each change; the same one while nothing changed. */
  catalog(): Catalog {
    this.#catalog ??= buildCatalog(
      this.#specs.map((spec) => {
        const member = this.#members.get(spec.label);
        return { spec, tools: member?.tools, state: () => stateInWords(member) };
      }),
      [...this.#natives.values()],
      this.#strict,
    );
    return this.#catalog;
  }

  /** The catalog as one provider's definitions, with the report of what was changed or left out. */
  tools(dialect: DialectId): Compiled {
    let compiled = this.#compiled.get(dialect);
    if (compiled === undefined) {
      compiled = dialectOf(dialect).definitions(this.catalog().entries);
      this.#compiled.set(dialect, compiled);
    }
    return compiled;
  }

  /** Runs one tool. Never rejects: what fails becomes an error result, with its status. */
  call(request: CallRequest, settings: CallSettings = {}): Promise<CallOutcome> {
    return passCall(request, settings, this.#gate);
  }

  /**
   * For `keep` of a dialect's ResultOptions: what the API cannot carry is kept, within limits, and `read_result` gives it
   * out. Undefined where that function is not offered.
   */
  get keep(): ResultOptions['keep'] {
    return this.#kept?.keep;
  }

  /**
   * Connects to servers that are left to providers (`via: "provider"`), all of them or those with the given labels, and
   * waits until each has listed its tools or failed, or START_WITHIN. Their tools stand in the catalog afterwards.
   */
  async connect(labels?: readonly string[], options: { signal?: AbortSignal } = {}): Promise<void> {
    if (this.#closed) return;
    const wanted = this.#specs.filter(
      ({ label, via, disabled }) =>
        via === 'provider' && disabled !== true && labels?.includes(label) !== false,
    );
    for (const spec of wanted) if (!this.#members.has(spec.label)) this.#open(spec, this.#options);
    const first = wanted.flatMap(({ label }) => this.#members.get(label)?.first ?? []);
    await bounded(Promise.all(first), { within: START_WITHIN, ...options });
  }

  /** Which servers a model's provider connects to itself in a run; connects to those that it cannot have. */
  delegate(model: Delegating, options: DelegationOptions = {}): Promise<Delegation> {
    return delegate(
      this.#specs,
      model,
      {
        connect: (labels, signal) => this.connect(labels, { ...(signal !== undefined && { signal }) }),
        listed: (label) => {
          const member = this.#members.get(label);
          if (member?.tools === undefined) return { failure: stateInWords(member) };
          return this.catalog().entries.filter((entry) => entry.label === label);
        },
      },
      options,
    );
  }

  /** Asks a person whether a model's call may run. Never rejects. */
  approve(call: CallToApprove, { signal }: { signal?: AbortSignal } = {}): Promise<Answer> {
    return askApproval(this.#asks, call, signal);
  }

  on(listener: (event: HostEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends every server; nothing of them is left when this resolves. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#members.values()].map(({ server }) => server.close()));
    await this.#usage?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(spec: ServerSpec, options: HostOptions): void {
    const server = openServer(spec, {
      clientInfo: options.clientInfo ?? { name: 'midspan', version: VERSION },
      capabilities: ANSWERABLE,
      ...(options.verdicts !== undefined && { verdicts: options.verdicts }),
    });
    const member: Member = { server, tools: undefined, listError: undefined, first: Promise.resolve() };
    this.#members.set(spec.label, member);
    server.on((event) => this.#onServerEvent(member, event));
    member.first = server.ready().then(
      () => this.#list(member),
      () => undefined, // its state and error say why
    );
  }

  #onServerEvent(member: Member, event: ServerEvent): void {
    const { label } = member.server;
    switch (event.type) {
      case 'state':
        this.#emit({ ...event, type: 'server', label });
        if (event.state === 'ready') void this.#list(member);
        break;
      case 'tools-changed':
        void this.#list(member);
        break;
      case 'log':
        this.#emit({ ...event, label });
        break;
      case 'warning':
        this.#emit({ ...event, label });
        break;
      default:
        event satisfies never;
    }
  }

  async #list(member: Member): Promise<void> {
    try {
      const tools = await member.server.listTools();
      member.listError = undefined;
      if (member.tools === tools) return;
      member.tools = tools;
      this.#catalog = undefined;
      this.#compiled.clear();
      this.#emit({ type: 'catalog' });
    } catch (error) {
      if (member.server.state === 'closed') return;
      const isKnown = member.listError?.message === messageOf(error);
      // What it listed before stays: a passing failure must not take its tools away.
      member.listError = error instanceof MidspanError ? error : undefined;
      if (isKnown) return;
      this.#emit({
        type: 'warning',
        label: member.server.label,
        message: `its tools could not be listed: ${error instanceof MidspanError ? error.what : messageOf(error)}`,
      });
    }
  }

  /** The owner of a call that the table does not know. Its tool may belong to a server that is still starting: wait for it. */
  async #find(
    request: CallRequest,
    signal: AbortSignal | undefined,
  ): Promise<CatalogEntry | { missing: string }> {
    if (request.label !== undefined) await this.connect([request.label], { ...(signal && { signal }) });
    const starting = [...this.#members.values()].filter(
      ({ server, tools }) =>
        tools === undefined && (request.label === undefined || request.label === server.label),
    );
    await bounded(Promise.all(starting.map(({ first }) => first)), {
      within: JOIN_WITHIN,
      ...(signal && { signal }),
    });
    return this.#lookUp(request) ?? { missing: this.#missing(request) };
  }

  #lookUp({ name, label, tool }: CallRequest): CatalogEntry | undefined {
    if (name !== undefined) return this.catalog().find(name);
    return label === undefined || tool === undefined ? undefined : this.catalog().owned(label, tool);
  }

  #missing({ name, label, tool }: CallRequest): string {
    if (name !== undefined) return this.catalog().why(name);
    const status = this.servers().find((server) => server.label === label);
    if (status === undefined)
      return `there is no server labeled ${label ?? '(none)'}; configured: ${this.#specs.map((spec) => spec.label).join(', ')}`;
    const hidden = this.catalog().hidden.find((entry) => entry.label === label && entry.tool === tool);
    if (hidden !== undefined) return `${hidden.tool} of server ${hidden.label} is hidden: ${hidden.reason}`;
    if (status.tools === undefined)
      return status.error?.message ?? `${status.label}: the server is ${status.state}`;
    const own = this.catalog()
      .entries.filter((entry) => entry.label === label)
      .map((entry) => entry.tool);
    return `server ${label} has no tool ${tool ?? '(none)'}; it has: ${own.join(', ')}`;
  }

  #emit(event: HostEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch {
        // A listener's failure is not the host's.
      }
    }
  }
}

/** Opens the configured servers at once and returns when all have listed their tools or failed, or after `startWithin`. */
export async function openCore(config: Config, options: HostOptions = {}): Promise<CoreHost> {
  const host = new CoreHost(config, options);
  try {
    await host.settled({
      within: options.startWithin ?? START_WITHIN,
      ...(options.signal && { signal: options.signal }),
    });
    options.signal?.throwIfAborted();
    return host;
  } catch (error) {
    await host.close();
    throw error;
  }
}

/** The default of a server that is left to a provider; policy for other servers is not decided here. */
function isAskedFirst({ via, approval }: ServerSpec): boolean {
  return via === 'provider' && approval !== 'never';
}

function stateInWords(member: Member | undefined): string {
  if (member === undefined) return 'it is disabled, or left to the provider of a model, in the configuration';
  return (member.server.error ?? member.listError)?.what ?? `it is ${member.server.state}`;
}

/** Waits for work that never rejects, but no longer than `within` milliseconds or the signal. Ends without a word. */
async function bounded(
  work: Promise<unknown>,
  { within, signal }: { within?: number; signal?: AbortSignal },
): Promise<void> {
  if (signal?.aborted === true) return;
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const timer = within === undefined ? undefined : setTimeout(stop, within);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([work, stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
