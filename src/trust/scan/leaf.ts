/** The rules over one text. Pure; remembered by text, since the same few strings stand in most definitions. */
import type { Finding, Tier } from '../findings.ts';
import { messageOf } from '../../errors.ts';
import { decodedTexts } from './decode.ts';
import { drawHidden } from './draw.ts';
import { isMention } from './mention.ts';
import type { Explained, Hit, Leaf, LeafRule, PhraseRule, Role, View } from './rule.ts';
import {
  CHARACTER_RULES,
  DEGRADED,
  ENCODED,
  NAME,
  ODD_PLACE,
  PADDING,
  PHRASE_RULES,
  SECRET,
  SPELLED_ESCAPE,
} from './rules.ts';
import { surveyRules } from './phrase.ts';
import type { Survey } from './survey.ts';
import { normView } from './views.ts';

/** Without where the text stands. */
export type TextFinding = Pick<
  Finding,
  'rule' | 'tier' | 'severity' | 'start' | 'end' | 'evidence' | 'decoded'
>;

export interface Read {
  findings: readonly TextFinding[];
  survey: Survey;
}

/** Characters of one text that are read. */
export const MOST_READ = 256 * 1024;
const MOST_FINDINGS = 50;
const EVIDENCE = 200;
const { survey, wanted } = surveyRules(PHRASE_RULES);
const NAME_ROLES: readonly Role[] = ['identifier', 'argument', 'property'];
/** Whose hits withhold where a value should stand. */
const ORDERS = new Set(['I01', 'I02', 'I04', 'I06', 'I11', 'I20']);

export function roleOf(leaf: Leaf): Role {
  const { kind, pointer, inKey, place } = leaf;
  if (inKey) return /\/properties\/[^/]*$/.test(pointer) ? 'property' : 'key';
  if (place === 'name' && (kind === 'tool' || kind === 'prompt') && pointer === '/name') return 'identifier';
  if (kind === 'prompt' && /^\/arguments\/\d+\/name$/.test(pointer)) return 'argument';
  return place;
}

let known = new Map<string, Read>();
let size = 0;
const MOST_KNOWN = 8 * 1024 * 1024;

export function readText(raw: string, role: Role): Read {
  const key = `${role} ${raw}`;
  let read = known.get(key);
  if (read === undefined) {
    read = scan(raw, role);
    if ((size += key.length) > MOST_KNOWN) [known, size] = [new Map(), key.length];
    known.set(key, read);
  }
  return read;
}

const CLEAR: readonly TextFinding[] = [];

function scan(whole: string, role: Role): Read {
  const raw = whole.length > MOST_READ ? whole.slice(0, MOST_READ) : whole;
  const surveyed = survey(raw);
  const found: TextFinding[] = [];
  const add = (rule: Explained, hit: Hit): void => {
    if (found.length < MOST_FINDINGS) found.push(findingOf(rule, hit, raw));
  };
  /** A rule that fails says so: nothing is skipped unseen. */
  const guarded = (rule: Explained, find: () => void): void => {
    try {
      find();
    } catch (error) {
      add(DEGRADED, { start: 0, end: raw.length, decoded: `${rule.id}: ${messageOf(error)}` });
    }
  };
  const run = (rule: LeafRule): void =>
    guarded(rule, () => {
      for (const hit of rule.find(raw, role)) add(rule, hit);
    });

  if (whole.length > MOST_READ) add(DEGRADED, { start: MOST_READ, end: whole.length });
  if (!surveyed.isPlain) for (const rule of CHARACTER_RULES) run(rule);
  if (surveyed.hasPadding) run(PADDING);
  if (surveyed.hasBackslash) run(SPELLED_ESCAPE);
  if (NAME_ROLES.includes(role)) run(NAME);
  if (surveyed.hasEncoded) run(SECRET);
  const isValue = role !== 'text';
  const phrases = (view: View, of: Survey): void => {
    for (const { rule, patterns } of wanted(of)) {
      guarded(rule, () => {
        for (const hit of phraseHits(rule, patterns, view, role)) {
          add(rule, hit);
          if (isValue && ORDERS.has(rule.id) && (hit.tier ?? rule.tier) === 'hard') add(ODD_PLACE, hit);
        }
      });
    }
  };
  if (!surveyed.isPlain || surveyed.wanted.length > 0) {
    const view = normView(raw);
    const of = surveyed.isPlain ? surveyed : survey(view.text);
    phrases(view, of);
    if (isValue && /[_-]/.test(raw)) phrases({ ...view, text: view.text.replace(/[_-]/g, ' ') }, of);
  }
  if (
    surveyed.hasEncoded ||
    surveyed.hasBackslash ||
    !surveyed.isPlain ||
    raw.includes('&#') ||
    /rot-?13/i.test(raw)
  )
    guarded(ENCODED, () => readDecoded(raw, surveyed.isPlain, add));
  if (found.length === 0) return { findings: CLEAR, survey: surveyed };
  return { findings: distinct(raiseHidden(found)), survey: surveyed };
}

