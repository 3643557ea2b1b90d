/** `trust` and `policy` of midspan.json: where the lock is, how strictly it holds, and which calls run unasked. */
import path from 'node:path';
import { validate } from '../schema/index.ts';
import type { Action, Json, JsonObject, Policy, PolicyRule, ToolLabel, TrustSettings } from '../types.ts';
import {
  complain,
  type EntryReading,
  members,
  type Path,
  type Readers,
  readInto,
  type Reading,
  set,
  text,
  texts,
} from './fields.ts';
import { oneOf } from './settings.ts';
import type { Entry, Item } from './syntax.ts';

/** Tools that the host labels as reading alone run unasked; everything else asks. */
export const DEFAULT_POLICY: Policy = { rules: [], labels: [], default: 'reads', protectedPaths: [] };

export const LOCK_NAME = 'midspan.lock.json';

const ACTIONS: readonly Action[] = ['allow', 'ask', 'deny'];
const DEFAULTS: readonly Policy['default'][] = ['reads', ...ACTIONS];
export const TOOL_LABELS: readonly ToolLabel[] = ['reads', 'untrusted', 'private', 'sends', 'destroys'];
const MODES: readonly TrustSettings['mode'][] = ['auto', 'required', 'off'];
const PROFILES: readonly TrustSettings['profile'][] = ['standard', 'strict', 'frozen'];

/** @param file the configuration's own, which the lock stands beside. */
export function trustSettings(
  entry: Entry | undefined,
  reading: EntryReading,
  file: string | undefined,
): TrustSettings {
  const settings: TrustSettings = {
    lock: file === undefined ? undefined : path.join(path.dirname(file), LOCK_NAME),
    mode: 'auto',
    profile: 'standard',
  };
  if (entry !== undefined) readInto(settings, entry.item, ['trust'], reading, TRUST);
  return settings;
}

const TRUST: Readers<TrustSettings> = {
  lock: (item, at, reading) => {
    const file = text(item, at, reading);
    if (file === '') return complain(at, item.place, reading, 'must not be empty');
    return file === undefined
      ? undefined
      : path.resolve(
          reading.base,
          file.replace(/^~(?=$|[/\\])/, () => reading.home),
        );
  },
  mode: (item, at, reading) => oneOf(item, at, reading, MODES),
  profile: (item, at, reading) => oneOf(item, at, reading, PROFILES),
};

export function policySettings(entry: Entry | undefined, reading: EntryReading): Policy {
  const policy: Policy = { ...DEFAULT_POLICY };
  if (entry === undefined) return policy;
  const { item } = entry;
  if (typeof item.value === 'string') set(policy, 'default', oneOf(item, ['policy'], reading, DEFAULTS));
  else readInto(policy, item, ['policy'], reading, POLICY);
  return policy;
}

/** `a/b` may be the tool `b` of `a`, or the beginning of a tool of the server `a/b`: globs cannot tell. */
export function warnOfLabels(labels: readonly string[], root: string, { problems }: Reading): void {
  for (const label of labels) {
    const shorter = labels.find((other) => label.startsWith(`${other}/`));
    if (shorter !== undefined)
      problems.warn(
        [root, label],
        undefined,
        `rules of a policy cannot tell its tools from tools of ${JSON.stringify(shorter)}; rename one`,
      );
  }
}

const POLICY: Readers<Policy> = {
  default: (item, at, reading) => oneOf(item, at, reading, DEFAULTS),
  protectedPaths: globs,
  labels: (item, at, reading) =>
    [...(members(item, at, reading) ?? [])].map(([tools, entry]) => {
      if (tools === '') complain([...at, tools], entry.place, reading, 'must not be an empty pattern');
      return { tools, labels: labelList(entry.item, [...at, tools], reading) };
    }),
  rules: (item, at, reading) => {
    if (!Array.isArray(item.value)) return complain(at, item.place, reading, 'must be an array of rules');
    return item.value.flatMap((member, index) => rule(member, [...at, String(index)], reading) ?? []);
  },
};

const RULE: Readers<PolicyRule> = {
  tools: globs,
  labels: labelList,
  arguments: schema,
  action: (item, at, reading) => oneOf(item, at, reading, ACTIONS),
  tainted: (item, at, reading) => oneOf(item, at, reading, ['allow']),
  reason: text,
};

function rule(item: Item, at: Path, reading: EntryReading): PolicyRule | undefined {
  if (members(item, at, reading) === undefined) return undefined;
  const draft: Partial<PolicyRule> = {};
  readInto(draft, item, at, reading, RULE as Readers<Partial<PolicyRule>>);
  const { action, tainted } = draft;
  if (!(item.value as Map<string, Entry>).has('action'))
    complain(at, item.place, reading, `has no \`action\`; it is one of ${ACTIONS.join(', ')}`);
  if (tainted !== undefined && action !== 'allow')
    complain([...at, 'tainted'], item.place, reading, 'has a meaning only beside `"action": "allow"`');
  return action === undefined ? undefined : { ...draft, action };
}

/** Patterns that match something. */
export function globs(item: Item, at: Path, reading: EntryReading): string[] | undefined {
  const found = texts(item, at, reading);
  if (found?.includes('') === true) complain(at, item.place, reading, 'must not hold an empty pattern');
  // An empty list would match nothing, and a rule that never matches is a mistake that nobody notices.
  if (found?.length === 0 && at.at(-1) === 'tools')
    complain(at, item.place, reading, 'names no tool; leave it out to mean every tool');
  return found;
}

function labelList(item: Item, at: Path, reading: EntryReading): ToolLabel[] {
  if (!Array.isArray(item.value)) {
    complain(at, item.place, reading, `must be an array of ${TOOL_LABELS.join(', ')}`);
    return [];
  }
  const found = item.value.flatMap(
    (member, index) => oneOf(member, [...at, String(index)], reading, TOOL_LABELS) ?? [],
  );
  return TOOL_LABELS.filter((label) => found.includes(label));
}

/** A schema that can never be checked would make its rule ask for ever: it is refused here. */
function schema(item: Item, at: Path, reading: EntryReading): JsonObject | undefined {
  if (members(item, at, reading) === undefined) return undefined;
  const found = plain(item) as JsonObject;
  const verdict = validate(found, {});
  if (verdict.ok === 'unchecked')
    return complain(at, item.place, reading, `is a schema that cannot be checked: ${verdict.reason}`);
  return found;
}

function plain({ value }: Item): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, { item }]) => [key, plain(item)]));
}
