/** How phrase rules read a leaf: what is hidden taken out, what is disguised written plainly, with the way back to the raw text. */
import { disguisedWords } from './lookalikes.ts';
import type { View } from './rule.ts';

// eslint-disable-next-line no-control-regex -- controls make a text one that is not plain
const PLAIN = /^[\t\n\r\u0020-\u007e]*$/;
const SPACES = /[\t\n\r ]{2,}|[\t\n\r]/g;

/**
 * NFKC of each character, default-ignorable and control characters out, Latin letters without marks, letters that pass for
 * Latin ones and typographic quotes replaced, white space one space (a blank line: one line end).
 */
export function normView(raw: string, how: string = 'norm'): View {
  if (!PLAIN.test(raw)) return foldedView(raw, how);
  const text = raw.replace(SPACES, spaceFor);
  if (text === raw) return { text, how, raw: (start, end) => [start, end] };
  let starts: Uint32Array | undefined;
  return {
    text,
    how,
    raw: (start, end) => {
      starts ??= startsOfPlain(raw, text.length);
      return [starts[start]!, start === end ? starts[start]! : starts[end - 1]! + 1];
    },
  };
}

const spaceFor = (run: string): string => {
  const first = run.indexOf('\n');
  return first >= 0 && run.indexOf('\n', first + 1) > first ? '\n' : ' ';
};

/** Where each character of the collapsed text stands in the raw one; a run of white space counts as where it begins. */
function startsOfPlain(raw: string, length: number): Uint32Array {
  const starts = new Uint32Array(length + 1);
  let [at, to] = [0, 0];
  for (const { 0: run, index } of raw.matchAll(SPACES)) {
    while (at <= index) starts[to++] = at++;
    at = index + run.length;
  }
  while (at <= raw.length) starts[to++] = at++;
  return starts;
}

const folded = new Map<number, string>();
const MOST_FOLDED = 20_000;
const IGNORED = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}]/u;
/** Letters that decompose into nothing, and quotes of every kind. */
const PLAINLY: Readonly<Record<string, string>> = {
  '“': '"', '”': '"', '„': '"', '‟': '"', '«': '"', '»': '"', '＂': '"', '″': '"', '「': '"', '」': '"', '『': '"', '』': '"',
  '‘': "'", '’': "'", '‚': "'", '‛': "'", '‹': "'", '›': "'", '′': "'",
  '‐': '-', '‑': '-', '‒': '-', '–': '-', '—': '-', '―': '-', '−': '-',
  'ı': 'i', 'ł': 'l', 'Ł': 'L', 'ø': 'o', 'Ø': 'O', 'ɑ': 'a', 'ɡ': 'g', 'ß': 'ss',
  'ᴀ': 'a', 'ʙ': 'b', 'ᴄ': 'c', 'ᴅ': 'd', 'ᴇ': 'e', 'ꜰ': 'f', 'ɢ': 'g', 'ʜ': 'h', 'ɪ': 'i', 'ᴊ': 'j', 'ᴋ': 'k', 'ʟ': 'l', 'ᴍ': 'm', 'ɴ': 'n',
  'ᴏ': 'o', 'ᴘ': 'p', 'ʀ': 'r', 'ꜱ': 's', 'ᴛ': 't', 'ᴜ': 'u', 'ᴠ': 'v', 'ᴡ': 'w', 'ʏ': 'y', 'ᴢ': 'z',
}; // prettier-ignore

function foldCharacter(code: number): string {
  let as = folded.get(code);
  if (as !== undefined) return as;
  const character = String.fromCodePoint(code);
  if (PLAINLY[character] !== undefined) as = PLAINLY[character];
  else if (IGNORED.test(character) || isControl(code)) as = '';
  else {
    as = character.normalize('NFKC');
    const apart = as.normalize('NFKD');
    if (/^[A-Za-z\p{M}]+$/u.test(apart)) as = apart.replace(/\p{M}/gu, '');
    if (/^\s+$/.test(as)) as = ' ';
  }
  if (folded.size < MOST_FOLDED) folded.set(code, as);
  return as;
}

const isControl = (code: number): boolean =>
  (code < 0x20 && code !== 9 && code !== 10 && code !== 13) || (code >= 0x7f && code < 0xa0);

function foldedView(raw: string, how: string): View {
  const disguised = disguisedWords(raw);
  const starts: number[] = [];
  let text = '';
  let next = 0;
  let [spaceAt, lineEnds] = [-1, 0];
  const put = (characters: string, at: number): void => {
    for (let unit = 0; unit < characters.length; unit++) starts.push(at);
    text += characters;
  };
  for (let at = 0; at < raw.length;) {
    const code = raw.codePointAt(at)!;
    const word = disguised[next];
    const latin =
      word !== undefined && at >= word.start && at < word.end ? word.latin[at - word.start] : undefined;
    const as =
      latin !== undefined && code < 0x10000 ? foldCharacter(latin.codePointAt(0)!) : foldCharacter(code);
    if (word !== undefined && at + 1 >= word.end) next++;
    const length = code > 0xffff ? 2 : 1;
    if (as === ' ' || as === '\n' || code === 9 || code === 13) {
      if (spaceAt < 0) spaceAt = at;
      if (code === 10 || code === 0x2028 || code === 0x2029) lineEnds += code === 0x2029 ? 2 : 1;
    } else if (as !== '') {
      if (spaceAt >= 0) put(lineEnds > 1 ? '\n' : ' ', spaceAt);
      [spaceAt, lineEnds] = [-1, 0];
      put(as, at);
    }
    at += length;
  }
  if (spaceAt >= 0) put(lineEnds > 1 ? '\n' : ' ', spaceAt);
  starts.push(raw.length);
  return {
    text,
    how,
    raw: (start, end) => {
      const from = starts[start]!;
      const last = start === end ? from : starts[end - 1]!;
      const unit = start === end ? 0 : raw.codePointAt(last)! > 0xffff ? 2 : 1;
      return [from, last + unit];
    },
  };
}
