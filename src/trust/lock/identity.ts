/** How a server is reached, as far as it decides what runs or answers: the same words on every machine, and no secret in them. */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { sha256Base64 } from '../../canonical.ts';
import type { HttpTransport, JsonObject, ServerSpec, StdioTransport } from '../../types.ts';
import { digestOf } from './digest.ts';
import type { Change, Identity } from './lock.ts';

/** @param base the folder of the configuration; absolute. */
export function identityOf(spec: ServerSpec, base: string | undefined): Identity {
  const { transport } = spec;
  const facts = transport.type === 'stdio' ? stdioFacts(transport, base) : httpFacts(transport);
  return { ...facts, digest: identityDigest(facts) };
}

export const identityDigest = (facts: Omit<Identity, 'digest'>): string => digestOf('server', { ...facts });

function stdioFacts(
  { command, args, env, cwd }: StdioTransport,
  base: string | undefined,
): Omit<Identity, 'digest'> {
  const found = packageOf(command, args, cwd ?? base);
  return {
    transport: 'stdio',
    argv: [command, ...args].map((word, index, all) => wordOf(word, all[index - 1], base)),
    ...(cwd !== undefined && { cwd: placed(cwd, base) }),
    env: Object.keys(env).sort(),
    ...(found !== undefined && { package: found }),
  };
}

function httpFacts({ type, url, headers }: HttpTransport): Omit<Identity, 'digest'> {
  const { origin, pathname } = new URL(url);
  return {
    transport: type,
    url: `${origin}${pathname}`,
    headers: Object.keys(headers)
      .map((name) => name.toLowerCase())
      .sort(),
  };
}

/** Options and names whose values are secrets, and the looks of well-known ones. */
const SECRET_NAME =
  /(?:token|secret|passw(?:or)?d|api[-_]?key|credential|private[-_]?key|access[-_]?key|auth|bearer)/i;
const SECRET_LOOK =
  /^(?:sk-|gh[pousr]_|github_pat_|glpat-|xox[abposr]-|AKIA|ASIA|AIza|ya29\.|eyJ[\w-]{8,}\.|hf_|npm_|pypi-|dop_v1_|shpat_|sntrys_|lin_api_)\S{6,}|^[A-Za-z0-9+/=_-]{40,}$/;

/** A word of the command line as the lock shows it. What looks like a secret is named by its digest, so that a change of it shows. */
function wordOf(word: string, before: string | undefined, base: string | undefined): string {
  const [, name, value] = /^(-{0,2}[\w.-]{1,80})=(.*)$/s.exec(word) ?? [];
  if (name !== undefined && value !== undefined && (SECRET_NAME.test(name) || SECRET_LOOK.test(value)))
    return `${name}=${hidden(value)}`;
  const follows = before !== undefined && /^-{1,2}[\w-]+$/.test(before) && SECRET_NAME.test(before);
  if (follows || (SECRET_LOOK.test(word) && !word.includes('/'))) return hidden(word);
  if (name !== undefined && value !== undefined) return `${name}=${placed(withoutSecrets(value), base)}`;
  return placed(withoutSecrets(word), base);
}

const hidden = (value: string): string => `<secret ${sha256Base64('midspan-secret/1', value).slice(0, 16)}>`;

/** Addresses keep neither user, query nor fragment in clear. */
function withoutSecrets(word: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(word) || !URL.canParse(word)) return word;
  const url = new URL(word);
  const rest = `${url.username}:${url.password}${url.search}${url.hash}`;
  if (rest === ':') return word;
  return `${url.protocol}//${url.host}${url.pathname} ${hidden(rest)}`;
}

