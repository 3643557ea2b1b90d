/** One page of `tools/list`, read tolerantly: a tool that nobody could use is left out, the others stay. */
import { mirroredArguments } from './headers.ts';
import { DEFINITION_DEPTH_MAX, DEFINITION_NODES_MAX, DESCRIPTION_MAX, TOOL_MAX } from './protocol-limits.ts';
import { isObject } from './message.ts';
import { safeText } from './text.ts';
import type { Json, JsonObject, ToolDefinition } from '../types.ts';

export interface ReadTool {
  tool: ToolDefinition;
  /** JSON characters. */
  size: number;
}

const OPTIONAL: readonly { member: string; fits: (value: Json) => boolean; form: string }[] = [
  { member: 'title', fits: (value) => typeof value === 'string', form: 'a string' },
  { member: 'description', fits: (value) => typeof value === 'string', form: 'a string' },
  {
    member: 'outputSchema',
    fits: (value) => isObject(value) || typeof value === 'boolean',
    form: 'a schema',
  },
  { member: 'annotations', fits: isObject, form: 'an object' },
  { member: '_meta', fits: isObject, form: 'an object' },
];

/**
 * A listed tool as it came, or the reason why it is left out. An optional member that is null counts as absent.
 * @param mirrors whether `x-mcp-header` marks matter here (modern revisions over HTTP)
 */
export function readTool(raw: Json | undefined, mirrors: boolean): ReadTool | { dropped: string } {
  if (!isObject(raw)) return { dropped: 'a tool that is not an object' };
  const { name, inputSchema } = raw;
  if (typeof name !== 'string' || name === '') return { dropped: 'a tool without a name' };
  const drop = (why: string): { dropped: string } => ({
    dropped: `the tool "${safeText(name, 100)}": ${why}`,
  });
  if (!isObject(inputSchema)) return drop('its inputSchema is not an object');
  const bare = OPTIONAL.filter(({ member }) => raw[member] === null).map(({ member }) => member);
  const tool =
    bare.length === 0 ? raw : Object.fromEntries(Object.entries(raw).filter(([key]) => !bare.includes(key)));
  for (const { member, fits, form } of OPTIONAL) {
    const value = tool[member];
    if (value !== undefined && !fits(value)) return drop(`its ${member} is not ${form}`);
  }
  if (typeof tool.description === 'string' && tool.description.length > DESCRIPTION_MAX) {
    return drop(`its description is longer than ${DESCRIPTION_MAX} characters`);
  }
  const extent = extentOf(tool);
  if (extent !== undefined) return drop(`it has ${extent}`);
  const size = JSON.stringify(tool).length;
  if (size > TOOL_MAX) return drop(`its definition is longer than ${TOOL_MAX} characters`);
  if (mirrors) {
    const marks = mirroredArguments(inputSchema);
    if ('problem' in marks) return drop(safeText(marks.problem, 300));
  }
  return { tool: tool as ToolDefinition, size };
}

/** Why a definition is too big to be handled, in depth or in number of values; undefined when it is not. */
function extentOf(definition: Json): string | undefined {
  let nodes = 0;
  const walk = (node: Json | undefined, depth: number): string | undefined => {
    nodes += 1;
    if (nodes > DEFINITION_NODES_MAX) return `more than ${DEFINITION_NODES_MAX} values`;
    if (typeof node !== 'object' || node === null) return undefined;
    if (depth >= DEFINITION_DEPTH_MAX) return `more than ${DEFINITION_DEPTH_MAX} levels`;
    for (const child of Array.isArray(node) ? node : Object.values(node)) {
      const problem = walk(child, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  return walk(definition, 0);
}

/** The `tools` and the cursor of a page; undefined when it is not one. Only a missing (or null) cursor ends a list. */
export function readPage(result: JsonObject): { tools: Json[]; cursor: string | undefined } | undefined {
  const { tools, nextCursor } = result;
  if (!Array.isArray(tools)) return undefined;
  if (nextCursor === undefined || nextCursor === null) return { tools, cursor: undefined };
  return typeof nextCursor === 'string' ? { tools, cursor: nextCursor } : undefined;
}
