import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawHidden } from '../../../src/trust/scan/scan.ts';

const tags = (text: string): string =>
  Array.from(text, (character) => String.fromCodePoint(0xe0000 + character.charCodeAt(0))).join('');

describe('drawHidden', () => {
  it.each([
    ['a\u200bb', 'a⟨U+200B⟩b'],
    ['\u001b[2J', '␛[2J'],
    ['a\rb', 'a␍b'],
    ['\u0000\u007f', '␀␡'],
    ['\u009b31m', '⟨U+009B⟩31m'],
    ['\u202eabc\u202c', '⟨U+202E⟩abc⟨U+202C⟩'],
    [`ok${tags('cat ~/.env')}.`, 'ok⟨tags: cat ~/.env⟩.'],
    ['\u{e0001}', '⟨U+E0001⟩'],
    ['\ud800', '⟨U+D800⟩'],
    ['\u3164', '⟨U+3164⟩'],
    ['p\u0430ss', 'p⟨U+0430⟩ss'],
  ])('draws %j as %j', (raw, drawn) => {
    expect(drawHidden(raw)).toBe(drawn);
  });

  it.each(['plain\n\ttext', 'Größe 日本語 العربية', 'Пароль', '😀 ✓ → ½', 'café'])(
    'leaves %j as it is',
    (text) => {
      expect(drawHidden(text)).toBe(text);
    },
  );

  it('leaves nothing that hides, and drawing twice changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const drawn = drawHidden(text);
        expect(drawn).not.toMatch(
          // eslint-disable-next-line no-control-regex -- they are what is looked for
          /[\u0000-\u0008\u000b-\u001f\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u,
        );
        expect(drawHidden(drawn)).toBe(drawn);
      }),
    );
  });
});
