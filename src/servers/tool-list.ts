/** The tools of one server: paged, bounded, read tolerantly, and kept as long as the server allows. */
import { MidspanError } from '../errors.ts';
import { mirroredArguments, mirroredHeaders } from '../mcp/headers.ts';
import {
  LIST_CHANGED_DEBOUNCE,
  LIST_CHANGED_PER_MINUTE,
  LIST_MAX,
  PAGES_MAX,
  TOOLS_MAX,
} from '../mcp/protocol-limits.ts';
import { broken, failure } from './failure.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../mcp/message.ts';
import { readPage, readTool } from '../mcp/tools.ts';
import { safeText } from '../mcp/text.ts';
import type { Connection } from './connection.ts';
import type { MirroredArgument } from '../mcp/headers.ts';
import type { Answer } from '../mcp/codec.ts';
import type { Json, JsonObject, ToolDefinition } from '../types.ts';

export interface ToolListOptions {
  label: string;
  /** The connection to ask, once there is one. */
  connection: () => Promise<Connection>;
  /** Milliseconds for one page. */
  timeout: number;
  now: () => number;
  changed: () => void;
  warning: (message: string) => void;
}

export class ToolList {
  readonly #options: ToolListOptions;
  #tools: ToolDefinition[] | undefined;
  /** On our clock; Infinity while only the server's own word makes it stale. */
  #freshUntil = 0;
  /** Counts the changes, so that a listing that one of them overtook does not count as fresh. */
  #changes = 0;
  #fetching: { changes: number; tools: Promise<ToolDefinition[]> } | undefined;
  #mirrored = new Map<string, MirroredArgument[]>();
  #timer: NodeJS.Timeout | undefined;
  #told: number[] = [];

  constructor(options: ToolListOptions) {
    this.#options = options;
  }

  /** One request serves everybody who waits; nobody's cancelling ends it for the others. */
  get(refresh: boolean): Promise<ToolDefinition[]> {
    if (!refresh && this.#tools !== undefined && this.#options.now() < this.#freshUntil)
      return Promise.resolve(this.#tools);
    if (this.#fetching !== undefined && this.#fetching.changes === this.#changes) return this.#fetching.tools;
    const changes = this.#changes;
    const tools = this.#fetch(changes).finally(() => {
      if (this.#fetching === fetching) this.#fetching = undefined;
    });
    const fetching = { changes, tools };
    this.#fetching = fetching;
    return tools;
  }

  get listed(): boolean {
    return this.#tools !== undefined;
  }

  /** The server, or a gap in hearing it, says that the list may be another. */
  changed(): void {
    this.#changes += 1;
    this.#freshUntil = 0;
    this.#timer ??= setTimeout(this.#tell, this.#delay()).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The headers that a call of this tool needs besides the usual ones, as far as the last listing tells. */
  mirrored(name: string, args: JsonObject): Record<string, string> | undefined {
    const mirrored = this.#mirrored.get(name);
    return mirrored === undefined ? undefined : mirroredHeaders(mirrored, args);
  }

  readonly #tell = (): void => {
    this.#timer = undefined;
    this.#told.push(this.#options.now());
    this.#options.changed();
  };

  /** A storm of changes is passed on as six a minute; the last of them always is. */
  #delay(): number {
    const now = this.#options.now();
    this.#told = this.#told.filter((at) => now - at < 60_000);
    const oldest = this.#told.length >= LIST_CHANGED_PER_MINUTE ? this.#told[0] : undefined;
    return oldest === undefined
      ? LIST_CHANGED_DEBOUNCE
      : Math.min(60_000, Math.max(LIST_CHANGED_DEBOUNCE, oldest + 60_000 - now));
  }

  async #fetch(changes: number): Promise<ToolDefinition[]> {
    const connection = await this.#options.connection();
    const { listing, ttlMs } = await this.#list(connection, true);
    const tools = listing.tools();
    if (changes !== this.#changes) return tools;
    this.#tools = tools;
    this.#mirrored = connection.mirrors ? marksOf(tools) : new Map();
    this.#freshUntil = ttlMs === undefined ? Infinity : this.#options.now() + ttlMs;
    return tools;
  }

  /**
   * All pages. `ttlMs` is how long the list may be kept, by the shortest hint of all; undefined until the server says otherwise.
   * @param again whether to begin anew, once, when a cursor is not valid any more
   */
  async #list(
    connection: Connection,
    again: boolean,
  ): Promise<{ listing: Listing; ttlMs: number | undefined }> {
    const { label, timeout } = this.#options;
    const listing = new Listing(this.#options, connection.mirrors);
    const seen = new Set<string>();
    let ttlMs: number | undefined;
    let cursor: string | undefined;
    for (let page = 0; ; page += 1) {
      if (page === PAGES_MAX) throw tooMuch(label, `its list of tools has more than ${PAGES_MAX} pages`);
      let answer: Answer;
      try {
        answer = await connection.request('tools/list', cursor === undefined ? {} : { cursor }, { timeout });
      } catch (error) {
        const { code } = failure(label, error).data;
        // A server that announced no tools, and has no such method, has none.
        if (code === METHOD_NOT_FOUND && connection.info.capabilities.tools === undefined)
          return { listing, ttlMs };
        if (code === INVALID_PARAMS && cursor !== undefined && again) return this.#list(connection, false);
        throw error;
      }
      const read = answer.kind === 'complete' ? readPage(answer.result) : undefined;
      if (answer.kind !== 'complete' || read === undefined)
        throw broken(label, 'it answered tools/list with something that is not a list of tools');
      if (answer.ttlMs !== undefined) ttlMs = Math.min(ttlMs ?? Infinity, answer.ttlMs);
      // Page by page, so that no more than one is held beside what is kept.
      const full = listing.add(read.tools);
      cursor = read.cursor;
      if (full || cursor === undefined) return { listing, ttlMs };
      if (seen.has(cursor))
        throw broken(label, 'its list of tools never ends: a page leads back to an earlier one');
      seen.add(cursor);
    }
  }
}

/** One listing, as its pages come in. */
class Listing {
  readonly #options: ToolListOptions;
  readonly #mirrors: boolean;
  readonly #names = new Map<string, number>();
  readonly #read: ToolDefinition[] = [];
  #seen = 0;
  #size = 0;

