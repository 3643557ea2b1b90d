/** One list of one server, read from its first page to its last: paged, bounded in number, size and time. */
import { performance } from 'node:perf_hooks';
import { MidspanError } from '../errors.ts';
import { ITEMS_MAX, LIST_MAX, PAGES_MAX } from '../mcp/protocol-limits.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../mcp/message.ts';
import { listAmbiguities } from '../mcp/ambiguity.ts';
import { readItem, readPage } from '../mcp/lists.ts';
import { safeText } from '../mcp/text.ts';
import { broken, failure } from './failure.ts';
import type { Connection } from './connection.ts';
import type { Answer } from '../mcp/codec.ts';
import type { ListKind } from '../mcp/lists.ts';
import type { Json, JsonObject } from '../types.ts';

export interface ListingOptions {
  label: string;
  /** Milliseconds for one page, and for all of them. */
  timeout: number;
  timeoutAll: number;
  warning: (message: string) => void;
}

export interface Listed<Item extends JsonObject> {
  items: Item[];
  /** How long the list may be kept, by the shortest hint of all pages; undefined until the server says otherwise. */
  ttlMs: number | undefined;
}

/**
 * All pages.
 * @param again whether to begin anew, once, when a cursor is not valid any more
 * @throws MidspanError `protocol`, `limit`, `rpc`, `timeout`, `closed`
 */
export async function listAll<Item extends JsonObject>(
  kind: ListKind<Item>,
  connection: Connection,
  options: ListingOptions,
  again = true,
): Promise<Listed<Item>> {
  const { label, timeout, timeoutAll } = options;
  const { method, capability, many } = kind;
  const until = performance.now() + timeoutAll;
  const listing = new Listing(kind, options, connection.mirrors);
  const seen = new Set<string>();
  let ttlMs: number | undefined;
  let cursor: string | undefined;
  for (let page = 0; ; page += 1) {
    if (page === PAGES_MAX) throw tooMuch(label, `its list of ${many} has more than ${PAGES_MAX} pages`);
    const left = until - performance.now();
    if (left <= 0) throw tooSlow(label, many, timeoutAll);
    let answer: Answer;
    let frame = '';
    try {
      answer = await connection.request(method, cursor === undefined ? {} : { cursor }, {
        timeout: Math.min(timeout, left),
        frame: (text) => (frame = text),
      });
    } catch (error) {
      const known = failure(label, error);
      const { code } = known.data;
      // A server that announced none, and has no such method, has none.
      if (
        code === METHOD_NOT_FOUND &&
        (kind.mayBeMissing || connection.info.capabilities[capability] === undefined)
      )
        return { items: listing.items(), ttlMs };
      if (code === INVALID_PARAMS && cursor !== undefined && again)
        return listAll(kind, connection, options, false);
      throw known.code === 'timeout' && left < timeout ? tooSlow(label, many, timeoutAll) : error;
    }
    const read = answer.kind === 'complete' ? readPage(kind, answer.result) : undefined;
    if (answer.kind !== 'complete' || read === undefined)
      throw broken(label, `it answered ${method} with something that is not a list of ${many}`);
    const { whole, parts } = listAmbiguities(kind, frame);
    if (whole !== undefined)
      throw broken(label, `its list of ${many} can be read in two ways: it has ${whole}`);
    if (answer.ttlMs !== undefined) ttlMs = Math.min(ttlMs ?? Infinity, answer.ttlMs);
    // Page by page, so that no more than one is held beside what is kept.
    const full = listing.add(read.items, parts);
    cursor = read.cursor;
    if (full || cursor === undefined) return { items: listing.items(), ttlMs };
    if (seen.has(cursor))
      throw broken(label, `its list of ${many} never ends: a page leads back to an earlier one`);
    seen.add(cursor);
  }
}

/** One listing, as its pages come in. */
class Listing<Item extends JsonObject> {
  readonly #kind: ListKind<Item>;
  readonly #options: ListingOptions;
  readonly #mirrors: boolean;
  /** How many items had each key, those left out included: what one reader leaves out is what another one takes. */
  readonly #keys = new Map<string, number>();
  readonly #read: { key: string; item: Item }[] = [];
  #seen = 0;
  #size = 0;

  constructor(kind: ListKind<Item>, options: ListingOptions, mirrors: boolean) {
    this.#kind = kind;
    this.#options = options;
    this.#mirrors = mirrors;
  }

  /** True when no more items are kept. */
  add(page: readonly Json[], ambiguous: ReadonlyMap<number, string>): boolean {
    const { label, warning } = this.#options;
    const { many } = this.#kind;
    for (const [index, raw] of page.entries()) {
      if (this.#seen === ITEMS_MAX) {
        warning(`lists more than ${ITEMS_MAX} ${many}; only the first ${ITEMS_MAX} are kept`);
        return true;
      }
      this.#seen += 1;
      const read = readItem(this.#kind, raw, this.#mirrors, ambiguous.get(index));
      const { key } = read;
      if (key !== undefined) this.#keys.set(key, (this.#keys.get(key) ?? 0) + 1);
      if ('dropped' in read) {
        warning(`left out ${read.dropped}`);
        continue;
      }
      this.#size += read.size;
      if (this.#size > LIST_MAX)
        throw tooMuch(label, `its list of ${many} is longer than ${LIST_MAX} characters`);
      this.#read.push({ key: read.key, item: read.item });
    }
    return false;
  }

  /** Those whose keys are theirs alone. */
  items(): Item[] {
    const { one, many, key: member } = this.#kind;
    for (const [key, count] of this.#keys) {
      if (count > 1)
        this.#options.warning(
          `left out the ${one} "${safeText(key, 100)}": ${count} ${many} have this ${member}`,
        );
    }
    return this.#read.filter(({ key }) => this.#keys.get(key) === 1).map(({ item }) => item);
  }
}

function tooMuch(label: string, what: string): MidspanError {
  return new MidspanError({ code: 'limit', label, what, next: 'Report this to the author of the server' });
}

function tooSlow(label: string, many: string, milliseconds: number): MidspanError {
  return new MidspanError({
    code: 'timeout',
    label,
    what: `its list of ${many} was not complete within ${milliseconds} ms`,
    next: 'Try again later, or report this to the author of the server',
  });
}
