/** Orders that are spread over neighboring texts of a server. */
import { drawHidden } from './draw.ts';
import { isMention } from './mention.ts';
import { OVERRIDE, CONCEAL, PRIORITY } from './orders.ts';
import { TAKING } from './harvest.ts';
import { surveyRules } from './phrase.ts';
import { normView } from './views.ts';

export interface Text {
  raw: string;
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
const { survey, wanted } = surveyRules([OVERRIDE, CONCEAL, PRIORITY, TAKING]);

/** Only hits that reach over a seam: what stands in one text was found there. Remembered while the texts are. */
export function splitOrders(texts: readonly Text[]): Split[] {
  return texts.flatMap((before, at) => {
    const after = texts[at + 1];
    if (after === undefined) return [];
    const last = texts[at + 2];
    let seam = seams.get(before);
    if (seam === undefined || seam.after !== after || seam.last !== last) {
      seam = { after, last, found: overSeam(before, after, last) };
      seams.set(before, seam);
    }
    return seam.found.map((found) => ({ at, ...found }));
  });
}

interface Seam {
  after: Text;
  last: Text | undefined;
  found: readonly Omit<Split, 'at'>[];
}
const seams = new WeakMap<Text, Seam>();
const NONE: Seam['found'] = [];

function overSeam(before: Text, after: Text, last: Text | undefined): Seam['found'] {
  // A sentence that ends, ends.
  if (/[.!?:]\s{0,10}$/.test(before.raw.slice(-20))) return NONE;
  const start = normView(before.raw.slice(-NEAR)).text;
  const next = [after, last].map((text) =>
    text === undefined ? '' : normView(text.raw.slice(0, NEAR)).text,
  );
  const joined = `${start} ${next.join(' ')}`;
  return wanted(survey(joined)).flatMap(({ rule, patterns }) => {
    const hit = rule
      .find(joined, patterns)
      .find(
        (one) =>
          one.start < start.length &&
          one.end > start.length + 1 &&
          (one.tier ?? rule.tier) === 'hard' &&
          !isMention(joined, one.start, one.end),
      );
    if (hit === undefined) return [];
    const evidence = drawHidden(joined.slice(hit.start, hit.end)).slice(0, 200);
    const from = Math.max(0, before.raw.length - (start.length - hit.start));
    return [{ start: from, end: before.raw.length, evidence }];
  });
}
