/**
 * JSON Schema 2020-12 over a value, in a bounded number of steps. `format` and `content*` are annotations, as the
 * draft has it by default. Patterns that cannot be checked are assumed either way by the caller.
 */
import type { Json, JsonObject } from '../types.ts';
import type { SchemaDocument } from './document.ts';
import {
  canonicalText,
  isObject,
  isSchema,
  member,
  sameJson,
  schemaList,
  schemaMap,
  stringList,
  typesOf,
} from './keywords.ts';
import type { Schema } from './keywords.ts';
import { MAX_DEPTH, MAX_STEPS } from './limits.ts';
import { compilePattern } from './pattern.ts';

export type Path = (string | number)[];

/** One keyword that a value did not satisfy. */
export interface Failure {
  path: Path;
  keyword: string;
  schema: JsonObject;
  value: Json;
  /** The member concerned, for `required`, `additionalProperties` and their kin. */
  name?: string;
  /** For unions: what each branch found wrong, in order; empty where it fitted. */
  branches?: Failure[][];
}

export interface Evaluation {
  /** Empty when the value is valid. Not all failures of a long list are kept. */
  failures: Failure[];
  /** Patterns that could not be checked and were assumed. */
  assumed: string[];
}

/** The evaluation could not be finished. */
export class Unfinished extends Error {}

const MAX_FAILURES = 20;

/** What of an object or array the keywords have looked at: needed for `unevaluated*` only. */
interface Seen {
  names: Set<string>;
  items: Set<number>;
}

/** Steps left for one or several evaluations. */
export interface Budget {
  steps: number;
}

export interface EvaluationOptions {
  /** What a pattern that cannot be checked is taken for: a match (default) or none. */
  assume?: boolean;
  budget?: Budget;
}

