/** One schema, still in plain JSON Schema, brought into the shapes that a flat profile can write. */
import type { Json, JsonObject } from '../types.ts';
import type { Combiner } from './combine.ts';
import { describe, joinTexts, keywordWords } from './describe.ts';
import { ANNOTATIONS, APPLIES_TO, isObject, schemaList, typesOf } from './keywords.ts';
import type { Schema } from './keywords.ts';
import type { Rules } from './profiles.ts';

/** What `fit` reports beside the schema. */
export type Told = (change: string) => void;

/**
 * `allOf` and siblings of `$ref` merged, siblings of a union moved into its branches, constants as the profile writes
 * them, a type on every node. The result is a boolean, a reference, a union that stands alone, or a plain schema.
 */
export function fit(schema: Schema, rules: Rules, combiner: Combiner, tell: Told): Schema {
  const single = mergeable(schema) ? mergeTop(schema, combiner, tell) : schema;
  if (typeof single === 'boolean' || single['$ref'] !== undefined) return single;
  const alone = standAlone(single, combiner, tell);
  if (typeof alone === 'boolean' || alone['anyOf'] !== undefined) return alone;
  const bounded = rules.keywords?.has('exclusiveMinimum') === true ? alone : plainBounds(alone, tell);
  const valued = values(bounded, rules, tell);
  if (valued['anyOf'] !== undefined) return valued;
  const typed = infer(valued, tell);
  return rules.openapi ? oneType(typed, tell) : typed;
}

/** What says nothing of the value, and may stand beside a union or reference. */
export function annotationsOf(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => ANNOTATIONS.has(keyword)));
}

function mergeable(schema: Schema): boolean {
  return isObject(schema) && (schema['allOf'] !== undefined || schema['$ref'] !== undefined);
}

function mergeTop(schema: Schema, combiner: Combiner, tell: Told): Schema {
  if (typeof schema === 'boolean') return schema;
  const { allOf, ...rest } = schema;
  if (Object.keys(rest).every((keyword) => keyword === '$ref' || ANNOTATIONS.has(keyword))) {
    if (allOf === undefined) return schema;
    const parts = schemaList(allOf);
    const only = parts[0];
    if (
      parts.length === 1 &&
      rest['$ref'] === undefined &&
      isObject(only) &&
      typeof only['$ref'] === 'string'
    ) {
      tell('allOf of one $ref written as $ref');
      return mergeTop({ ...only, ...rest }, combiner, tell);
    }
  }
  tell(allOf === undefined ? '$ref merged with what stands beside it' : 'allOf merged');
  return combiner.merged(schema);
}

function standAlone(schema: JsonObject, combiner: Combiner, tell: Told): Schema {
  const keyword = (['anyOf', 'oneOf'] as const).find((keyword) => schema[keyword] !== undefined);
  if (keyword === undefined) return schema;
  if (keyword === 'oneOf') tell('oneOf written as anyOf');
  const { [keyword]: union, ...rest } = schema;
  const notes = annotationsOf(rest);
  const asserted = Object.fromEntries(Object.entries(rest).filter(([name]) => !ANNOTATIONS.has(name)));
  const alone = Object.keys(asserted).length === 0;
  if (!alone) tell(`what stands beside ${keyword} moved into its branches`);
  const branches = schemaList(union)
    .map((branch) => (alone ? branch : combiner.both(asserted, branch)))
    .filter((branch) => branch !== false);
  if (branches.length === 0) return false;
  if (branches.length === 1 && !alone && isObject(branches[0]))
    return standAlone({ ...branches[0], ...notes }, combiner, tell);
  return { ...notes, anyOf: branches };
}

const EXCLUSIVE_BOUNDS = [
  ['exclusiveMinimum', 'minimum', 1],
  ['exclusiveMaximum', 'maximum', -1],
] as const;

/** `exclusiveMinimum` as `minimum`: exact for integers, else said in words beside the wider bound. */
function plainBounds(schema: JsonObject, tell: Told): JsonObject {
  let result = schema;
  for (const [exclusive, bound, step] of EXCLUSIVE_BOUNDS) {
    if (typeof result[exclusive] !== 'number') continue;
    const { [exclusive]: _, ...rest } = result;
    const limit = result[exclusive];
    const integer = typesOf(result).includes('integer') && !typesOf(result).includes('number');
    const plain = integer ? (step > 0 ? Math.floor(limit) + 1 : Math.ceil(limit) - 1) : limit;
    const own = rest[bound];
    const tighter =
      typeof own === 'number' ? (step > 0 ? Math.max(own, plain) : Math.min(own, plain)) : plain;
    const words = integer ? [] : [keywordWords(exclusive, limit)!];
    tell(integer ? `${exclusive} written as ${bound}` : `${exclusive} moved to description`);
    const description = describe(rest['description'], words);
    result = { ...rest, [bound]: tighter, ...(description === undefined ? {} : { description }) };
  }
  return result;
}

