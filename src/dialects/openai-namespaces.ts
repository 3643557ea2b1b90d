/** More tools than OpenAI Responses lists at the top of one request stand in namespaces, so that none is left out. */
import type { Compiled } from './dialect.ts';
import { asText } from './json.ts';
import type { JsonObject } from '../types.ts';

/** Entries at the top of `tools` in one request. */
export const MOST_ENTRIES = 128;
/** Where tools go whose names say nothing of a server, and servers beyond the most entries. */
const OTHERS = 'others';

/** Functions keep their whole names, so a call finds its owner by table, whatever namespace it names. */
export function inNamespaces(compiled: Compiled): Compiled {
  if (compiled.tools.length <= MOST_ENTRIES) return compiled;
  const tools = grouped(compiled.tools, MOST_ENTRIES);
  const homes = namespaces(tools);
  return {
    ...compiled,
    tools,
    report: compiled.report.map((entry) => {
      const home = homes.get(entry.name);
      if (home === undefined) return entry;
      const change = `stands in the namespace ${home}, since there are more than ${MOST_ENTRIES} tools`;
      return { ...entry, status: 'adapted', changes: [...entry.changes, change] };
    }),
  };
}

/** Functions in at most so many namespaces. */
export function grouped(functions: readonly JsonObject[], most: number): JsonObject[] {
  const groups = new Map<string, JsonObject[]>();
  for (const tool of functions) {
    const name = stemOf(asText(tool['name']));
    const group = groups.has(name) || groups.size < most - 1 ? name : OTHERS;
    groups.set(group, [...(groups.get(group) ?? []), tool]);
  }
  return [...groups].map(([name, tools]) => ({
    type: 'namespace',
    name,
    description: name === OTHERS ? 'Other tools' : `Tools of ${name}`,
    tools,
  }));
}

/**
 * Calls as the tools of this request have them: the API refuses a call that comes back without the namespace that its
 * function stands in now, whether another API made it or the list was shorter then.
 */
export function placed(items: readonly JsonObject[], tools: readonly JsonObject[]): JsonObject[] {
  const homes = namespaces(tools);
  const flat = new Set(tools.map(({ name }) => name));
  return items.map((item) => {
    if (item['type'] !== 'function_call') return item;
    const home = homes.get(item['name']);
    if (home !== undefined) return item['namespace'] === home ? item : { ...item, namespace: home };
    if (item['namespace'] === undefined || !flat.has(item['name'])) return item;
    const { namespace: _, ...rest } = item;
    return rest;
  });
}

/** Function name to the namespace that it stands in. */
function namespaces(tools: readonly JsonObject[]): Map<JsonObject[string], string> {
  const homes = new Map<JsonObject[string], string>();
  for (const group of tools.filter(({ type }) => type === 'namespace')) {
    for (const { name } of functionsOf([group])) homes.set(name, asText(group['name']));
  }
  return homes;
}

/** The functions of a list, out of their namespaces. */
export function functionsOf(tools: readonly JsonObject[]): JsonObject[] {
  return tools.flatMap((tool) => (tool['type'] === 'namespace' ? (tool['tools'] as JsonObject[]) : [tool]));
}

/** What stands before the first `__` of an exposed name: the label, as far as it shows. */
function stemOf(name: string): string {
  const end = name.indexOf('__');
  return end > 0 ? name.slice(0, end) : OTHERS;
}
