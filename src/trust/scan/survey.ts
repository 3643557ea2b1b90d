/** One pass over a text that says which rules are worth running on it. Cheap, since almost all texts are harmless. */
import type { PhraseRule } from './rule.ts';

export interface Survey {
  /** Something else than printable ASCII, tab and line end. */
  isPlain: boolean;
  /** Blank space that may push text out of sight. */
  hasPadding: boolean;
  /** A backslash, which may spell an escape sequence. */
  hasBackslash: boolean;
  /** A run long enough to be an encoded text. */
  hasEncoded: boolean;
  /** Bits of the phrase rules whose anchors are there, 31 in each. */
  low: number;
  high: number;
}

export interface Surveyor {
  survey: (text: string) => Survey;
  /** Whether the rule at this index, in the order given, is worth running. */
  wants: (survey: Survey, index: number) => boolean;
}

const BITS = 31;
/** Characters without a blank between them from which they may encode something. */
const ENCODED = 16;
const PADDING = 15;
const LETTERS = 4;

/** Four letters as one number, case apart. */
function keyOf(word: string): number {
  let key = 0;
  for (let at = 0; at < LETTERS; at++) key = (key << 5) | (at < word.length ? word.charCodeAt(at) & 31 : 0);
  return key;
}

/** `others` of a rule: anchored by any character beyond Latin. */
export function surveyor(rules: readonly Pick<PhraseRule, 'anchors'>[]): Surveyor {
  const masks: { low: number; high: number }[] = [{ low: 0, high: 0 }];
  const byWord = new Uint8Array(1 << 20);
  const byCharacter = new Uint8Array(128);
  let always = 0;
  let beyond = 0;
  const bitOf = (index: number): { low: number; high: number } =>
    index < BITS ? { low: 1 << index, high: 0 } : { low: 0, high: 1 << (index - BITS) };
  const extend = (at: number, index: number): number => {
    const { low, high } = bitOf(index);
    const mask = { low: masks[at]!.low | low, high: masks[at]!.high | high };
    const known = masks.findIndex((one) => one.low === mask.low && one.high === mask.high);
    return known >= 0 ? known : masks.push(mask) - 1;
  };
  rules.forEach(({ anchors }, index) => {
    for (const anchor of anchors) {
      if (anchor === '*') always = extend(always, index);
      else if (anchor.charCodeAt(0) > 127) beyond = extend(beyond, index);
      else if (/^[a-z]+$/.test(anchor)) byWord[keyOf(anchor)] = extend(byWord[keyOf(anchor)]!, index);
      else byCharacter[anchor.charCodeAt(0)] = extend(byCharacter[anchor.charCodeAt(0)]!, index);
    }
  });
  if (rules.length > 2 * BITS || masks.length > 255) throw new RangeError('too many rules for one survey');

  return {
    wants: ({ low, high }, index) => {
      const bit = bitOf(index);
      return ((low & bit.low) | (high & bit.high)) !== 0;
    },
    survey(text) {
      let { low, high } = masks[always]!;
      let isPlain = true;
      let [hasPadding, hasBackslash, hasEncoded] = [false, false, false];
      let [word, length, blank, solid] = [0, 0, 0, 0];
      const add = (mask: number): void => {
        low |= masks[mask]!.low;
        high |= masks[mask]!.high;
      };
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
      return { isPlain, hasPadding, hasBackslash, hasEncoded, low, high };
    },
  };
}
