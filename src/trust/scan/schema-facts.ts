/** What the rules over whole items need to know of one, gathered in one walk. */
import { isObject, KEYWORDS } from '../../schema/keywords.ts';
import { pointer } from '../../schema/reference.ts';
import type { Item, Json, JsonObject } from '../../types.ts';
import { LIMITS } from './limits.ts';

export interface SchemaNode {
  node: JsonObject;
  /** Its root: `inputSchema` or `outputSchema` of a tool. */
  root: 'inputSchema' | 'outputSchema';
  parent: SchemaNode | undefined;
  tokens: readonly string[];
}

/** A name that whoever uses the item fills in: a property, an argument of a prompt, a variable of a template. */
export interface Input {
  name: string;
  /** Asked for only where something was found: most names are harmless. */
  pointer: () => string;
  inKey: boolean;
  /** Where the name stands in the text there. */
  start: number;
  schema: JsonObject;
  isRequired: boolean;
  /** Directly among the arguments, not in something nested. */
  isTop: boolean;
}

export interface Facts {
  depth: number;
  nodes: number;
  /** JSON characters, near enough. */
  size: number;
  /** The schemas of a tool. */
  roots: SchemaNode[];
  /** Schemas with a reference, a regular expression, a value written out, or the mark of a header. */
  references: SchemaNode[];
  patterns: SchemaNode[];
  values: SchemaNode[];
  marked: SchemaNode[];
  /** Every `$id`. */
  ids: Set<Json | undefined>;
  inputs: Input[];
  /** Properties of the output schema. */
  outputs: Input[];
}

let last: { value: JsonObject; facts: Facts } | undefined;

/** The rules look at one item after the other: to keep the facts of more than one would cost more than to gather them. */
export function factsOf(item: Item & { value: JsonObject }): Facts {
  if (last?.value !== item.value) last = { value: item.value, facts: gather(item) };
  return last.facts;
}

/** Where a schema stands in its item. */
export function placeOf(schema: SchemaNode, ...inside: string[]): string {
  const tokens = [...inside];
  for (let at: SchemaNode | undefined = schema; at !== undefined; at = at.parent)
    tokens.unshift(...at.tokens);
  return pointer(tokens);
}

function gather({ kind, value }: Item & { value: JsonObject }): Facts {
  const facts: Facts = {
    depth: 0,
    nodes: 0,
    size: 0,
    roots: [],
    references: [],
    patterns: [],
    values: [],
    marked: [],
    ids: new Set(),
    inputs: kind === 'prompt' ? argumentsOf(value) : kind === 'template' ? variablesOf(value) : [],
    outputs: [],
  };
  measure(value, 1, facts);
  // What is over a limit is withheld for that alone.
  if (kind !== 'tool' || facts.depth > LIMITS.depth || facts.nodes > LIMITS.nodes) return facts;
  for (const root of ['inputSchema', 'outputSchema'] as const) {
    const node = value[root];
    if (!isObject(node)) continue;
    const schema: SchemaNode = { node, root, parent: undefined, tokens: [root] };
    facts.roots.push(schema);
    readSchema(schema, facts);
  }
  return facts;
}

/** Goes one step further than the limits allow, and no more. */
function measure(value: Json, level: number, facts: Facts): void {
  facts.nodes++;
  if (level > facts.depth) facts.depth = level;
  if (typeof value === 'string') facts.size += value.length + 2;
  else if (typeof value !== 'object' || value === null) facts.size += 4;
  else if (level <= LIMITS.depth && facts.nodes <= LIMITS.nodes) {
    if (Array.isArray(value)) for (const item of value) measure(item, level + 1, facts);
    else {
      for (const name of Object.keys(value)) {
        const member = value[name];
        facts.size += name.length + 4;
        if (member !== undefined) measure(member, level + 1, facts);
      }
    }
  }
}

/** What a keyword is to the rules, beside holding schemas. */
const ROLES = new Map<string, 'references' | 'patterns' | 'values' | 'marked'>([
  ['$ref', 'references'],
  ['$dynamicRef', 'references'],
  ['$recursiveRef', 'references'],
  ['pattern', 'patterns'],
  ['patternProperties', 'patterns'],
  ['default', 'values'],
  ['const', 'values'],
  ['examples', 'values'],
  ['example', 'values'],
  ['enum', 'values'],
  ['x-mcp-header', 'marked'],
]);

/** Keywords that hold schemas, those of older drafts too. */
const HOLDERS = new Set([
  ...[...KEYWORDS].filter(([, holds]) => holds.startsWith('schema')).map(([keyword]) => keyword),
  'dependencies',
  'additionalItems',
]);
const MAPS = new Set([
  ...[...KEYWORDS].filter(([, holds]) => holds === 'schemaMap').map(([keyword]) => keyword),
  'dependencies',
]);

function readSchema(schema: SchemaNode, facts: Facts): void {
  const { node, root } = schema;
  for (const keyword of Object.keys(node)) {
    const role = ROLES.get(keyword);
    if (role !== undefined && facts[role].at(-1) !== schema) facts[role].push(schema);
    if (keyword === '$id' || keyword === 'id') facts.ids.add(node[keyword]);
    if (!HOLDERS.has(keyword)) continue;
    const value = node[keyword];
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value) || MAPS.has(keyword)) {
      if (keyword === 'properties') readProperties(schema, value as JsonObject, facts);
      for (const name of Object.keys(value)) {
        const inner = (value as JsonObject)[name];
        if (isObject(inner))
          readSchema({ node: inner, root, parent: schema, tokens: [keyword, name] }, facts);
      }
    } else readSchema({ node: value, root, parent: schema, tokens: [keyword] }, facts);
  }
}

function readProperties(schema: SchemaNode, properties: JsonObject, facts: Facts): void {
  const { required } = schema.node;
  const wanted = Array.isArray(required) ? required : [];
  const into = schema.root === 'inputSchema' ? facts.inputs : facts.outputs;
  for (const name of Object.keys(properties)) {
    const property = properties[name];
    into.push({
      name,
      pointer: () => placeOf(schema, 'properties', name),
      inKey: true,
      start: 0,
      schema: isObject(property) ? property : {},
      isRequired: wanted.length <= 1_000 && wanted.includes(name),
      isTop: schema.parent === undefined,
    });
  }
}

function argumentsOf(prompt: JsonObject): Input[] {
  if (!Array.isArray(prompt['arguments'])) return [];
  return prompt['arguments'].flatMap((argument, at) =>
    isObject(argument) && typeof argument['name'] === 'string'
      ? [
          {
            name: argument['name'],
            pointer: () => pointer(['arguments', String(at), 'name']),
            inKey: false,
            start: 0,
            schema: argument,
            isRequired: argument['required'] === true,
            isTop: true,
          },
        ]
      : [],
  );
}

/** The variables of a URI template (RFC 6570). */
function variablesOf({ uriTemplate }: JsonObject): Input[] {
  if (typeof uriTemplate !== 'string' || uriTemplate.length > 4_096) return [];
  return [...uriTemplate.matchAll(/\{([^{}]{1,512})\}/g)].flatMap(({ 1: inside = '', index }) =>
    [...inside.matchAll(/[A-Za-z0-9_%.]+/g)].map((name) => ({
      name: name[0],
      pointer: () => '/uriTemplate',
      inKey: false,
      start: index + 1 + name.index,
      schema: {},
      isRequired: true,
      isTop: true,
    })),
  );
}
