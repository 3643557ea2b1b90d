import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonLimitError, parseJson } from '../../src/mcp/json.ts';
import { MESSAGE_DEPTH, MESSAGE_VALUES } from '../../src/mcp/limits.ts';

/** Texts in which brackets, quotes and backslashes meet in every way. */
const awkward = fc.string({
  unit: fc.constantFrom('"', '\\', '[', '{', ']', '}', '\n', 'a', 'é', '日'),
  maxLength: 30,
});
/** Makes any JSON long enough to be looked at. */
const padding = 'x'.repeat(2 * MESSAGE_DEPTH);

describe('JSON of a server', () => {
  it('is read as JSON.parse reads it, whatever its strings hold', () => {
    const value = fc.jsonValue({ stringUnit: fc.constantFrom('"', '\\', '[', '{', ']', '}', 'a', '日') });
    fc.assert(
      fc.property(value, fc.array(awkward), (value, texts) => {
        const text = JSON.stringify([texts, value, padding, texts]);
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('is refused exactly from one level too many on, and brackets in strings are no levels', () => {
    const levels = fc.integer({ min: MESSAGE_DEPTH - 3, max: MESSAGE_DEPTH + 3 });
    fc.assert(
      fc.property(levels, fc.array(awkward, { minLength: 1 }), (levels, texts) => {
        const nested = texts.map((text) => `${JSON.stringify(text)},`).join('');
        const text = `${`[${nested}`.repeat(levels)}0${']'.repeat(levels)}`;
        const read = (): unknown => parseJson(text);
        if (levels > MESSAGE_DEPTH) expect(read).toThrow(JsonLimitError);
        else expect(read).not.toThrow();
      }),
      { numRuns: 30 },
    );
  });

  it('is refused with more arrays and objects than a message may hold', () => {
    const empty = (count: number): string => `[${Array.from({ length: count }, () => '{}').join()}]`;
    expect(() => parseJson(empty(MESSAGE_VALUES))).toThrow(JsonLimitError);
    expect(() => parseJson(empty(MESSAGE_VALUES - 1))).not.toThrow();
  });

  it('is no JSON when a string in it never ends', () => {
    fc.assert(
      fc.property(awkward, (text) => {
        const open = JSON.stringify([padding, text]).slice(0, -2);
        expect(() => parseJson(open)).toThrow(SyntaxError);
        expect(() => parseJson(`${open}\\`)).toThrow(SyntaxError);
      }),
    );
  });
});
