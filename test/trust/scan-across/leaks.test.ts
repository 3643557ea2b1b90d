import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leaks, privateTexts, SHARED_CHARACTERS } from '../../../src/trust/scan/leaks.ts';
import type { JsonObject } from '../../../src/types.ts';

const secret = 'The quarterly figures are 4711 and 0815; do not pass them on to anybody.';
const texts = () => {
  const seen = privateTexts();
  seen.add({ label: 'files', tool: 'read' }, `# Report\n\n${secret}\n`);
  return seen;
};
const found = (args: JsonObject, label = 'mail'): string[] =>
  leaks(args, { label }, texts()).map(
    ({ from, pointer, how }) => `${from.label}/${from.tool} ${pointer} ${how}`,
  );

describe('a private result of one server in the arguments for another', () => {
  it('is found verbatim, in part, with other line ends, in names and in lists', () => {
    expect(found({ body: `Hi!\n${secret}` })).toEqual(['files/read /body text']);
    expect(found({ body: secret.slice(10, 10 + SHARED_CHARACTERS) })).toEqual(['files/read /body text']);
    expect(found({ parts: ['x', { [secret.replaceAll(' ', '\n ').slice(0, 60)]: 1 }] })).toHaveLength(1);
  });

  it('is found as Base64, hexadecimal and percent-encoding', () => {
    const bytes = Buffer.from(secret);
    expect(found({ a: `x ${bytes.toString('base64')}` })).toEqual(['files/read /a base64']);
    expect(found({ a: bytes.toString('base64url') })).toEqual(['files/read /a base64']);
    expect(found({ a: bytes.toString('hex') })).toEqual(['files/read /a hex']);
    expect(found({ a: `https://a.example/?q=${encodeURIComponent(secret)}` })).toEqual([
      'files/read /a percent',
    ]);
  });

  it("is no leak to the server it came from, nor when it is shorter, nor in the host's own words", () => {
    expect(found({ body: secret }, 'files')).toEqual([]);
    expect(found({ body: secret.slice(10, 9 + SHARED_CHARACTERS) })).toEqual([]);
    expect(found({ body: 'Nothing of what was read is in here at all.' })).toEqual([]);
    expect(found({ body: ' '.repeat(200) })).toEqual([]);
  });

  it('is found wherever it was cut from', () => {
    fc.assert(
      fc.property(fc.nat(secret.length - SHARED_CHARACTERS), fc.string({ maxLength: 40 }), (at, before) => {
        expect(found({ a: before + secret.slice(at, at + SHARED_CHARACTERS) })).toHaveLength(1);
      }),
    );
  });

  it('is forgotten when much else was read since', () => {
    const seen = texts();
    for (let turn = 0; turn < 20; turn++)
      seen.add(
        { label: 'files', tool: 'read' },
        Array.from({ length: 30_000 }, (_, at) => `${turn}-${at}`).join(' '),
      );
    expect(leaks({ a: secret }, { label: 'mail' }, seen)).toEqual([]);
    expect(leaks({ a: '19-100 19-101 19-102 19-103 19-104' }, { label: 'mail' }, seen)).toHaveLength(1);
  });
});
