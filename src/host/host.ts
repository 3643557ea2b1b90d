/** The host: opens servers, keeps the catalog, and lets calls through its one gate. */
/// <reference lib="esnext.disposable" preserve="true" />
import { type Answer, type Asks, nobody } from '../asks/asks.ts';
import { MidspanError } from '../errors.ts';
import type { Config } from '../config/config.ts';
import type { Compiled, DialectId, ResultOptions } from '../dialects/dialect.ts';
import { dialectOf } from '../dialects/index.ts';
import type { Journal } from '../journal/journal.ts';
import type { EraVerdicts, Owner, Server } from '../servers/server.ts';
import type { UsageFile } from '../store/usage.ts';
import { type Lock, readLock } from '../trust/lock/index.ts';
import { labelsOf } from '../trust/policy/policy.ts';
import type { JsonObject, Policy, ServerSpec, ToolResult } from '../types.ts';
import { VERSION } from '../version.ts';
import {
  type CallDeps,
  type CallOutcome,
  type CallRequest,
  type CallSettings,
  type Missing,
  passCall,
} from './call.ts';
import { type Admission, Admissions } from './admission.ts';
import type { CallToApprove } from './approval.ts';
import { cleanResult } from './clean.ts';
import { buildCatalog, type Catalog, type CatalogEntry } from './catalog.ts';
import { delegate, type Delegating, type Delegation, type DelegationOptions } from './delegation.ts';
import type { HostEvent } from './events.ts';
import { ANSWERABLE } from './input.ts';
import { type Kept, keptResults, READ_RESULT } from './kept.ts';
import { isOurs, Members, type ServerStatus } from './members.ts';
import { checkNatives, type NativeFunction } from './natives.ts';
import { permission, type PermissionDeps, type RememberedDecisions } from './permission.ts';
import {
  passRelay,
  type RelayDeps,
  type RelayOutcome,
  type RelayRequest,
  type RelaySettings,
} from './relay.ts';
import { newSession, type Session } from './session.ts';

export type { ServerStatus };

/** How long openHost waits for slow servers before it returns; they join when they are ready. Milliseconds. */
export const START_WITHIN = 15_000;
/** How long a call waits for a server that is still starting and that may own the tool. Milliseconds. */
export const JOIN_WITHIN = 30_000;

export interface HostOptions {
  /** Who answers what servers ask. Default: nobody, so that everything is declined with a reason. */
  asks?: Asks;
  /** MCP client capabilities that servers are told until their first client is known. Default: what `asks` can answer. */
  answerable?: JsonObject;
  natives?: readonly NativeFunction[];
  /**
   * Whether the native function `read_result` is offered, through which a model reads what its API could not carry.
   * Default true, unless a function of that name is registered.
   */
  readResult?: boolean;
  /** Which lists of servers are kept: those of tools (default), or those of prompts, resources and templates as well. */
  lists?: 'tools' | 'all';
  /** Milliseconds; default START_WITHIN. 0 returns at once. */
  startWithin?: number;
  signal?: AbortSignal;
  clientInfo?: { name: string; version: string };
  verdicts?: EraVerdicts;
  /** Where calls that reached a server are counted. */
  usage?: UsageFile;
  /** Globs over exposed names whose definitions ask for the schema-enforced mode, beside the `tools.strict` of servers. */
  strict?: readonly string[];
  /** Instead of the policy of the configuration. */
  policy?: Policy;
  /** Where calls, asks and decisions about definitions are recorded before they take effect. Default: nowhere. */
  journal?: Journal;
  /** A person's words that hold for good. Default: they hold as long as the host. */
  remembered?: RememberedDecisions;
  onEvent?: (event: HostEvent) => void;
}

export type { HostEvent };

