/**
 * The catalog: what is shown, under which name, in which order, and why anything is not. Built anew from what the servers
 * list; the same set of servers gives the same catalog, whoever answered first.
 */
import { distance } from 'fastest-levenshtein';
import picomatch from 'picomatch';
import type { ExposedTool } from '../dialects/dialect.ts';
import type { AdmittedItems, OtherList } from '../trust/lock/index.ts';
import type { JsonObject, ServerSpec, ToolDefinition, ToolSelection } from '../types.ts';
import { assignNames, exposedName } from './names.ts';
import { nativeDefinition, type NativeFunction } from './natives.ts';
import { wrapUri } from './uris.ts';

export interface CatalogEntry extends ExposedTool {
  /** The server that owns it; undefined for a native function. */
  label: string | undefined;
  /** The server's own name of the tool. */
  tool: string;
}

export interface HiddenTool {
  label: string;
  tool: string;
  reason: string;
  /** It waits for review. */
  isWithheld?: true;
}

/** A prompt, resource or template that is shown. */
export interface CatalogItem {
  label: string;
  /** The server's own name (prompts), uri or uriTemplate. */
  key: string;
  /** Under which it is shown among those of all servers: an exposed name, or a wrapped URI (uris.ts). */
  name: string;
  definition: JsonObject;
}

export interface Catalog {
  /** Native functions in the order registered, then servers in configuration order, each server's tools by name. */
  entries: readonly CatalogEntry[];
  hidden: readonly HiddenTool[];
  find(name: string): CatalogEntry | undefined;
  /** By the server's own names. */
  owned(label: string, tool: string): CatalogEntry | undefined;
  /** In a sentence: what a name stands for, or why it is not shown and what is like it. */
  why(name: string): string;
  /** Whether a name stands for a tool that waits for review. */
  withheld(name: string): boolean;
  /** Those of servers that are not of tools, servers in configuration order, each server's by key. */
  prompts: readonly CatalogItem[];
  resources: readonly CatalogItem[];
  templates: readonly CatalogItem[];
  /** By its exposed name. */
  prompt(name: string): CatalogItem | undefined;
  /** What servers say of themselves to a model, as approved. */
  instructions: readonly { label: string; text: string }[];
}

export interface Listed {
  spec: ServerSpec;
  /** What may be shown of what the server listed last; undefined when it has not yet. */
  tools: readonly ToolDefinition[] | undefined;
  /** What it listed and may not be shown, with the reasons. */
  withheld?: readonly { tool: string; reason: string }[];
  /** Its other lists, where the host keeps them. */
  others?: Readonly<Record<OtherList, AdmittedItems>> | undefined;
  instructions?: string | undefined;
  /** For `why`: why nothing was listed, in a few words. */
  state: () => string;
}

/** @param strict globs over exposed names whose definitions ask for the schema-enforced mode, beside each server's own. */
export function buildCatalog(
  servers: readonly Listed[],
  natives: readonly NativeFunction[],
  strict: readonly string[] = [],
): Catalog {
  const hidden: HiddenTool[] = [];
  const shown: {
    label: string;
    tool: string;
    alias?: string;
    strict: boolean;
    definition: ToolDefinition;
  }[] = [];
  for (const { spec, tools, withheld = [] } of servers) {
    for (const { tool, reason } of withheld)
      hidden.push({ label: spec.label, tool, reason, isWithheld: true });
    const reasonHidden = selector(spec.tools);
    const isStrict = matcher(spec.tools?.strict ?? []);
    const aliases = new Map(Object.entries(spec.tools?.alias ?? {}));
    for (const definition of [...(tools ?? [])].sort(byName)) {
      const reason = reasonHidden(definition.name);
      const alias = aliases.get(definition.name);
      if (reason !== undefined) hidden.push({ label: spec.label, tool: definition.name, reason });
      else
        shown.push({
          label: spec.label,
          tool: definition.name,
          strict: isStrict(definition.name),
          definition,
          ...(alias !== undefined && { alias }),
        });
    }
  }
  const names = assignNames(
    shown,
    new Set(natives.map(({ name }) => name)),
    new Set(servers.flatMap(({ spec }) => Object.values(spec.tools?.alias ?? {}))),
  );
  const isStrictName = matcher(strict);
  const entry = (name: string, owner: Omit<CatalogEntry, 'name'>): CatalogEntry => {
    const { strict: asked, ...rest } = owner;
    return { name, ...rest, ...((asked === true || isStrictName(name)) && { strict: true }) };
  };
  const entries = [
    ...natives.map((native) =>
      entry(native.name, { label: undefined, tool: native.name, definition: nativeDefinition(native) }),
    ),
    ...shown.map(({ label, tool, definition, strict: asked }, index) =>
      entry(names[index] ?? '', { label, tool, definition, strict: asked }),
    ),
  ];
  const byExposed = new Map(entries.map((each) => [each.name, each]));
  const byOwner = new Map(entries.map((each) => [ownerKey(each.label, each.tool), each]));
  return {
    entries,
    hidden,
    find: (name) => byExposed.get(name),
    owned: (label, tool) => byOwner.get(ownerKey(label, tool)),
    why: (name) => why(name, { entries, hidden, servers, byExposed }),
    withheld: (name) => hiddenAs(name, hidden)?.isWithheld === true,
    ...otherItems(servers),
  };
}

