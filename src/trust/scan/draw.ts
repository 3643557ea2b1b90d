/** How text that is not to be trusted is shown: whatever hides, reorders or looks like something else is drawn. */
import { disguisedWords } from './lookalikes.ts';
import { tagText } from './tags.ts';

const HIDDEN =
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  /[\u{e0000}-\u{e007f}]+|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2800\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const PLAIN = /^[\t\n\u0020-\u007e]*$/;

/** The picture of a control character below U+0020, or of DEL. */
const picture = (code: number): string => String.fromCharCode(code === 0x7f ? 0x2421 : 0x2400 + code);

const escaped = (character: string): string =>
  `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`;

/**
 * Every hidden, control, bidirectional, private and unassigned character drawn as `⟨U+200B⟩`, a control character as its
 * picture (`␛`), a run of tag characters as what it says (`⟨tags: …⟩`), and letters of another script that pass for Latin
 * ones inside a word as their number. Line ends and tabs stay. Linear in the text.
 */
export function drawHidden(text: string): string {
  if (PLAIN.test(text)) return text;
  let drawn = '';
  let done = 0;
  for (const { start, end } of disguisedWords(text)) {
    const word = text.slice(start, end).replace(/[\u{250}-\u{10ffff}]/gu, escaped);
    drawn += text.slice(done, start) + word;
    done = end;
  }
  return (drawn + text.slice(done)).replace(HIDDEN, (found) => {
    const code = found.codePointAt(0)!;
    if (code < 0x20 || code === 0x7f) return picture(code);
    const said = code >= 0xe0000 && code <= 0xe007f ? tagText(found) : '';
    return said === '' ? Array.from(found, escaped).join('') : `⟨tags: ${said}⟩`;
  });
}
