/** Tag characters (U+E0020 to U+E007E) say ASCII that no screen shows. */

/** What a run of them says; the ones without a printable meaning are left out. */
export function tagText(run: string): string {
  let said = '';
  for (const character of run) {
    const code = character.codePointAt(0)! - 0xe0000;
    if (code >= 0x20 && code < 0x7f) said += String.fromCharCode(code);
  }
  return said;
}
