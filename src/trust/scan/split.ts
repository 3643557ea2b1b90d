/** Orders that are spread over neighboring texts of a server. */
import { drawHidden } from './draw.ts';
import { isMention } from './mention.ts';
import { OVERRIDE, CONCEAL, PRIORITY } from './orders.ts';
import { TAKING } from './harvest.ts';
import { PHRASE_RULES } from './rules.ts';
import { type Survey, surveyor } from './survey.ts';
import { normView } from './views.ts';

export interface Text {
  raw: string;
  survey: Survey;
}

export interface Split {
  /** Index of the text in which it begins. */
  at: number;
  start: number;
  end: number;
  evidence: string;
}

/** Characters before and after the place where two texts meet. */
const NEAR = 160;
const RULES = [OVERRIDE, CONCEAL, PRIORITY, TAKING];
const INDEXES = RULES.map((rule) => PHRASE_RULES.indexOf(rule));
const { wants } = surveyor(PHRASE_RULES);

/** Only hits that reach over a seam: what stands in one text was found there. */
export function splitOrders(texts: readonly Text[]): Split[] {
  const found: Split[] = [];
  for (let at = 0; at + 1 < texts.length; at++) {
    const before = texts[at]!;
    const own = before.survey;
    if (own.low === 0 && texts[at + 1]!.survey.low === 0) continue;
    // A sentence that ends, ends.
    if (/[.!?:]\s*$/.test(before.raw.slice(-20))) continue;
    const start = normView(before.raw.slice(-NEAR)).text;
    let end = '';
    for (let next = at + 1; next < texts.length && end.length < NEAR; next++)
      end += ` ${normView(texts[next]!.raw.slice(0, NEAR)).text}`;
    const joined = start + end;
    RULES.forEach((rule, index) => {
      const bit = INDEXES[index]!;
      if (!wants(own, bit) && !wants(texts[at + 1]!.survey, bit)) return;
      const hit = rule
        .find(joined, 'text')
        .find(
          (one) =>
            one.start < start.length &&
            one.end > start.length + 1 &&
            (one.tier ?? rule.tier) === 'hard' &&
            !isMention(joined, one.start, one.end),
        );
      if (hit === undefined) return;
      const from = Math.max(0, before.raw.length - (start.length - hit.start));
      const evidence = drawHidden(joined.slice(hit.start, hit.end)).slice(0, 200);
      found.push({ at, start: from, end: before.raw.length, evidence });
    });
  }
  return found;
}
