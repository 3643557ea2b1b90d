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
import { broken } from './failure.ts';
import { readPage, readTool } from '../mcp/tools.ts';
import { safeText } from '../mcp/text.ts';
import type { Connection } from './connection.ts';
import type { MirroredArgument } from '../mcp/headers.ts';
import type { ReadTool } from '../mcp/tools.ts';
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
      : Math.max(LIST_CHANGED_DEBOUNCE, oldest + 60_000 - now);
  }

  async #fetch(changes: number): Promise<ToolDefinition[]> {
    const connection = await this.#options.connection();
    const { raw, ttlMs } = await this.#pages(connection);
    const { tools, mirrored } = this.#read(raw, connection.mirrors);
    if (changes !== this.#changes) return tools;
    this.#tools = tools;
    this.#mirrored = mirrored;
    this.#freshUntil = ttlMs === undefined ? Infinity : this.#options.now() + ttlMs;
    return tools;
  }

  async #pages(connection: Connection): Promise<{ raw: Json[]; ttlMs: number | undefined }> {
    const raw: Json[] = [];
    const seen = new Set<string>();
    // Without a hint, a list is good until the server says otherwise. The shortest hint of all pages counts.
    let ttlMs: number | undefined;
    let cursor: string | undefined;
    for (let page = 0; ; page += 1) {
      if (page === PAGES_MAX) throw this.#limit(`its list of tools has more than ${PAGES_MAX} pages`);
      const answer = await connection.request('tools/list', cursor === undefined ? {} : { cursor }, {
        timeout: this.#options.timeout,
      });
      const read = answer.kind === 'complete' ? readPage(answer.result) : undefined;
      if (answer.kind !== 'complete' || read === undefined)
        throw broken(
          this.#options.label,
          'it answered tools/list with something that is not a list of tools',
        );
      for (const tool of read.tools) raw.push(tool);
      if (answer.ttlMs !== undefined) ttlMs = Math.min(ttlMs ?? Infinity, answer.ttlMs);
      cursor = read.cursor;
      if (cursor === undefined) return { raw, ttlMs };
      if (seen.has(cursor))
        throw broken(
          this.#options.label,
          'its list of tools never ends: a page leads back to an earlier one',
        );
      seen.add(cursor);
    }
  }

  #read(
    raw: Json[],
    mirrors: boolean,
  ): { tools: ToolDefinition[]; mirrored: Map<string, MirroredArgument[]> } {
    const { warning } = this.#options;
    const names = new Map<string, number>();
    const read: ReadTool[] = [];
    let size = 0;
    for (const each of raw.length > TOOLS_MAX ? raw.slice(0, TOOLS_MAX) : raw) {
      const tool = readTool(each, mirrors);
      if ('dropped' in tool) {
        warning(`left out ${tool.dropped}`);
        continue;
      }
      size += tool.size;
      if (size > LIST_MAX) throw this.#limit(`its list of tools is longer than ${LIST_MAX} characters`);
      read.push(tool);
      names.set(tool.tool.name, (names.get(tool.tool.name) ?? 0) + 1);
    }
    if (raw.length > TOOLS_MAX) warning(`lists ${raw.length} tools; only the first ${TOOLS_MAX} are kept`);
    for (const [name, count] of names) {
      if (count > 1) warning(`left out the tool "${safeText(name, 100)}": ${count} tools have this name`);
    }
    const tools = read.map(({ tool }) => tool).filter(({ name }) => names.get(name) === 1);
    const mirrored = new Map<string, MirroredArgument[]>();
    for (const { name, inputSchema } of mirrors ? tools : []) {
      const marks = mirroredArguments(inputSchema);
      if (!('problem' in marks) && marks.length > 0) mirrored.set(name, marks);
    }
    return { tools, mirrored };
  }

  #limit(what: string): MidspanError {
    const { label } = this.#options;
    return new MidspanError({ code: 'limit', label, what, next: 'Report this to the author of the server' });
  }
}
