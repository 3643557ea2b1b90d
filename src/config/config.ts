/** The configuration: found, read, checked as a whole, and resolved. Whatever is wrong is told at once, never a value. */
import { open, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { MidspanError } from '../errors.ts';
import type { Policy, ServerSpec, TrustSettings } from '../types.ts';
import { readEntry } from './entry.ts';
import { type EntryReading, members, texts } from './fields.ts';
import { baseOf, codex, type Format, type FormatId, given, isToml, jsonFormat } from './formats.ts';
import { collectProblems, type Problems, suggestion } from './problems.ts';
import { type ServeSettings, serveSettings } from './serve.ts';
import { type Entry, fromObject, type Item, readJson, readToml, SyntaxProblem } from './syntax.ts';
import { policySettings, trustSettings, warnOfLabels } from './trust.ts';
import type { Environment, SecretReader } from './variables.ts';

/** A configuration, resolved: variables expanded, paths absolute, servers in file order. */
export interface Config {
  /** The file it came from; undefined when it was given as an object. */
  path: string | undefined;
  /** Which program's format it was read as. */
  format: FormatId;
  servers: ServerSpec[];
  trust: TrustSettings;
  policy: Policy;
  /** Names of arguments whose values are never recorded, beside those that look like secrets. */
  redact: string[];
  /** How `midspan serve` serves. */
  serve: ServeSettings;
  /** What was ignored or looks wrong but is not an error, naming file, line and key. */
  warnings: string[];
}

/** Beside the servers, in our own format alone. */
const OWN_KEYS: readonly string[] = ['trust', 'policy', 'redact', 'serve'];

const FILE_NAMES = ['midspan.json', '.mcp.json'] as const;
export const MAX_FILE_BYTES = 8 * 1024 * 1024;

/**
 * Reads `path`, or the first `midspan.json` or `.mcp.json` from `cwd` upwards.
 * @throws MidspanError `config`, listing every problem with file, line, column and key.
 */
export async function loadConfig(options: {
  path?: string;
  cwd: string;
  env: Environment;
  /** Default: none is stored. */
  secret?: SecretReader;
}): Promise<Config> {
  const file =
    options.path === undefined ? await findConfig(options.cwd) : path.resolve(options.cwd, options.path);
  const text = await readText(file);
  const problems = collectProblems(file);
  const { root, format } = parse(file, text, problems);
  const { env, secret } = options;
  return resolve(root, format, { file, base: baseOf(file), env, secret, problems });
}

/**
 * A configuration given as an object, in the form of `midspan.json`.
 * @param options.base where relative working directories start; absolute.
 * @throws MidspanError `config`, listing every problem by key.
 */
export function readConfig(
  object: object,
  options: { env: Environment; base: string; secret?: SecretReader },
): Config {
  return resolve(fromObject(object), given, {
    secret: undefined,
    ...options,
    file: undefined,
    problems: collectProblems(undefined),
  });
}

async function findConfig(cwd: string): Promise<string> {
  for (let folder = path.resolve(cwd); ; folder = path.dirname(folder)) {
    for (const name of FILE_NAMES) {
      const file = path.join(folder, name);
      const found = await stat(file).catch(() => undefined);
      if (found === undefined || !found.isFile()) continue;
      checkOwner(file, found.uid);
      return file;
    }
    if (folder === path.dirname(folder)) break;
  }
  throw new MidspanError({
    code: 'config',
    what: `there is no ${FILE_NAMES.join(' or ')} in ${cwd} or above it`,
    next: 'Write one, or name a file by --config',
  });
}

/** A configuration starts programs. One that somebody else left in a shared folder above us is not taken by itself. */
function checkOwner(file: string, owner: number): void {
  const self = process.getuid?.();
  if (self === undefined || owner === self || owner === 0) return;
  throw new MidspanError({
    code: 'config',
    what: `${file} was found but belongs to another user, and a configuration starts programs`,
    next: `Read it first; then name it: --config ${file}`,
  });
}

async function readText(file: string): Promise<string> {
  const fail = (what: string, next: string, cause?: unknown): never => {
    throw new MidspanError({ code: 'config', what: `${file}: ${what}`, next, cause });
  };
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT'
      ? fail('there is no such file', 'Check the path', error)
      : fail(`cannot be opened (${error.code ?? 'error'})`, 'Check its permissions', error),
  );
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) fail('is not a file', 'Name a configuration file');
    if (facts.size > MAX_FILE_BYTES)
      fail(`is larger than ${MAX_FILE_BYTES} bytes`, 'Name a configuration file');
    const bytes = await handle.readFile();
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) fail('is not UTF-8 text', 'Save it as UTF-8', error);
    throw error;
  } finally {
    await handle.close();
  }
}

