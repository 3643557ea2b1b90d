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
/** How long one that nothing runs on stays open. Milliseconds. */
export const BRANCH_HOLDS = 30 * 60_000;

interface Branch {
  key: string;
  owner: Owner | undefined;
  server: LiveServer;
  running: number;
  usedAt: number;
}

export interface BranchesOptions {
  isolation: ServerSpec['isolation'];
  /** What the first connection declares. */
  own: JsonObject;
  open: (capabilities: JsonObject) => LiveServer;
  /** Milliseconds. */
  holds?: number;
  max?: number;
}

export class Branches {
  readonly #options: BranchesOptions;
  #own: string;
  readonly #branches = new Map<string, Branch>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: BranchesOptions) {
    this.#options = options;
    this.#own = JSON.stringify(relayable(options.own, 'legacy'));
  }

  /** Which connection a request goes through; undefined: the first one. */
  keyOf({ capabilities, owner }: RelayOptions, era: Era): string | undefined {
    const { isolation = 'shared' } = this.#options;
    const declared =
      era === 'legacy' && capabilities !== undefined
        ? JSON.stringify(relayable(capabilities, era))
        : this.#own;
    const whose = owner === undefined || isolation === 'shared' ? undefined : ownerKey(owner, isolation);
    return declared === this.#own && whose === undefined
      ? undefined
      : JSON.stringify([declared, whose ?? '']);
  }

  /** Whether the first connection may become one for clients like this: not where each has its own. */
  adopts({ owner }: RelayOptions): boolean {
    return owner === undefined || (this.#options.isolation ?? 'shared') === 'shared';
  }

  adopt(capabilities: JsonObject): void {
    this.#own = JSON.stringify(relayable(capabilities, 'legacy'));
  }

  /**
   * Lets a request run on a connection of its kind, which is opened for it where there is none.
   * @returns undefined when there are too many, and all are in use.
   */
  run<T>(
    key: string,
    owner: Owner | undefined,
    work: (server: LiveServer) => Promise<T>,
  ): Promise<T> | undefined {
    const branch = this.#branches.get(key) ?? this.#open(key, owner);
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

  #open(key: string, owner: Owner | undefined): Branch | undefined {
    const { open, max = BRANCHES_MAX, holds = BRANCH_HOLDS } = this.#options;
    if (this.#branches.size >= max) {
      const idle = [...this.#branches.values()]
        .filter(({ running }) => running === 0)
        .sort((a, b) => a.usedAt - b.usedAt)[0];
      if (idle === undefined) return undefined;
      void this.#end(idle);
    }
    const [declared] = JSON.parse(key) as [string];
    const server = open(JSON.parse(declared) as JsonObject);
    const branch: Branch = { key, owner, server, running: 0, usedAt: performance.now() };
    this.#branches.set(key, branch);
    this.#sweep ??= setInterval(() => {
      for (const each of this.#branches.values())
        if (each.running === 0 && performance.now() - each.usedAt > holds) void this.#end(each);
    }, holds / 5).unref();
    return branch;
  }

  #end(branch: Branch): Promise<void> {
    this.#branches.delete(branch.key);
    return branch.server.close();
  }
}

const ownerKey = ({ principal, client }: Owner, isolation: 'principal' | 'client'): string =>
  JSON.stringify(isolation === 'client' ? [principal, client] : [principal]);
