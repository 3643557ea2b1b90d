/** The keywords of JSON Schema 2020-12: what their values are, and to which type of instance they apply. */
import type { Json, JsonObject } from '../types.ts';

export type Schema = JsonObject | boolean;

type Holds =
  | 'schema'
  | 'schemas'
  | 'schemaMap'
  | 'string'
  | 'number'
  | 'count'
  | 'boolean'
  | 'strings'
  | 'stringsMap'
  | 'types'
  | 'array'
  | 'any';

/** What each keyword holds. A value of another shape makes a schema invalid, and APIs refuse it. */
export const KEYWORDS: ReadonlyMap<string, Holds> = new Map<string, Holds>([
  ['$ref', 'string'],
  ['$anchor', 'string'],
  ['$comment', 'string'],
  ['$defs', 'schemaMap'],
  ['definitions', 'schemaMap'],
  ['title', 'string'],
  ['description', 'string'],
  ['default', 'any'],
  ['examples', 'array'],
  ['deprecated', 'boolean'],
  ['readOnly', 'boolean'],
  ['writeOnly', 'boolean'],
  ['type', 'types'],
  ['enum', 'array'],
  ['const', 'any'],
  ['allOf', 'schemas'],
  ['anyOf', 'schemas'],
  ['oneOf', 'schemas'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
  ['properties', 'schemaMap'],
  ['patternProperties', 'schemaMap'],
  ['additionalProperties', 'schema'],
  ['propertyNames', 'schema'],
  ['unevaluatedProperties', 'schema'],
  ['required', 'strings'],
  ['dependentRequired', 'stringsMap'],
  ['dependentSchemas', 'schemaMap'],
  ['minProperties', 'count'],
  ['maxProperties', 'count'],
  ['prefixItems', 'schemas'],
  ['items', 'schema'],
  ['contains', 'schema'],
  ['minContains', 'count'],
  ['maxContains', 'count'],
  ['unevaluatedItems', 'schema'],
  ['minItems', 'count'],
  ['maxItems', 'count'],
  ['uniqueItems', 'boolean'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['multipleOf', 'number'],
  ['minLength', 'count'],
  ['maxLength', 'count'],
  ['pattern', 'string'],
  ['format', 'string'],
  ['contentEncoding', 'string'],
  ['contentMediaType', 'string'],
  ['contentSchema', 'schema'],
]);

/** Keywords that only say something about instances of one type. */
export const APPLIES_TO: ReadonlyMap<string, 'object' | 'array' | 'number' | 'string'> = new Map(
  Object.entries({
    object: [
      'properties',
      'patternProperties',
      'additionalProperties',
      'propertyNames',
      'unevaluatedProperties',
      'required',
      'dependentRequired',
      'dependentSchemas',
      'minProperties',
      'maxProperties',
    ],
    array: [
      'prefixItems',
      'items',
      'contains',
      'minContains',
      'maxContains',
      'unevaluatedItems',
      'minItems',
      'maxItems',
      'uniqueItems',
    ],
    number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    string: ['minLength', 'maxLength', 'pattern', 'contentEncoding', 'contentMediaType', 'contentSchema'],
  } as const).flatMap(([type, keywords]) =>
    keywords.map((keyword) => [keyword, type as 'object' | 'array' | 'number' | 'string'] as const),
  ),
);

/** Keywords that assert nothing. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$comment',
  '$anchor',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

export const TYPES: readonly string[] = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isSchema(value: Json | undefined): value is Schema {
  return typeof value === 'boolean' || isObject(value);
}

/** Own members only: a name such as `constructor` or `__proto__` is a name like any other. */
export function member(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets an own member, `__proto__` included. */
export function setMember(object: JsonObject, name: string, value: Json): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else object[name] = value;
}

/** The members of a keyword that maps names to schemas. */
export function schemaMap(value: Json | undefined): [string, Schema][] {
  if (!isObject(value)) return [];
  return Object.entries(value).filter((entry): entry is [string, Schema] => isSchema(entry[1]));
}

export function schemaList(value: Json | undefined): Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

export function stringList(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The types that a schema names, as a list; empty when it names none. */
export function typesOf(schema: JsonObject): string[] {
  return typeof schema['type'] === 'string' ? [schema['type']] : stringList(schema['type']);
}

/** The schemas directly inside a schema, with their place as JSON pointer tokens. */
export function subschemas(schema: JsonObject): [string[], Schema][] {
  const found: [string[], Schema][] = [];
  for (const keyword of Object.keys(schema)) {
    const holds = KEYWORDS.get(keyword);
    if (holds !== 'schema' && holds !== 'schemas' && holds !== 'schemaMap') continue;
    const value = schema[keyword];
    if (holds === 'schema') {
      if (isSchema(value)) found.push([[keyword], value]);
    } else if (
      typeof value === 'object' &&
      value !== null &&
      Array.isArray(value) === (holds === 'schemas')
    ) {
      for (const [name, item] of Object.entries(value))
        if (isSchema(item)) found.push([[keyword, name], item]);
    }
  }
  return found;
}

/** What is no object has no members. */
export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** Equality as JSON Schema means it: member order is of no account. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]))
  );
}

/** A text that is the same for the same JSON. */
export function canonicalText(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`).join()}}`;
}

/** The first of each JSON value. */
export function distinct<T extends Json>(values: readonly T[]): T[] {
  const seen = new Map<string, T>();
  for (const value of values) {
    const text = canonicalText(value);
    if (!seen.has(text)) seen.set(text, value);
  }
  return [...seen.values()];
}

export function cloneJson<T extends Json | undefined>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  const copy: JsonObject = {};
  for (const name of Object.keys(value)) setMember(copy, name, cloneJson(value[name]!));
  return copy as T;
}
