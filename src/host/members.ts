/** The servers of a host: opened, listed anew whenever they may have changed, and admitted before anything of them is shown. */
import { canonicalJson } from '../canonical.ts';
import { MidspanError, messageOf } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import { openServer } from '../servers/index.ts';
import type { EraVerdicts, Server, ServerEvent, ServerInfo, ServerState } from '../servers/server.ts';
import type { Json, JsonObject, ServerSpec, Surface, ToolDefinition } from '../types.ts';
import type { Admission, Admissions } from './admission.ts';
import type { Listed } from './catalog.ts';
import type { HostEvent } from './events.ts';

/** A listing is taken anew before a call when it is this old, or this many calls were made on it. Milliseconds. */
export const LISTING_HOLDS = 15 * 60_000;
export const CALLS_ON_A_LISTING = 50;

export interface ServerStatus {
  label: string;
  /**
   * `delegated`: a model's provider connects to it; the host has not, so far. `withheld`: it waits for review, or was
   * stopped since it is not what was approved.
   */
  state: ServerState | 'disabled' | 'delegated' | 'withheld';
  info?: ServerInfo;
  error?: MidspanError;
  /** How many tools it listed; undefined when it has not yet. */
  tools?: number;
}

export interface Member {
  server: Server;
  /** As it listed them last, whatever may be shown of them. */
  tools: readonly ToolDefinition[] | undefined;
  others: Others;
  /** The answer to the handshake that the admission was made with. */
  info: ServerInfo | undefined;
  admission: Admission | undefined;
  /** Why listing failed, while the server itself is up. */
  listError: MidspanError | undefined;
  /** Ends when it has listed its tools or failed, the first time. */
  first: Promise<void>;
  listedAt: number;
  callsSince: number;
  /** A listing under way, which calls wait for. */
  refreshing: Promise<void> | undefined;
  /** What was last told of its admission, so that it is told once. */
  told: string;
}

/** The lists of a surface that are not of tools; empty where the host does not keep them. */
type Others = Pick<Surface, 'prompts' | 'resources' | 'templates'>;

export interface MembersDeps {
  /** Which lists of a server are kept: those of tools alone, or all. */
  lists: 'tools' | 'all';
  clientInfo: { name: string; version: string };
  capabilities: JsonObject;
  verdicts: EraVerdicts | undefined;
  admissions: Admissions;
  journal: Journal | undefined;
  emit(event: HostEvent): void;
  /** What may be shown has changed. */
  changed(): void;
}

export class Members {
  #specs: readonly ServerSpec[];
  readonly #deps: MembersDeps;
  readonly #members = new Map<string, Member>();
  /** Servers that were not started, since they are not what was approved. */
  readonly #refused = new Map<string, MidspanError>();

  constructor(specs: readonly ServerSpec[], deps: MembersDeps) {
    this.#specs = specs;
    this.#deps = deps;
  }

  get(label: string): Member | undefined {
    return this.#members.get(label);
  }

  has(label: string): boolean {
    return this.#members.has(label) || this.#refused.has(label);
  }

  all(): Member[] {
    return [...this.#members.values()];
  }

  /** Starts or reaches a server, unless it is not what was approved. */
  open(spec: ServerSpec): void {
    const { admissions, clientInfo, capabilities, verdicts } = this.#deps;
    const refusal = admissions.refusal(spec);
    if (refusal !== undefined) {
      this.#refused.set(spec.label, refusal);
      this.#tell(spec.label, refusal.what, refusal.next);
      this.#deps.journal?.audit({
        what: 'server',
        label: spec.label,
        decision: 'not started',
        why: refusal.what,
      });
      return;
    }
    const server = openServer(spec, {
      clientInfo,
      capabilities,
      ...(verdicts !== undefined && { verdicts }),
    });
    const member: Member = {
      server,
      tools: undefined,
      others: {},
      info: undefined,
      admission: undefined,
      listError: undefined,
      first: Promise.resolve(),
      listedAt: 0,
      callsSince: 0,
      refreshing: undefined,
      told: '',
    };
    this.#members.set(spec.label, member);
    server.on((event) => this.#onServerEvent(member, event));
    member.first = server.ready().then(
      () => this.#list(member),
      () => undefined, // its state and error say why
    );
  }

