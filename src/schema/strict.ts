/** What only schema-enforced modes ask for: closed objects, null for what is optional, limits of size. */
import type { Json, JsonObject } from '../types.ts';
import { isObject, schemaList, schemaMap, subschemas, typesOf } from './keywords.ts';
import type { Schema } from './keywords.ts';
import { placeName, quoted } from './notes.ts';
import type { Notes } from './notes.ts';
import type { Rules } from './profiles.ts';

/** The profile has no way to say it. */
export class CannotCarry extends Error {}
/** Our limits or the API's are exceeded. */
export class TooLarge extends Error {}

/** @throws CannotCarry when the object takes members that are not named. */
export function closeObject(
  schema: JsonObject,
  out: JsonObject,
  place: readonly string[],
  rules: Rules,
  notes: Notes,
): void {
  const top = place.length === 0;
  const where = top ? 'the root' : quoted(placeName(place));
  const { additionalProperties, patternProperties, unevaluatedProperties } = schema;
  const closed =
    additionalProperties === false || (additionalProperties === undefined && unevaluatedProperties === false);
  if (
    schemaMap(patternProperties).length > 0 ||
    (additionalProperties !== undefined && additionalProperties !== false)
  ) {
    throw new CannotCarry(`${where} takes members of any name, and strict schemas close every object`);
  }
  const named = isObject(out['properties']) && Object.keys(out['properties']).length > 0;
  if (!named && !closed && !top)
    throw new CannotCarry(`${where} is an object of any shape, and strict schemas close every object`);
  if (out['additionalProperties'] !== false) {
    out['additionalProperties'] = false;
    notes.add('additionalProperties: false added', place);
  }
  if (rules.requireAll) out['required'] = Object.keys((out['properties'] as JsonObject | undefined) ?? {});
}

/** A written schema that also takes null. */
export function nullable(schema: JsonObject): JsonObject {
  const { description, ...rest } = schema;
  const outer = description === undefined ? {} : { description };
  if (Array.isArray(schema['anyOf'])) {
    const branches = schemaList(schema['anyOf']);
    if (branches.some((branch) => isObject(branch) && typesOf(branch).includes('null'))) return schema;
    return { ...schema, anyOf: [...branches, { type: 'null' }] };
  }
  const types = typesOf(schema);
  if (types.length === 0 || 'const' in schema) return { ...outer, anyOf: [rest, { type: 'null' }] };
  const values = schema['enum'];
  if (types.includes('null') && (!Array.isArray(values) || values.includes(null))) return schema;
  const type: Json = types.includes('null') ? types : [...types, 'null'];
  return Array.isArray(values)
    ? { ...schema, type, enum: [...values.filter((value) => value !== null), null] }
    : { ...schema, type };
}

const OPENAI_LIMITS = {
  properties: 5_000,
  nesting: 10,
  characters: 120_000,
  enumValues: 1_000,
  longEnum: 250,
  longEnumCharacters: 15_000,
};
const ANTHROPIC_LIMITS = { optional: 24, unions: 16 };

/** Why a strict schema is too much for its API, or undefined. */
export function overStrictLimits(schema: JsonObject, rules: Rules): string | undefined {
  return rules.requireAll ? overOpenaiLimits(schema) : overAnthropicLimits(schema);
}

function overOpenaiLimits(root: JsonObject): string | undefined {
  const limits = OPENAI_LIMITS;
  let properties = 0;
  let characters = 0;
  let enumValues = 0;
  for (const schema of everySchema(root)) {
    for (const keyword of ['properties', '$defs']) {
      for (const [name] of schemaMap(schema[keyword])) {
        characters += name.length;
        if (keyword === 'properties') properties++;
      }
    }
    if (typeof schema['const'] === 'string') characters += schema['const'].length;
    if (Array.isArray(schema['enum'])) {
      const sum = schema['enum'].reduce<number>((sum, value) => sum + textOf(value).length, 0);
      enumValues += schema['enum'].length;
      characters += sum;
      if (schema['enum'].length > limits.longEnum && sum > limits.longEnumCharacters)
        return `an enum of more than ${limits.longEnum} values is longer than ${limits.longEnumCharacters} characters`;
    }
  }
  if (properties > limits.properties) return `more than ${limits.properties} members`;
  if (enumValues > limits.enumValues) return `more than ${limits.enumValues} enum values`;
  if (characters > limits.characters)
    return `names and values longer than ${limits.characters} characters together`;
  if (nesting(root) > limits.nesting) return `nested deeper than ${limits.nesting} levels`;
  return undefined;
}

/** Levels of objects and arrays, followed through references that do not recur. Each schema is measured once. */
function nesting(root: JsonObject): number {
  const definitions = new Map(schemaMap(root['$defs']).map(([name, schema]) => [`#/$defs/${name}`, schema]));
  const measured = new Map<JsonObject, number>();
  function measure(schema: Schema): number {
    if (typeof schema === 'boolean') return 0;
    const known = measured.get(schema);
    if (known !== undefined) return known;
    measured.set(schema, 0);
    let inner = typeof schema['$ref'] === 'string' ? measure(definitions.get(schema['$ref']) ?? true) : 0;
    for (const [tokens, child] of subschemas(schema)) {
      if (tokens[0] !== '$defs') inner = Math.max(inner, measure(child));
    }
    const own = typesOf(schema).some((type) => type === 'object' || type === 'array') ? 1 : 0;
    measured.set(schema, own + inner);
    return own + inner;
  }
  return measure(root);
}

function overAnthropicLimits(root: JsonObject): string | undefined {
  let optional = 0;
  let unions = 0;
  for (const schema of everySchema(root)) {
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    optional += schemaMap(schema['properties']).filter(([name]) => !required.includes(name)).length;
    if (schema['anyOf'] !== undefined || typesOf(schema).length > 1) unions++;
  }
  if (optional > ANTHROPIC_LIMITS.optional) return `more than ${ANTHROPIC_LIMITS.optional} optional members`;
  return unions > ANTHROPIC_LIMITS.unions
    ? `more than ${ANTHROPIC_LIMITS.unions} members of several types`
    : undefined;
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function* everySchema(schema: Schema): Generator<JsonObject> {
  if (typeof schema === 'boolean') return;
  yield schema;
  for (const [, child] of subschemas(schema)) yield* everySchema(child);
}
