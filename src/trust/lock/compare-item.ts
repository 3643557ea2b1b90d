/** What one changed item comes to, by the decision matrix: each part that changed gets a class and an effect. */
import { objectOf } from '../../schema/keywords.ts';
import { canonicalJson } from '../../canonical.ts';
import type { Item, JsonObject } from '../../types.ts';
import type { Finding } from '../findings.ts';
import { scanText } from '../scan/scan.ts';
import { compareSchemas, type SchemaChange } from './compare-schema.ts';
import { type Parts, partsOf, type TextLeaves } from './facets.ts';
import type { Effect } from './lock.ts';

/** One part of a change. */
export interface Grade {
  class: string;
  effect: Effect;
  what: string;
  findings?: Finding[];
}

/** Characters by which words may grow and still be called small. */
export const SMALL_TEXT = 200;

export function gradeItem(
  item: Item,
  was: JsonObject,
  now: JsonObject,
): { grades: Grade[]; facets: string[] } {
  const [before, after] = [partsOf(item.kind, was), partsOf(item.kind, now)];
  const facets = (Object.keys(before) as (keyof Parts)[]).filter(
    (facet) => canonicalJson(before[facet]) !== canonicalJson(after[facet]),
  );
  const touched = new Set(facets);
  const grades: Grade[] = [];
  if (touched.has('hints')) grades.push(gradeHints(was, now));
  if (touched.has('shape') || touched.has('text')) grades.push(...gradeShape(item, was, now));
  if (touched.has('text')) {
    const grade = gradeText(item, before.text, after.text);
    if (grade !== undefined) grades.push(grade);
  }
  if (touched.has('out'))
    grades.push({ class: 'output', effect: 'serve-pinned', what: 'the output schema changed' });
  if (touched.has('meta'))
    grades.push({
      class: 'meta',
      effect: 'serve-pinned',
      what: 'members outside of the specification changed',
    });
  if (touched.has('look')) grades.push({ class: 'look', effect: 'inform', what: 'the icons changed' });
  // Every difference has a class.
  if (grades.length === 0) grades.push({ class: 'details', effect: 'serve-pinned', what: 'details changed' });
  // Beyond tools nothing is served from the pin: it is hidden until reviewed.
  if (item.kind !== 'tool')
    for (const grade of grades) if (grade.effect === 'serve-pinned') grade.effect = 'withhold';
  return { grades, facets };
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;
/** What a hint says when it is absent (MCP `ToolAnnotations`). */
const ABSENT: { [hint in (typeof HINTS)[number]]: boolean } = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};
/** Which value of a hint is the more dangerous one. */
const WORSE: typeof ABSENT = { ...ABSENT };

function gradeHints(was: JsonObject, now: JsonObject): Grade {
  const [before, after] = [was['annotations'], now['annotations']];
  if (
    canonicalJson(was['execution'] ?? null) !== canonicalJson(now['execution'] ?? null) &&
    sameHints(before, after)
  )
    return { class: 'execution', effect: 'serve-pinned', what: 'how it may be run as a task changed' };
  if (before === undefined)
    return {
      class: 'hints-appeared',
      effect: 'serve-pinned',
      what: 'it now has hints; until reviewed they count for nothing',
    };
  if (after === undefined)
    return {
      class: 'hints-vanished',
      effect: 'serve-pinned',
      what: 'its hints are gone; until reviewed it counts as one that writes',
    };
  const [a, b] = [objectOf(before), objectOf(after)];
  const flips = HINTS.filter((hint) => valueOf(a, hint) !== valueOf(b, hint));
  if (flips.length === 0)
    return { class: 'hints-changed', effect: 'withhold', what: 'its hints or headers changed' };
  const tightened = flips.filter((hint) => valueOf(b, hint) === WORSE[hint]);
  const words = flips.map((hint) => `${hint} ${valueOf(a, hint)} to ${valueOf(b, hint)}`).join(', ');
  return tightened.length > 0
    ? { class: 'hints-tightened', effect: 'withhold', what: `it now admits to more: ${words}` }
    : { class: 'hints-loosened', effect: 'withhold', what: `it asks for less scrutiny: ${words}` };
}

const valueOf = (annotations: JsonObject, hint: (typeof HINTS)[number]): boolean =>
  typeof annotations[hint] === 'boolean' ? annotations[hint] : ABSENT[hint];

