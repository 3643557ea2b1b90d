/**
 * What differs between two definitions, member by member: facts on one line each, texts word by word. Whatever differs
 * shows up in some detail; nothing is summarized away.
 */
import { canonicalJson } from '../../canonical.ts';
import { isObject } from '../../schema/keywords.ts';
import { pointerTo } from '../../schema/reference.ts';
import type { Json, JsonObject } from '../../types.ts';
import { drawnJson, drawnText, named } from './lines.ts';
import { type Run, wordRuns } from './words.ts';

export interface Detail {
  op: 'added' | 'removed' | 'changed';
  /** JSON pointer (RFC 6901) into the item, raw. */
  pointer: string;
  /** In one line, drawn: `string required`, `"a" → "b"`. */
  fact?: string;
  /** The text, drawn, word by word. */
  runs?: Run[];
}

/** How a value is read: as a schema, as the properties of one, as schemas by another name or in a list, or as it is. */
type Role = 'item' | 'schema' | 'properties' | 'schemas' | 'value';
type Op = 'added' | 'removed';

const ROLES: ReadonlyMap<string, Role> = new Map([
  ['properties', 'properties'],
  ...'patternProperties $defs definitions dependentSchemas prefixItems allOf anyOf oneOf'
    .split(' ')
    .map((key): [string, Role] => [key, 'schemas']),
  ...'items additionalProperties unevaluatedProperties propertyNames contains not if then else'
    .split(' ')
    .map((key): [string, Role] => [key, 'schema']),
]);
/** What a model reads first. */
const FIRST = ['name', 'title', 'description', 'inputSchema', 'arguments'];
/** A string without white space is a fact up to this length; longer ones and prose are read word by word. */
const FACT_MAX = 100;

/** @param was undefined for something new; @param now undefined for something gone. */
export function detailsOf(was: JsonObject | undefined, now: JsonObject | undefined): Detail[] {
  const [before, after] = [was ?? {}, now ?? {}];
  return keysOf(before, after).flatMap((key) =>
    between(pointerTo('', key), own(before, key), own(after, key), roleOf('item', key), ''),
  );
}

/** One text as a whole, such as the instructions of a server. */
export function textDetail(pointer: string, was: string | undefined, now: string | undefined): Detail {
  const op = was === undefined ? 'added' : now === undefined ? 'removed' : 'changed';
  if ((was ?? '') === (now ?? '')) return { op, pointer, fact: '""' };
  const [before, after] = [drawnText(was ?? ''), drawnText(now ?? '')];
  // What was drawn in words before may be hidden now.
  if (before === after)
    return {
      op,
      pointer,
      runs: [
        { kind: 'removed', text: before },
        { kind: 'added', text: after },
      ],
    };
  return { op, pointer, runs: wordRuns(before, after) };
}

function roleOf(parent: Role, key: string): Role {
  if (parent === 'item') return key === 'inputSchema' || key === 'outputSchema' ? 'schema' : 'value';
  if (parent === 'properties' || parent === 'schemas') return 'schema';
  return parent === 'schema' ? (ROLES.get(key) ?? 'value') : 'value';
}

/** @param need ` required` or ` optional` for a property that is new or gone. */
function between(
  pointer: string,
  was: Json | undefined,
  now: Json | undefined,
  role: Role,
  need: string,
): Detail[] {
  if (was === undefined) return now === undefined ? [] : whole('added', pointer, now, role, need);
  if (now === undefined) return whole('removed', pointer, was, role, need);
  if (isSame(was, now)) return [];
  if (isObject(was) && isObject(now)) return members(pointer, was, now, role);
  if (Array.isArray(was) && Array.isArray(now)) {
    return [...was, ...now].every(isFact) ? elements(pointer, was, now) : places(pointer, was, now, role);
  }
  if (typeof was === 'string' && typeof now === 'string' && !(isFact(was) && isFact(now)))
    return [textDetail(pointer, was, now)];
  if (isFact(was) && isFact(now))
    return [{ op: 'changed', pointer, fact: `${drawnJson(was)} → ${drawnJson(now)}` }];
  return [...whole('removed', pointer, was, role, ''), ...whole('added', pointer, now, role, '')];
}

function members(pointer: string, was: JsonObject, now: JsonObject, role: Role): Detail[] {
  return keysOf(was, now).flatMap((key) => {
    const to = pointerTo(pointer, key);
    const [before, after] = [own(was, key), own(now, key)];
    if (role !== 'schema') return between(to, before, after, roleOf(role, key), '');
    if (key === 'properties' && isObject(before) && isObject(after)) {
      return keysOf(before, after).flatMap((name) => {
        const need = needOf(Object.hasOwn(after, name) ? now : was, name);
        return between(pointerTo(to, name), own(before, name), own(after, name), 'schema', need);
      });
    }
    const details = between(to, before, after, roleOf(role, key), '');
    if (key !== 'required') return details;
    // A property that is new or gone says itself whether it is required.
    return details.filter(
      ({ op, fact }) =>
        op === 'changed' || !isTold(fact, op === 'added' ? was : now, op === 'added' ? now : was),
    );
  });
}

const isTold = (fact: string | undefined, without: JsonObject, having: JsonObject): boolean =>
  propertyNames(having).some((name) => drawnJson(name) === fact && !propertyNames(without).includes(name));

