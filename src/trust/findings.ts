/** What a scan finds, and what follows from it. */
import type { Item } from '../types.ts';

/** hard: the item is withheld. soft: two distinct rules ask for review, four withhold. note: informs. */
export type Tier = 'hard' | 'soft' | 'note';
export type Severity = 'critical' | 'high' | 'medium' | 'low';

export interface Finding extends Item {
  /** Such as `U01`. */
  rule: string;
  tier: Tier;
  severity: Severity;
  /** JSON pointer (RFC 6901) into the item to the value concerned, or to the member whose key is concerned. */
  pointer: string;
  /** True when the key, not the value, is concerned. */
  inKey?: boolean;
  /** UTF-16 offsets into the raw leaf. */
  start: number;
  end: number;
  /** The place in the raw text, every hidden character drawn, at most 200 characters. ASCII-safe for terminals. */
  evidence: string;
  /** What a hidden or encoded payload says. Drawn likewise. */
  decoded?: string;
  /** Labels of other servers concerned (X rules). */
  others?: string[];
}

export type Judgement = 'clear' | 'review' | 'withhold';

/** What the findings of ONE item mean together. Findings that a person accepted are left out before. */
export function judge(findings: readonly Finding[]): Judgement {
  if (findings.some(({ tier }) => tier === 'hard')) return 'withhold';
  const soft = new Set(findings.filter(({ tier }) => tier === 'soft').map(({ rule }) => rule)).size;
  return soft >= 4 ? 'withhold' : soft >= 2 ? 'review' : 'clear';
}
