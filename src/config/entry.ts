/** One server's entry of a configuration file, in any format, as a ServerSpec. */
import type { ServerSpec } from '../types.ts';
import {
  complain,
  duration,
  type EntryReading,
  flag,
  members,
  type Path,
  type Reading,
  set,
  text,
  textMap,
  texts,
  unread,
} from './fields.ts';
import { suggestion } from './problems.ts';
import { APPROVAL, era, ISOLATION, oneOf, timeouts, toolSelection, transportType, VIA } from './settings.ts';
import type { Entry, Item } from './syntax.ts';
import { type Draft, transportOf } from './transport.ts';

type Field = (draft: Draft, item: Item, path: Path, reading: EntryReading) => void;
/** The keys of a format's entries. */
export type Fields = Readonly<Record<string, Field>>;

const transport: Fields = {
  type: (draft, item, path, reading) => set(draft, 'type', transportType(item, path, reading)),
  command: (draft, item, path, reading) => set(draft, 'command', text(item, path, reading)),
  args: (draft, item, path, reading) => set(draft, 'args', texts(item, path, reading)),
  env: (draft, item, path, reading) => set(draft, 'env', textMap(item, path, reading)),
  cwd: (draft, item, path, reading) => set(draft, 'cwd', text(item, path, reading)),
  url: (draft, item, path, reading) => set(draft, 'url', text(item, path, reading)),
  headers: (draft, item, path, reading) => set(draft, 'headers', textMap(item, path, reading)),
};

/** `mcpServers` as most programs write it. */
export const commonFields: Fields = {
  ...transport,
  disabled: (draft, item, path, reading) => set(draft.rest, 'disabled', flag(item, path, reading)),
};

export const midspanFields: Fields = {
  ...commonFields,
  era: (draft, item, path, reading) => set(draft.rest, 'era', era(item, path, reading)),
  timeouts: (draft, item, path, reading) => set(draft.rest, 'timeouts', timeouts(item, path, reading)),
  tools: (draft, item, path, reading) => set(draft.rest, 'tools', toolSelection(item, path, reading)),
  isolation: (draft, item, path, reading) =>
    set(draft.rest, 'isolation', oneOf(item, path, reading, ISOLATION)),
  via: (draft, item, path, reading) => set(draft.rest, 'via', oneOf(item, path, reading, VIA)),
  approval: (draft, item, path, reading) => set(draft.rest, 'approval', oneOf(item, path, reading, APPROVAL)),
};

export const codexFields: Fields = {
  command: transport['command'] as Field,
  args: transport['args'] as Field,
  env: (draft, item, path, reading) => merge(draft.env, textMap(item, path, reading)),
  env_vars: (draft, item, _path, reading) => {
    // A name, or a table with a name and where it comes from.
    const names = (Array.isArray(item.value) ? item.value : []).map(({ value }) =>
      value instanceof Map ? value.get('name')?.item.value : value,
    );
    for (const name of names) {
      const value = typeof name === 'string' ? reading.variables.env[name] : undefined;
      if (value !== undefined && !draft.env.has(name as string)) draft.env.set(name as string, value);
    }
  },
  cwd: transport['cwd'] as Field,
  url: transport['url'] as Field,
  http_headers: (draft, item, path, reading) => merge(draft.headers, textMap(item, path, reading)),
  env_http_headers: (draft, item, path, reading) => {
    for (const [header, name] of textMap(item, path, reading) ?? []) {
      const value = fromEnvironment(name, item, [...path, header], reading);
      if (value !== undefined) draft.headers.set(header, value);
    }
  },
  bearer_token_env_var: (draft, item, path, reading) => {
    const name = text(item, path, reading);
    const token = name === undefined ? undefined : fromEnvironment(name, item, path, reading);
    if (token !== undefined) draft.headers.set('Authorization', `Bearer ${token}`);
  },
  startup_timeout_sec: (draft, item, path, reading) =>
    setTimeoutOf(draft, 'start', duration(item, path, reading, 1000)),
  startup_timeout_ms: (draft, item, path, reading) =>
    setTimeoutOf(draft, 'start', duration(item, path, reading, 1)),
  tool_timeout_sec: (draft, item, path, reading) =>
    setTimeoutOf(draft, 'call', duration(item, path, reading, 1000)),
  enabled: (draft, item, path, reading) => {
    if (flag(item, path, reading) === false) draft.rest.disabled = true;
  },
  enabled_tools: (draft, item, path, reading) => selectTools(draft, 'allow', texts(item, path, reading)),
  disabled_tools: (draft, item, path, reading) => selectTools(draft, 'deny', texts(item, path, reading)),
};

