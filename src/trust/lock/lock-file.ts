/** The lock file: read strictly, written so that a review shows every character. */
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { canonicalJson } from '../../canonical.ts';
import { MidspanError, messageOf } from '../../errors.ts';
import { JsonLimitError, parseJson } from '../../mcp/json.ts';
import { faultsIn } from '../../mcp/strict.ts';
import { validate } from '../../schema/index.ts';
import { isObject, objectOf, sameJson } from '../../schema/keywords.ts';
import type { Json, JsonObject } from '../../types.ts';
import { KINDS } from './compare.ts';
import { itemDigest } from './digest.ts';
import { facetsOf } from './facets.ts';
import { identityDigest } from './identity.ts';
import type { Lock, ServerPin } from './lock.ts';
import { ITEM_SCHEMA, LOCK_SCHEMA, SERVER_SCHEMA } from './lock-schema.ts';

export const MAX_LOCK_BYTES = 64 * 1024 * 1024;
const MAX_DEPTH = 128;

export interface ReadOptions {
  /**
   * Whether the digests of facets are verified, too, which takes most of the time. They tell a reader what a change touched;
   * nothing is decided by them. Default true.
   */
  facets?: boolean;
}

/**
 * Undefined when there is no such file.
 * @throws MidspanError `config` naming the file, the place and what is wrong with it.
 */
export async function readLock(file: string, options: ReadOptions = {}): Promise<Lock | undefined> {
  let handle;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw problem(file, `cannot be read (${messageOf(error)})`);
  }
  try {
    const { size } = await handle.stat();
    if (size > MAX_LOCK_BYTES) throw problem(file, `is larger than ${MAX_LOCK_BYTES} bytes`);
    const bytes = await handle.readFile();
    return parseLock(new TextDecoder('utf-8', { fatal: true }).decode(bytes), file, options);
  } catch (error) {
    if (error instanceof TypeError) throw problem(file, 'is not UTF-8 text');
    throw error;
  } finally {
    await handle.close();
  }
}

/**
 * A lock from its text.
 * @throws MidspanError `config`, as readLock.
 */
export function parseLock(
  text: string,
  file: string = 'the lock',
  { facets = true }: ReadOptions = {},
): Lock {
  const value = strictJson(text, (what) => problem(file, what));
  checkForm(value, file);
  const lock = value as unknown as Lock;
  for (const [label, pin] of Object.entries(lock.servers)) checkDigests(label, pin, file, facets);
  return lock;
}

/** JSON that every reader takes for the same: bounded in depth, without double members and numbers that some cannot hold. */
export function strictJson(text: string, problemOf: (what: string) => MidspanError): Json {
  let value: Json;
  try {
    // The size of the file bounds how many values there are.
    value = parseJson(text, MAX_DEPTH, Infinity);
  } catch (error) {
    if (error instanceof JsonLimitError) throw problemOf(`is nested more than ${MAX_DEPTH} deep`);
    throw problemOf(`is not JSON (${messageOf(error)})`);
  }
  const [fault] = faultsIn(text, () => undefined);
  if (fault !== undefined) throw problemOf(`${fault.path.join('.')}: ${fault.problem}`);
  return value;
}

/** Part by part, so that no part is too large to be checked. */
function checkForm(value: Json, file: string): void {
  const check = (schema: JsonObject, part: Json | undefined, place: string): void => {
    const verdict = validate(schema, part ?? null);
    if (verdict.ok === true) return;
    // An empty path is words about a call's arguments there.
    const why = isObject(part)
      ? verdict.ok === false
        ? verdict.problem
        : verdict.reason
      : 'it must be an object';
    throw problem(file, `is not a lock of version 1${place === '' ? '' : `: ${place}`}: ${why}`);
  };
  check(LOCK_SCHEMA, value, '');
  for (const [label, server] of Object.entries(objectOf(objectOf(value)['servers']))) {
    const place = `servers.${label}`;
    const { tools, prompts, resources, templates, ...rest } = objectOf(server);
    const lists = { tools, prompts, resources, templates };
    const shells = Object.fromEntries(
      Object.entries(lists).map(([list, items]) => [list, isObject(items) ? {} : (items ?? null)]),
    );
    check(SERVER_SCHEMA, isObject(server) ? { ...rest, ...shells } : server, place);
    for (const [list, items] of Object.entries(lists)) {
      for (const [key, item] of Object.entries(objectOf(items))) {
        const { definition, ...pin } = objectOf(item);
        const shell = isObject(definition) ? {} : (definition ?? null);
        check(ITEM_SCHEMA, isObject(item) ? { ...pin, definition: shell } : item, `${place}.${list}.${key}`);
      }
    }
  }
}

/** The texts are what a reviewer read; a digest that is not theirs was written by hand. */
function checkDigests(label: string, pin: ServerPin, file: string, facets: boolean): void {
  const { digest, ...facts } = pin.identity;
  if (identityDigest(facts) !== digest) throw edited(file, label, 'identity');
  const { instructions } = pin;
  if (instructions !== undefined && itemDigest('instructions', instructions.text) !== instructions.digest)
    throw edited(file, label, 'instructions');
  for (const { kind, list, key: member } of KINDS) {
    for (const [key, item] of Object.entries(pin[list])) {
      const isSame =
        item.definition[member] === key &&
        itemDigest(kind, item.definition) === item.digest &&
        (!facets || canonicalJson(facetsOf(kind, item.definition)) === canonicalJson(item.facets));
      if (!isSame) throw edited(file, label, `${list}.${key}`);
    }
  }
}

const REPLACED =
  'Take it from version control again; or move it away, and `midspan lock` reviews and writes everything anew';

const edited = (file: string, label: string, place: string): MidspanError =>
  new MidspanError({
    code: 'config',
    label,
    what: `${file}: servers.${label}.${place} was edited: its digest is not that of its text`,
    next: REPLACED,
  });

const problem = (file: string, what: string): MidspanError =>
  new MidspanError({
    code: 'config',
    what: `${file} ${what}`,
    next: REPLACED,
  });

/**
 * Written whole beside the file and renamed into place.
 * @param basis the lock that this one was made from (null: there was none): a file that holds another by now is left alone.
 * @throws MidspanError `config`.
 */
export async function writeLock(file: string, lock: Lock, basis?: Lock | null): Promise<void> {
  if (basis !== undefined && !sameJson(basis as Json, ((await readLock(file)) ?? null) as Json)) {
    throw new MidspanError({
      code: 'config',
      what: `${file} was changed meanwhile, so it was left as it is`,
      next: 'Run the command again',
    });
  }
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}`);
  try {
    const handle = await open(draft, 'w');
    try {
      await handle.writeFile(lockText(lock));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw new MidspanError({
      code: 'config',
      what: `${file} cannot be written (${messageOf(error)})`,
      next: 'Check the folder and its permissions',
      cause: error,
    });
  }
}

/** ASCII alone, so that a review sees what is hidden; members in the order of RFC 8785; two spaces; one end of line. */
export function lockText(lock: Lock | JsonObject): string {
  return `${written(lock as unknown as Json, '')}\n`;
}

function written(value: Json, indent: string): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => inner + written(item, inner)).join(',\n')}\n${indent}]`;
  }
  const keys = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort();
  if (keys.length === 0) return '{}';
  const members = keys.map((key) => `${inner}${quoted(key)}: ${written(value[key] as Json, inner)}`);
  return `{\n${members.join(',\n')}\n${indent}}`;
}

const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[\u007F-\uFFFF]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  });