const SOFTER: Readonly<Record<Tier, Tier>> = { hard: 'soft', soft: 'note', note: 'note' };

/** Spans lead into the raw text. */
function phraseHits(rule: PhraseRule, patterns: readonly number[], view: View, role: Role): Hit[] {
  return rule.find(view.text, patterns).map((hit) => {
    const [start, end] = view.raw(hit.start, hit.end);
    const tier = hit.tier ?? rule.tier;
    const isSpokenOf =
      rule.mention === true && role === 'text' && tier === 'hard' && isMention(view.text, hit.start, hit.end);
    return { ...hit, start, end, ...(isSpokenOf && { tier: SOFTER[tier], severity: 'low' as const }) };
  });
}

/** Encodings that honest texts hold, too: only what withholds by itself counts in them. */
const COMMON = new Set(['percent', 'rot13']);

function readDecoded(raw: string, isPlain: boolean, add: (rule: Explained, hit: Hit) => void): void {
  for (const { how, text, start, end } of decodedTexts(raw, isPlain)) {
    const view = normView(text, how);
    const isOrder = wanted(survey(view.text)).some(({ rule, patterns }) =>
      rule.find(view.text, patterns).some((hit) => !COMMON.has(how) || (hit.tier ?? rule.tier) === 'hard'),
    );
    if (isOrder) add(ENCODED, { start, end, decoded: text });
  }
}

/** A hidden comment that holds an order withholds. */
function raiseHidden(found: TextFinding[]): TextFinding[] {
  const orders = found.filter(({ rule, tier }) => rule.startsWith('I') && rule !== 'I14' && tier !== 'note');
  return found.map((finding) =>
    finding.rule === 'I14' && orders.some(({ start, end }) => start < finding.end && end > finding.start)
      ? { ...finding, tier: 'hard', severity: 'high' }
      : finding,
  );
}

function findingOf(rule: Explained, hit: Hit, raw: string): TextFinding {
  const { start, end, tier = rule.tier, severity = rule.severity, decoded } = hit;
  const evidence = drawHidden(raw.slice(start, Math.min(end, start + EVIDENCE))).slice(0, EVIDENCE);
  return {
    rule: rule.id,
    tier,
    severity,
    start,
    end,
    evidence,
    ...(decoded !== undefined && { decoded: drawHidden(decoded.slice(0, EVIDENCE)).slice(0, EVIDENCE) }),
  };
}

/** By place; of one rule's overlapping hits the first. */
function distinct(found: readonly TextFinding[]): TextFinding[] {
  const order: readonly Tier[] = ['hard', 'soft', 'note'];
  const sorted = found.toSorted(
    (a, b) =>
      (a.rule < b.rule ? -1 : a.rule > b.rule ? 1 : 0) ||
      order.indexOf(a.tier) - order.indexOf(b.tier) ||
      a.start - b.start ||
      b.end - a.end,
  );
  const kept: TextFinding[] = [];
  for (const finding of sorted) {
    const covers = kept.some(
      ({ rule, start, end }) => rule === finding.rule && start < finding.end && end > finding.start,
    );
    if (!covers) kept.push(finding);
  }
  return kept.sort((a, b) => a.start - b.start || (a.rule < b.rule ? -1 : a.rule > b.rule ? 1 : 0));
}
