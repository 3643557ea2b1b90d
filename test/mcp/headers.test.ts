import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { headerValue, mirroredArguments, mirroredHeaders, readHeaderValue } from '../../src/mcp/headers.ts';
import type { JsonObject } from '../../src/types.ts';

describe('header values', () => {
  test('come back as they were, for every text, and hold visible ASCII only', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map((inner) => `=?base64?${inner}?=`),
      fc.string().map((inner) => ` ${inner}\t`),
    );
    fc.assert(
      fc.property(text, (value) => {
        const sent = headerValue(value);
        expect(sent).toMatch(/^[\x20-\x7e]+$/);
        expect(sent.trim()).toBe(sent);
        expect(readHeaderValue(sent)).toBe(value);
      }),
    );
  });

  test.each([
    ['query', 'query'],
    ['München', '=?base64?TcO8bmNoZW4=?='],
    ['a b', 'a b'],
    [' a', '=?base64?IGE=?='],
    ['', '=?base64??='],
    ['a\nb', '=?base64?YQpi?='],
    ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
  ])('%j is sent as %s', (value, sent) => {
    expect(headerValue(value)).toBe(sent);
  });

  test.each(['=?base64?%%%?=', '=?base64?YQ?=', '=?base64?/w==?='])(
    '%s, which is not canonical, cannot be read',
    (value) => {
      expect(readHeaderValue(value)).toBeUndefined();
    },
  );
});

describe('x-mcp-header', () => {
  const marked = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    type: 'object',
    properties,
    ...more,
  });
  const mark = (header: unknown, type: unknown = 'string'): JsonObject =>
    ({ type, 'x-mcp-header': header }) as JsonObject;

  test('is found at every depth of properties', () => {
    const schema = marked({
      a: mark('A'),
      b: { type: 'object', properties: { c: mark('C', 'integer'), d: mark('D', 'boolean') } },
    });
    expect(mirroredArguments(schema)).toEqual([
      { header: 'A', path: ['a'] },
      { header: 'C', path: ['b', 'c'] },
      { header: 'D', path: ['b', 'd'] },
    ]);
    expect(mirroredHeaders(mirroredArguments(schema) as never, { a: 'ü', b: { c: 7, d: false } })).toEqual({
      'Mcp-Param-A': '=?base64?w7w=?=',
      'Mcp-Param-C': '7',
      'Mcp-Param-D': 'false',
    });
    expect(mirroredHeaders(mirroredArguments(schema) as never, { a: null, b: { c: 1.5, d: {} } })).toEqual(
      {},
    );
  });

  test('as the name of a property, or in an example, is no mark', () => {
    expect(
      mirroredArguments(marked({ 'x-mcp-header': { type: 'string', examples: [{ 'x-mcp-header': '!' }] } })),
    ).toEqual([]);
  });

  test.each<[string, JsonObject]>([
    ['an empty name', marked({ a: mark('') })],
    ['a name with a space', marked({ a: mark('A B') })],
    ['a name with a line break', marked({ a: mark('A\r\nX: y') })],
    ['a name that is no string', marked({ a: mark(7) })],
    ['a number', marked({ a: mark('A', 'number') })],
    ['an object', marked({ a: mark('A', 'object') })],
    ['a list of types', marked({ a: mark('A', ['string', 'null']) })],
    ['the same name in another case', marked({ a: mark('A'), b: mark('a') })],
    ['the root', { type: 'object', 'x-mcp-header': 'A' }],
    ['items', marked({ a: { type: 'array', items: mark('A') } })],
    ['anyOf', marked({ a: { anyOf: [mark('A')] } })],
    ['a property under oneOf', marked({}, { oneOf: [marked({ a: mark('A') })] })],
    ['$defs', marked({}, { $defs: { a: mark('A') } })],
    ['additionalProperties', marked({}, { additionalProperties: mark('A') })],
    ['patternProperties', marked({}, { patternProperties: { '^a': mark('A') } })],
    ['if', marked({}, { if: marked({ a: mark('A') }) })],
  ])('at or with %s is invalid', (_what, schema) => {
    expect(mirroredArguments(schema)).toHaveProperty('problem');
  });
});
