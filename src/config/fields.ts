/** Reads single values of a configuration: checks the type, expands variables, and never repeats a value in a complaint. */
import { type Problems, suggestion } from './problems.ts';
import type { Entry, Item, Place } from './syntax.ts';
import { expand, type Variables } from './variables.ts';

export interface Reading {
  problems: Problems;
  variables: Variables;
  /** Our own format: what is unknown or does not fit is an error. In other programs' files it is a warning. */
  strict: boolean;
  /** A server that is switched off may lack its variables. */
  disabled: boolean;
}

export interface EntryReading extends Reading {
  /** Absolute: where relative working directories start. */
  base: string;
  home: string;
  /** Every alias so far, to the path where it stands: exposed names are one space. */
  aliases: Map<string, Path>;
}

export type Path = readonly string[];

/** The longest delay that timers of JavaScript can hold. */
const MAX_MILLISECONDS = 2 ** 31 - 1;

export function text(item: Item, path: Path, reading: Reading): string | undefined {
  if (typeof item.value !== 'string') return mismatch(item, path, reading, 'a string');
  const expanded = expand(item.value, reading.variables);
  if ('problem' in expanded) {
    if (reading.disabled) return item.value;
    reading.problems.error(path, item.place, expanded.problem);
    return undefined;
  }
  if (expanded.text.includes('\0'))
    return complain(path, item.place, reading, 'must not hold a NUL character');
  return expanded.text;
}

export function texts(item: Item, path: Path, reading: Reading): string[] | undefined {
  if (!Array.isArray(item.value)) return mismatch(item, path, reading, 'an array of strings');
  return item.value.flatMap((member, index) => text(member, [...path, String(index)], reading) ?? []);
}

/** An object whose values are all strings. Other programs' files may hold numbers and switches: their text is taken. */
export function textMap(item: Item, path: Path, reading: Reading): Map<string, string> | undefined {
  const result = new Map<string, string>();
  for (const [key, { item: member }] of members(item, path, reading) ?? []) {
    const isLoose =
      !reading.strict && (typeof member.value === 'number' || typeof member.value === 'boolean');
    const value = isLoose ? `${member.value as number | boolean}` : text(member, [...path, key], reading);
    if (value !== undefined) result.set(key, value);
  }
  return item.value instanceof Map ? result : undefined;
}

export function members(item: Item, path: Path, reading: Reading): Map<string, Entry> | undefined {
  return item.value instanceof Map ? item.value : mismatch(item, path, reading, 'an object');
}

export function flag(item: Item, path: Path, reading: Reading): boolean | undefined {
  return typeof item.value === 'boolean' ? item.value : mismatch(item, path, reading, 'true or false');
}

/** A duration in units of `unit` milliseconds, in whole milliseconds. */
export function duration(item: Item, path: Path, reading: Reading, unit: number): number | undefined {
  const kind = unit === 1 ? 'a number of milliseconds' : 'a number of seconds';
  if (typeof item.value !== 'number') return mismatch(item, path, reading, kind);
  const milliseconds = Math.round(item.value * unit);
  if (milliseconds >= 1 && milliseconds <= MAX_MILLISECONDS) return milliseconds;
  return complain(
    path,
    item.place,
    reading,
    `must be ${kind} of at least 1 ms and at most ${MAX_MILLISECONDS} ms`,
  );
}

export function complain(path: Path, place: Place | undefined, reading: Reading, message: string): undefined {
  reading.problems.error(path, place, message);
}

function mismatch(item: Item, path: Path, reading: Reading, wanted: string): undefined {
  return complain(path, item.place, reading, `must be ${wanted}, not ${kindOf(item)}`);
}

function kindOf({ value }: Item): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (value instanceof Map) return 'an object';
  return `a ${typeof value}`;
}

/** A key that nothing reads: our own format refuses it, elsewhere it is said. */
export function unread(
  path: Path,
  place: Entry['place'],
  { strict, problems }: Reading,
  message: string,
): void {
  if (strict) problems.error(path, place, message);
  else problems.warn(path, place, `ignored: ${message}`);
}

export function set<T, K extends keyof T>(target: T, key: K, value: T[K] | undefined): void {
  if (value !== undefined) target[key] = value;
}

/** How each member of an object is read. */
export type Readers<T> = {
  [K in keyof Required<T>]: (item: Item, path: Path, reading: EntryReading) => T[K] | undefined;
};

/** Reads the members of an object that the readers name; any other is an error with a suggestion. */
export function readInto<T extends object>(
  target: T,
  item: Item,
  at: Path,
  reading: EntryReading,
  readers: Readers<T>,
): void {
  const known = Object.keys(readers) as (keyof T & string)[];
  for (const [key, entry] of members(item, at, reading) ?? []) {
    const name = known.find((candidate) => candidate === key);
    if (name === undefined)
      complain([...at, key], entry.place, reading, `unknown key${suggestion(key, known)}`);
    else set(target, name, readers[name](entry.item, [...at, key], reading));
  }
}
