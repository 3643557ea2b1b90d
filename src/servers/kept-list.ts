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
  /** The number of changes when its listing began. */
  #keptAt = 0;
  /** On our clock; Infinity while only the server's own word makes it stale. */
  #freshUntil = 0;
  /** A listing that one of them overtook does not count as fresh. */
  #changes = 0;
  #fetching: { changes: number; items: Promise<Item[]> } | undefined;

  constructor(kind: ListKind<Item>, options: KeptListOptions) {
    this.kind = kind;
    this.#options = options;
  }

  /** The last listing, stale or not. */
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

  /** Resolves when the present listing has ended, well or not. */
  async settled(): Promise<void> {
    await this.#fetching?.items.catch(() => undefined);
  }

  /** The server, or a gap in hearing it, says that the list may be another. */
  stale(): void {
    this.#changes += 1;
    this.#freshUntil = 0;
  }

  async #fetch(changes: number): Promise<Item[]> {
    const { connection, now } = this.#options;
    const { items, ttlMs } = await listAll(this.kind, await connection(), this.#options);
    // A later listing was quicker.
    if (changes < this.#keptAt) return items;
    this.#keptAt = changes;
    // The same array while the list is the same, so that whoever compares sees at once that nothing changed.
    if (this.#kept === undefined || JSON.stringify(this.#kept) !== JSON.stringify(items)) this.#kept = items;
    if (changes === this.#changes) this.#freshUntil = ttlMs === undefined ? Infinity : now() + ttlMs;
    return this.#kept;
  }
}
