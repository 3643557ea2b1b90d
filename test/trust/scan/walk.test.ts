import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/types.ts';
import { normView } from '../../../src/trust/scan/views.ts';
import { leavesOf, surfaceItems } from '../../../src/trust/scan/walk.ts';

describe('the leaves of an item', () => {
  it('are every value and every key, keys first, each with its place', () => {
    const value = {
      name: 'convert',
      description: 'Converts.',
      inputSchema: { properties: { description: { enum: ['a'] }, 'x/y': { title: 'X' } } },
    };
    const leaves = leavesOf({ kind: 'tool', key: 'convert', value });
    expect(leaves.map(({ pointer, inKey, raw, place }) => [pointer, inKey ? 'key' : place, raw])).toEqual([
      ['/name', 'key', 'name'],
      ['/name', 'name', 'convert'],
      ['/description', 'key', 'description'],
      ['/description', 'text', 'Converts.'],
      ['/inputSchema', 'key', 'inputSchema'],
      ['/inputSchema/properties', 'key', 'properties'],
      ['/inputSchema/properties/description', 'key', 'description'],
      ['/inputSchema/properties/description/enum', 'key', 'enum'],
      ['/inputSchema/properties/description/enum/0', 'value', 'a'],
      ['/inputSchema/properties/x~1y', 'key', 'x/y'],
      ['/inputSchema/properties/x~1y/title', 'key', 'title'],
      ['/inputSchema/properties/x~1y/title', 'text', 'X'],
    ]);
  });

  it('miss no string of any JSON', () => {
    const stringsOf = (value: Json | undefined): string[] =>
      typeof value === 'string'
        ? [value]
        : Array.isArray(value)
          ? value.flatMap(stringsOf)
          : typeof value === 'object' && value !== null
            ? Object.entries(value).flatMap(([name, member]) => [name, ...stringsOf(member)])
            : [];
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (dictionary) => {
        const value = dictionary as JsonObject;
        const leaves = leavesOf({ kind: 'tool', key: '', value });
        expect(leaves.map(({ raw }) => raw)).toEqual(stringsOf(value));
      }),
    );
  });

  it('do not need a stack as deep as the JSON', () => {
    let value: JsonObject = { end: 'here' };
    for (let depth = 0; depth < 5_000; depth++) value = { a: value };
    expect(leavesOf({ kind: 'tool', key: '', value }).at(-1)?.raw).toBe('here');
  });

  it('come from every part of a surface', () => {
    const items = surfaceItems({
      serverInfo: { name: 's' },
      instructions: 'Use it.',
      tools: [{ name: 't' }],
      prompts: [{ name: 'p' }],
      resources: [{ uri: 'file:///a' }],
      templates: [{ uriTemplate: 'file:///{a}' }],
    });
    expect(items.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
      'server ',
      'instructions ',
      'tool t',
      'prompt p',
      'resource file:///a',
      'template file:///{a}',
    ]);
  });
});

describe('the view of a leaf', () => {
  it.each([
    ['a  b\n\tc', 'a b c'],
    ['a\n\nb', 'a\nb'],
    ['ig\u200bnore', 'ignore'],
    ['\uff29\uff47', 'Ig'],
    ['\u{1d408}\u{1d420}', 'Ig'],
    ['previ\u043eus \u2018x\u2019 \u201cy\u201d', 'previous \'x\' "y"'],
    ['ígnòre', 'ignore'],
    ['Не говори', 'Не говори'],
    ['不要 告诉', '不要 告诉'],
    ['a\u00a0\u2003b', 'a b'],
  ])('of %j is %j', (raw, text) => {
    expect(normView(raw).text).toBe(text);
  });

  it('leads back to the raw text, whatever that is', () => {
    const unit = fc.constantFrom('a', 'B', ' ', '\n', '\t', '\u200b', '\u{1d408}', 'é', '½', '\ud800', '不');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), fc.nat(), fc.nat(), (raw, from, to) => {
        const view = normView(raw);
        const [start, end] = [from % (view.text.length + 1), to % (view.text.length + 1)].sort(
          (a, b) => a - b,
        );
        const [rawStart, rawEnd] = view.raw(start!, end!);
        expect(rawStart).toBeGreaterThanOrEqual(0);
        expect(rawEnd).toBeLessThanOrEqual(raw.length);
        expect(rawEnd).toBeGreaterThanOrEqual(rawStart);
        if (end! > start! && view.text.slice(start, end).trim() !== '')
          expect(normView(raw.slice(rawStart, rawEnd)).text).toContain(
            view.text.slice(start, end).trim().slice(0, 1),
          );
      }),
    );
  });
});
