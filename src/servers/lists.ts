/** Everything that one server lists: its tools for calls, and its whole surface for review and comparison. */
import { mirroredArguments, mirroredHeaders } from '../mcp/headers.ts';
import { PROMPTS, RESOURCES, TEMPLATES, TOOLS } from '../mcp/lists.ts';
import { isObject } from '../mcp/message.ts';
import { taskSupport } from '../mcp/tasks.ts';
import type { TaskSupport } from '../mcp/tasks.ts';
import { safeText } from '../mcp/text.ts';
import { ChangeNotices } from './change-notices.ts';
import { failure } from './failure.ts';
import { KeptList } from './kept-list.ts';
import type { ServerInfo } from './server.ts';
import type { KeptListOptions } from './kept-list.ts';
import type { MirroredArgument } from '../mcp/headers.ts';
import type { JsonObject, Surface, ToolDefinition } from '../types.ts';

export class Lists {
  readonly #options: KeptListOptions;
  readonly #notices: ReadonlyMap<string | undefined, ChangeNotices>;
  readonly #tools: KeptList<ToolDefinition>;
  readonly #prompts: KeptList;
  readonly #resources: KeptList;
  readonly #templates: KeptList;
  /** The arguments that go as headers, by tool, of the listing that they were read from. */
  #marks: { tools: readonly ToolDefinition[]; byName: Map<string, MirroredArgument[]> } | undefined;
  /** The tools that are called as tasks only, of the listing that they were read from. */
  #asTask: { tools: readonly ToolDefinition[]; byName: ReadonlyMap<string, TaskSupport> } | undefined;

  constructor(options: KeptListOptions & { toolsChanged: () => void; othersChanged: () => void }) {
    this.#options = options;
    this.#notices = new Map([
      [TOOLS.changed, new ChangeNotices(options.toolsChanged, options.now)],
      [PROMPTS.changed, new ChangeNotices(options.othersChanged, options.now)],
      // Templates are announced with resources.
      [RESOURCES.changed, new ChangeNotices(options.othersChanged, options.now)],
    ]);
    this.#tools = new KeptList(TOOLS, options);
    this.#prompts = new KeptList(PROMPTS, options);
    this.#resources = new KeptList(RESOURCES, options);
    this.#templates = new KeptList(TEMPLATES, options);
  }

  get #all(): readonly (KeptList | KeptList<ToolDefinition>)[] {
    return [this.#tools, this.#prompts, this.#resources, this.#templates];
  }

  tools(refresh: boolean): Promise<ToolDefinition[]> {
    return this.#tools.get(refresh);
  }

  /** Whether anything was listed once. */
  get listed(): boolean {
    return this.#all.some(({ kept }) => kept !== undefined);
  }

  /** Resolves when nothing is being listed. */
  async settled(): Promise<void> {
    await Promise.all(this.#all.map((list) => list.settled()));
  }

  /** Lists what the server declares. @throws MidspanError when there is no connection to ask */
  async surface(refresh: boolean): Promise<Surface> {
    const connection = await this.#options.connection();
    if (refresh) await this.#tolerating('what it says of itself', () => connection.refresh());
    const { info } = connection;
    const [tools, prompts, resources, templates] = await Promise.all([
      this.#listed(this.#tools, info, refresh),
      this.#listed(this.#prompts, info, refresh),
      this.#listed(this.#resources, info, refresh),
      this.#listed(this.#templates, info, refresh),
    ]);
    const { serverInfo, instructions } = info;
    return {
      serverInfo,
      ...(instructions === undefined ? {} : { instructions }),
      ...(tools === undefined ? {} : { tools }),
      ...(prompts === undefined ? {} : { prompts }),
      ...(resources === undefined ? {} : { resources }),
      ...(templates === undefined ? {} : { templates }),
    };
  }

  /** `list_changed` of one kind, or of everything: what may be another now. */
  changed(method?: string): void {
    for (const list of this.#all) if (method === undefined || list.kind.changed === method) list.stale();
    for (const [about, notices] of this.#notices)
      // Both of the others tell the same.
      if (method === about || (method === undefined && about !== RESOURCES.changed)) notices.changed();
  }

  close(): void {
    for (const notices of this.#notices.values()) notices.close();
  }

  /** The headers that a call of this tool needs besides the usual ones, as far as the last listing tells. */
  mirrored(name: string, args: JsonObject): Record<string, string> | undefined {
    const tools = this.#tools.kept;
    if (tools === undefined) return undefined;
    if (this.#marks?.tools !== tools) this.#marks = { tools, byName: marksOf(tools) };
    const mirrored = this.#marks.byName.get(name);
    return mirrored === undefined ? undefined : mirroredHeaders(mirrored, args);
  }

  /** Whether the last listing says that this tool is called as a task only, or may be (2025-11-25). */
  taskSupport(name: string): TaskSupport | undefined {
    const tools = this.#tools.kept;
    if (tools === undefined) return undefined;
    if (this.#asTask?.tools !== tools) {
      const byName = new Map<string, TaskSupport>();
      for (const tool of tools) {
        const support = taskSupport(tool);
        if (support !== undefined) byName.set(tool.name, support);
      }
      this.#asTask = { tools, byName };
    }
    return this.#asTask.byName.get(name);
  }

  /** Undefined when the server does not offer it, or when it cannot be had. */
  async #listed<Item extends JsonObject>(
    list: KeptList<Item>,
    { capabilities }: ServerInfo,
    refresh: boolean,
  ): Promise<Item[] | undefined> {
    const { capability, many } = list.kind;
    const declared = isObject(capabilities[capability]);
    // Servers that do not say that they have tools have some all the same.
    if (!declared && capability !== 'tools') return undefined;
    const items = await this.#tolerating(`its list of ${many}`, () => list.get(refresh));
    return declared || (items?.length ?? 0) > 0 ? items : undefined;
  }

  async #tolerating<T>(what: string, ask: () => Promise<T>): Promise<T | undefined> {
    const { label, warning } = this.#options;
    try {
      return await ask();
    } catch (error) {
      warning(`${what} cannot be had: ${safeText(failure(label, error).what, 500)}`);
      return undefined;
    }
  }
}

function marksOf(tools: readonly ToolDefinition[]): Map<string, MirroredArgument[]> {
  const marked = new Map<string, MirroredArgument[]>();
  for (const { name, inputSchema } of tools) {
    const marks = mirroredArguments(inputSchema);
    if (!('problem' in marks) && marks.length > 0) marked.set(name, marks);
  }
  return marked;
}
