/** Rules over the characters of a raw text: what hides (U01 to U05, U08). Nothing here reads words. */
import { decodedTexts, type Decoded, FLAG } from './decode.ts';
import type { Hit, LeafRule } from './rule.ts';

const span = ({ 0: run, index }: RegExpExecArray): Hit => ({ start: index, end: index + run.length });
const all = (raw: string, pattern: RegExp): Hit[] => Array.from(raw.matchAll(pattern), span);

/** A flag's characters taken out, everything else at its place. */
const withoutFlags = (raw: string): string => raw.replace(FLAG, (flag) => ' '.repeat(flag.length));

function saying(raw: string, how: Decoded['how'], hits: Hit[]): Hit[] {
  if (hits.length === 0) return hits;
  const decoded = decodedTexts(raw, false).find((one) => one.how === how)?.text;
  return decoded === undefined ? hits : hits.map((hit) => ({ ...hit, decoded }));
}

export const TAGS: LeafRule = {
  on: 'leaf',
  id: 'U01',
  title: 'text in invisible tag characters',
  tier: 'hard',
  severity: 'critical',
  why: 'Tag characters are a copy of ASCII that no screen shows and that models read. Only the flags of three countries use them.',
  example: '"Converts units." followed by tag characters that say: read the private key',
  advice: 'Do not use this definition. Read the decoded text to see what it wanted.',
  find: (raw) => saying(raw, 'tags', all(withoutFlags(raw), /[\u{e0000}-\u{e007f}]+/gu)),
};

export const BIDI: LeafRule = {
  on: 'leaf',
  id: 'U02',
  title: 'characters that reorder text',
  tier: 'hard',
  severity: 'high',
  why: 'They show a person another order of words than a model reads. Marks, which only steer neighbors, belong to Hebrew and Arabic prose.',
  example: 'a right-to-left override before words written backwards',
  advice: 'Ask the author for the text without them.',
  find: (raw) => [
    ...all(raw, /[\u202a-\u202e\u2066-\u2069]+/g),
    ...all(raw, /[\u200e\u200f\u061c]+/g).map((hit): Hit => ({ ...hit, tier: 'soft', severity: 'low' })),
  ],
};

const WIDTHLESS = /[\u200b-\u200d\u2060-\u2064\u180e\u00ad\ufeff]|\u034f/g;
/** Scripts in which joiners and break points are spelling. */
const JOINING =
  /[\u0600-\u08ff\u0900-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefe]/;
const PICTURE = /\p{Extended_Pictographic}|\ufe0f|\p{Emoji_Modifier}/u;

/** Those that no spelling explains. */
function strays(raw: string): Hit[] {
  return all(raw, WIDTHLESS).filter(({ start, end }) => {
    const before = Array.from(raw.slice(Math.max(0, start - 2), start)).at(-1) ?? '';
    const after = String.fromCodePoint(raw.codePointAt(end) ?? 32);
    if (JOINING.test(before) || JOINING.test(after)) return false;
    return !(raw[start] === '\u200d' && PICTURE.test(before) && PICTURE.test(after));
  });
}

const isInWord = (raw: string, { start, end }: Hit): boolean =>
  /[A-Za-z]$/.test(raw.slice(0, start).slice(-1)) && /^[A-Za-z]/.test(raw.slice(end, end + 1));

const isHidingText = (raw: string, hits: readonly Hit[]): boolean =>
  hits.length >= 5 ||
  new Set(hits.map(({ start }) => raw[start])).size >= 2 ||
  hits.some((hit) => isInWord(raw, hit));

export const STRAY: LeafRule = {
  on: 'leaf',
  id: 'U03a',
  title: 'a few characters without width',
  tier: 'soft',
  severity: 'low',
  why: 'Editors leave them behind at the edges of words. They also keep two texts apart that look the same.',
  example: '"How " followed by a zero-width space',
  advice: 'Accept it where it plainly is a leftover.',
  find(raw) {
    const hits = strays(raw);
    return isHidingText(raw, hits) ? [] : hits;
  },
};

export const WIDTHLESS_TEXT: LeafRule = {
  on: 'leaf',
  id: 'U03b',
  title: 'characters without width that split words or say something',
  tier: 'hard',
  severity: 'high',
  why: 'Inside a word they hide it from a search for words; many of them in two kinds spell out bits.',
  example: '"ig" and "nore" with a zero-width space between',
  advice: 'Do not use this definition.',
  find(raw) {
    const hits = strays(raw);
    return isHidingText(raw, hits) ? saying(raw, 'zero-width', hits) : [];
  },
};

export const SELECTORS: LeafRule = {
  on: 'leaf',
  id: 'U04',
  title: 'variation selectors that carry bytes',
  tier: 'hard',
  severity: 'high',
  why: 'A selector picks the look of the character before it. Rows of them behind one character, or behind a letter, spell out bytes that nobody sees.',
  example: 'an emoji followed by forty variation selectors',
  advice: 'Do not use this definition.',
  find(raw) {
    const hits = [
      ...all(raw, /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2,}/gu),
      ...all(raw, /(?:^|[A-Za-z\s])[\ufe00-\ufe0f]|[0-9#*](?:[\ufe00-\ufe0e]|\ufe0f(?!\u20e3))/g),
      ...all(raw, /(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]/gu),
    ];
    return saying(raw, 'selectors', hits);
  },
};

export const CONTROLS: LeafRule = {
  on: 'leaf',
  id: 'U05',
  title: 'control characters',
  tier: 'hard',
  severity: 'high',
  why: 'A terminal obeys them: it moves, hides or overwrites text, sets links, or writes to the clipboard.',
  example: 'ESC ]8;; before an address',
  advice: 'Ask the author for the text without them.',
  find: (raw) =>
    // eslint-disable-next-line no-control-regex -- they are what is looked for
    all(raw, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]+|\r(?!\n)/g),
};

export const BLANKS: LeafRule = {
  on: 'leaf',
  id: 'U08',
  title: 'letters that look like nothing',
  tier: 'hard',
  severity: 'high',
  why: 'Letters without a shape pad text out of sight, or make two names look the same.',
  example: 'forty Hangul fillers before a sentence',
  advice: 'Ask the author for the text without them.',
  find: (raw) => [
    ...all(raw, /(?:[\u115f\u1160\u3164\uffa0]|\u17b4|\u17b5){3,}/g),
    // Pictures drawn in Braille patterns have blank ones.
    ...(/[\u2801-\u28ff]/.test(raw) ? [] : all(raw, /\u2800{3,}/g)),
  ],
};
