/** Whether a schema can go out as it came in, which is so for most tools: one walk that writes nothing. */
import type { Json, JsonObject } from '../types.ts';
import { isObject, KEYWORDS } from './keywords.ts';
import type { Schema } from './keywords.ts';
import { MAX_DEPTH, MAX_EXPANSION } from './limits.ts';
import { sound } from './modernize.ts';
import { writes } from './profiles.ts';
import type { Rules } from './profiles.ts';

/** What the root would have to be merged or wrapped for. */
const ROOT_SHAPES = ['$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'const'];
/** What a flat profile brings into another shape, or at least another order, wherever it stands. */
const RESHAPED = new Set(['allOf', 'anyOf', 'oneOf', 'const', '$defs', 'definitions']);
/** Keywords that hold schemas. */
const INNER = new Set(
  [...KEYWORDS].flatMap(([keyword, holds]) => (holds.startsWith('schema') ? keyword : [])),
);

/**
 * The schema without `$schema`, when lowering would write every other keyword as it stands. Undefined says nothing:
 * references, older spellings, unknown keywords and large schemas are left to the long way.
 */
export function exactly(schema: JsonObject, rules: Rules): JsonObject | undefined {
  if (rules.openapi || schema['type'] !== 'object') return undefined;
  if (ROOT_SHAPES.some((keyword) => schema[keyword] !== undefined)) return undefined;
  if (!schemaFits(schema, { rules, left: MAX_EXPANSION }, 1)) return undefined;
  const { $schema, ...rest } = schema;
  return $schema === undefined ? schema : rest;
}

/** Whether a schema below the root, which holds no others, goes out as it is. */
export function isExactLeaf(schema: Schema, rules: Rules): boolean {
  if (rules.openapi || !isObject(schema)) return false;
  for (const keyword of Object.keys(schema)) if (INNER.has(keyword)) return false;
  return schemaFits(schema, { rules, left: MAX_EXPANSION }, 2);
}

interface Check {
  rules: Rules;
  /** JSON values that may still be looked at. */
  left: number;
}

function schemaFits(schema: Json | undefined, check: Check, depth: number): boolean {
  const { rules } = check;
  if (--check.left < 0 || depth > MAX_DEPTH) return false;
  if (typeof schema === 'boolean') return !rules.flat;
  if (!isObject(schema)) return false;
  const root = depth === 1;
  for (const keyword of Object.keys(schema)) {
    if (root && keyword === '$schema') continue;
    const value = schema[keyword];
    const holds = KEYWORDS.get(keyword);
    if (value === undefined || holds === undefined || keyword === '$ref') return false;
    if (!writes(rules, keyword, schema, root) || (rules.flat && RESHAPED.has(keyword))) return false;
    if (holds === 'schema') {
      const closes = keyword === 'additionalProperties' && typeof value === 'boolean';
      if (!closes && !schemaFits(value, check, depth + 1)) return false;
    } else if (holds === 'schemas' || holds === 'schemaMap') {
      if (Array.isArray(value) !== (holds === 'schemas')) return false;
      const names = keyword === 'properties' && (root || rules.names?.everywhere) ? rules.names : undefined;
      if (!schemasFit(value, names?.accepts, check, depth + 1)) return false;
    } else if (sound(keyword, value) !== value || !valueFits(value, check, depth + 1)) return false;
  }
  return isComplete(schema, rules);
}

/** The schemas of a map or list; APIs and drafts disagree about empty lists. */
function schemasFit(schemas: Json, names: RegExp | undefined, check: Check, depth: number): boolean {
  if (--check.left < 0 || depth > MAX_DEPTH || typeof schemas !== 'object' || schemas === null) return false;
  if (Array.isArray(schemas))
    return schemas.length > 0 && schemas.every((inner) => schemaFits(inner, check, depth + 1));
  for (const name of Object.keys(schemas)) {
    if (names?.test(name) === false || !schemaFits(schemas[name], check, depth + 1)) return false;
  }
  return true;
}

/** Only the size of other values counts. */
function valueFits(value: Json | undefined, check: Check, depth: number): boolean {
  if (--check.left < 0 || depth > MAX_DEPTH) return false;
  if (typeof value !== 'object' || value === null) return true;
  for (const inner of Object.values(value)) if (!valueFits(inner, check, depth + 1)) return false;
  return true;
}

/** Whether the profile wants nothing more beside the keywords that are there. */
function isComplete(schema: JsonObject, rules: Rules): boolean {
  const { type, enum: values, properties, required } = schema;
  if (Array.isArray(values) && values.length === 0) return false;
  if (rules.flat) {
    if (type === undefined) return false;
    if (Array.isArray(values) && (type !== 'string' || values.some((value) => typeof value !== 'string')))
      return false;
    if (Array.isArray(required) && !required.every((name) => isNamed(properties, name))) return false;
  }
  if (allows(type, 'array') && schema['items'] === undefined && rules.needs.includes('items')) return false;
  if (!allows(type, 'object')) return true;
  if (properties === undefined && (rules.strict || rules.needs.includes('properties'))) return false;
  if (!rules.strict) return true;
  return schema['additionalProperties'] === false && (!rules.requireAll || requiresAll(schema));
}

function allows(type: Json | undefined, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

function isNamed(properties: Json | undefined, name: Json): boolean {
  return isObject(properties) && Object.hasOwn(properties, name as string);
}

function requiresAll({ properties, required }: JsonObject): boolean {
  const names = Object.keys(properties as JsonObject);
  return (
    Array.isArray(required) &&
    required.length === names.length &&
    names.every((name, index) => required[index] === name)
  );
}