/** A path under the configuration's folder or the home, in words that hold on every machine. */
function placed(word: string, base: string | undefined): string {
  if (!path.isAbsolute(word)) return word;
  for (const [folder, name] of [
    [base, '$CONFIG'],
    [homedir(), '$HOME'],
  ] as const) {
    if (folder === undefined || folder === path.parse(folder).root) continue;
    const relative = path.relative(folder, word);
    if (relative === '') return name;
    if (!relative.startsWith('..') && !path.isAbsolute(relative))
      return `${name}/${relative.split(path.sep).join('/')}`;
  }
  if (base === undefined) return word;
  // Beside the configuration's folder, in the same repository.
  // What is shared is more than the root; else the words would hold at one depth alone.
  const above = path.relative(base, word).split(path.sep).join('/');
  const top = path.resolve(base, /^(?:\.\.\/)*/.exec(above)?.[0] ?? '');
  if (top === path.parse(top).root) return word;
  return /^(?:\.\.\/){1,3}(?!\.\.)/.test(above) ? `$CONFIG/${above}` : word;
}

const RUNNERS = /^(?:npx|pnpx|bunx)(?:\.cmd|\.exe)?$/i;

function packageOf(
  command: string,
  args: readonly string[],
  folder: string | undefined,
): Identity['package'] {
  if (RUNNERS.test(path.basename(command))) {
    const word = args.find((arg) => !arg.startsWith('-'));
    const [, name, version] = /^((?:@[\w.~-]+\/)?[\w.~-]+)(?:@(.+))?$/.exec(word ?? '') ?? [];
    if (name === undefined) return undefined;
    const installed = folder === undefined ? undefined : findInstalled(folder, name);
    return { ecosystem: 'npm', name, ...(version !== undefined && { version }), ...installed };
  }
  for (const word of args) {
    const [, root, name] = /^(.*[\\/]node_modules)[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(word) ?? [];
    if (root === undefined || name === undefined) continue;
    const absolute = path.resolve(folder ?? '.', root);
    const installed = readInstalled(absolute, name.replaceAll('\\', '/'));
    if (installed !== undefined) return { ecosystem: 'npm', name: name.replaceAll('\\', '/'), ...installed };
  }
  return undefined;
}

/** As `npx` looks: from a folder upwards. */
function findInstalled(folder: string, name: string): { version: string; integrity?: string } | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    const found = readInstalled(path.join(at, 'node_modules'), name);
    if (found !== undefined || at === path.dirname(at)) return found;
  }
}

function readInstalled(modules: string, name: string): { version: string; integrity?: string } | undefined {
  const manifest = readJson(path.join(modules, name, 'package.json'), 4 * 1024 * 1024);
  const version = manifest?.['version'];
  if (typeof version !== 'string') return undefined;
  const packages = readJson(path.join(modules, '.package-lock.json'), 64 * 1024 * 1024)?.['packages'];
  const entry = (packages as { [path: string]: { integrity?: unknown } } | undefined)?.[
    `node_modules/${name}`
  ];
  return { version, ...(typeof entry?.integrity === 'string' && { integrity: entry.integrity }) };
}

/** Undefined for whatever is not there, too large or no JSON: then nothing is known. */
function readJson(file: string, most: number): JsonObject | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    if (fstatSync(handle).size > most) return undefined;
    return JSON.parse(readFileSync(handle, 'utf8')) as JsonObject;
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** A change of how a server is reached stops it: what would run is not what was approved. */
export function compareIdentities(was: Identity, now: Identity): Change[] {
  if (was.digest === now.digest) return [];
  const members = ['transport', 'argv', 'cwd', 'env', 'url', 'headers', 'issuer', 'package'] as const;
  const changed = members.filter((member) => JSON.stringify(was[member]) !== JSON.stringify(now[member]));
  return [
    {
      kind: 'server',
      key: '',
      class: 'identity',
      effect: 'stop',
      what: `how it is reached changed: ${changed.map((member) => WORDS[member]).join(', ')}`,
      facets: ['id'],
      was: was as unknown as JsonObject,
      now: now as unknown as JsonObject,
      wasDigest: was.digest,
      nowDigest: now.digest,
    },
  ];
}

const WORDS = {
  transport: 'the transport',
  argv: 'the command',
  cwd: 'the working directory',
  env: 'the names of its environment',
  url: 'the address',
  headers: 'the names of its headers',
  issuer: 'who signs in',
  package: 'the package',
} as const;