  constructor(options: ToolListOptions, mirrors: boolean) {
    this.#options = options;
    this.#mirrors = mirrors;
  }

  /** True when no more tools are kept. */
  add(page: readonly Json[]): boolean {
    const { label, warning } = this.#options;
    for (const raw of page) {
      if (this.#seen === TOOLS_MAX) {
        warning(`lists more than ${TOOLS_MAX} tools; only the first ${TOOLS_MAX} are kept`);
        return true;
      }
      this.#seen += 1;
      const read = readTool(raw, this.#mirrors);
      if ('dropped' in read) {
        warning(`left out ${read.dropped}`);
        continue;
      }
      this.#size += read.size;
      if (this.#size > LIST_MAX)
        throw tooMuch(label, `its list of tools is longer than ${LIST_MAX} characters`);
      const { name } = read.tool;
      this.#read.push(read.tool);
      this.#names.set(name, (this.#names.get(name) ?? 0) + 1);
    }
    return false;
  }

  /** Those whose names are theirs alone. */
  tools(): ToolDefinition[] {
    for (const [name, count] of this.#names) {
      if (count > 1)
        this.#options.warning(`left out the tool "${safeText(name, 100)}": ${count} tools have this name`);
    }
    return this.#read.filter(({ name }) => this.#names.get(name) === 1);
  }
}

/** The arguments that go as headers, by tool. */
function marksOf(tools: readonly ToolDefinition[]): Map<string, MirroredArgument[]> {
  const marked = new Map<string, MirroredArgument[]>();
  for (const { name, inputSchema } of tools) {
    const marks = mirroredArguments(inputSchema);
    if (!('problem' in marks) && marks.length > 0) marked.set(name, marks);
  }
  return marked;
}

function tooMuch(label: string, what: string): MidspanError {
  return new MidspanError({ code: 'limit', label, what, next: 'Report this to the author of the server' });
}