  statuses(): ServerStatus[] {
    return this.#specs.map(({ label, disabled }) => {
      const member = this.#members.get(label);
      const refusal = this.#refused.get(label);
      if (refusal !== undefined) return { label, state: 'withheld', error: refusal };
      if (member === undefined) return { label, state: disabled === true ? 'disabled' : 'delegated' };
      const { server, tools, listError, admission } = member;
      const stopped = stopOf(label, admission);
      const error = stopped ?? server.error ?? listError;
      return {
        label,
        state: stopped === undefined ? server.state : 'withheld',
        ...(server.info !== undefined && { info: server.info }),
        ...(error !== undefined && { error }),
        ...(tools !== undefined && { tools: tools.length }),
      };
    });
  }

  /** What the catalog is made of, in configuration order. */
  listed(): Listed[] {
    return this.#specs.map((spec) => {
      const admission = this.#members.get(spec.label)?.admission;
      return {
        spec,
        tools: admission?.tools,
        withheld: admission?.withheld ?? [],
        others: admission?.others,
        instructions: admission?.instructions,
        state: () => this.stateInWords(spec.label),
      };
    });
  }

  stateInWords(label: string): string {
    const refusal = this.#refused.get(label);
    if (refusal !== undefined) return refusal.what;
    const member = this.#members.get(label);
    if (member === undefined)
      return 'it is disabled, or left to the provider of a model, in the configuration';
    return (
      member.admission?.stopped ??
      (member.server.error ?? member.listError)?.what ??
      `it is ${member.server.state}`
    );
  }

  refusal(label: string): MidspanError | undefined {
    return this.#refused.get(label) ?? stopOf(label, this.#members.get(label)?.admission);
  }

  /** Before a call: lists the server's tools anew where the last listing is too old to stand for what it has now. */
  fresh(label: string): Promise<void> | undefined {
    const member = this.#members.get(label);
    if (member === undefined || member.tools === undefined || this.#deps.admissions.pinnedBy === 'off')
      return undefined;
    member.callsSince += 1;
    const isDue =
      member.callsSince > CALLS_ON_A_LISTING || performance.now() - member.listedAt > LISTING_HOLDS;
    if (member.refreshing === undefined && isDue) this.#relist(member, true);
    return member.refreshing;
  }

  /** Lists anew; calls wait for it, so that none runs on what is known to be old. */
  #relist(member: Member, refresh = false): void {
    const listing = this.#list(member, refresh).finally(() => {
      if (member.refreshing === listing) member.refreshing = undefined;
    });
    member.refreshing = listing;
  }

  /**
   * Goes over to other servers: those that are configured as before stay as they are. Resolves when those that are not
   * configured any more have ended.
   */
  async reload(specs: readonly ServerSpec[], admissions: Admissions): Promise<void> {
    const wanted = new Map(specs.filter(isOurs).map((spec) => [spec.label, spec]));
    this.#specs = specs;
    this.#deps.admissions = admissions;
    this.#refused.clear();
    const ended: Promise<void>[] = [];
    for (const [label, member] of this.#members) {
      const spec = wanted.get(label);
      const isSame = spec !== undefined && isSameSpec(spec, member.server.spec);
      if (isSame && member.server.state !== 'closed' && admissions.refusal(spec) === undefined) continue;
      this.#members.delete(label);
      ended.push(member.server.close());
    }
    for (const [label, spec] of wanted) if (!this.#members.has(label)) this.open(spec);
    this.#admit();
    await Promise.all(ended);
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map(({ server }) => server.close()));
  }

  #onServerEvent(member: Member, event: ServerEvent): void {
    const { label } = member.server;
    switch (event.type) {
      case 'state':
        this.#deps.emit({ ...event, type: 'server', label });
        if (event.state === 'ready') this.#relist(member);
        break;
      case 'tools-changed':
        this.#relist(member);
        break;
      case 'others-changed':
        if (this.#deps.lists === 'all') this.#relist(member);
        break;
      case 'resource-updated':
      case 'log':
      case 'warning':
        this.#deps.emit({ ...event, label });
        break;
      default:
        event satisfies never;
    }
  }

  async #list(member: Member, refresh = false): Promise<void> {
    const { server } = member;
    try {
      const [tools, others] = await Promise.all([
        server.listTools({ refresh }),
        this.#deps.lists === 'all' ? othersOf(server) : member.others,
      ]);
      member.listError = undefined;
      member.listedAt = performance.now();
      member.callsSince = 0;
      if (member.tools === tools && member.info === server.info && isSame(member.others, others)) return;
      member.tools = tools;
      member.others = others;
      member.info = server.info;
      this.#admit();
    } catch (error) {
      if (server.state === 'closed') return;
      const isKnown = member.listError?.message === messageOf(error);
      // What it listed before stays: a passing failure must not take its tools away.
      member.listError = error instanceof MidspanError ? error : undefined;
      member.listedAt = performance.now();
      member.callsSince = 0;
      if (isKnown) return;
      this.#deps.emit({
        type: 'warning',
        label: server.label,
        message: `its tools could not be listed: ${error instanceof MidspanError ? error.what : messageOf(error)}`,
      });
    }
  }

  /** All of them at once: what one server says of another's tools counts too. */
  #admit(): void {
    const listing = this.all().filter(({ tools }) => tools !== undefined);
    const admitted = this.#deps.admissions.admit(
      listing.map(({ server, tools, others, info }) => ({
        spec: server.spec,
        surface: {
          serverInfo: info?.serverInfo ?? {},
          ...(info?.instructions !== undefined && { instructions: info.instructions }),
          tools: tools ?? [],
          ...others,
        },
      })),
    );
    for (const member of listing) {
      const admission = admitted.get(member.server.label);
      if (admission === undefined) continue;
      member.admission = admission;
      this.#tellOf(member, admission);
    }
    this.#deps.changed();
  }

  /** Tells and records what is not shown as it was listed, once for each state of things. */
  #tellOf(member: Member, { changes, withheld: tools, others, stopped }: Admission): void {
    const { label } = member.server;
    const withheld = [
      ...tools.map(({ tool, reason }) => ({ kind: 'tool', key: tool, reason })),
      ...Object.entries(others).flatMap(([list, { withheld: items }]) =>
        items.map((item) => ({ kind: list.slice(0, -1), ...item })),
      ),
    ];
    const noticed = changes.filter(({ effect }) => effect !== 'inform');
    const state = JSON.stringify([
      stopped,
      withheld,
      noticed.map(({ kind, key, nowDigest }) => [kind, key, nowDigest]),
    ]);
    if (member.told === state) return;
    const isFirst = member.told === '';
    member.told = state;
    if (stopped !== undefined) {
      void member.server.close();
      this.#tell(label, stopped, `\`midspan diff ${label}\` shows what it listed`);
    } else if (withheld.length > 0) {
      const names = withheld.map(({ key }) => key);
      const shown = names.slice(0, 5).join(', ');
      const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
      this.#tell(label, `withheld until reviewed: ${shown}${more}`, `\`midspan diff ${label}\` shows why`);
    }
    const { journal } = this.#deps;
    if (journal === undefined) return;
    if (stopped !== undefined) journal.audit({ what: 'server', label, decision: 'stopped', why: stopped });
    for (const { kind, key, effect, class: rule, what, nowDigest } of noticed) {
      journal.audit({
        what: 'definition',
        label,
        item: `${kind}:${key}`,
        decision: effect,
        rule,
        why: what,
        ...(nowDigest !== undefined && { digest: nowDigest }),
      });
    }
    const known = new Set(noticed.map(({ kind, key }) => `${kind}:${key}`));
    for (const { kind, key, reason } of withheld) {
      const item = `${kind}:${key}`;
      if (!known.has(item))
        journal.audit({ what: 'definition', label, item, decision: 'withhold', why: reason });
    }
    if (isFirst && withheld.length === 0 && noticed.length === 0 && stopped === undefined)
      journal.audit({ what: 'definition', label, decision: 'shown' });
  }

  #tell(label: string, what: string, next: string | undefined): void {
    this.#deps.emit({
      type: 'warning',
      label,
      message: next === undefined ? what : `${what}. ${next}`,
    });
  }
}

/** Whether a server is started with the host. */
export const isOurs = ({ disabled, via }: ServerSpec): boolean => disabled !== true && via !== 'provider';

const isSameSpec = (a: ServerSpec, b: ServerSpec): boolean =>
  canonicalJson(a as unknown as Json) === canonicalJson(b as unknown as Json);

/** A list that cannot be had, or that the server has not, is empty. */
async function othersOf(server: Server): Promise<Others> {
  const { prompts, resources, templates } = await server.surface();
  return {
    ...(prompts && { prompts }),
    ...(resources && { resources }),
    ...(templates && { templates }),
  };
}

const isSame = (a: Others, b: Others): boolean =>
  a.prompts === b.prompts && a.resources === b.resources && a.templates === b.templates;

function stopOf(label: string, admission: Admission | undefined): MidspanError | undefined {
  if (admission?.stopped === undefined) return undefined;
  return new MidspanError({
    label,
    code: 'unapproved',
    what: admission.stopped,
    next: `\`midspan diff ${label}\` shows what it listed`,
  });
}
