/** How phrase rules are written: slots with bounded gaps between them, so that every pattern takes linear time. */
import type { Severity, Tier } from '../findings.ts';
import type { Hit, PhraseRule } from './rule.ts';
import { type Stems, stemsOf } from './stems.ts';
import { type Survey, surveyor } from './survey.ts';

/** A pattern, and the tier of its hits where it is not the rule's. */
export type Pattern = RegExp | readonly [RegExp, Tier];

/** At most `most` characters of the same sentence. A period inside a path or number ends none. */
export const gap = (most: number): string => `(?:[^.!?\\n]|[.!?](?=[\\w/~])){0,${most}}?`;

/** Pieces joined by gaps: a string is a piece, a number the longest gap. Whole words, any case. */
export function slots(...parts: (string | number)[]): RegExp {
  const source = parts.map((part) => (typeof part === 'number' ? gap(part) : `(?:${part})`)).join('');
  const pattern = new RegExp(source, 'gi');
  partsOf.set(
    pattern,
    parts.filter((part) => typeof part === 'string'),
  );
  return pattern;
}

const partsOf = new WeakMap<RegExp, string[]>();

const known = new WeakMap<RegExp, Stems[]>();

/** Of each of these sets a text must hold one for the pattern to match; the smallest first. */
function needed(pattern: RegExp): Stems[] {
  let stems = known.get(pattern);
  if (stems === undefined) {
    stems = (partsOf.get(pattern) ?? [pattern.source]).flatMap(stemsOf).sort((a, b) => a.size - b.size);
    known.set(pattern, stems);
  }
  return stems;
}

const MOST_HITS = 20;
const SEVERITY: Readonly<Record<Tier, Severity>> = { hard: 'high', soft: 'medium', note: 'low' };

export function phraseRule(
  rule: Omit<PhraseRule, 'on' | 'find' | 'patterns'> & { patterns: readonly Pattern[] },
): PhraseRule {
  const tiers = rule.patterns.map((one) => (one instanceof RegExp ? rule.tier : one[1]));
  const patterns = rule.patterns.map((one) => (one instanceof RegExp ? one : one[0]));
  return {
    ...rule,
    patterns,
    on: 'phrase',
    find(text, wanted) {
      const hits: Hit[] = [];
      for (const at of wanted) {
        const tier = tiers[at]!;
        for (const { 0: match, index } of text.matchAll(patterns[at]!)) {
          const hit = { start: index, end: index + match.length };
          hits.push(tier === rule.tier ? hit : { ...hit, tier, severity: SEVERITY[tier] });
          if (hits.length >= MOST_HITS) return hits;
        }
      }
      return hits;
    },
  };
}

/** What a survey makes of rules: each with the indexes of its patterns that are worth running. */
export function surveyRules(rules: readonly PhraseRule[]): {
  survey: (text: string) => Survey;
  /** The rules worth running, in the order given. */
  wanted: (survey: Survey) => { rule: PhraseRule; patterns: number[] }[];
} {
  const all = rules.flatMap((rule) => rule.patterns.map((_, at) => ({ rule, at })));
  // Made at the first text: most commands scan nothing, and should not wait for it.
  let made: ((text: string) => Survey) | undefined;
  return {
    survey(text) {
      made ??= surveyor(all.map(({ rule, at }) => needed(rule.patterns[at]!)));
      return made(text);
    },
    wanted(survey) {
      const found: { rule: PhraseRule; patterns: number[] }[] = [];
      for (const index of survey.wanted) {
        const { rule, at } = all[index]!;
        const last = found.at(-1);
        if (last?.rule === rule) last.patterns.push(at);
        else found.push({ rule, patterns: [at] });
      }
      return found;
    },
  };
}
