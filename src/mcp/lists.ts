/** The lists of a server as data, and one page of them, read tolerantly: an item that nobody could use is left out, the others stay. */
import { mirroredArguments } from './headers.ts';
import { DEFINITION_DEPTH_MAX, DEFINITION_NODES_MAX, DESCRIPTION_MAX, ITEM_MAX } from './protocol-limits.ts';
import { isObject } from './message.ts';
import { namesOf } from './strict.ts';
import { safeText } from './text.ts';
import type { Names } from './strict.ts';
import type { Json, JsonObject, ToolDefinition } from '../types.ts';

/** What an optional member must be; null counts as absent. */
interface Optional {
  member: string;
  fits: (value: Json) => boolean;
  form: string;
}

/** One kind of list. `Item` only says what its items are known to have. */
export interface ListKind<Item extends JsonObject = JsonObject> {
  method: string;
  /** Of the result, and of a surface: where the items stand. */
  member: 'tools' | 'prompts' | 'resources' | 'resourceTemplates';
  /** The capability that announces it. */
  capability: 'tools' | 'prompts' | 'resources';
  /** The notification that makes it stale. */
  changed: string;
  /** True: its capability promises other lists too, so that a server may well be without this one. */
  mayBeMissing: boolean;
  /** For people: one, and many. */
  one: string;
  many: string;
  /** The member that tells items apart. */
  key: 'name' | 'uri' | 'uriTemplate';
  /** The members that the protocol defines. */
  names: Names;
  optional: readonly Optional[];
  /** What else makes an item useless. */
  fault(item: JsonObject): string | undefined;
  /** Never there: it carries the type. */
  readonly item?: Item;
}

const isString = (value: Json): boolean => typeof value === 'string';
const text = (member: string): Optional => ({ member, fits: isString, form: 'a string' });
const object = (member: string): Optional => ({ member, fits: isObject, form: 'an object' });
const TEXTS = [text('title'), text('description')];
const OUTPUT: Optional = {
  member: 'outputSchema',
  fits: (value) => isObject(value) || typeof value === 'boolean',
  form: 'a schema',
};
const ARGUMENTS: Optional = {
  member: 'arguments',
  fits: (value) =>
    Array.isArray(value) && value.every((each) => isObject(each) && typeof each.name === 'string'),
  form: 'a list of named arguments',
};
const COMMON = 'name title description icons _meta';
const none = (): undefined => undefined;

export const TOOLS: ListKind<ToolDefinition> = {
  method: 'tools/list',
  member: 'tools',
  capability: 'tools',
  changed: 'notifications/tools/list_changed',
  mayBeMissing: false,
  one: 'tool',
  many: 'tools',
  key: 'name',
  names: namesOf(`${COMMON} inputSchema outputSchema annotations execution`),
  optional: [...TEXTS, OUTPUT, object('annotations'), object('_meta')],
  fault: ({ inputSchema }) => (isObject(inputSchema) ? undefined : 'its inputSchema is not an object'),
};

export const PROMPTS: ListKind = {
  method: 'prompts/list',
  member: 'prompts',
  capability: 'prompts',
  changed: 'notifications/prompts/list_changed',
  mayBeMissing: false,
  one: 'prompt',
  many: 'prompts',
  key: 'name',
  names: namesOf(`${COMMON} arguments`),
  optional: [...TEXTS, ARGUMENTS, object('_meta')],
  fault: none,
};

const CONTENTS = [text('name'), ...TEXTS, text('mimeType'), object('annotations'), object('_meta')];

export const RESOURCES: ListKind = {
  method: 'resources/list',
  member: 'resources',
  capability: 'resources',
  changed: 'notifications/resources/list_changed',
  mayBeMissing: false,
  one: 'resource',
  many: 'resources',
  key: 'uri',
  names: namesOf(`${COMMON} uri mimeType size annotations`),
  optional: CONTENTS,
  fault: none,
};

export const TEMPLATES: ListKind = {
  method: 'resources/templates/list',
  member: 'resourceTemplates',
  capability: 'resources',
  changed: 'notifications/resources/list_changed',
  mayBeMissing: true,
  one: 'resource template',
  many: 'resource templates',
  key: 'uriTemplate',
  names: namesOf(`${COMMON} uriTemplate mimeType annotations`),
  optional: CONTENTS,
  fault: none,
};

export type ReadItem<Item extends JsonObject> =
  | {
      item: Item;
      key: string;
      /** JSON characters. */
      size: number;
    }
  /** Why it is left out; `key` where it has one. */
  | { dropped: string; key?: string };

/**
 * A listed item as it came, or the reason why it is left out.
 * @param mirrors whether `x-mcp-header` marks of tools matter here (modern revisions over HTTP)
 * @param ambiguous what lets its text be read in two ways
 */
export function readItem<Item extends JsonObject>(
  kind: ListKind<Item>,
  raw: Json | undefined,
  mirrors: boolean,
  ambiguous?: string,
): ReadItem<Item> {
  const { one, optional } = kind;
  if (!isObject(raw)) return { dropped: `a ${one} that is not an object` };
  const key = raw[kind.key];
  if (typeof key !== 'string' || key === '') return { dropped: `a ${one} without a ${kind.key}` };
  const drop = (why: string): ReadItem<Item> => ({
    dropped: `the ${one} "${safeText(key, 100)}": ${why}`,
    key,
  });
  if (ambiguous !== undefined) return drop(`it can be read in two ways: it has ${ambiguous}`);
  const fault = kind.fault(raw);
  if (fault !== undefined) return drop(fault);
  const bare = optional.filter(({ member }) => raw[member] === null).map(({ member }) => member);
  const item =
    bare.length === 0
      ? raw
      : Object.fromEntries(Object.entries(raw).filter(([name]) => !bare.includes(name)));
  for (const { member, fits, form } of optional) {
    const value = item[member];
    if (value !== undefined && !fits(value)) return drop(`its ${member} is not ${form}`);
  }
  if (typeof item.description === 'string' && item.description.length > DESCRIPTION_MAX) {
    return drop(`its description is longer than ${DESCRIPTION_MAX} characters`);
  }
  const extent = extentOf(item);
  if (extent !== undefined) return drop(`it has ${extent}`);
  const size = JSON.stringify(item).length;
  if (size > ITEM_MAX) return drop(`its definition is longer than ${ITEM_MAX} characters`);
  if (mirrors && kind.member === 'tools') {
    const marks = mirroredArguments(item.inputSchema as JsonObject);
    if ('problem' in marks) return drop(safeText(marks.problem, 300));
  }
  return { item: item as Item, key, size };
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

/** The items and the cursor of a page; undefined when it is not one. Only a missing (or null) cursor ends a list. */
export function readPage(
  { member }: ListKind,
  result: JsonObject,
): { items: Json[]; cursor: string | undefined } | undefined {
  const { [member]: items, nextCursor } = result;
  if (!Array.isArray(items)) return undefined;
  if (nextCursor === undefined || nextCursor === null) return { items, cursor: undefined };
  return typeof nextCursor === 'string' ? { items, cursor: nextCursor } : undefined;
}
