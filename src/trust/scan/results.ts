/** Results are data: their bytes are cleaned and their markup made harmless, and nothing is dropped for what it says. */
import type { Finding } from '../findings.ts';
import { decodedTexts, FLAG, MOST_DECODED } from './decode.ts';
import { drawHidden } from './draw.ts';
import { TAKING, SHELL } from './harvest.ts';
import { LANGUAGES } from './languages.ts';
import { TEMPLATES } from './markup.ts';
import { isMention } from './mention.ts';
import { ADDRESSED, CONCEAL, NOTICE, OVERRIDE, PREREQUISITE, PRIORITY } from './orders.ts';
import { RESULT_BYTES, RESULT_LINKS, RESULT_MARKUP, RESULT_ORDERS, RESULT_SECRETS } from './result-rules.ts';
import { phraseRule, slots, surveyRules } from './phrase.ts';
import type { Explained, PhraseRule } from './rule.ts';
import { secretSpans } from './secrets.ts';
import { normView } from './views.ts';

/** Orders, as strangers' texts give them. Soft ones count in pairs. */
const ORDERS: readonly PhraseRule[] = [
  OVERRIDE,
  CONCEAL,
  PREREQUISITE,
  PRIORITY,
  TAKING,
  SHELL,
  NOTICE,
  LANGUAGES,
  ADDRESSED,
];
/** A result that speaks as the person, or bargains: no definition needs these. */
const POSING = phraseRule({
  ...RESULT_ORDERS,
  tier: 'hard',
  patterns: [
    slots(
      '\\bnew (?:user )?(?:query|request|task) from the user\\b|\\bnew user (?:query|request|message|instruction)\\b|\\bi am the user\\b',
    ),
    slots(
      '\\b(?:in order to|to) (?:get|obtain|see|receive|access|unlock) (?:the |your |this )?(?:\\w+ )?(?:results?|output|data|answer)\\b',
      15,
      '\\byou (?:must|need to|have to)\\b',
    ),
    slots(
      '\\b(?:note|instructions?|message|attention) (?:for|to) (?:the |any |all )?(?:\\w+ )?(?:ai|llm|coding agent|agent|assistant|model|claude|cursor|copilot|gpt)s?\\b',
    ),
    slots(
      '\\bcall (?:this|the) (?:tool|function) again\\b',
      30,
      '\\bwith\\b',
      20,
      '\\b(?:that|the) (?:contents?|file|key|token|output)\\b',
    ),
    slots(
      '\\b(?:enter|provide|type|give|confirm|send|submit)\\b',
      20,
      '\\b(?:seed|recovery|mnemonic|wallet)',
      12,
      '\\b(?:phrase|words)\\b',
    ),
    slots(
      '(?:^|[>\\n]) ?(?:assistant|system|ai) ?: ?(?:forward|send|read|call|delete|ignore|now|you|upload|please)\\b',
    ),
  ],
});
const { survey, wanted } = surveyRules([POSING, ...ORDERS]);
/** Characters in which orders are looked for, in pieces of this size from both ends. */
const PIECE = 256 * 1024;
const MOST_READ = 1024 * 1024;
const MOST_FINDINGS = 20;

// eslint-disable-next-line no-control-regex -- what is looked for
const MAY_HIDE = /[^\t\n\r\u0020-\u007e\u00a0-\u00ac\u00ae-\u034e\u0370-\u052f]/;
const SEQUENCE =
  // eslint-disable-next-line no-control-regex -- what a terminal obeys
  /\u001b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\u0007\u001b\n]{0,2048}(?:\u0007|\u001b\\)?|[@-Z\\-_])|\u009b[0-?]{0,32}[ -/]{0,8}[@-~]/g;
const HIDDEN =
  // eslint-disable-next-line no-control-regex -- what is taken out
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]+|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{3,}|[\u200b\u2060-\u2064\u180e\ufeff]+|[\u200c\u200d]{2,}|\p{Cs}/gu;
const MAY_MARK = /<\|?[a-z/｜]|\[\/?INST\]|<<\/?SYS|\n\s*\n(?:Human|Assistant):/i;
const TURNS = /(\n[^\S\n]*\n[^\S\n]*)(Human|Assistant):/g;
const LIKE: Readonly<Record<string, string>> = { '<': '‹', '>': '›', '[': '［', ']': '］' };
const LINK =
  /!\[[^\]\n]{0,200}\]\(https?:\/\/[^\s)?]{1,300}\?[^\s)]{1,500}\)|\]\((?:javascript:|data:text)[^\s)]{1,200}/gi;

