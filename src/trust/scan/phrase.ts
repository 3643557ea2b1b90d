/** How phrase rules are written: slots with bounded gaps between them, so that every pattern takes linear time. */
import type { Severity, Tier } from '../findings.ts';
import type { Hit, PhraseRule } from './rule.ts';

/** A pattern, and the tier of its hits where it is not the rule's. */
export type Pattern = RegExp | readonly [RegExp, Tier];

/** Patterns that are only worth running where another one, without gaps, finds something. */
export interface Group {
  needs: RegExp;
  patterns: readonly Pattern[];
}

/** At most `most` characters of the same sentence. A period inside a path or number ends none. */
export const gap = (most: number): string => `(?:[^.!?\\n]|[.!?](?=[\\w/~])){0,${most}}?`;

/** Pieces joined by gaps: a string is a piece, a number the longest gap. Whole words, any case. */
export function slots(...parts: (string | number)[]): RegExp {
  return new RegExp(
    parts.map((part) => (typeof part === 'number' ? gap(part) : `(?:${part})`)).join(''),
    'gi',
  );
}

const ANYTHING = /^/;
const MOST_HITS = 20;
const SEVERITY: Readonly<Record<Tier, Severity>> = { hard: 'high', soft: 'medium', note: 'low' };

export function phraseRule(
  rule: Omit<PhraseRule, 'on' | 'find'> & { patterns: readonly (Pattern | Group)[] },
): PhraseRule {
  const { patterns, ...explained } = rule;
  const groups = patterns.map((one): Group =>
    typeof one === 'object' && 'needs' in one ? one : { needs: ANYTHING, patterns: [one] },
  );
  return {
    ...explained,
    on: 'phrase',
    find(text) {
      const hits: Hit[] = [];
      for (const one of groups.flatMap((group) => (group.needs.test(text) ? group.patterns : []))) {
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