/** `const` and `enum` in the values that the profile can list; the others become types with words. */
function values(schema: JsonObject, rules: Rules, tell: Told): JsonObject {
  let node = schema;
  if ('const' in node && (rules.keywords?.has('const') !== true || !listable(node['const'], rules))) {
    const { const: only, enum: _, ...rest } = node;
    node = { ...rest, enum: [only!] };
    if (listable(only, rules)) tell('const written as enum');
  }
  if (!Array.isArray(node['enum'])) return node;
  const types = typesOf(node);
  const given = node['enum'].filter(
    (value) =>
      types.length === 0 ||
      types.some((type) => type === typeOf(value) || (type === 'number' && typeOf(value) === 'integer')),
  );
  if (given.length === 0) {
    const { enum: _, ...rest } = node;
    tell('empty enum left out');
    return rest;
  }
  if (given.every((value) => listable(value, rules))) {
    return given.length === node['enum'].length ? node : { ...node, enum: given };
  }
  const { enum: _, type: __, ...rest } = node;
  const notes = annotationsOf(rest);
  const branches = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'].flatMap(
    (type): JsonObject[] => {
      const own = given.filter((value) => typeOf(value) === type);
      return own.length === 0 ? [] : [branchOf(type, own, rules, tell)];
    },
  );
  if (branches.length > 1) return { ...notes, anyOf: branches };
  const description = joinTexts(notes['description'], branches[0]!['description']);
  return { ...rest, ...branches[0], ...(description === undefined ? {} : { description }) };
}

function branchOf(type: string, values: Json[], rules: Rules, tell: Told): JsonObject {
  if (type === 'null') return { type };
  if (values.every((value) => listable(value, rules))) return { type, enum: values };
  if (type === 'boolean' && values.length > 1) return { type };
  tell('values of enum moved to description');
  return {
    type,
    description: values.length === 1 ? keywordWords('const', values[0])! : keywordWords('enum', values)!,
  };
}

function listable(value: Json | undefined, rules: Rules): boolean {
  if (rules.enums === 'any') return true;
  if (rules.enums === 'strings') return typeof value === 'string';
  if (rules.enums === 'strings and numbers') return typeof value === 'string' || typeof value === 'number';
  return typeof value !== 'object' || value === null;
}

function typeOf(value: Json | undefined): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** A type for a schema without one, from its values or from keywords that speak of one type only. */
function infer(schema: JsonObject, tell: Told): JsonObject {
  if (schema['type'] !== undefined) return schema;
  const listed = 'const' in schema ? [schema['const']] : Array.isArray(schema['enum']) ? schema['enum'] : [];
  const keywords = Object.keys(schema).flatMap((keyword) => APPLIES_TO.get(keyword) ?? []);
  const types = [...new Set<string>(listed.length > 0 ? listed.map(typeOf) : keywords)];
  if (types.length === 0 || (listed.length === 0 && types.length > 1)) return schema;
  tell('type added');
  return { type: types.length === 1 ? types[0]! : types, ...schema };
}

/** A list of types becomes a union with one type each, and the keywords that speak of that type. */
function oneType(schema: JsonObject, tell: Told): JsonObject {
  const types = typesOf(schema).filter((type) => type !== 'null');
  if (types.length < 2) return schema;
  tell('list of types written as anyOf');
  const { type: _, ...rest } = schema;
  const branches: JsonObject[] = types.map((type) => ({ type, ...only(rest, type) }));
  if (typesOf(schema).includes('null')) branches.push({ type: 'null' });
  return { ...annotationsOf(rest), anyOf: branches };
}

function only(schema: JsonObject, type: string): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, Json][] => {
      if (ANNOTATIONS.has(keyword) || value === undefined) return [];
      if (keyword === 'enum' && Array.isArray(value)) {
        const own = value.filter(
          (item) => typeOf(item) === type || (type === 'number' && typeOf(item) === 'integer'),
        );
        return own.length === 0 ? [] : [[keyword, own]];
      }
      const about = keyword === 'format' ? (type === 'integer' ? 'number' : type) : APPLIES_TO.get(keyword);
      return about === undefined || about === (type === 'integer' ? 'number' : type)
        ? [[keyword, value]]
        : [];
    }),
  );
}
