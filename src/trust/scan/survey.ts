/** One pass over a text that says which patterns are worth running on it. Cheap, since almost all texts are harmless. */
import { BEYOND, type Stems } from './stems.ts';

export interface Survey {
  /** Nothing but printable ASCII, tab and line feed. */
  isPlain: boolean;
  /** Blank space that may push text out of sight. */
  hasPadding: boolean;
  /** A backslash, which may spell an escape sequence. */
  hasBackslash: boolean;
  /** A run long enough to be an encoded text. */
  hasEncoded: boolean;
  /** Indexes of the patterns of which each set of stems has one in the text, in their order. */
  wanted: readonly number[];
}

/** Sets of stems that are looked for, of each pattern: the smallest ones. */
const SETS = 3;
/** Characters without a blank between them from which they may encode something. */
const ENCODED = 16;
const PADDING = 15;
const LETTERS = 4;
const NONE: readonly number[] = [];

/** Four letters as one number, case apart. */
function keyOf(word: string): number {
  let key = 0;
  for (let at = 0; at < LETTERS; at++) key = (key << 5) | (at < word.length ? word.charCodeAt(at) & 31 : 0);
  return key;
}

/** @param patterns of each the sets of stems that it needs one of, the smallest first. */
export function surveyor(patterns: readonly (readonly Stems[])[]): (text: string) => Survey {
  const words = Math.ceil(patterns.length / 32);
  const width = SETS * words;
  /** What each stem speaks for: of the first set of each pattern one bit, then of the second, then of the third. */
  const masks = [new Int32Array(width)];
  const always = new Int32Array(width);
  const byWord = new Uint16Array(1 << 20);
  const byCharacter = new Uint16Array(128);
  let beyond = 0;
  const maskOf = (stem: string): Int32Array => {
    const [table, at] = /^[a-z]/.test(stem)
      ? [byWord, keyOf(stem)]
      : [byCharacter, stem === BEYOND ? 0 : stem.charCodeAt(0)];
    if (table[at] === 0) table[at] = masks.push(new Int32Array(width)) - 1;
    if (stem === BEYOND) beyond = table[at]!;
    return masks[table[at]!]!;
  };
  patterns.forEach((sets, index) => {
    for (let set = 0; set < SETS; set++) {
      const at = set * words + (index >> 5);
      const stems = sets[set];
      if (stems === undefined) always[at]! |= 1 << (index & 31);
      else for (const stem of stems) maskOf(stem)[at]! |= 1 << (index & 31);
    }
  });

  const there = new Int32Array(width);
  const add = (mask: number): void => {
    const bits = masks[mask]!;
    for (let at = 0; at < width; at++) there[at]! |= bits[at]!;
  };
  const wanted = (): readonly number[] => {
    let found: number[] | undefined;
    for (let word = 0; word < words; word++) {
      let bits = there[word]! & there[words + word]! & there[2 * words + word]!;
      for (; bits !== 0; bits &= bits - 1) (found ??= []).push(32 * word + 31 - Math.clz32(bits & -bits));
    }
    return found ?? NONE;
  };
  return (text) => {
    let isPlain = true;
    let [hasPadding, hasBackslash, hasEncoded] = [false, false, false];
    let [word, length, blank, solid] = [0, 0, 0, 0];
    there.set(always);
    for (let at = 0; at <= text.length; at++) {
      const code = at < text.length ? text.charCodeAt(at) : 32;
      const letter = code | 32;
      if (letter >= 97 && letter <= 122 && code < 128) {
        if (length < LETTERS) word = (word << 5) | (code & 31);
        length++;
        solid++;
        blank = 0;
        continue;
      }
      if (length > 0) {
        const mask = byWord[length >= LETTERS ? word : word << (5 * (LETTERS - length))]!;
        if (mask !== 0) add(mask);
        word = length = 0;
      }
      if (code === 32 || code === 10 || code === 9 || code === 13) {
        if (solid >= ENCODED) hasEncoded = true;
        solid = 0;
        if (++blank >= PADDING) hasPadding = true;
        if (code === 13) isPlain = false;
        continue;
      }
      solid++;
      blank = 0;
      if (code < 127 && code > 32) {
        const mask = byCharacter[code]!;
        if (mask !== 0) add(mask);
        if (code === 92) hasBackslash = true;
        if (code === 37) hasEncoded = true;
      } else {
        isPlain = false;
        if (code > 0x2ff && beyond !== 0) add(beyond);
      }
    }
    return { isPlain, hasPadding, hasBackslash, hasEncoded, wanted: wanted() };
  };
}
