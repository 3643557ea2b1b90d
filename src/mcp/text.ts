/** Server-controlled text for messages and terminals. */

// Control characters, bidirectional and zero-width marks, line separators, Unicode tags, lone surrogates.
const UNSAFE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;

/** One bounded line that cannot steer a terminal: white space is joined, other unsafe characters are written as `\u{…}`. */
export function safeText(text: string, max: number): string {
  const cut = text.length > max ? `${text.slice(0, max)}…` : text;
  return cut
    .replace(/[\t\n\r ]+/g, ' ')
    .trim()
    .replace(UNSAFE, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`);
}