/** Keys that people write for ours, and that no spelling distance finds. */
const MEANT: Readonly<Record<string, string>> = {
  transport: 'type',
  httpUrl: 'url',
  serverUrl: 'url',
  endpoint: 'url',
  environment: 'env',
  workingDirectory: 'cwd',
  enabled: 'disabled',
  timeout: 'timeouts',
  protocolVersion: 'era',
  allowedTools: 'tools',
  includeTools: 'tools',
  excludeTools: 'tools',
  alwaysAllow: 'tools',
};

/** Undefined when the entry is too wrong to be one; the problems say why. */
export function readEntry(
  label: string,
  entry: Entry,
  path: Path,
  fields: Fields,
  outer: Omit<EntryReading, 'disabled'>,
): ServerSpec | undefined {
  const keys = entry.item.value;
  const isOff =
    keys instanceof Map &&
    (keys.get('disabled')?.item.value === true || keys.get('enabled')?.item.value === false);
  const reading: EntryReading = { ...outer, disabled: isOff };
  const entries = members(entry.item, path, reading);
  if (entries === undefined) return undefined;
  checkLabel(label, entry, path, reading);
  const draft: Draft = { args: [], env: new Map(), headers: new Map(), rest: {} };
  for (const [key, { item, place }] of entries) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field !== undefined) field(draft, item, [...path, key], reading);
    else unread([...path, key], place, reading, unknownKey(key, fields, reading.strict));
  }
  const spec = transportOf(draft, entry, entries, path, reading);
  checkDelegation(draft, entries, path, reading);
  return spec === undefined ? undefined : { label, transport: spec, ...draft.rest };
}

function unknownKey(key: string, fields: Fields, strict: boolean): string {
  const meant = Object.hasOwn(MEANT, key) ? MEANT[key] : undefined;
  if (meant !== undefined && Object.hasOwn(fields, meant))
    return `unknown key; did you mean ${JSON.stringify(meant)}?`;
  if (!strict && Object.hasOwn(midspanFields, key)) return 'only midspan.json has this key';
  return `unknown key${suggestion(key, Object.keys(fields))}`;
}

function checkDelegation(
  { command, rest }: Draft,
  entries: ReadonlyMap<string, Entry>,
  path: Path,
  reading: Reading,
): void {
  if (rest.via === 'provider' && command !== undefined) {
    complain(
      [...path, 'via'],
      entries.get('via')?.place,
      reading,
      "is provider, which needs a url: a model's provider cannot start a program on this machine",
    );
  }
  if (rest.approval !== undefined && rest.via !== 'provider') {
    complain(
      [...path, 'approval'],
      entries.get('approval')?.place,
      reading,
      'has a meaning only beside `"via": "provider"`',
    );
  }
}

function checkLabel(label: string, entry: Entry, path: Path, reading: Reading): void {
  const isPlain = label.trim() !== '' && label.length <= 100 && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(label);
  if (!isPlain)
    complain(path, entry.place, reading, 'a label must have 1 to 100 characters, all of them visible');
  else if (label === '__proto__') complain(path, entry.place, reading, 'this label cannot be used');
}

function fromEnvironment(name: string, item: Item, path: Path, reading: Reading): string | undefined {
  const value = Object.hasOwn(reading.variables.env, name) ? reading.variables.env[name] : undefined;
  if (value !== undefined || reading.disabled) return value;
  return complain(path, item.place, reading, `the environment variable ${name} is not set`);
}

function setTimeoutOf(draft: Draft, name: 'start' | 'call', value: number | undefined): void {
  if (value !== undefined) draft.rest.timeouts = { ...draft.rest.timeouts, [name]: value };
}

/** Codex lists plain names; ours are globs. */
function selectTools(draft: Draft, name: 'allow' | 'deny', tools: readonly string[] | undefined): void {
  if (tools === undefined) return;
  draft.rest.tools = {
    ...draft.rest.tools,
    [name]: tools.map((tool) => tool.replace(/[\\*?[\]{}()!+@|^$]/g, '\\$&')),
  };
}

function merge(target: Map<string, string>, more: ReadonlyMap<string, string> | undefined): void {
  for (const [key, value] of more ?? []) target.set(key, value);
}