export class CoreHost {
  #specs: readonly ServerSpec[];
  readonly #members: Members;
  #admissions: Admissions;
  readonly #natives: ReadonlyMap<string, NativeFunction>;
  readonly #listeners = new Set<(event: HostEvent) => void>();
  readonly #gate: CallDeps;
  readonly #permission: PermissionDeps;
  readonly #relayed: RelayDeps;
  /** Set: instead of the policy of any configuration. */
  readonly #policy: Policy | undefined;
  readonly #session = newSession();
  readonly #kept: Kept | undefined;
  readonly #usage: UsageFile | undefined;
  readonly #strict: readonly string[];
  readonly #last: (() => void)[] = [];
  #closed = false;
  #catalog: Catalog | undefined;
  #compiled = new Map<DialectId, Compiled>();

  constructor(config: Config, options: HostOptions, lock: Lock | undefined) {
    const own = options.natives ?? [];
    checkNatives(own);
    const isOffered = options.readResult !== false && !own.some(({ name }) => name === READ_RESULT);
    this.#kept = isOffered ? keptResults() : undefined;
    const natives = this.#kept === undefined ? own : [...own, this.#kept.native];
    this.#natives = new Map(natives.map((native) => [native.name, native]));
    this.#usage = options.usage;
    this.#strict = options.strict ?? [];
    this.#specs = config.servers;
    if (options.onEvent !== undefined) this.#listeners.add(options.onEvent);
    for (const message of config.warnings) this.#emit({ type: 'warning', message });
    this.#admissions = new Admissions(config.trust, lock, config.path, [...this.#natives.keys()]);
    this.#members = new Members(this.#specs, {
      lists: options.lists ?? 'tools',
      clientInfo: options.clientInfo ?? { name: 'midspan', version: VERSION },
      capabilities: options.answerable ?? ANSWERABLE,
      verdicts: options.verdicts,
      admissions: this.#admissions,
      journal: options.journal,
      emit: (event) => this.#emit(event),
      changed: () => {
        this.#catalog = undefined;
        this.#compiled.clear();
        this.#emit({ type: 'catalog' });
      },
    });
    this.#policy = options.policy;
    this.#permission = {
      policy: options.policy ?? config.policy,
      asks: options.asks ?? nobody(),
      always: options.remembered,
      journal: options.journal,
      approval: (label) => this.#approvalOf(label),
    };
    this.#gate = {
      find: (wanted, signal) => this.#owner(wanted, signal) ?? this.#find(wanted, signal),
      server: (label) => this.#members.get(label)?.server,
      native: (name) => this.#natives.get(name),
      facts: (label, tool, definition) =>
        this.#admissions.facts(this.#members.get(label)?.admission, tool, definition),
      permission: this.#permission,
      session: this.#session,
      journal: options.journal,
      reached: (label, tool) => this.#usage?.add(label, tool),
      warn: (label, message) =>
        this.#emit({ type: 'warning', ...(label !== undefined && { label }), message }),
    };
    this.#relayed = {
      member: (label, signal) => this.#listed(label, signal),
      session: this.#session,
      warn: (label, message) => this.#emit({ type: 'warning', label, message }),
    };
    for (const spec of this.#specs.filter(isOurs)) this.#members.open(spec);
  }

  /** Every configured server, in configuration order. */
  servers(): ServerStatus[] {
    return this.#members.statuses();
  }

  /**
   * What holds of definitions. lock: nothing but what it pins is shown. first-listing: there is no lock, so what a process
   * listed first counts, scanned. off: nothing is checked.
   */
  get pinnedBy(): 'lock' | 'first-listing' | 'off' {
    return this.#admissions.pinnedBy;
  }

  /** Resolves when every server, or the one with this label, has listed what it has or failed, or after `within` milliseconds. */
  async settled(options: { within?: number; signal?: AbortSignal; label?: string } = {}): Promise<void> {
    const { label } = options;
    const awaited = this.#members.all().filter(({ server }) => label === undefined || server.label === label);
    await bounded(Promise.all(awaited.map(({ first }) => first)), options);
  }

  /** What is shown now. A new object after each change; the same one while nothing changed. */
  catalog(): Catalog {
    this.#catalog ??= buildCatalog(this.#members.listed(), [...this.#natives.values()], this.#strict);
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
   * Sends on what is no call of a tool: prompts, resources, completion, tasks, by the server's own names and URIs. Only where
   * `lists` is `all` are prompts known. Never rejects.
   */
  relay(request: RelayRequest, settings: RelaySettings = {}): Promise<RelayOutcome> {
    return passRelay(request, settings, this.#relayed);
  }

  /** Tells of changes of one resource (`resource-updated`), by the server's own URI, until the returned function is called. */
  follow(label: string, uri: string): () => void {
    const member = this.#members.get(label);
    const { stopped, others } = member?.admission ?? {};
    const isHidden = stopped !== undefined || others?.resources.withheld.some(({ key }) => key === uri);
    return member === undefined || isHidden === true ? () => undefined : member.server.follow(uri);
  }

  /** A client of the gateway comes no more: what its servers kept apart for it is ended. */
  forget(owner: Owner): void {
    for (const { server } of this.#members.all()) server.forget(owner);
  }

  /**
   * Goes over to another configuration, and to its lock as it is now: servers that are configured as before go on as they are, others are ended,
   * started, or reached anew, and what may be shown of each is judged by the new lock. Calls of a server that is ended
   * are not known to have run.
   * @throws MidspanError where the lock cannot be read; then nothing has changed.
   */
  async reload(config: Config): Promise<void> {
    if (this.#closed) return;
    const lock = await lockOf(config);
    for (const message of config.warnings) this.#emit({ type: 'warning', message });
    this.#specs = config.servers;
    this.#permission.policy = this.#policy ?? config.policy;
    const natives = [...this.#natives.keys()];
    this.#admissions = new Admissions(config.trust, lock, config.path, natives, this.#admissions);
    await this.#members.reload(this.#specs, this.#admissions);
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
    for (const spec of wanted) if (!this.#members.has(spec.label)) this.#members.open(spec);
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
          if (this.#members.get(label)?.admission === undefined)
            return { failure: this.#members.stateInWords(label) };
          return this.catalog().entries.filter((entry) => entry.label === label);
        },
      },
      // What a provider lists for itself is never compared with anything.
      this.pinnedBy === 'lock' && options.refuse === undefined
        ? { ...options, refuse: 'a lock file holds, and only the host can keep to it' }
        : options,
    );
  }

  /** Whether a call that a provider waits with may run: by the policy, or a person's word. Never rejects. */
  async approve(
    { label, tool, arguments: args }: CallToApprove,
    { signal, session = this.#session }: { signal?: AbortSignal; session?: Session } = {},
  ): Promise<Answer> {
    const entry = this.catalog().owned(label, tool);
    const facts = entry && this.#gate.facts(label, tool, entry.definition);
    const { denial, by } = await permission(
      {
        label,
        tool,
        arguments: args,
        digest: facts?.digest ?? '',
        labels: facts?.labels ?? [],
        ...(entry?.definition.annotations !== undefined && { hints: entry.definition.annotations }),
      },
      { session, approved: false, signal },
      this.#permission,
    );
    if (denial !== undefined) return { action: 'decline', reason: denial.what };
    return { action: 'accept', ...(by !== undefined && { by }) };
  }

  /** What a provider's own call of a server brought into a run: it counts as what our calls bring in. */
  saw({ label, tool }: { label: string; tool: string }, result: ToolResult, session: Session): void {
    const entry = this.catalog().owned(label, tool);
    const known = entry === undefined ? [] : this.#gate.facts(label, tool, entry.definition).labels;
    const labels = labelsOf(this.#permission.policy, { label, tool, labels: known });
    const cleaned = cleanResult(result);
    session.taint.saw({ label, tool, labels }, cleaned.result, cleaned.isSuspicious);
  }

  on(listener: (event: HostEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Runs after everything else when the host has closed. */
  onClosed(last: () => void): void {
    this.#last.push(last);
  }

  /** Ends every server; nothing of them is left when this resolves. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#members.close();
    await this.#usage?.close();
    for (const last of this.#last.splice(0)) last();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #approvalOf(label: string): ServerSpec['approval'] {
    const spec = this.#specs.find((candidate) => candidate.label === label);
    return spec?.via === 'provider' ? (spec.approval ?? 'always') : undefined;
  }

  /** The owner of a call, once its definition has been compared with what the server has now. */
  #owner(
    request: CallRequest,
    signal: AbortSignal | undefined,
  ): CatalogEntry | Promise<CatalogEntry | Missing> | undefined {
    const entry = this.#lookUp(request);
    const fresh = entry?.label === undefined ? undefined : this.#members.fresh(entry.label);
    if (fresh === undefined) return entry;
    const listed = bounded(fresh, { ...(signal && { signal }) });
    return listed.then(() => this.#lookUp(request) ?? this.#missing(request));
  }

  /** The owner of a call that the table does not know. Its tool may belong to a server that is still starting: wait for it. */
  async #find(request: CallRequest, signal: AbortSignal | undefined): Promise<CatalogEntry | Missing> {
    if (request.label !== undefined) await this.connect([request.label], { ...(signal && { signal }) });
    const starting = this.#members
      .all()
      .filter(
        ({ server, tools }) =>
          tools === undefined && (request.label === undefined || request.label === server.label),
      );
    await bounded(Promise.all(starting.map(({ first }) => first)), {
      within: JOIN_WITHIN,
      ...(signal && { signal }),
    });
    return this.#lookUp(request) ?? this.#missing(request);
  }

  async #listed(
    label: string,
    signal: AbortSignal | undefined,
  ): Promise<{ server: Server; admission: Admission } | MidspanError> {
    const member = this.#members.get(label);
    if (member?.admission === undefined && member !== undefined)
      await bounded(member.first, { within: JOIN_WITHIN, ...(signal && { signal }) });
    const refusal = this.#members.refusal(label);
    if (refusal !== undefined) return refusal;
    if (member?.admission !== undefined) return { server: member.server, admission: member.admission };
    return (
      member?.server.error ??
      new MidspanError({ label, code: 'unreachable', what: this.#members.stateInWords(label) })
    );
  }

  #lookUp({ name, label, tool }: CallRequest): CatalogEntry | undefined {
    if (name !== undefined) return this.catalog().find(name);
    return label === undefined || tool === undefined ? undefined : this.catalog().owned(label, tool);
  }

  /** Why nothing can be called under a name, and whether it waits for review. */
  #missing({ name, label, tool }: CallRequest): Missing {
    const catalog = this.catalog();
    if (name !== undefined) {
      return { missing: catalog.why(name), isWithheld: catalog.withheld(name) };
    }
    const status = this.servers().find((server) => server.label === label);
    if (status === undefined)
      return {
        missing: `there is no server labeled ${label ?? '(none)'}; configured: ${this.#specs.map((spec) => spec.label).join(', ')}`,
      };
    if (status.state === 'withheld')
      return { missing: status.error?.message ?? `${status.label} is withheld`, isWithheld: true };
    const hidden = catalog.hidden.find((entry) => entry.label === label && entry.tool === tool);
    if (hidden !== undefined)
      return {
        missing: `${hidden.tool} of server ${hidden.label} is hidden: ${hidden.reason}`,
        isWithheld: hidden.isWithheld === true,
      };
    if (status.tools === undefined)
      return { missing: status.error?.message ?? `${status.label}: the server is ${status.state}` };
    const own = catalog.entries.filter((entry) => entry.label === label).map((entry) => entry.tool);
    return { missing: `server ${label} has no tool ${tool ?? '(none)'}; it has: ${own.join(', ')}` };
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
  const lock = await lockOf(config);
  const host = new CoreHost(config, options, lock);
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

/** A lock that cannot be read stops everything: without it, nothing tells what was approved. */
async function lockOf({ trust: { mode, lock } }: Config): Promise<Lock | undefined> {
  return mode === 'off' || lock === undefined ? undefined : readLock(lock, { facets: false });
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
