/** Whether a schema can go out as it came in, which is so for most tools: one walk that writes nothing. */
import type { Json, JsonObject } from '../types.ts';
import { KEYWORDS, typesOf } from './keywords.ts';
import type { Schema } from './keywords.ts';
import { MAX_DEPTH, MAX_EXPANSION } from './limits.ts';
import { sound } from './modernize.ts';
import { writes } from './profiles.ts';
import type { Rules } from './profiles.ts';

/** What the root would have to be merged or wrapped for. */
const ROOT_SHAPES = ['$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'const'];
/** What a flat profile brings into another shape, or at least another order, wherever it stands. */
const RESHAPED = new Set(['allOf', 'anyOf', 'oneOf', 'const', '$defs', 'definitions']);

/**
 * True only when lowering would write every keyword of the schema as it stands, but for `$schema` at the root. False says
 * nothing: references, older spellings, unknown keywords and large schemas are left to the long way.
 */
export function isExact(schema: JsonObject, rules: Rules): boolean {
  if (rules.openapi || schema['type'] !== 'object') return false;
  if (ROOT_SHAPES.some((keyword) => schema[keyword] !== undefined)) return false;
  return schemaFits(schema, { rules, left: MAX_EXPANSION }, 1);
}

interface Check {
  rules: Rules;
  /** JSON values that may still be looked at. */
  left: number;
}

function schemaFits(schema: Schema, check: Check, depth: number): boolean {
  const { rules } = check;
  if (--check.left < 0 || depth > MAX_DEPTH) return false;
  if (typeof schema === 'boolean') return !rules.flat;
  const root = depth === 1;
  for (const keyword of Object.keys(schema)) {
    if (root && keyword === '$schema') continue;
    const value = schema[keyword];
    const holds = KEYWORDS.get(keyword);
    if (value === undefined || holds === undefined || keyword === '$ref') return false;
    if (sound(keyword, value) !== value || !writes(rules, keyword, schema, root)) return false;
    if (rules.flat && RESHAPED.has(keyword)) return false;
    if (keyword === 'type' && Array.isArray(value) && new Set(value).size < value.length) return false;
    if (holds === 'schema') {
      if (rules.flat && keyword === 'additionalProperties' && typeof value === 'boolean') continue;
      if (!schemaFits(value as Schema, check, depth + 1)) return false;
    } else if (holds === 'schemas' || holds === 'schemaMap') {
      if (--check.left < 0 || depth + 1 > MAX_DEPTH) return false;
      for (const inner of Object.values(value as Record<string, Schema>))
        if (!schemaFits(inner, check, depth + 2)) return false;
    } else if (!valueFits(value, check, depth + 1)) return false;
  }
  const { names } = rules;
  if (names !== undefined && (root || names.everywhere)) {
    for (const name of Object.keys((schema['properties'] as JsonObject | undefined) ?? {}))
      if (!names.accepts.test(name)) return false;
  }
  return isComplete(schema, rules);
}

/** Whether the profile wants nothing more beside the keywords that are there. */
function isComplete(schema: JsonObject, rules: Rules): boolean {
  const { enum: values, properties, required } = schema;
  if (Array.isArray(values) && values.length === 0) return false;
  const types = typesOf(schema);
  if (rules.flat) {
    if (types.length === 0) return false;
    if (Array.isArray(values)) {
      if (schema['type'] !== 'string' || !values.every((value) => typeof value === 'string')) return false;
    }
    const members = (properties ?? {}) as JsonObject;
    if (Array.isArray(required) && !required.every((name) => Object.hasOwn(members, name as string)))
      return false;
  }
  if (types.includes('array') && schema['items'] === undefined && rules.needs.includes('items')) return false;
  if (!types.includes('object')) return true;
  if (properties === undefined && (rules.strict || rules.needs.includes('properties'))) return false;
  if (!rules.strict) return true;
  return schema['additionalProperties'] === false && (!rules.requireAll || requiresAll(schema));
}

function requiresAll({ properties, required }: JsonObject): boolean {
  const names = Object.keys(properties as JsonObject);
  return (
    Array.isArray(required) &&
    required.length === names.length &&
    names.every((name, index) => required[index] === name)
  );
}

/** Only the size of other values counts. */
function valueFits(value: Json, check: Check, depth: number): boolean {
  if (--check.left < 0 || depth > MAX_DEPTH) return false;
  if (typeof value !== 'object' || value === null) return true;
  for (const inner of Object.values(value)) if (!valueFits(inner!, check, depth + 1)) return false;
  return true;
}
