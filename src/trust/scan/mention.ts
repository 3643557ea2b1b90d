/** Whether words are only spoken of: inside quotes that pair properly, or right after words that introduce an example. */

/** A quotation longer than this is no quotation of a phrase. */
const MOST_QUOTED = 300;
const INTRODUCES =
  /(?:\b(?:such as|e\.g\.|for (?:example|instance)|like|phrases?|wording|strings?|quot(?:es|ed|ing)|detect(?:s|ed|ing|ion of)?|flag(?:s|ged|ging)?|block(?:s|ed|ing)?|catch(?:es|ing)?|identif(?:y|ies|ying)|scan(?:s|ning)? for|look(?:s|ing)? for|check(?:s|ing)? (?:for|whether|if)|prevent(?:s|ing)?|against|reject(?:s|ing)?|refus(?:e|es|ing)|(?:sample|expected|mock|example|training|illustrative) (?:response|output|input|text|reply|prompt)s?:?|prompts? (?:that|which|to)|attempts? to|tr(?:y|ies|ying) to|attackers?|prompt injections?|jailbreaks?)\b[^.!?\n]{0,50})$/i;

const isLetter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}]/u.test(character);

/** Spans inside quotes, without them. An apostrophe inside a word is none. */
export function quotedSpans(text: string): [number, number][] {
  const spans: [number, number][] = [];
  let open: { quote: string; at: number } | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '\n') open = undefined;
    if (character !== '"' && character !== "'" && character !== '`') continue;
    const [before, after] = [text[at - 1], text[at + 1]];
    if (open !== undefined && open.quote === character && !isLetter(after)) {
      if (at - open.at <= MOST_QUOTED) spans.push([open.at + 1, at]);
      open = undefined;
    } else if (open === undefined && !isLetter(before) && after !== undefined && after.trim() !== '')
      open = { quote: character, at };
  }
  return spans;
}

export function isMention(text: string, start: number, end: number): boolean {
  const from = Math.max(0, start - 2 * MOST_QUOTED);
  const near = text.slice(from, end + 2 * MOST_QUOTED);
  const [first, last] = [start - from, end - from];
  // A text that is nothing but the quotation speaks of nothing else.
  const isInside = quotedSpans(near).some(([a, b]) => a <= first && last <= b && near.length - (b - a) > 20);
  return isInside || INTRODUCES.test(text.slice(Math.max(0, start - 100), start));
}