/** Lists of facts, such as `enum` and `required`: what came, what went, and whether the rest stands in another order. */
function elements(pointer: string, was: readonly Json[], now: readonly Json[]): Detail[] {
  const [before, after] = [was.map(drawnJson), now.map(drawnJson)];
  const gone = without(before, after);
  const come = without(after, before);
  const isReordered = without(before, gone).join() !== without(after, come).join();
  return [
    ...gone.map((fact): Detail => ({ op: 'removed', pointer, fact })),
    ...come.map((fact): Detail => ({ op: 'added', pointer, fact })),
    ...(isReordered ? [{ op: 'changed' as const, pointer, fact: `order is now [${after.join(', ')}]` }] : []),
  ];
}

/** The elements of `list` that `other` has not, each as often as it has more of it. */
function without(list: readonly string[], other: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const element of other) left.set(element, (left.get(element) ?? 0) + 1);
  return list.filter((element) => {
    const count = left.get(element) ?? 0;
    left.set(element, count - 1);
    return count <= 0;
  });
}

const places = (pointer: string, was: readonly Json[], now: readonly Json[], role: Role): Detail[] =>
  Array.from({ length: Math.max(was.length, now.length) }, (_, index) =>
    between(pointerTo(pointer, String(index)), was[index], now[index], roleOf(role, ''), ''),
  ).flat();

function whole(op: Op, pointer: string, value: Json, role: Role, need: string): Detail[] {
  if (isFact(value)) return [{ op, pointer, fact: `${drawnJson(value)}${need}` }];
  if (typeof value === 'string')
    return [op === 'added' ? textDetail(pointer, undefined, value) : textDetail(pointer, value, undefined)];
  if (Array.isArray(value)) {
    if (isShort(value)) return [{ op, pointer, fact: drawnJson(value) }];
    return value.flatMap((element, index) =>
      whole(op, pointerTo(pointer, String(index)), element, roleOf(role, ''), ''),
    );
  }
  if (!isObject(value)) return [];
  if (role === 'schema') return schema(op, pointer, value, need);
  if (Object.keys(value).length === 0) return [{ op, pointer, fact: `{}${need}` }];
  return keysOf(value).flatMap((key) =>
    whole(op, pointerTo(pointer, key), value[key] ?? null, roleOf(role, key), ''),
  );
}

/** A schema in one line, `integer optional, minimum 1`, then its texts and the schemas in it. */
function schema(op: Op, pointer: string, value: JsonObject, need: string): Detail[] {
  const keys = keysOf(value);
  const { type } = value;
  const hasType =
    typeof type === 'string' || (Array.isArray(type) && type.every((name) => typeof name === 'string'));
  const rest = keys.filter(
    (key) => !(key === 'type' && hasType) && !(key === 'required' && isToldByProperties(value)),
  );
  const inLine = rest.filter((key) => isShort(value[key]));
  const facts = inLine.map((key) => `, ${named(key)} ${drawnJson(value[key])}`);
  const word = hasType
    ? [type]
        .flat()
        .map((name) => named(name))
        .join('|')
    : 'any type';
  return [
    { op, pointer, fact: `${word}${need}${facts.join('')}` },
    ...rest
      .filter((key) => !inLine.includes(key))
      .flatMap((key) => {
        const to = pointerTo(pointer, key);
        const inner = value[key] ?? null;
        if (key !== 'properties' || !isObject(inner)) return whole(op, to, inner, roleOf('schema', key), '');
        return keysOf(inner).flatMap((name) =>
          whole(op, pointerTo(to, name), inner[name] ?? null, 'schema', needOf(value, name)),
        );
      }),
  ];
}

function isToldByProperties(schema: JsonObject): boolean {
  const { required } = schema;
  const names = propertyNames(schema);
  return (
    Array.isArray(required) &&
    new Set(required).size === required.length &&
    required.every((name) => typeof name === 'string' && names.includes(name))
  );
}

const needOf = ({ required }: JsonObject, name: string): string =>
  Array.isArray(required) && required.includes(name) ? ' required' : ' optional';

const propertyNames = ({ properties }: JsonObject): string[] =>
  isObject(properties) ? Object.keys(properties) : [];

/** Fits in a line by itself: no text, and nothing with members. */
const isFact = (value: Json | undefined): boolean =>
  typeof value === 'string'
    ? value.length <= FACT_MAX && !/\s/.test(value)
    : value !== undefined && (value === null || typeof value !== 'object');

/** A fact, or a list of facts that fits in a line. */
const isShort = (value: Json | undefined): boolean =>
  Array.isArray(value) ? value.every(isFact) && JSON.stringify(value).length <= FACT_MAX : isFact(value);

function isSame(one: Json, other: Json): boolean {
  return (
    one === other ||
    JSON.stringify(one) === JSON.stringify(other) ||
    canonicalText(one) === canonicalText(other)
  );
}

/** What cannot be written canonically (a lone surrogate) is the same only when its bytes are. */
function canonicalText(value: Json): string {
  try {
    return canonicalJson(value);
  } catch {
    return JSON.stringify(value);
  }
}

/** What a model reads first comes first; the rest in the order of the old one, then of the new. */
function keysOf(...objects: readonly JsonObject[]): string[] {
  const keys = new Set(objects.flatMap((object) => Object.keys(object)));
  return [...FIRST.filter((key) => keys.delete(key)), ...keys];
}

/** Never what an object inherits: `__proto__` and `constructor` are names like others. */
const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;
