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
  const groups = new Map<string, JsonObject[]>();
  for (const tool of compiled.tools) {
    const name = stemOf(asText(tool['name']));
    const group = groups.has(name) || groups.size < MOST_ENTRIES - 1 ? name : OTHERS;
    groups.set(group, [...(groups.get(group) ?? []), tool]);
  }
  const groupOf = new Map<Json, string>();
  for (const [group, tools] of groups) for (const { name } of tools) groupOf.set(name, group);
  return {
    ...compiled,
    tools: [...groups].map(([name, tools]) => ({
      type: 'namespace',
      name,
      description: name === OTHERS ? 'Other tools' : `Tools of ${name}`,
      tools,
    })),
    report: compiled.report.map((entry) => {
      const group = groupOf.get(entry.name);
      if (group === undefined) return entry;
      const change = `stands in the namespace ${group}, since there are more than ${MOST_ENTRIES} tools`;
      return { ...entry, status: 'adapted', changes: [...entry.changes, change] };
    }),
  };
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

type Json = JsonObject[string];
