/** The settings of a server beside its transport: type, era, time limits, and which tools are shown. */
import { versionsOf } from '../mcp/versions.ts';
import type { ServerSpec, ToolSelection } from '../types.ts';
import {
  complain,
  duration,
  type EntryReading,
  members,
  type Path,
  type Reading,
  set,
  text,
  textMap,
  texts,
} from './fields.ts';
import { suggestion } from './problems.ts';
import type { Entry, Item } from './syntax.ts';
import type { Draft } from './transport.ts';

const TYPES: Readonly<Record<string, Draft['type']>> = {
  stdio: 'stdio',
  http: 'http',
  streamablehttp: 'http',
  sse: 'sse',
};

export function transportType(item: Item, path: Path, reading: Reading): Draft['type'] {
  const known = ['stdio', 'http', 'streamable-http', 'sse'];
  const value = text(item, path, reading);
  if (value === undefined) return undefined;
  const folded = value.toLowerCase().replace(/[-_]/g, '');
  if (Object.hasOwn(TYPES, folded)) return TYPES[folded];
  return complain(
    path,
    item.place,
    reading,
    `unknown transport type; known are ${known.join(', ')}${suggestion(value, known)}`,
  );
}

export function era(item: Item, path: Path, reading: Reading): ServerSpec['era'] {
  const known = ['auto', 'legacy', 'modern', ...versionsOf('modern'), ...versionsOf('legacy')];
  const value = text(item, path, reading);
  if (value === undefined || known.includes(value)) return value;
  return complain(path, item.place, reading, `must be one of ${known.join(', ')}${suggestion(value, known)}`);
}

export const VIA = ['host', 'provider'] as const;
export const APPROVAL = ['always', 'never'] as const;
export const ISOLATION = ['shared', 'principal', 'client'] as const;

export function oneOf<T extends string>(
  item: Item,
  path: Path,
  reading: Reading,
  known: readonly T[],
): T | undefined {
  const value = text(item, path, reading);
  const found = known.find((one) => one === value);
  if (value === undefined || found !== undefined) return found;
  return complain(path, item.place, reading, `must be one of ${known.join(', ')}${suggestion(value, known)}`);
}

export function timeouts(item: Item, path: Path, reading: Reading): ServerSpec['timeouts'] {
  const result: NonNullable<ServerSpec['timeouts']> = {};
  const known = ['start', 'call', 'callMax'] as const;
  for (const [key, entry] of members(item, path, reading) ?? []) {
    const name = known.find((candidate) => candidate === key);
    if (name === undefined)
      complain([...path, key], entry.place, reading, `unknown key${suggestion(key, known)}`);
    else set(result, name, duration(entry.item, [...path, key], reading, 1));
  }
  if (result.call !== undefined && result.callMax !== undefined && result.call > result.callMax) {
    return complain([...path, 'callMax'], item.place, reading, 'must not be less than `call`');
  }
  return result;
}

const SELECTIONS = ['allow', 'deny', 'strict', 'alias'];

export function toolSelection(item: Item, path: Path, reading: EntryReading): ToolSelection {
  const result: ToolSelection = {};
  for (const [key, entry] of members(item, path, reading) ?? []) {
    const here = [...path, key];
    if (key === 'allow' || key === 'deny' || key === 'strict')
      set(result, key, patterns(entry.item, here, reading));
    else if (key === 'alias') set(result, key, aliases(entry.item, here, reading));
    else complain(here, entry.place, reading, `unknown key${suggestion(key, SELECTIONS)}`);
  }
  return result;
}

function patterns(item: Item, path: Path, reading: Reading): string[] | undefined {
  const globs = texts(item, path, reading);
  if (globs?.includes('') === true) complain(path, item.place, reading, 'must not hold an empty pattern');
  return globs;
}

/** The same form as every exposed name: what all providers accept. */
const EXPOSED_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,62}$/;

function aliases(item: Item, path: Path, reading: EntryReading): Record<string, string> | undefined {
  const names = textMap(item, path, reading);
  if (names === undefined) return undefined;
  for (const [tool, alias] of names) {
    const here = [...path, tool];
    const { place } = (item.value as Map<string, Entry>).get(tool) as Entry;
    const first = reading.aliases.get(alias);
    if (!EXPOSED_NAME.test(alias))
      complain(
        here,
        place,
        reading,
        'must be 1 to 63 letters, digits, _ and -, and not start with a digit or -',
      );
    else if (first !== undefined)
      complain(here, place, reading, `gives an alias that ${first.join('.')} gives too`);
    else reading.aliases.set(alias, here);
  }
  return Object.fromEntries(names);
}