/** @throws Unfinished when the value is too deep or the work too much. */
export function evaluate(
  document: SchemaDocument,
  schema: Schema,
  value: Json,
  { assume = true, budget = { steps: MAX_STEPS } }: EvaluationOptions = {},
): Evaluation {
  const assumed = new Set<string>();
  const path: Path = [];

  function spend(amount: number): boolean {
    budget.steps -= amount;
    return budget.steps >= 0;
  }

  function step(amount = 1): void {
    if (!spend(amount)) throw new Unfinished('checking it takes too long');
  }

  function matches(source: string, subject: string): boolean {
    const matcher = compilePattern(source);
    const found = matcher?.(subject, spend);
    if (matcher !== undefined && found === undefined) throw new Unfinished('checking it takes too long');
    if (found !== undefined) return found;
    assumed.add(source);
    return assume;
  }

  /** The failures of one schema; what it looked at is added to `seen` when there are none. */
  function check(schema: Schema, value: Json, seen: Seen | undefined): Failure[] {
    step();
    if (schema === true) return [];
    if (schema === false) return [{ path: [...path], keyword: 'false', schema: {}, value }];
    const failures: Failure[] = [];
    const own = document.tracksEvaluated ? { names: new Set<string>(), items: new Set<number>() } : undefined;
    const fail = (keyword: string, more?: Partial<Failure>): void => {
      step(path.length);
      if (failures.length < MAX_FAILURES) failures.push({ path: [...path], keyword, schema, value, ...more });
    };
    const take = (found: Failure[]): void => {
      step(found.length);
      for (const failure of found) if (failures.length < MAX_FAILURES) failures.push(failure);
    };
    const inside = (key: string | number, schema: Schema, value: Json): Failure[] => {
      if (path.length >= MAX_DEPTH) throw new Unfinished(`the value is nested deeper than ${MAX_DEPTH}`);
      path.push(key);
      const found = check(schema, value, undefined);
      path.pop();
      return found;
    };
    const fits = (branch: Schema): boolean => check(branch, value, own).length === 0;

    if (typeof schema['$ref'] === 'string') take(check(document.target(schema['$ref']), value, own));
    const types = typesOf(schema);
    if (types.length > 0 && !types.some((type) => isOfType(value, type))) fail('type');
    if ('const' in schema) {
      step(sizeOf(schema['const']));
      if (!sameJson(value, schema['const'])) fail('const');
    }
    if (Array.isArray(schema['enum'])) {
      step(schema['enum'].length);
      if (!schema['enum'].some((item) => sameJson(item, value))) fail('enum');
    }
    for (const branch of schemaList(schema['allOf'])) take(check(branch, value, own));
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      if (schema[keyword] === undefined) continue;
      const branches = schemaList(schema[keyword]).map((branch) => check(branch, value, own));
      const fitting = branches.filter((found) => found.length === 0).length;
      if (fitting === 0 || (keyword === 'oneOf' && fitting > 1)) fail(keyword, { branches });
    }
    if (isSchema(schema['not']) && check(schema['not'], value, undefined).length === 0) fail('not');
    if (isSchema(schema['if'])) {
      const next = fits(schema['if']) ? schema['then'] : schema['else'];
      if (isSchema(next)) take(check(next, value, own));
    }
    if (typeof value === 'string') text(schema, value);
    else if (typeof value === 'number') number(schema, value);
    else if (Array.isArray(value)) array(schema, value);
    else if (isObject(value)) object(schema, value);
    if (failures.length === 0 && seen !== undefined && own !== undefined) {
      for (const name of own.names) seen.names.add(name);
      for (const index of own.items) seen.items.add(index);
    }
    return failures;

    function text(schema: JsonObject, value: string): void {
      const { minLength, maxLength, pattern } = schema;
      if (typeof minLength === 'number' || typeof maxLength === 'number') {
        let length = 0;
        step(value.length >> 4);
        for (const _ of value) length++;
        if (typeof minLength === 'number' && length < minLength) fail('minLength');
        if (typeof maxLength === 'number' && length > maxLength) fail('maxLength');
      }
      if (typeof pattern === 'string' && !matches(pattern, value)) fail('pattern');
    }

    function number(schema: JsonObject, value: number): void {
      const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
      if (typeof minimum === 'number' && value < minimum) fail('minimum');
      if (typeof maximum === 'number' && value > maximum) fail('maximum');
      if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) fail('exclusiveMinimum');
      if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) fail('exclusiveMaximum');
      if (typeof multipleOf === 'number' && !isMultiple(value, multipleOf)) fail('multipleOf');
    }

    function array(schema: JsonObject, value: Json[]): void {
      const { minItems, maxItems, items, contains, unevaluatedItems } = schema;
      if (typeof minItems === 'number' && value.length < minItems) fail('minItems');
      if (typeof maxItems === 'number' && value.length > maxItems) fail('maxItems');
      const prefix = schemaList(schema['prefixItems']);
      for (const [index, item] of value.entries()) {
        const rule = prefix[index] ?? items;
        if (!isSchema(rule)) break;
        own?.items.add(index);
        if (rule === false) {
          fail('items', { name: String(index) });
          break;
        }
        take(inside(index, rule, item));
      }
      if (isSchema(contains)) {
        let found = 0;
        for (const [index, item] of value.entries()) {
          if (inside(index, contains, item).length > 0) continue;
          found++;
          own?.items.add(index);
        }
        const least = typeof schema['minContains'] === 'number' ? schema['minContains'] : 1;
        if (found < least) fail('contains');
        if (typeof schema['maxContains'] === 'number' && found > schema['maxContains']) fail('maxContains');
      }
      if (schema['uniqueItems'] === true) {
        step(sizeOf(value));
        if (new Set(value.map(canonicalText)).size < value.length) fail('uniqueItems');
      }
      if (isSchema(unevaluatedItems) && own !== undefined) {
        for (const [index, item] of value.entries()) {
          if (!own.items.has(index)) take(inside(index, unevaluatedItems, item));
          own.items.add(index);
        }
      }
    }

    function object(schema: JsonObject, value: JsonObject): void {
      const names = Object.keys(value).filter((name) => value[name] !== undefined);
      const has = (name: string): boolean => member(value, name) !== undefined;
      for (const name of stringList(schema['required'])) {
        step();
        if (!has(name)) fail('required', { name });
      }
      const { minProperties, maxProperties, propertyNames, additionalProperties, unevaluatedProperties } =
        schema;
      if (typeof minProperties === 'number' && names.length < minProperties) fail('minProperties');
      if (typeof maxProperties === 'number' && names.length > maxProperties) fail('maxProperties');
      const properties = isObject(schema['properties']) ? schema['properties'] : {};
      const patterns = schemaMap(schema['patternProperties']);
      for (const name of names) {
        step();
        const item = value[name]!;
        if (isSchema(propertyNames) && inside(name, propertyNames, name).length > 0)
          fail('propertyNames', { name });
        let known = false;
        const rule = member(properties, name);
        if (isSchema(rule)) {
          known = true;
          take(inside(name, rule, item));
        }
        for (const [source, rule] of patterns) {
          if (!matches(source, name)) continue;
          known = true;
          take(inside(name, rule, item));
        }
        if (!known && isSchema(additionalProperties)) {
          known = true;
          if (additionalProperties === false) fail('additionalProperties', { name });
          else take(inside(name, additionalProperties, item));
        }
        if (known) own?.names.add(name);
      }
      for (const [trigger, wanted] of Object.entries(
        isObject(schema['dependentRequired']) ? schema['dependentRequired'] : {},
      )) {
        if (!has(trigger)) continue;
        for (const name of stringList(wanted)) if (!has(name)) fail('dependentRequired', { name });
      }
      for (const [trigger, dependent] of schemaMap(schema['dependentSchemas'])) {
        if (has(trigger)) take(check(dependent, value, own));
      }
      if (isSchema(unevaluatedProperties) && own !== undefined) {
        for (const name of names) {
          if (own.names.has(name)) continue;
          own.names.add(name);
          if (unevaluatedProperties === false) fail('unevaluatedProperties', { name });
          else take(inside(name, unevaluatedProperties, value[name]!));
        }
      }
    }
  }

  try {
    return { failures: check(schema, value, undefined), assumed: [...assumed] };
  } catch (error) {
    if (error instanceof RangeError) throw new Unfinished('the value is nested too deep');
    throw error;
  }
}

export function isOfType(value: Json, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Exact in decimal, where 0.3 is a multiple of 0.1. */
function isMultiple(value: number, divisor: number): boolean {
  const [a, aExponent] = decimal(value);
  const [b, bExponent] = decimal(divisor);
  const shift = aExponent - bExponent;
  return shift >= 0 ? (a * 10n ** BigInt(shift)) % b === 0n : a % (b * 10n ** BigInt(-shift)) === 0n;
}

function decimal(number: number): [bigint, number] {
  const [digits = '0', exponent = '0'] = Math.abs(number).toString().split('e');
  const [whole = '0', part = ''] = digits.split('.');
  return [BigInt(whole + part), Number(exponent) - part.length];
}

function sizeOf(value: Json | undefined): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOf(item), 1);
  if (isObject(value)) return Object.values(value).reduce<number>((sum, item) => sum + sizeOf(item), 1);
  return 1;
}
