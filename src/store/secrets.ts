/**
 * Secrets by name: in the keychain where one answers, else in a file for its owner alone in the user's state folder. A
 * configuration refers to them as `${secret:NAME}`; nothing prints them.
 */
import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { MidspanError, messageOf } from '../errors.ts';
import { rewriteInTurn } from './draft.ts';
import { type Keychain, systemKeychain } from './keychain.ts';

export interface Secrets {
  /** @throws MidspanError `config` when the place of secrets cannot be read. */
  get(name: string): string | undefined;
  /** Where it was put. @throws MidspanError `usage` for a name or value that cannot be kept. */
  set(name: string, value: string): SecretPlace;
  delete(name: string): boolean;
  /** By name, without values. */
  list(): { name: string; place: SecretPlace }[];
  /** Why secrets go into the file; undefined where they go into the keychain. */
  readonly withoutKeychain: string | undefined;
}

export type SecretPlace = 'keychain' | 'file';

export const MAX_SECRET = 64 * 1024;
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;

/** The file of the user's secrets, by the rules of the XDG base directories. */
export function secretsPath(env: Readonly<Record<string, string | undefined>>): string {
  const home = env['HOME'] ?? env['USERPROFILE'] ?? homedir();
  const state = env['XDG_STATE_HOME'];
  // A relative path is to be ignored.
  const base = state?.startsWith('/') === true ? state : join(home, '.local', 'state');
  return join(base, 'midspan', 'secrets.json');
}

export function openSecrets(
  path: string,
  findKeychain: () => Keychain | { missing: string } = systemKeychain,
): Secrets {
  let found: Keychain | { missing: string } | undefined;
  const keychain = (): Keychain | undefined => {
    found ??= findKeychain();
    return 'missing' in found ? undefined : found;
  };
  return {
    // The file first: it is read at no cost, and a secret is only ever in one of the two.
    get: (name) => read(path).get(name) ?? keychain()?.get(name),
    set(name, value) {
      check(name, value);
      const system = keychain();
      if (system === undefined) {
        change(path, (secrets) => secrets.set(name, value));
        return 'file';
      }
      system.set(name, value);
      if (read(path).has(name)) change(path, (secrets) => secrets.delete(name));
      return 'keychain';
    },
    delete(name) {
      const inFile = read(path).has(name);
      if (inFile) change(path, (secrets) => secrets.delete(name));
      return (keychain()?.delete(name) ?? false) || inFile;
    },
    list() {
      const inFile = [...read(path).keys()].map((name) => ({ name, place: 'file' as const }));
      const inKeychain = (keychain()?.names() ?? []).map((name) => ({ name, place: 'keychain' as const }));
      return [...inFile, ...inKeychain].sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    get withoutKeychain() {
      return keychain() === undefined ? (found as { missing: string }).missing : undefined;
    },
  };
}

function check(name: string, value: string): void {
  const problem = !SECRET_NAME.test(name)
    ? 'the name of a secret has up to 128 letters, digits, `_`, `-` and `.`, and begins with a letter or `_`'
    : value === '' || value.includes('\0')
      ? 'a secret is a text that is not empty'
      : value.length > MAX_SECRET
        ? `a secret has up to ${MAX_SECRET} characters`
        : undefined;
  if (problem !== undefined) throw new MidspanError({ code: 'usage', what: problem });
}

function read(path: string): Map<string, string> {
  let text: string;
  try {
    // Whoever made it wider takes it back.
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw problem(path, `cannot be read: ${messageOf(error)}`, error);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The cause would quote it.
    throw problem(path, 'is not JSON');
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = isObject ? Object.entries(value as object) : undefined;
  if (entries?.every((entry): entry is [string, string] => typeof entry[1] === 'string') !== true)
    throw problem(path, 'does not hold names and texts');
  return new Map(entries);
}

function change(path: string, edit: (secrets: Map<string, string>) => void): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (process.platform !== 'win32') chmodSync(dirname(path), 0o700);
    rewriteInTurn(path, () => {
      const secrets = read(path);
      edit(secrets);
      return JSON.stringify(Object.fromEntries(secrets));
    });
  } catch (error) {
    if (error instanceof MidspanError) throw error;
    throw problem(path, `cannot be written: ${messageOf(error)}`, error);
  }
}

const problem = (path: string, what: string, cause?: unknown): MidspanError =>
  new MidspanError({
    code: 'config',
    what: `the file of secrets ${path} ${what}`,
    next: 'See to it that it belongs to you, or move it away and store the secrets again',
    cause,
  });