/** `suspicious`: it hides something, or speaks to the model rather than answers. */
export function cleanResultText(raw: string): { text: string; findings: Finding[]; suspicious: boolean } {
  const findings: Finding[] = [];
  let suspicious = false;
  const add = (rule: Explained, start: number, end: number, decoded?: string): void => {
    if (findings.length < MOST_FINDINGS) findings.push(findingOf(rule, raw, start, end, decoded));
  };
  let text = raw;
  if (MAY_HIDE.test(raw) || /\r(?!\n)/.test(raw)) {
    const start = raw.slice(0, MOST_DECODED * 4);
    for (const { how, text: said, start: at, end } of decodedTexts(start, false)) {
      if (how !== 'tags' && how !== 'selectors' && how !== 'zero-width') continue;
      suspicious = true;
      add(RESULT_BYTES, at, end, said);
    }
    text = cleanBytes(raw);
    if (text !== raw && findings.length === 0) add(RESULT_BYTES, 0, Math.min(raw.length, 200));
    suspicious ||= raw.includes('\u001b[8m') || /[\u202d\u202e]/.test(raw);
  }
  if (MAY_MARK.test(text)) {
    const marked = cleanMarkup(text);
    if (marked !== text) {
      suspicious = true;
      add(RESULT_MARKUP, 0, Math.min(raw.length, 200));
      text = marked;
    }
  }
  const orders = ordersIn(text);
  if (orders !== undefined) {
    suspicious = true;
    const at = Math.max(0, raw.indexOf(orders));
    add(RESULT_ORDERS, at, at + orders.length);
  }
  if (text.includes('](')) {
    for (const { 0: link, index } of text.matchAll(LINK)) {
      if (findings.length >= MOST_FINDINGS) break;
      add(RESULT_LINKS, index, index + link.length);
      suspicious ||= /[?&=](?:\{|\$\{|[A-Z][A-Z0-9_]{3,}\b)/.test(link);
    }
  }
  for (const { start } of secretSpans(text).slice(0, 3)) add(RESULT_SECRETS, start, start);
  return { text, findings, suspicious };
}

function cleanBytes(raw: string): string {
  const flags: string[] = [];
  const kept = raw.replace(FLAG, (flag) => {
    flags.push(flag);
    return '\ud800';
  });
  // A lone surrogate stands for a flag; those of the raw text are replaced first where there are flags.
  if (flags.length > 0 && !raw.isWellFormed()) return cleanBytes(raw.toWellFormed());
  let at = 0;
  return kept
    .replace(SEQUENCE, '')
    .replace(/\r(?!\n)/g, '\n')
    .replace(HIDDEN, (found) =>
      found === '\ud800' && flags.length > 0 ? flags[at++]! : /^\p{Cs}$/u.test(found) ? '\ufffd' : '',
    );
}

function cleanMarkup(text: string): string {
  let clean = text;
  for (const pattern of TEMPLATES)
    clean = clean.replace(pattern, (found) => found.replace(/[<>[\]]/g, (bracket) => LIKE[bracket]!));
  return clean.replace(TURNS, '$1$2\u2236');
}

/** The first order, when there is one that counts alone or two that count together. */
function ordersIn(text: string): string | undefined {
  const pieces = text.length <= MOST_READ ? [text] : [text.slice(0, MOST_READ - PIECE), text.slice(-PIECE)];
  const soft = new Map<string, string>();
  for (const whole of pieces) {
    for (let at = 0; at < whole.length; at += PIECE) {
      const piece = whole.slice(at, at + PIECE + 400);
      const rough = survey(piece);
      if (rough.isPlain && rough.wanted.length === 0) continue;
      const view = normView(piece);
      for (const { rule, patterns } of wanted(rough.isPlain ? rough : survey(view.text))) {
        for (const { start, end, tier = rule.tier } of rule.find(view.text, patterns)) {
          if (isMention(view.text, start, end)) continue;
          const words = view.text.slice(start, end);
          if (tier === 'hard') return words;
          soft.set(rule.id, words);
          if (soft.size >= 2) return words;
        }
      }
    }
  }
  return undefined;
}

function findingOf(rule: Explained, raw: string, start: number, end: number, decoded?: string): Finding {
  const { id, tier, severity } = rule;
  const evidence = drawHidden(raw.slice(start, Math.min(end, start + 200))).slice(0, 200);
  return {
    rule: id,
    kind: 'server',
    key: '',
    tier,
    severity,
    pointer: '',
    start,
    end,
    evidence,
    ...(decoded !== undefined && { decoded: drawHidden(decoded.slice(0, 200)).slice(0, 200) }),
  };
}
