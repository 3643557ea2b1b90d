/** Brings the root of a schema to what every API asks for: one object with members, no union, no reference. */
import type { Json, JsonObject } from '../types.ts';
import { anyOfThese } from './combine.ts';
import type { Combiner } from './combine.ts';
import { describe } from './describe.ts';
import {
  isObject,
  isSchema,
  member,
  schemaList,
  schemaMap,
  setMember,
  stringList,
  typesOf,
} from './keywords.ts';
import type { Schema } from './keywords.ts';
import { inline, quoted, shown } from './notes.ts';
import type { Notes } from './notes.ts';

/** The member under which a root that is not an object is wrapped. */
export const WRAPPER = 'value';

export interface Root {
  schema: JsonObject;
  wrapped: boolean;
}

export function shapeRoot(root: JsonObject, combiner: Combiner, notes: Notes): Root {
  if (!canBeObject(root, combiner)) return { schema: wrap(root, notes), wrapped: true };
  let schema = root;
  if (root['$ref'] !== undefined || root['allOf'] !== undefined) {
    const merged = combiner.merged(root);
    notes.add(root['$ref'] !== undefined ? 'root $ref resolved' : 'root allOf merged');
    schema = isObject(merged) ? merged : { ...definitionsOf(root) };
  }
  schema = uniteRoot(schema, combiner, notes, 0);
  const { type } = schema;
  if (type !== 'object') {
    notes.add(type === undefined ? 'root type object added' : 'root type narrowed to object');
    schema = type === undefined ? { type: 'object', ...schema } : { ...schema, type: 'object' };
  }
  return { schema, wrapped: false };
}

function wrap(root: JsonObject, notes: Notes): JsonObject {
  const { $defs, definitions, $id, ...inner } = root;
  notes.add(`root is not an object: wrapped as ${quoted(WRAPPER)}`);
  return {
    type: 'object',
    properties: { [WRAPPER]: inner },
    required: [WRAPPER],
    ...definitionsOf({ $id, $defs, definitions }),
  };
}

