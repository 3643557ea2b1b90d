/** What a server lists now against what was approved of it: every difference, graded. Pure. */
import { canonicalJson } from '../../canonical.ts';
import type { Item, ItemKind, JsonObject, Surface } from '../../types.ts';
import { scanText } from '../scan/scan.ts';
import { addedSpan, gradeItem } from './compare-item.ts';
import { itemDigest } from './digest.ts';
import { nameOf } from './facets.ts';
import { compareIdentities } from './identity.ts';
import type { Change, Effect, Identity, ItemPin, Profile, ServerPin } from './lock.ts';
import { fitsVolatile } from './volatile.ts';

export interface CompareOptions {
  /** strict and frozen: whatever would be served from the pin is withheld. Default standard. */
  profile?: Profile;
  /** Digests that are known already, by item. */
  digest?: (kind: ItemKind, value: JsonObject) => string;
}

export const KINDS = [
  { kind: 'tool', list: 'tools', key: 'name' },
  { kind: 'prompt', list: 'prompts', key: 'name' },
  { kind: 'resource', list: 'resources', key: 'uri' },
  { kind: 'template', list: 'templates', key: 'uriTemplate' },
] as const;

/** How like a removed item a new one must be to be told as its new name. */
export const RENAMED = 0.85;

/** Every difference between what is pinned and what there is. Lists that are absent from `live` are not compared. */
export function compare(
  pin: ServerPin,
  { identity, surface }: { identity?: Identity; surface: Surface },
  { profile = 'standard', digest = itemDigest }: CompareOptions = {},
): Change[] {
  const changes = [
    ...(identity === undefined ? [] : compareIdentities(pin.identity, identity)),
    ...compareInfo(pin.serverInfo, surface.serverInfo),
    ...compareInstructions(pin, surface),
    ...KINDS.flatMap(({ kind, list, key }) => {
      const live = surface[list];
      return live === undefined ? [] : compareItems(kind, key, pin[list], live, digest);
    }),
  ];
  if (profile === 'standard') return changes;
  return changes.map((change) =>
    change.effect === 'serve-pinned' && change.kind !== 'server' ? { ...change, effect: 'withhold' } : change,
  );
}

function compareInfo(was: JsonObject, now: JsonObject): Change[] {
  if (canonicalJson(was) === canonicalJson(now)) return [];
  const keys = [...new Set([...Object.keys(was), ...Object.keys(now)])].filter(
    (key) => canonicalJson(was[key] ?? null) !== canonicalJson(now[key] ?? null),
  );
  const isVersion = keys.every((key) => key === 'version' || key === 'icons');
  const change = {
    kind: 'server',
    key: '',
    class: isVersion ? 'version' : 'server-text',
    effect: isVersion ? 'inform' : 'serve-pinned',
    what: isVersion ? 'its version changed' : 'what the server says of itself changed',
    facets: isVersion ? [] : ['text'],
    was,
    now,
    wasDigest: itemDigest('server', was),
    nowDigest: itemDigest('server', now),
  } as const;
  return [{ ...change, facets: [...change.facets] }];
}

function compareInstructions(pin: ServerPin, { instructions }: Surface): Change[] {
  const was = pin.instructions?.text;
  if (was === instructions) return [];
  const base = {
    kind: 'instructions',
    key: '',
    class: 'instructions',
    facets: ['text'],
  } satisfies Partial<Change>;
  if (instructions === undefined) {
    return [
      {
        ...base,
        class: 'removed',
        effect: 'inform',
        what: 'its instructions are gone',
        ...(was !== undefined && { was }),
      },
    ];
  }
  const [start, end] = addedSpan(was ?? '', instructions);
  const findings = scanText(instructions, { kind: 'instructions', key: '', pointer: '' }).filter(
    (finding) => finding.end > start && finding.start < end,
  );
  return [
    {
      ...base,
      effect: 'serve-pinned',
      what: was === undefined ? 'it now gives instructions' : 'its instructions changed',
      ...(was !== undefined && { was }),
      now: instructions,
      ...(pin.instructions !== undefined && { wasDigest: pin.instructions.digest }),
      nowDigest: itemDigest('instructions', instructions),
      ...(findings.length > 0 && { findings }),
    },
  ];
}

