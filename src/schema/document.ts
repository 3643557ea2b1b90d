/** Reads a schema once: bounded, copied, brought to 2020-12, references found. Lowering and validation both start here. */
import type { Json, JsonObject } from '../types.ts';
import { isObject, setMember, subschemas } from './keywords.ts';
import type { Schema } from './keywords.ts';
import { MAX_DEPTH, MAX_NODES } from './limits.ts';
import { isModern, modernize } from './modernize.ts';
import { createNotes, placeName, quoted, shown } from './notes.ts';
import type { Notes } from './notes.ts';
import { everySchema, indexReferences, placeOf } from './reference.ts';
import type { Standing } from './reference.ts';

export interface SchemaDocument {
  /** A private copy in 2020-12 form. */
  root: Schema;
  /** What bringing it to 2020-12 changed. */
  notes: Notes;
  /** The target of a `$ref` that stands in the copy. */
  target(ref: string): Schema;
  /** Whether any schema in it has `unevaluatedProperties` or `unevaluatedItems`. */
  tracksEvaluated: boolean;
  /** Set when `$schema` names a dialect that we do not know. */
  foreignDialect?: string;
}

/** Why a schema cannot be used. `size` when only our limits stand against it. */
export interface Refusal {
  refused: string;
  size: boolean;
}

/** @param openapi whether OpenAPI's spelling is expected, and no change worth telling. */
export function readSchema(schema: Schema, openapi = false): SchemaDocument | Refusal {
  const copied = copyBounded(schema);
  if ('refused' in copied) return copied;
  const root = copied.copy as Schema;
  const notes = createNotes();
  const targets = new Map<string, Schema>();
  const target = (ref: string): Schema => targets.get(ref) ?? false;
  if (typeof root === 'boolean') return { root, notes, target, tracksEvaluated: false };

  const dialect = dialectOf(root);
  const schemas = everySchema(root);
  const refused = copied.references ? resolveAll(root, schemas, targets) : undefined;
  if (refused !== undefined) return { refused, size: false };
  for (const standing of schemas) {
    const { node } = standing;
    if (isModern(node) && !(dialect.old && node['$ref'] !== undefined)) continue;
    modernize(node, { old: dialect.old, openapi, notes, place: placeOf(standing), root: node === root });
  }
  const loop = copied.references ? loopWithoutProgress(schemas, target) : undefined;
  if (loop !== undefined) {
    return { refused: `$ref ${shown(loop, 120)} leads back to itself without progress`, size: false };
  }
  const tracksEvaluated = schemas.some(
    ({ node }) => node['unevaluatedProperties'] !== undefined || node['unevaluatedItems'] !== undefined,
  );
  const read: SchemaDocument = { root, notes, target, tracksEvaluated };
  if (dialect.foreign !== undefined) read.foreignDialect = dialect.foreign;
  return read;
}

/** Finds the targets of all references, those in places that are no schema by themselves included. Returns why it cannot. */
function resolveAll(root: JsonObject, schemas: Standing[], targets: Map<string, Schema>): string | undefined {
  const references = indexReferences(root);
  const known = new Set(schemas.map(({ node }) => node));
  for (const standing of schemas) {
    const { node } = standing;
    staticReference(node);
    const ref = node['$ref'];
    if (typeof ref !== 'string') continue;
    const found = references.find(ref, node);
    if ('problem' in found) {
      const at = placeName(placeOf(standing));
      return `$ref ${shown(ref, 120)} at ${at === '' ? 'the root' : quoted(at)} ${found.problem}`;
    }
    const key = found.plain ? ref : `#reference-${targets.size}`;
    node['$ref'] = key;
    targets.set(key, found.target);
    if (typeof found.target === 'boolean' || known.has(found.target)) continue;
    for (const one of everySchema(found.target, standing, ['$ref'])) {
      if (known.has(one.node)) continue;
      known.add(one.node);
      schemas.push(one);
    }
  }
  return undefined;
}

/** `$recursiveRef` and `$dynamicRef` are read as plain references: there is one document, and no one extends it. */
function staticReference(node: JsonObject): void {
  for (const keyword of ['$dynamicRef', '$recursiveRef']) {
    const ref = node[keyword];
    if (typeof ref === 'string' && node['$ref'] === undefined) node['$ref'] = ref;
    delete node[keyword];
  }
}

function dialectOf(root: JsonObject): { old: boolean; foreign?: string } {
  const name = root['$schema'];
  if (typeof name !== 'string') return { old: false };
  const known =
    /^https?:\/\/json-schema\.org\/(?:draft-0([3-7])\/|draft\/(2019-09|2020-12)\/)?schema#?$/.exec(name);
  if (known === null) return { old: false, foreign: name };
  return { old: known[1] !== undefined };
}

function copyBounded(schema: Json): { copy: Json; references: boolean } | Refusal {
  let nodes = 0;
  let references = false;
  let refusal: string | undefined;
  function copy(value: Json, depth: number): Json {
    if (refusal !== undefined) return null;
    if (++nodes > MAX_NODES) refusal = `the schema has more than ${MAX_NODES} nodes`;
    else if (depth > MAX_DEPTH) refusal = `the schema is nested deeper than ${MAX_DEPTH}`;
    else if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
    else if (isObject(value)) {
      const members: JsonObject = {};
      for (const name of Object.keys(value)) {
        const item = value[name];
        if (item === undefined) continue;
        if (name === '$ref' || name === '$dynamicRef' || name === '$recursiveRef') references = true;
        setMember(members, name, copy(item, depth + 1));
      }
      return members;
    }
    return value;
  }
  const result = copy(schema, 1);
  return refusal === undefined ? { copy: result, references } : { refused: refusal, size: true };
}

/** The first reference on a way from a schema to itself that never enters a member or an item. */
function loopWithoutProgress(
  schemas: readonly Standing[],
  target: (ref: string) => Schema,
): string | undefined {
  const state = new Map<JsonObject, 'open' | 'done'>();
  function visit(node: Schema, via: string): string | undefined {
    if (typeof node === 'boolean') return undefined;
    const known = state.get(node);
    if (known !== undefined) return known === 'open' ? via : undefined;
    state.set(node, 'open');
    const ref = node['$ref'];
    let found = typeof ref === 'string' ? visit(target(ref), ref) : undefined;
    for (const [tokens, child] of subschemas(node)) {
      if (found !== undefined) break;
      if (IN_PLACE.has(tokens[0]!)) found = visit(child, via);
    }
    state.set(node, 'done');
    return found;
  }
  for (const { node } of schemas) {
    const found = visit(node, '');
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Keywords whose subschemas look at the same instance. */
const IN_PLACE = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas']);
