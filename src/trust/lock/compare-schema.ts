/** Two input schemas, member by member: what a caller must give more of, may give more of, or less. */
import { canonicalJson } from '../../canonical.ts';
import { isObject, objectOf, sameJson } from '../../schema/keywords.ts';
import { pointerTo } from '../../schema/reference.ts';
import type { Json, JsonObject } from '../../types.ts';

export interface SchemaChange {
  class: 'required-added' | 'property-added' | 'widened' | 'narrowed' | 'reordered' | 'changed';
  pointer: string;
  /** In words, without quoting values of the server. */
  what: string;
}

const WORDS = new Set([
  'title',
  'description',
  '$comment',
  'examples',
  'default',
  '$schema',
  '$id',
  'x-mcp-header',
]);
const LOWER = new Set([
  'minimum',
  'exclusiveMinimum',
  'minLength',
  'minItems',
  'minProperties',
  'minContains',
]);
const UPPER = new Set([
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
  'maxContains',
]);
/** Sets of which more members allow more. */
const UNIONS = new Set(['enum', 'anyOf', 'oneOf']);
const MAPS = new Set(['$defs', 'definitions', 'patternProperties', 'dependentSchemas']);

export function compareSchemas(
  was: Json | undefined,
  now: Json | undefined,
  pointer: string,
): SchemaChange[] {
  const changes: SchemaChange[] = [];
  walk(was, now, pointer, changes);
  return changes;
}

function walk(was: Json | undefined, now: Json | undefined, at: string, changes: SchemaChange[]): void {
  if (sameJson(was, now)) return;
  if (!isObject(was) || !isObject(now)) {
    const kind =
      was === false || now === true ? 'widened' : now === false || was === true ? 'narrowed' : 'changed';
    changes.push({ class: kind, pointer: at, what: 'replaced' });
    return;
  }
  for (const key of [...new Set([...Object.keys(was), ...Object.keys(now)])].sort()) {
    const [before, after] = [was[key], now[key]];
    if (WORDS.has(key) || sameJson(before, after)) continue;
    const pointer = pointerTo(at, key);
    if (key === 'properties') properties(was, now, pointer, changes);
    else if (key === 'required') required(was, now, pointer, changes);
    else if (MAPS.has(key)) {
      const [a, b] = [objectOf(before), objectOf(after)];
      for (const name of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()) {
        const inner = pointerTo(pointer, name);
        if (b[name] === undefined) changes.push({ class: 'narrowed', pointer: inner, what: 'removed' });
        else if (a[name] === undefined) changes.push({ class: 'widened', pointer: inner, what: 'added' });
        else walk(a[name], b[name], inner, changes);
      }
    } else changes.push(...keyword(key, before, after, pointer));
  }
}

function properties(was: JsonObject, now: JsonObject, at: string, changes: SchemaChange[]): void {
  const [before, after] = [objectOf(was['properties']), objectOf(now['properties'])];
  const needed = new Set(list(now['required']));
  for (const name of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
    const pointer = pointerTo(at, name);
    if (after[name] === undefined) changes.push({ class: 'narrowed', pointer, what: 'property removed' });
    else if (before[name] === undefined) {
      const type = typeOf(after[name]);
      changes.push(
        needed.has(name)
          ? { class: 'required-added', pointer, what: `new required property, ${type}` }
          : { class: 'property-added', pointer, what: `new optional property, ${type}` },
      );
    } else walk(before[name], after[name], pointer, changes);
  }
}

function required(was: JsonObject, now: JsonObject, pointer: string, changes: SchemaChange[]): void {
  const [before, after] = [new Set(list(was['required'])), new Set(list(now['required']))];
  const known = objectOf(was['properties']);
  const added = [...after].filter(
    (name) => typeof name === 'string' && !before.has(name) && known[name] !== undefined,
  );
  const dropped = [...before].filter((name) => !after.has(name));
  if (added.length > 0)
    changes.push({ class: 'required-added', pointer, what: `${added.length} more required` });
  if (dropped.length > 0)
    changes.push({ class: 'widened', pointer, what: `${dropped.length} no longer required` });
  if (added.length === 0 && dropped.length === 0 && before.size === after.size)
    changes.push({ class: 'reordered', pointer, what: 'order' });
}

function keyword(
  key: string,
  before: Json | undefined,
  after: Json | undefined,
  pointer: string,
): SchemaChange[] {
  const change = (name: SchemaChange['class'], what: string): SchemaChange[] => [
    { class: name, pointer, what },
  ];
  if (key === 'type') return sets(typesOf(before), typesOf(after), pointer, 'type');
  if (UNIONS.has(key) && Array.isArray(before) && Array.isArray(after))
    return sets(before, after, pointer, key);
  if (LOWER.has(key) || UPPER.has(key)) {
    const unbounded = LOWER.has(key) ? -Infinity : Infinity;
    const [a, b] = [numberOf(before, unbounded), numberOf(after, unbounded)];
    const isWider = LOWER.has(key) ? b < a : b > a;
    return change(isWider ? 'widened' : 'narrowed', `${key} ${isWider ? 'allows more' : 'allows less'}`);
  }
  if (key === 'additionalProperties' || key === 'unevaluatedProperties' || key === 'items') {
    if (isObject(before) && isObject(after)) {
      const inner: SchemaChange[] = [];
      walk(before, after, pointer, inner);
      return inner;
    }
    // Absent means true.
    const isWider = before === false || ((after === undefined || after === true) && isObject(before));
    return change(isWider ? 'widened' : 'narrowed', isWider ? 'allows more' : 'allows less');
  }
  if (before === undefined) return change('narrowed', `${key} added`);
  if (after === undefined) return change('widened', `${key} removed`);
  return change('changed', `${key} changed`);
}

function sets(before: readonly Json[], after: readonly Json[], pointer: string, key: string): SchemaChange[] {
  const [a, b] = [new Set(before.map(canonicalJson)), new Set(after.map(canonicalJson))];
  const added = [...b].filter((value) => !a.has(value)).length;
  const removed = [...a].filter((value) => !b.has(value)).length;
  if (added > 0) return [{ class: 'widened', pointer, what: `${key}: ${added} more` }];
  if (removed > 0) return [{ class: 'narrowed', pointer, what: `${key}: ${removed} fewer` }];
  return [{ class: 'reordered', pointer, what: `${key}: order` }];
}

/** A schema without a type allows every one. */
const typesOf = (value: Json | undefined): Json[] =>
  value === undefined
    ? ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object']
    : Array.isArray(value)
      ? value
      : [value];

const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
const numberOf = (value: Json | undefined, other: number): number =>
  typeof value === 'number' ? value : other;

function typeOf(schema: Json | undefined): string {
  const type = objectOf(schema)['type'];
  return typeof type === 'string' && /^[a-z]{1,10}$/.test(type) ? type : 'of any type';
}
