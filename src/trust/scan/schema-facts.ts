/** What the rules over whole items need to know of one, gathered in one walk and remembered by object. */
import { isObject } from '../../schema/keywords.ts';
import { everySubschema, pointer } from '../../schema/reference.ts';
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
  schemas: SchemaNode[];
  inputs: Input[];
  /** Properties of the output schema. */
  outputs: Input[];
}

const known = new WeakMap<JsonObject, Facts>();

export function factsOf({ kind, value }: Item & { value: JsonObject }): Facts {
  let facts = known.get(value);
  if (facts === undefined) {
    facts = gather(kind, value);
    known.set(value, facts);
  }
  return facts;
}

/** Where a schema stands in its item. */
export function placeOf(schema: SchemaNode, ...inside: string[]): string {
  const tokens = [...inside];
  for (let at: SchemaNode | undefined = schema; at !== undefined; at = at.parent)
    tokens.unshift(...at.tokens);
  return pointer(tokens);
}

function gather(kind: Item['kind'], value: JsonObject): Facts {
  const { depth, nodes, size } = measure(value);
  const isBounded = depth <= LIMITS.depth && nodes <= LIMITS.nodes;
  const schemas =
    kind === 'tool' && isBounded
      ? [...schemasOf(value, 'inputSchema'), ...schemasOf(value, 'outputSchema')]
      : [];
  const properties = (root: SchemaNode['root']): Input[] =>
    schemas.filter((schema) => schema.root === root).flatMap(propertiesOf);
  const inputs =
    kind === 'prompt'
      ? argumentsOf(value)
      : kind === 'template'
        ? variablesOf(value)
        : properties('inputSchema');
  return { depth, nodes, size, schemas, inputs, outputs: properties('outputSchema') };
}

/** Stops soon after a limit is passed. Never recurses: nesting is what it measures. */
function measure(value: JsonObject): { depth: number; nodes: number; size: number } {
  let [depth, nodes, size] = [0, 0, 0];
  const pending: [Json, number][] = [[value, 1]];
  for (let next = pending.pop(); next !== undefined && nodes <= LIMITS.nodes; next = pending.pop()) {
    const [at, level] = next;
    nodes++;
    depth = Math.max(depth, level);
    if (typeof at === 'string') size += at.length + 2;
    else if (Array.isArray(at)) {
      size += at.length + 1;
      for (const item of at) pending.push([item, level + 1]);
    } else if (isObject(at)) {
      for (const name of Object.keys(at)) {
        size += name.length + 4;
        const member = at[name];
        if (member !== undefined) pending.push([member, level + 1]);
      }
    } else size += 4;
  }
  return { depth, nodes, size };
}

function schemasOf(value: JsonObject, root: SchemaNode['root']): SchemaNode[] {
  const schema = value[root];
  if (!isObject(schema)) return [];
  const found: SchemaNode[] = [{ node: schema, root, parent: undefined, tokens: [root] }];
  for (let at = 0; at < found.length; at++) {
    const parent = found[at]!;
    for (const [tokens, node] of everySubschema(parent.node))
      if (isObject(node)) found.push({ node, root, parent, tokens });
  }
  return found;
}

function propertiesOf(schema: SchemaNode): Input[] {
  const { properties, required } = schema.node;
  if (!isObject(properties)) return [];
  const wanted = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties).map(([name, property]) => ({
    name,
    pointer: () => placeOf(schema, 'properties', name),
    inKey: true,
    start: 0,
    schema: isObject(property) ? property : {},
    isRequired: wanted.has(name),
    isTop: schema.parent === undefined,
  }));
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