const sameHints = (a: JsonObject[string], b: JsonObject[string]): boolean =>
  canonicalJson(a ?? null) === canonicalJson(b ?? null);

const SHAPE_EFFECT: { [name in SchemaChange['class']]: Effect } = {
  'required-added': 'withhold',
  'property-added': 'withhold',
  widened: 'withhold',
  changed: 'withhold',
  narrowed: 'serve-pinned',
  reordered: 'inform',
};
const SHAPE_ORDER: readonly SchemaChange['class'][] = [
  'required-added',
  'property-added',
  'widened',
  'changed',
  'narrowed',
  'reordered',
];
const SHAPE_WORDS: { [name in SchemaChange['class']]: string } = {
  'required-added': 'callers must give more',
  'property-added': 'callers may give more',
  widened: 'it takes more than before',
  changed: 'its arguments changed',
  narrowed: 'it takes less than before',
  reordered: 'the order changed',
};

function gradeShape(item: Item, was: JsonObject, now: JsonObject): Grade[] {
  if (item.kind !== 'tool') {
    const [a, b] = [partsOf(item.kind, was).shape, partsOf(item.kind, now).shape];
    if (canonicalJson(a) === canonicalJson(b)) return [];
    return [{ class: 'shape', effect: 'withhold', what: 'what it takes or is changed' }];
  }
  const changes = compareSchemas(was['inputSchema'], now['inputSchema'], '/inputSchema');
  return SHAPE_ORDER.flatMap((name) => {
    const count = changes.filter((change) => change.class === name).length;
    if (count === 0) return [];
    return [
      {
        class: name,
        effect: SHAPE_EFFECT[name],
        what: `${SHAPE_WORDS[name]} (${count} ${count === 1 ? 'place' : 'places'})`,
      },
    ];
  });
}

/** Places that text must not lead to without a review: addresses, paths, mail. */
const LEADS =
  /[a-z][a-z0-9+.-]{1,20}:\/\/|www\.|@[\w-]{1,60}\.[a-z]{2,}|(?:^|[\s"'`(])(?:~|\.{0,2}\/[\w.-])/i;
const COMMANDS =
  /\b(?:must|always|never|do not|don't|instead of|before (?:using|calling)|after (?:using|calling)|required to|make sure)\b/i;

function gradeText(item: Item, was: TextLeaves, now: TextLeaves): Grade | undefined {
  const before = new Map(was);
  let added = 0;
  let leads = false;
  let commands = false;
  const findings: Finding[] = [];
  for (const [pointer, text] of now) {
    const old = before.get(pointer);
    if (old === text) continue;
    const [start, end] = addedSpan(old ?? '', text);
    if (start === end) continue;
    const fragment = text.slice(start, end);
    added += fragment.length;
    leads ||= LEADS.test(fragment);
    commands ||= COMMANDS.test(fragment);
    findings.push(
      ...scanText(text, { ...item, pointer }).filter((finding) => finding.end > start && finding.start < end),
    );
  }
  const found = findings.length > 0 ? { findings } : {};
  const told = findings.filter(({ tier }) => tier !== 'note');
  if (told.some(({ tier }) => tier === 'hard'))
    return {
      class: 'text-hostile',
      effect: 'withhold',
      what: 'its new words hide something or give orders to the model',
      ...found,
    };
  if (told.length > 0 || leads || commands) {
    const why = told.length > 0 ? 'findings' : leads ? 'an address or a path' : 'instructions';
    return { class: 'text', effect: 'withhold', what: `its new words contain ${why}`, ...found };
  }
  const small = added <= SMALL_TEXT;
  return {
    class: small ? 'text-small' : 'text',
    effect: 'serve-pinned',
    what: small
      ? `its words changed a little (${added} characters are new)`
      : `its words changed (${added} characters are new, nothing was found in them)`,
    ...found,
  };
}

/** The part of `now` between what it begins and what it ends with in common with `was`, widened to whole words. */
export function addedSpan(was: string, now: string): [start: number, end: number] {
  const most = Math.min(was.length, now.length);
  let start = 0;
  while (start < most && was[start] === now[start]) start += 1;
  let tail = 0;
  while (tail < most - start && was[was.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  let end = now.length - tail;
  if (start === end) return [start, end];
  while (start > 0 && /\S/.test(now[start - 1] ?? '')) start -= 1;
  while (end < now.length && /\S/.test(now[end] ?? '')) end += 1;
  return [start, end];
}
