/** Schemas combined into one: what satisfies both (`allOf`, siblings of `$ref`), and what satisfies either (a root union). */
import type { Json, JsonObject } from '../types.ts';
import { joinTexts, keywordWords } from './describe.ts';
import {
  canonicalText,
  distinct,
  isObject,
  isSchema,
  member,
  sameJson,
  schemaList,
  schemaMap,
  setMember,
  stringList,
  typesOf,
} from './keywords.ts';
import type { Schema } from './keywords.ts';

const MAX_UNION = 64;

/** Counts work; throws when there is too much of it. */
export type Charge = (amount: number) => void;

export interface Combiner {
  /** A schema for what satisfies both. Members that both define become `allOf`; the texts of `a` come first. */
  both(a: Schema, b: Schema): Schema;
  /** The same schema without `$ref` and `allOf` at its top. */
  merged(schema: Schema): Schema;
}

export function createCombiner(target: (ref: string) => Schema, charge: Charge): Combiner {
  function merged(schema: Schema): Schema {
    let result = schema;
    while (
      typeof result !== 'boolean' &&
      (typeof result['$ref'] === 'string' || result['allOf'] !== undefined)
    ) {
      const { $ref, allOf, ...rest } = result;
      if (typeof $ref === 'string') {
        const { $defs: _, definitions: __, ...found } = asObject(target($ref));
        result = both(
          allOf === undefined ? rest : { ...rest, allOf },
          target($ref) === false ? false : found,
        );
      } else {
        result = schemaList(allOf).reduce<Schema>((sum, part) => both(sum, part), rest);
      }
    }
    return result;
  }

  function both(first: Schema, second: Schema): Schema {
    const a = merged(first);
    const b = merged(second);
    if (a === false || b === false) return false;
    if (a === true) return b;
    if (b === true) return a;
    charge(1 + Object.keys(b).length);
    const result = { ...a };
    for (const [keyword, value] of Object.entries(b)) {
      const own = member(a, keyword);
      if (own === undefined) setMember(result, keyword, value!);
      else if (!sameJson(own, value)) {
        const joined = join(keyword, own, value!, result);
        if (joined === undefined) return false;
        setMember(result, keyword, joined);
      }
    }
    return result;
  }

  /** One keyword's value for both; undefined when nothing satisfies both. */
  function join(keyword: string, a: Json, b: Json, result: JsonObject): Json | undefined {
    switch (keyword) {
      case 'type': {
        const types = commonTypes(typesOf({ type: a }), typesOf({ type: b }));
        return types.length > 1 ? types : types[0];
      }
      case 'enum': {
        const others = new Set((b as Json[]).map(canonicalText));
        const values = (a as Json[]).filter((item) => others.has(canonicalText(item)));
        return values.length === 0 ? undefined : values;
      }
      case 'const':
        return undefined;
      case 'required':
        return [...new Set([...stringList(a), ...stringList(b)])];
      case 'minimum':
      case 'exclusiveMinimum':
      case 'minLength':
      case 'minItems':
      case 'minProperties':
        return Math.max(a as number, b as number);
      case 'maximum':
      case 'exclusiveMaximum':
      case 'maxLength':
      case 'maxItems':
      case 'maxProperties':
        return Math.min(a as number, b as number);
      case 'properties':
      case 'patternProperties':
      case 'dependentSchemas':
      case '$defs':
      case 'definitions': {
        const map: JsonObject = { ...(a as JsonObject) };
        for (const [name, schema] of schemaMap(b)) {
          const own = member(map, name);
          setMember(
            map,
            name,
            isSchema(own) && !keyword.endsWith('efs') && keyword !== 'definitions'
              ? lazily(own, schema)
              : (own ?? schema),
          );
        }
        return map;
      }
      case 'items':
      case 'additionalProperties':
      case 'propertyNames':
      case 'unevaluatedProperties':
      case 'unevaluatedItems':
        return lazily(a as Schema, b as Schema);
      case 'prefixItems': {
        const [left, right] = [schemaList(a), schemaList(b)];
        const longer = left.length > right.length ? left : right;
        return longer.map((item, index) => {
          const [x, y] = [left[index], right[index]];
          return x !== undefined && y !== undefined ? lazily(x, y) : item;
        });
      }
      case 'anyOf':
      case 'oneOf': {
        const [left, right] = [schemaList(a), schemaList(b)];
        if (left.length * right.length > MAX_UNION) return a;
        const pairs = left.flatMap((x) => right.map((y) => both(x, y))).filter((pair) => pair !== false);
        return pairs.length === 0 ? undefined : pairs;
      }
      case 'not':
        return { anyOf: [a, b] };
      case 'description':
        return joinTexts(a, b);
      case 'pattern':
      case 'format':
      case 'multipleOf':
      case 'contains': {
        const said = joinTexts(result['description'], keywordWords(keyword, b));
        if (said !== undefined) result['description'] = said;
        return a;
      }
      default:
        return a;
    }
  }

  return { both, merged };
}

function lazily(a: Schema, b: Schema): Schema {
  if (sameJson(a, b) || b === true) return a;
  if (a === false || b === false) return false;
  return a === true ? b : { allOf: [a, b] };
}

function asObject(schema: Schema): JsonObject {
  return typeof schema === 'boolean' ? {} : schema;
}

function commonTypes(a: readonly string[], b: readonly string[]): string[] {
  return [...new Set(a.flatMap((type) => b.flatMap((other) => common(type, other))))];
}

function common(a: string, b: string): string[] {
  if (a === b) return [a];
  return (a === 'integer' && b === 'number') || (a === 'number' && b === 'integer') ? ['integer'] : [];
}

/** A schema for what satisfies any: the same one, one `enum`, or `anyOf`. */
export function anyOfThese(schemas: readonly Schema[]): Schema {
  const different = distinct(schemas);
  if (different.length === 1) return different[0]!;
  const values = different.map(valuesOf);
  if (values.every((list) => list !== undefined)) {
    const all = values.flat();
    const union: JsonObject = {
      enum: distinct(all),
    };
    const types = [...new Set(different.flatMap((schema) => typesOf(schema as JsonObject)))];
    if (types.length > 0) union['type'] = types.length === 1 ? types[0]! : types;
    const description = different.reduce<string | undefined>(
      (text, schema) => joinTexts(text, asObject(schema)['description']),
      undefined,
    );
    if (description !== undefined) union['description'] = description;
    return union;
  }
  return { anyOf: different };
}

/** The values of a schema that is nothing but a list of scalars. */
function valuesOf(schema: Schema): Json[] | undefined {
  if (!isObject(schema)) return undefined;
  if (
    Object.keys(schema).some(
      (keyword) => !['type', 'const', 'enum', 'description', 'title'].includes(keyword),
    )
  )
    return undefined;
  const values = 'const' in schema ? [schema['const']!] : schema['enum'];
  return Array.isArray(values) && values.every((value) => typeof value !== 'object' || value === null)
    ? values
    : undefined;
}