function definitionsOf({ $id, $defs, definitions }: JsonObject): JsonObject {
  return {
    ...($id === undefined ? {} : { $id }),
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

function canBeObject(schema: Schema, combiner: Combiner, depth = 0): boolean {
  if (schema === false || depth > 8) return schema !== false;
  const merged = combiner.merged(schema);
  if (typeof merged === 'boolean') return merged;
  const types = typesOf(merged);
  if (types.length > 0 && !types.includes('object')) return false;
  if ('const' in merged && !isObject(merged['const'])) return false;
  if (Array.isArray(merged['enum']) && merged['enum'].length > 0 && !merged['enum'].some(isObject))
    return false;
  return ['anyOf', 'oneOf'].every(
    (keyword) =>
      merged[keyword] === undefined ||
      schemaList(merged[keyword]).some((branch) => canBeObject(branch, combiner, depth + 1)),
  );
}

/** Unions become the union of their members; what tells the branches apart is said in words. */
function uniteRoot(
  schema: JsonObject,
  combiner: Combiner,
  notes: Notes | undefined,
  depth: number,
): JsonObject {
  let result = schema;
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    if (result[keyword] === undefined) continue;
    const { [keyword]: union, ...base } = result;
    const branches = schemaList(union)
      .filter((branch) => canBeObject(branch, combiner, depth))
      .map((branch) => {
        const merged = combiner.merged(branch);
        return isObject(merged) && depth < 8 ? uniteRoot(merged, combiner, undefined, depth + 1) : {};
      });
    result = unite(base, branches);
    const words = variantWords(base, branches, keyword === 'oneOf');
    notes?.add(`root ${keyword} merged${words.note === '' ? '' : `: ${words.note}`}`);
    const description = describe(result['description'], [words.text]);
    if (description !== undefined) result = { ...result, description };
  }
  return result;

  function unite(base: JsonObject, branches: JsonObject[]): JsonObject {
    const properties: JsonObject = isObject(base['properties']) ? { ...base['properties'] } : {};
    const names = new Set(
      branches.flatMap((branch) => schemaMap(branch['properties']).map(([name]) => name)),
    );
    for (const name of names) {
      const given = branches.map((branch) =>
        isObject(branch['properties']) ? member(branch['properties'], name) : undefined,
      );
      const variants = given.filter(isSchema);
      const own = member(properties, name);
      if (!isSchema(own)) {
        if (base['additionalProperties'] !== false) setMember(properties, name, anyOfThese(variants));
      } else if (variants.length === branches.length) {
        const refined = combiner.both(own, anyOfThese(variants));
        if (refined !== false) setMember(properties, name, refined);
      }
    }
    const shared = branches
      .map((branch) => stringList(branch['required']))
      .reduce(
        (common, names) => common.filter((name) => names.includes(name)),
        stringList(branches[0]?.['required']),
      );
    const required = [...new Set([...stringList(base['required']), ...shared])];
    const united: JsonObject = { ...base };
    if (Object.keys(properties).length > 0) united['properties'] = properties;
    if (required.length > 0) united['required'] = required;
    const closed =
      branches.length > 0 && branches.every((branch) => branch['additionalProperties'] === false);
    if (closed && base['additionalProperties'] === undefined) united['additionalProperties'] = false;
    return united;
  }
}

const MAX_VARIANTS = 12;

function variantWords(
  base: JsonObject,
  branches: JsonObject[],
  one: boolean,
): { note: string; text: string } {
  const labels = branches.map((branch) => variantLabel(base, branch));
  if (branches.length < 2 || labels.every((label) => label === '')) return { note: '', text: '' };
  const short = branches.every(
    (branch) => stringList(branch['required']).length === 1 && variantTags(branch).length === 0,
  );
  if (short) {
    const names = [...new Set(branches.map((branch) => quoted(stringList(branch['required'])[0]!)))].slice(
      0,
      MAX_VARIANTS,
    );
    if (names.length > 1) {
      const list = names.join(' or ');
      const text = one
        ? names.length === 2
          ? `give either ${list}, not both`
          : `give exactly one of ${names.join(', ')}`
        : `give ${list}`;
      return { note: `give ${list}`, text };
    }
  }
  const list = labels
    .slice(0, MAX_VARIANTS)
    .map((label, index) => `(${index + 1}) ${label === '' ? 'nothing more' : label}`)
    .join('; ');
  const text = `give ${one ? 'exactly one' : 'one'} of these variants: ${list}${labels.length > MAX_VARIANTS ? '; …' : ''}`;
  return { note: `${branches.length} variants`, text };
}

function variantLabel(base: JsonObject, branch: JsonObject): string {
  const tags = variantTags(branch);
  const tagged = new Set(tags.map(([name]) => name));
  const required = stringList(branch['required']).filter((name) => !tagged.has(name));
  const own = schemaMap(branch['properties']).map(([name]) => name);
  const known = isObject(base['properties']) ? base['properties'] : {};
  const optional = own.filter(
    (name) => !tagged.has(name) && !required.includes(name) && !Object.hasOwn(known, name),
  );
  const title = [branch['title'], branch['description']].find(
    (text) => typeof text === 'string' && text !== '',
  );
  const parts = [
    ...tags.map(([name, value]) => `${quoted(name)} ${shown(value)}`),
    ...required.map((name) => quoted(name)),
    ...optional.map((name) => `optionally ${quoted(name)}`),
  ];
  const members = parts.slice(0, MAX_VARIANTS).join(', ');
  if (typeof title !== 'string') return members;
  return members === '' ? inline(title, 80) : `${members}: ${inline(title, 80)}`;
}

/** Members that a branch fixes to one value. */
function variantTags(branch: JsonObject): [string, Json][] {
  return schemaMap(branch['properties']).flatMap(([name, schema]): [string, Json][] => {
    if (!isObject(schema)) return [];
    if ('const' in schema) return [[name, schema['const']!]];
    return Array.isArray(schema['enum']) && schema['enum'].length === 1 ? [[name, schema['enum'][0]!]] : [];
  });
}