function compareItems(
  kind: ItemKind,
  keyMember: string,
  pins: { [key: string]: ItemPin },
  live: readonly JsonObject[],
  digest: (kind: ItemKind, value: JsonObject) => string,
): Change[] {
  const changes: Change[] = [];
  const now = new Map<string, JsonObject>();
  const doubled = new Set<string>();
  for (const item of live) {
    const key = nameOf(item, keyMember);
    if (now.has(key)) doubled.add(key);
    now.set(key, item);
  }
  const removed = Object.keys(pins).filter((key) => !now.has(key));
  const renamed = new Set<string>();
  for (const [key, item] of [...now].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const subject: Item = { kind, key };
    if (doubled.has(key)) {
      changes.push({
        ...subject,
        class: 'malformed',
        effect: 'withhold',
        what: 'two of this name are listed',
        facets: [],
      });
      continue;
    }
    const pin = Object.hasOwn(pins, key) ? pins[key] : undefined;
    const nowDigest = safeDigest(kind, item, digest);
    if (nowDigest === undefined) {
      changes.push({
        ...subject,
        class: 'malformed',
        effect: 'withhold',
        what: 'it cannot be written as canonical JSON',
        facets: [],
      });
    } else if (pin === undefined) {
      const from = removed.find(
        (old) => !renamed.has(old) && likeness(pins[old]?.definition ?? {}, item) >= RENAMED,
      );
      if (from !== undefined) renamed.add(from);
      changes.push({
        ...subject,
        class: from === undefined ? 'added' : 'renamed',
        effect: 'withhold',
        what: from === undefined ? 'it is new' : `it is new, and much like one that is gone`,
        facets: [],
        now: item,
        nowDigest,
        ...(from !== undefined && { renamedFrom: from, was: pins[from]?.definition ?? {} }),
        ...(from !== undefined && pins[from] !== undefined && { wasDigest: pins[from].digest }),
      });
    } else if (
      nowDigest !== pin.digest &&
      pin.variants?.includes(nowDigest) !== true &&
      !fitsVolatile(pin, item)
    ) {
      const { grades, facets } = gradeItem(subject, pin.definition, item);
      for (const { class: name, effect, what, findings } of grades) {
        changes.push({
          ...subject,
          class: name,
          effect,
          what,
          facets,
          was: pin.definition,
          now: item,
          wasDigest: pin.digest,
          nowDigest,
          ...(findings !== undefined && { findings }),
        });
      }
    }
  }
  for (const key of removed.sort()) {
    const pin = pins[key];
    if (pin === undefined || renamed.has(key)) continue;
    const { definition: was, digest: wasDigest } = pin;
    changes.push({
      kind,
      key,
      class: 'removed',
      effect: 'inform',
      what: 'it is gone',
      facets: [],
      was,
      wasDigest,
    });
  }
  return changes;
}

function safeDigest(
  kind: ItemKind,
  item: JsonObject,
  digest: (kind: ItemKind, value: JsonObject) => string,
): string | undefined {
  try {
    return digest(kind, item);
  } catch {
    return undefined;
  }
}

/** From 0 to 1: how many of the words and names of two definitions are the same, their own names aside. */
function likeness(a: JsonObject, b: JsonObject): number {
  const [first, second] = [wordsOf(a), wordsOf(b)];
  let common = 0;
  for (const word of first) if (second.has(word)) common += 1;
  return first.size + second.size === 0 ? 0 : common / (first.size + second.size - common);
}

function wordsOf(item: JsonObject): Set<string> {
  const { name: _name, uri: _uri, uriTemplate: _template, title: _title, ...rest } = item;
  return new Set(
    canonicalJson(rest)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  );
}

const ORDER: readonly Effect[] = ['inform', 'serve-pinned', 'withhold', 'stop'];

/** The worst of several effects; undefined of none. */
export function worstOf(changes: readonly Pick<Change, 'effect'>[]): Effect | undefined {
  return ORDER.findLast((effect) => changes.some((change) => change.effect === effect));
}
