/** Literals that are secrets, told by prefix and shape (I31, R06). */
import type { Hit, LeafRule } from './rule.ts';

const PATTERNS: readonly RegExp[] = [
  /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g,
  /\bgh[pousr]_[A-Za-z0-9]{36,251}\b/g,
  /\bgithub_pat_[A-Za-z0-9_]{60,200}\b/g,
  /\bglpat-[A-Za-z0-9_-]{20,60}\b/g,
  /\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,200}\b/g,
  /\bsk_live_[A-Za-z0-9]{20,120}\b/g,
  /\bxox[abprs]-[A-Za-z0-9-]{20,200}\b/g,
  /\bAIza[A-Za-z0-9_-]{35}\b/g,
  /\bnpm_[A-Za-z0-9]{36}\b/g,
  /-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]{32,}/g,
  /\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{16,1000}\b/g,
];
const MAY_HOLD = /AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|sk[-_]|xox|AIza|npm_|PRIVATE KEY|eyJ/;
const PLACEHOLDER =
  /EXAMPLE|example|placeholder|your[-_]|xxxx|XXXX|0000000|1234567890|abcdef0123|dummy|redacted/;

/** Where literal secrets stand; examples of documentation are none. Linear in the text. */
export function secretSpans(text: string): Hit[] {
  if (!MAY_HOLD.test(text)) return [];
  return PATTERNS.flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ({ 0: secret, index }) => ({ secret, start: index })),
  )
    .filter(({ secret }) => !PLACEHOLDER.test(secret) && new Set(secret).size >= 10)
    .map(({ secret, start }) => ({ start, end: start + secret.length }))
    .sort((a, b) => a.start - b.start);
}

export const SECRET: LeafRule = {
  on: 'leaf',
  id: 'I31',
  title: 'a literal secret',
  tier: 'soft',
  severity: 'high',
  why: 'A key in a definition is a key that leaked, or bait.',
  example: 'ghp_ and 36 characters',
  advice: 'Tell the author; the key must be revoked.',
  find: (raw) => secretSpans(raw),
};
