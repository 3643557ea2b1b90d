/** One list of one server, kept as long as the server allows. */
import { listAll } from './listing.ts';
import type { Connection } from './connection.ts';
import type { ListingOptions } from './listing.ts';
import type { ListKind } from '../mcp/lists.ts';
import type { JsonObject } from '../types.ts';

export interface KeptListOptions extends ListingOptions {
  /** The connection to ask, once there is one. */
  connection: () => Promise<Connection>;
  now: () => number;
}

export class KeptList<Item extends JsonObject = JsonObject> {
  readonly kind: ListKind<Item>;
  readonly #options: KeptListOptions;
  #kept: Item[] | undefined;
  /** On our clock; Infinity while only the server's own word makes it stale. */
  #freshUntil = 0;
  /** Counts the changes, so that a listing that one of them overtook does not count as fresh. */
  #changes = 0;
  #fetching: { changes: number; items: Promise<Item[]> } | undefined;

  constructor(kind: ListKind<Item>, options: KeptListOptions) {
    this.kind = kind;
    this.#options = options;
  }

  /** The last listing that nothing overtook, stale or not. */
  get kept(): readonly Item[] | undefined {
    return this.#kept;
  }

  /** One request serves everybody who waits; nobody's cancelling ends it for the others. */
  get(refresh: boolean): Promise<Item[]> {
    if (!refresh && this.#kept !== undefined && this.#options.now() < this.#freshUntil)
      return Promise.resolve(this.#kept);
    if (this.#fetching !== undefined && this.#fetching.changes === this.#changes) return this.#fetching.items;
    const changes = this.#changes;
    const items = this.#fetch(changes).finally(() => {
      if (this.#fetching === fetching) this.#fetching = undefined;
    });
    const fetching = { changes, items };
    this.#fetching = fetching;
    return items;
  }

  /** The server, or a gap in hearing it, says that the list may be another. */
  stale(): void {
    this.#changes += 1;
    this.#freshUntil = 0;
  }

  async #fetch(changes: number): Promise<Item[]> {
    const { connection, now } = this.#options;
    const { items, ttlMs } = await listAll(this.kind, await connection(), this.#options);
    if (changes !== this.#changes) return items;
    this.#kept = items;
    this.#freshUntil = ttlMs === undefined ? Infinity : now() + ttlMs;
    return items;
  }
}
