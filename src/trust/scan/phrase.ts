/** How phrase rules are written: slots with bounded gaps between them, so that every pattern takes linear time. */
import type { Severity, Tier } from '../findings.ts';
import type { Hit, PhraseRule, Role } from './rule.ts';

/** A pattern, and the tier of its hits where it is not the rule's. */
export type Pattern = RegExp | readonly [RegExp, Tier];

/** At most `most` characters of the same sentence. A period inside a path or number ends none. */
export const gap = (most: number): string => `(?:[^.!?\\n]|[.!?](?=[\\w/~])){0,${most}}?`;

/** Pieces joined by gaps: a string is a piece, a number the longest gap. Whole words, any case. */
export function slots(...parts: (string | number)[]): RegExp {
  return new RegExp(
    parts.map((part) => (typeof part === 'number' ? gap(part) : `(?:${part})`)).join(''),
    'gi',
  );
}

const MOST_HITS = 20;
const SEVERITY: Readonly<Record<Tier, Severity>> = { hard: 'high', soft: 'medium', note: 'low' };

export function phraseRule(
  rule: Omit<PhraseRule, 'on' | 'find'> & { patterns: readonly Pattern[]; notIn?: readonly Role[] },
): PhraseRule {
  const { patterns, notIn = [], ...explained } = rule;
  return {
    ...explained,
    on: 'phrase',
    find(text, role) {
      const hits: Hit[] = [];
      if (notIn.includes(role)) return hits;
      for (const one of patterns) {
        const [pattern, tier] = one instanceof RegExp ? [one, rule.tier] : one;
        for (const { 0: match, index } of text.matchAll(pattern)) {
          const hit = { start: index, end: index + match.length };
          hits.push(tier === rule.tier ? hit : { ...hit, tier, severity: SEVERITY[tier] });
          if (hits.length >= MOST_HITS) return hits;
        }
      }
      return hits;
    },
  };
}