function parse(file: string, text: string, problems: Problems): { root: Item; format: Format } {
  try {
    if (isToml(file)) return { root: readToml(text), format: codex };
    const root = readJson(text, (where, place, first) =>
      problems.error(
        where,
        place,
        `is written twice${first === undefined ? '' : `; first in line ${first.line}`}`,
      ),
    );
    return { root, format: jsonFormat(file, root) };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    problems.error([], error.place, error.message);
    problems.check();
    throw error;
  }
}

interface Origin {
  file: string | undefined;
  base: string;
  env: Environment;
  secret: SecretReader | undefined;
  problems: Problems;
}

function resolve(root: Item, format: Format, { file, base, env, secret, problems }: Origin): Config {
  const home = env['HOME'] ?? env['USERPROFILE'] ?? homedir();
  const reading: EntryReading = {
    problems,
    strict: format.strict,
    disabled: false,
    base,
    home,
    aliases: new Map(),
    variables: {
      env,
      secret: secret ?? (() => undefined),
      fixed: new Map(format.workspace === true ? workspaceVariables(base, home) : []),
      inputs: format.inputs === true ? inputIds(root) : undefined,
    },
  };
  const servers: ServerSpec[] = [];
  const top = members(root, [], reading);
  for (const [key, { place }] of top ?? []) {
    if (key === format.root || key === '$schema') continue;
    if (OWN_KEYS.includes(key)) {
      if (!format.strict) problems.warn([key], place, 'ignored: only midspan.json has this key');
      continue;
    }
    const isNear = suggestion(key, [format.root, 'servers', 'mcpServers']) !== '' || key === 'servers';
    const meant = isNear ? `; did you mean ${JSON.stringify(format.root)}?` : suggestion(key, OWN_KEYS);
    const message = `unknown key${isNear || format.strict ? meant : ''}`;
    if (format.strict) problems.error([key], place, message);
    // Other programs keep settings of their own beside the servers.
    else if (isNear && top?.has(format.root) !== true) problems.warn([key], place, message);
  }
  const list = top?.get(format.root);
  if (top !== undefined && list === undefined)
    problems.error([], root.place, `there is no \`${format.root}\` in it`);
  for (const [label, entry] of (list && members(list.item, [format.root], reading)) ?? []) {
    const spec = readEntry(label, entry, [format.root, label], format.fields, reading);
    if (spec !== undefined) servers.push(spec);
  }
  const own = (key: string): Entry | undefined => (format.strict ? top?.get(key) : undefined);
  const trust = trustSettings(own('trust'), reading, file);
  const policy = policySettings(own('policy'), reading);
  const hidden = own('redact');
  const redact = (hidden && texts(hidden.item, ['redact'], reading)) ?? [];
  const serve = serveSettings(own('serve'), reading);
  const labels = servers.map(({ label }) => label);
  warnOfLabels(labels, format.root, reading);
  problems.check();
  return {
    path: file,
    format: format.id,
    servers,
    trust,
    policy,
    redact,
    serve,
    warnings: problems.warnings(),
  };
}

/** The forms that Cursor and VS Code share. */
function workspaceVariables(folder: string, home: string): [string, string][] {
  return [
    ['workspaceFolder', folder],
    ['workspaceFolderBasename', path.basename(folder)],
    ['userHome', home],
    ['pathSeparator', path.sep],
    ['/', path.sep],
  ];
}

function inputIds(root: Item): Set<string> {
  const inputs = root.value instanceof Map ? root.value.get('inputs')?.item.value : undefined;
  const ids = (Array.isArray(inputs) ? inputs : []).map(({ value }) =>
    value instanceof Map ? value.get('id')?.item.value : undefined,
  );
  return new Set(ids.filter((id) => typeof id === 'string'));
}
