/** Where a `$ref` points. Only into the same document: nothing is ever fetched. */
import type { Json, JsonObject } from '../types.ts';
import { isObject, isSchema, member, subschemas } from './keywords.ts';
import type { Schema } from './keywords.ts';

/** A part of the document with its own base URI: the root, and every subschema with an `$id`. */
interface Resource {
  root: JsonObject;
  base: string;
  anchors: Map<string, Schema>;
}

export interface References {
  /**
   * The target of a `$ref` as written in `owner`, or why there is none.
   * `plain` when the same words mean the same target everywhere in the document.
   */
  find(ref: string, owner: JsonObject): { target: Schema; plain: boolean } | { problem: string };
}

/** Indexes `$id`, `$anchor` and their older spellings over all schemas that the document holds. */
export function indexReferences(root: JsonObject): References {
  const resources = new Map<string, Resource>();
  const owners = new Map<JsonObject, Resource>();

  function walk(schema: Schema, resource: Resource): void {
    if (typeof schema === 'boolean' || owners.has(schema)) return;
    const id = schema['$id'] ?? schema['id'];
    if (typeof id === 'string' && id.startsWith('#')) resource.anchors.set(id.slice(1), schema);
    else if (typeof id === 'string' && id !== '' && schema !== resource.root && isLocator(id, schema)) {
      resource = { root: schema, base: absolute(id, resource.base), anchors: new Map() };
    }
    if (resource.root === schema && !resources.has(resource.base)) resources.set(resource.base, resource);
    owners.set(schema, resource);
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = schema[keyword];
      if (typeof anchor === 'string' && !resource.anchors.has(anchor)) resource.anchors.set(anchor, schema);
    }
    for (const [, inner] of everySubschema(schema)) walk(inner, resource);
  }

  const id = root['$id'] ?? root['id'];
  const base = typeof id === 'string' && !id.startsWith('#') ? absolute(id, '') : '';
  const document: Resource = { root, base, anchors: new Map() };
  walk(root, document);

  return {
    find(ref, owner) {
      const hash = ref.indexOf('#');
      const address = hash === -1 ? ref : ref.slice(0, hash);
      const fragment = hash === -1 ? '' : ref.slice(hash + 1);
      const own = owners.get(owner) ?? document;
      const resource = address === '' ? own : resources.get(absolute(address, own.base));
      if (resource === undefined) return { problem: `points outside the schema, and nothing is fetched` };
      const target =
        fragment === '' || fragment.startsWith('/')
          ? follow(resource.root, fragment)
          : resource.anchors.get(fragment);
      if (target === undefined) return { problem: 'points to nothing in the schema' };
      if (!isSchema(target)) return { problem: 'points to something that is not a schema' };
      if (isObject(target)) walk(target, resource);
      return { target, plain: address === '' && own === document };
    },
  };
}

/** The tokens of a JSON pointer in a URI fragment: percent-encoding and `~0`, `~1` undone. */
export function pointerTokens(fragment: string): string[] {
  return fragment
    .split('/')
    .slice(1)
    .map((token) => percentDecoded(token).replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function pointer(tokens: readonly string[]): string {
  return tokens.reduce(pointerTo, '');
}

/** A JSON pointer (RFC 6901), one member further. */
export function pointerTo(at: string, name: string): string {
  return `${at}/${/[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name}`;
}

/** A pointer as a URI fragment that every reader of `$ref` resolves. */
export function fragment(tokens: readonly string[]): string {
  return `#${encodeURI(pointer(tokens).toWellFormed()).replaceAll('#', '%23')}`;
}

export function follow(root: Json, fragment: string): Json | undefined {
  let at: Json | undefined = root;
  for (const token of pointerTokens(fragment)) {
    if (Array.isArray(at)) at = /^\d+$/.test(token) ? at[Number(token)] : undefined;
    else if (isObject(at)) at = member(at, token);
    else return undefined;
  }
  return at;
}

/** A schema in its document. Where it stands is seldom asked, so it is not written out. */
export interface Standing {
  node: JsonObject;
  parent: Standing | undefined;
  /** From the parent to here. */
  tokens: readonly string[];
}

export function placeOf({ parent, tokens }: Standing): string[] {
  return parent === undefined ? [...tokens] : [...placeOf(parent), ...tokens];
}

/** All schemas at or below a schema, before older spellings are brought up to date, in the order they stand. */
export function everySchema(
  node: JsonObject,
  parent?: Standing,
  tokens: readonly string[] = [],
  found: Standing[] = [],
): Standing[] {
  const here: Standing = { node, parent, tokens };
  found.push(here);
  for (const [way, inner] of everySubschema(node))
    if (typeof inner !== 'boolean') everySchema(inner, here, way, found);
  return found;
}

/** Draft-07 tuples and dependencies hold schemas too, and may be pointed at or carry anchors. */
export function everySubschema(schema: JsonObject): [string[], Schema][] {
  const found = subschemas(schema);
  for (const keyword of OLDER) {
    const value = schema[keyword];
    if (value === undefined || (keyword === 'items' && !Array.isArray(value))) continue;
    if (keyword === 'additionalItems') {
      if (isSchema(value)) found.push([[keyword], value]);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value))
        if (isSchema(item)) found.push([[keyword, name], item]);
    }
  }
  return found;
}

const OLDER = ['items', 'dependencies', 'additionalItems'];

/** `id` is a keyword of draft-04 only; elsewhere a schema may carry it as a member of its own. */
function isLocator(id: string, schema: JsonObject): boolean {
  return schema['$id'] === id || /^[a-z][a-z0-9+.-]*:/i.test(id);
}

function absolute(address: string, base: string): string {
  if (URL.canParse(address)) return new URL(address).href.replace(/#$/, '');
  return base !== '' && URL.canParse(address, base) ? new URL(address, base).href.replace(/#$/, '') : address;
}

function percentDecoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}
