/**
 * More connections to one server: a legacy server is told once, when it is connected to, what its client can be asked, and
 * clients differ in that; and a server that keeps state may be configured to share it with nobody.
 */
import { relayable } from '../mcp/capabilities.ts';
import type { LiveServer } from './open.ts';
import type { Owner, RelayOptions } from './server.ts';
import type { Era, JsonObject, ServerSpec } from '../types.ts';

/** Connections of one server beside its first. */
export const BRANCHES_MAX = 16;

interface Branch {
  key: string;
  owner: Owner | undefined;
  server: LiveServer;
  running: number;
  usedAt: number;
}

export interface BranchesOptions {
  isolation: ServerSpec['isolation'];
  /** What the host declares for itself. */
  own: JsonObject;
  /** @param first whose request it is opened for. */
  open: (place: Place, first: RelayOptions) => LiveServer;
  /** How long one that nothing runs on stays open. Milliseconds. */
  holds: number;
}

/** What a client of the older era declares, as a server is told it, and as text. */
interface Declared {
  capabilities: JsonObject;
  text: string;
}

/** Where a request goes that does not go through the first connection. */
export interface Place {
  key: string;
  declared: Declared;
  /** Whose it is, where it is nobody else's. */
  owner: Owner | undefined;
}

export class Branches {
  readonly #options: BranchesOptions;
  /** Of requests that say nothing. */
  readonly #host: Declared;
  /** What the first connection declares. */
  #first: Declared;
  readonly #branches = new Map<string, Branch>();
  /** Those that are being ended: they are there, too. */
  #ending = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: BranchesOptions) {
    this.#options = options;
    // Not without what only servers of the newer era are told.
    this.#host = { capabilities: options.own, text: declaredBy(options.own).text };
    this.#first = this.#host;
  }

  /** Whether it is clear without a look at the server that a request goes through the first connection. */
  isPlain({ capabilities, owner }: RelayOptions): boolean {
    return capabilities === undefined && this.#first === this.#host && !this.#isolates(owner);
  }

  #isolates(owner: Owner | undefined): owner is Owner {
    return owner !== undefined && (this.#options.isolation ?? 'shared') !== 'shared';
  }

  /** Which connection a request goes through; undefined: the first one. */
  placeOf({ capabilities, owner }: RelayOptions, era: Era): Place | undefined {
    const declared =
      era === 'modern' ? this.#first : capabilities === undefined ? this.#host : declaredBy(capabilities);
    if (this.#isolates(owner)) {
      const whose =
        this.#options.isolation === 'client' ? [owner.principal, owner.client] : [owner.principal];
      return { key: JSON.stringify([declared.text, ...whose]), declared, owner };
    }
    return declared.text === this.#first.text
      ? undefined
      : { key: declared.text, declared, owner: undefined };
  }

  /** The first connection is one for clients like this from now on. */
  adopt({ declared }: Place): void {
    this.#first = declared;
  }

  /**
   * Lets a request run on a connection of its kind, which is opened for it where there is none.
   * @returns undefined when there are too many, and all are in use.
   */
  run<T>(
    place: Place,
    options: RelayOptions,
    work: (server: LiveServer) => Promise<T>,
  ): Promise<T> | undefined {
    const branch = this.#branches.get(place.key) ?? this.#open(place, options);
    if (branch === undefined) return undefined;
    branch.running += 1;
    return work(branch.server).finally(() => {
      branch.running -= 1;
      branch.usedAt = performance.now();
    });
  }

  /** Ends what a client had that comes no more. */
  forget({ principal, client }: Owner): void {
    if (this.#options.isolation !== 'client') return;
    for (const branch of this.#branches.values())
      if (branch.owner?.principal === principal && branch.owner.client === client) void this.#end(branch);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all([...this.#branches.values()].map((branch) => this.#end(branch)));
  }

  #open(place: Place, first: RelayOptions): Branch | undefined {
    const { key, owner } = place;
    const { open, holds } = this.#options;
    if (this.#branches.size >= BRANCHES_MAX) {
      const idle = [...this.#branches.values()]
        .filter(({ running }) => running === 0)
        .sort((a, b) => a.usedAt - b.usedAt)[0];
      if (idle === undefined || this.#ending >= BRANCHES_MAX) return undefined;
      void this.#end(idle);
    }
    const server = open(place, first);
    const branch: Branch = { key, owner, server, running: 0, usedAt: performance.now() };
    this.#branches.set(key, branch);
    this.#sweep ??= setInterval(() => {
      for (const each of this.#branches.values())
        if (each.running === 0 && performance.now() - each.usedAt > holds) void this.#end(each);
    }, holds / 5).unref();
    return branch;
  }

  async #end(branch: Branch): Promise<void> {
    this.#branches.delete(branch.key);
    this.#ending += 1;
    await branch.server.close();
    this.#ending -= 1;
  }
}

const known = new WeakMap<JsonObject, Declared>();

/** Clients declare the same object with every request of a session. */
export function declaredBy(capabilities: JsonObject): Declared {
  let declared = known.get(capabilities);
  if (declared === undefined) {
    const told = relayable(capabilities, 'legacy');
    declared = { capabilities: told, text: JSON.stringify(told) };
    known.set(capabilities, declared);
  }
  return declared;
}