function otherItems(
  servers: readonly Listed[],
): Pick<Catalog, 'prompts' | 'resources' | 'templates' | 'prompt' | 'instructions'> {
  const owned = (list: OtherList, member: string): Omit<CatalogItem, 'name'>[] =>
    servers.flatMap(({ spec: { label }, others }) =>
      (others?.[list].shown ?? [])
        .map((definition) => ({ label, key: definition[member] as string, definition }))
        .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)),
    );
  const wrapped = (list: OtherList, member: string): CatalogItem[] =>
    owned(list, member).map((item) => ({ ...item, name: wrapUri(item.label, item.key) }));
  const own = owned('prompts', 'name');
  const names = assignNames(
    own.map(({ label, key }) => ({ label, tool: key })),
    new Set(),
    new Set(),
  );
  const prompts = own.map((item, index) => ({ ...item, name: names[index] ?? '' }));
  const byName = new Map(prompts.map((item) => [item.name, item]));
  return {
    prompts,
    resources: wrapped('resources', 'uri'),
    templates: wrapped('templates', 'uriTemplate'),
    prompt: (name) => byName.get(name),
    instructions: servers.flatMap(({ spec: { label }, instructions }) =>
      instructions === undefined || instructions === '' ? [] : [{ label, text: instructions }],
    ),
  };
}

const byName = (a: ToolDefinition, b: ToolDefinition): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

const ownerKey = (label: string | undefined, tool: string): string => JSON.stringify([label ?? null, tool]);

/** `*` crosses every character. */
function matcher(globs: readonly string[]): (name: string) => boolean {
  return globs.length === 0 ? () => false : picomatch([...globs], { bash: true, dot: true, nocase: false });
}

/** Why a tool is not selected, or undefined when it is. Globs match the server's own names. */
function selector(selection: ToolSelection | undefined): (tool: string) => string | undefined {
  const denied = matcher(selection?.deny ?? []);
  const allowed = selection?.allow === undefined ? () => true : matcher(selection.allow);
  return (tool) => {
    if (denied(tool)) return 'denied by `tools.deny` in the configuration';
    return allowed(tool) ? undefined : 'not in `tools.allow` of the configuration';
  };
}

function why(
  name: string,
  catalog: {
    entries: readonly CatalogEntry[];
    hidden: readonly HiddenTool[];
    servers: readonly Listed[];
    byExposed: ReadonlyMap<string, CatalogEntry>;
  },
): string {
  const entry = catalog.byExposed.get(name);
  if (entry !== undefined) {
    if (entry.label === undefined) return `${name} is a native function`;
    const plain = exposedName(entry.label, entry.tool);
    const renamed =
      plain === name
        ? ''
        : `; its usual name ${plain} is an alias, or taken by an alias or a native function`;
    return `${name} is shown: tool ${JSON.stringify(entry.tool)} of server ${entry.label}${renamed}`;
  }
  const hidden = hiddenAs(name, catalog.hidden);
  if (hidden !== undefined) return `${hidden.tool} of server ${hidden.label} is hidden: ${hidden.reason}`;
  const waiting = catalog.servers.find(
    ({ spec, tools }) => tools === undefined && name.startsWith(stemOf(spec.label)),
  );
  if (waiting !== undefined) {
    return `${name} is not known: server ${waiting.spec.label} has not listed its tools (${waiting.state()})`;
  }
  const near = nearest(
    name,
    catalog.entries.map((entry) => entry.name),
  );
  return `there is no tool ${name}${near.length === 0 ? '' : `; like it: ${near.join(', ')}`}`;
}

const hiddenAs = (name: string, hidden: readonly HiddenTool[]): HiddenTool | undefined =>
  hidden.find(
    ({ label, tool }) => exposedName(label, tool) === name || tool === name || `${label}__${tool}` === name,
  );

const stemOf = (label: string): string => exposedName(label, 'x').replace(/x(_[0-9a-f]{8})?$/, '');

/** The few names most like one, nearest first. */
export function nearest(name: string, names: readonly string[], most: number = 3): string[] {
  return names
    .map((candidate) => ({ candidate, far: distance(name, candidate) }))
    .filter(({ candidate, far }) => far <= Math.max(3, name.length / 3) || candidate.endsWith(`__${name}`))
    .sort((a, b) => a.far - b.far || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, most)
    .map(({ candidate }) => candidate);
}
