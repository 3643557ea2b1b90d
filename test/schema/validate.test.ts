import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validate } from '../../src/schema/index.ts';
import { compilePattern } from '../../src/schema/pattern.ts';
import type { Json, JsonObject } from '../../src/types.ts';

const problemOf = (schema: JsonObject, value: Json): string => {
  const verdict = validate(schema, value);
  if (verdict.ok !== false) throw new Error(`no problem: ${JSON.stringify(verdict)}`);
  return verdict.problem;
};
const reasonOf = (schema: JsonObject, value: Json): string => {
  const verdict = validate(schema, value);
  if (verdict.ok !== 'unchecked') throw new Error(`checked: ${JSON.stringify(verdict)}`);
  return verdict.reason;
};
const of = (p: JsonObject | boolean): JsonObject => ({ type: 'object', properties: { p } });

/** Schema, value, and the line that a model gets. */
const PROBLEMS: [JsonObject, Json, string][] = [
  [{ type: 'object', required: ['a', 'b'] }, {}, '`a` is required but missing; `b` is required but missing'],
  [of({ type: 'integer' }), { p: 'five' }, '`p` must be an integer, got the string "five"'],
  [of({ type: ['string', 'null'] }), { p: 1 }, '`p` must be a string or null, got the number 1'],
  [of({ type: 'integer' }), { p: 1.5 }, '`p` must be an integer, got the number 1.5'],
  [
    of({ enum: ['onTrack', 'late'] }),
    { p: 'done' },
    '`p` must be one of "onTrack", "late", got the string "done"',
  ],
  [of({ const: 'x' }), { p: null }, '`p` must be "x", got null'],
  [{ ...of({}), additionalProperties: false }, { q: 1 }, '`q` is not known here; known are `p`'],
  [{ type: 'object', additionalProperties: false }, { q: 1 }, '`q` is not known here, and nothing else is'],
  [
    of({ type: 'array', items: { type: 'object', properties: { z: { minimum: 3 } } } }),
    { p: [{ z: 4 }, { z: 1 }] },
    '`p[1].z` must be at least 3, got the number 1',
  ],
  [of({ minLength: 3 }), { p: 'ab' }, '`p` must have at least 3 characters, got the string "ab"'],
  [of({ maxLength: 2 }), { p: 'x'.repeat(5000) }, '`p` must have at most 2 characters, got 5000'],
  [of({ pattern: '^a+$' }), { p: 'b' }, '`p` must match the pattern "^a+$", got the string "b"'],
  [of({ minItems: 2 }), { p: [1] }, '`p` must have at least 2 items, got 1'],
  [
    of({ uniqueItems: true }),
    {
      p: [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    },
    '`p` must not have the same item twice',
  ],
  [of({ prefixItems: [true], items: false }), { p: [1, 2] }, '`p` must have at most 1 item, got 2'],
  [of({ multipleOf: 0.1 }), { p: 0.35 }, '`p` must be a multiple of 0.1, got the number 0.35'],
  [of({ not: { enum: ['x'] } }), { p: 'x' }, '`p` must not be one of "x"'],
  [of(false), { p: 1 }, '`p` must not be given'],
  [{ type: 'object', dependentRequired: { a: ['b'] } }, { a: 1 }, '`b` is required but missing'],
  [
    of({ anyOf: [{ type: 'string' }, { type: 'integer' }] }),
    { p: [] },
    '`p` must be a string or an integer, got an array',
  ],
  [
    of({
      oneOf: [
        { properties: { kind: { const: 'a' }, x: { type: 'string' } }, required: ['kind', 'x'] },
        { properties: { kind: { const: 'b' } }, required: ['kind'] },
      ],
    }),
    { p: { kind: 'a', x: 1 } },
    '`p.x` must be a string, got the number 1',
  ],
  [{ anyOf: [{ required: ['a', 'b'] }, { required: ['c'] }] }, { a: 1 }, 'give either `a` and `b` or `c`'],
  [
    { oneOf: [{ required: ['a'] }, { required: ['b'] }, { required: ['c'] }] },
    { a: 1, b: 2, c: 3 },
    'give exactly one of `a`, `b`, `c`',
  ],
  [{ type: 'object' }, [], 'the arguments object must be an object, got an array'],
  [
    of({ type: 'object', properties: { 'a b\n`c': { type: 'string' } } }),
    { p: { 'a b\n`c': 1 } },
    '`p["a b\\n\'c"]` must be a string, got the number 1',
  ],
  [
    { properties: { a: true }, unevaluatedProperties: false, allOf: [{ properties: { b: true } }] },
    { a: 1, b: 2, c: 3 },
    '`c` is not known here; known are `a`',
  ],
];

describe('a problem is one line that says what to change', () => {
  it.each(PROBLEMS)('%j with %j', (schema, value, problem) => {
    expect(problemOf(schema, value)).toBe(problem);
  });

  it('stays short and clean whatever the value and schema hold', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ maxLength: 300 }), (value, name) => {
        const problem = problemOf(
          { type: 'object', properties: { [name]: false }, required: ['\u001b[31m', name] },
          { [name]: value },
        );
        expect(problem.length).toBeLessThanOrEqual(600);
        expect(problem).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }),
    );
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`m${index}`, index]));
    expect(problemOf({ additionalProperties: { type: 'string' } }, many).length).toBeLessThan(300);
  });
});

describe('validation is bounded', () => {
  it('follows recursion as far as the value goes', () => {
    const list = {
      $ref: '#/$defs/n',
      $defs: {
        n: { type: 'object', properties: { next: { $ref: '#/$defs/n' } }, additionalProperties: false },
      },
    };
    let value: JsonObject = {};
    for (let depth = 0; depth < 30; depth++) value = { next: value };
    expect(validate(list, value)).toEqual({ ok: true });
    for (let depth = 0; depth < 5000; depth++) value = { next: value };
    expect(reasonOf(list, value)).toBe('the value is nested deeper than 64');
  });

  it('gives up on work that multiplies', () => {
    const both = { properties: { n: { $ref: '#/$defs/a' } } };
    const schema = {
      $ref: '#/$defs/a',
      $defs: {
        a: {
          anyOf: [
            { ...both, required: ['x'] },
            { ...both, required: ['y'] },
          ],
        },
      },
    };
    let value: JsonObject = {};
    for (let depth = 0; depth < 50; depth++) value = { n: value };
    expect(reasonOf(schema, value)).toBe('checking it takes too long');
  });

  it('refuses references that lead out, nowhere or back to themselves', () => {
    expect(reasonOf(of({ $ref: 'https://example.com/x' }), {})).toContain('nothing is fetched');
    expect(reasonOf(of({ $ref: '#/$defs/x' }), {})).toContain('points to nothing');
    expect(reasonOf({ $ref: '#' }, {})).toContain('without progress');
  });

  it('does not know foreign dialects, and knows the drafts', () => {
    expect(reasonOf({ $schema: 'https://example.com/my-dialect' }, {})).toBe(
      'the schema is written in "https://example.com/my-dialect", which is not supported',
    );
    for (const draft of [
      'http://json-schema.org/draft-04/schema#',
      'http://json-schema.org/draft-06/schema',
      'https://json-schema.org/draft/2019-09/schema',
    ]) {
      expect(validate({ $schema: draft, type: 'object' }, {})).toEqual({ ok: true });
    }
    const sibling = { $ref: '#/definitions/s', minLength: 3, definitions: { s: { type: 'string' } } };
    expect(validate({ $schema: 'http://json-schema.org/draft-07/schema#', ...sibling }, 'a')).toEqual({
      ok: true,
    });
    expect(validate(sibling, 'a').ok).toBe(false);
  });

  it('finds duplicates among many items', () => {
    const items = Array.from({ length: 5000 }, (_, index) => ({ index, text: `t${index}` }));
    expect(validate(of({ uniqueItems: true }), { p: items })).toEqual({ ok: true });
    expect(validate(of({ uniqueItems: true }), { p: [...items, { text: 't7', index: 7 }] }).ok).toBe(false);
  });

  it('takes any JSON for schema and value without throwing', () => {
    const keyword = fc.constantFrom(
      'type',
      'properties',
      'items',
      'enum',
      'required',
      'anyOf',
      '$ref',
      'pattern',
      'minimum',
      'if',
      'not',
      '$defs',
      'additionalProperties',
      '__proto__',
      'dependencies',
      '$id',
      'allOf',
    );
    const any = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<Json>('string', '#', '#/properties/a', 3, null, true, 'object', '^(a+)+$'),
        fc.array(tie('schema'), { maxLength: 3 }),
        fc.dictionary(keyword, tie('schema'), { maxKeys: 4 }),
      ),
    })).schema as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(fc.dictionary(keyword, any), fc.jsonValue(), (schema, value) => {
        expect([true, false, 'unchecked']).toContain(validate(schema, value).ok);
      }),
      { numRuns: 500 },
    );
  });
});

describe('patterns', () => {
  it('that backtrack without end are checked all the same', () => {
    const long = `${'a'.repeat(2000)}!`;
    for (const source of [
      '^(a+)+$',
      '^(a|a)*$',
      '^(a|aa)+$',
      '(a*)*b',
      '^(([a-z])+.)+[A-Z]([a-z])+$',
      '^(a?){50}a{50}$',
      '(.*)(.*)(.*)(.*)x',
    ]) {
      expect(validate(of({ pattern: source }), { p: long }), source).toMatchObject({ ok: false });
      expect(validate(of({ pattern: source, type: 'integer' }), { p: 3 })).toEqual({ ok: true });
    }
  });

  it('that cannot be checked matter only where the verdict hangs on them', () => {
    const lookahead = of({ type: 'string', pattern: '^(?=.*x)' });
    expect(reasonOf(lookahead, { p: 'abc' })).toBe('the pattern "^(?=.*x)" cannot be checked safely');
    expect(validate(lookahead, {})).toEqual({ ok: true });
    expect(problemOf(lookahead, { p: 3 })).toBe('`p` must be a string, got the number 3');
    expect(validate({ anyOf: [lookahead, { type: 'object' }] }, { p: 'abc' })).toEqual({ ok: true });
    expect(reasonOf(of({ pattern: '(' }), { p: 'x' })).toContain('cannot be checked');
    expect(reasonOf(of({ pattern: '(a)\\1' }), { p: 'aa' })).toContain('cannot be checked');
    expect(reasonOf(of({ pattern: '((((){1000}){1000}){1000})*' }), { p: 'aa' })).toContain(
      'cannot be checked',
    );
    expect(reasonOf(of({ pattern: '(((a{100}){100}){100})' }), { p: 'aa' })).toContain('cannot be checked');
  });

  it('mean what the engine means', () => {
    const sources = [
      '^[a-z0-9]+(-[a-z0-9]+)*$',
      '^\\d{4}-\\d{2}-\\d{2}$',
      '^(https?|ftp)://[^\\s/$.?#].[^\\s]*$',
      '^[^@]+@[^@]+\\.[^@]+$',
      'a|b',
      '^$',
      '',
      '^a{2,3}?$',
      '\\bfoo\\b',
      '^\\p{L}+$',
      '^[\\w.-]+$',
      '[^\\n]',
      '^.$',
      '(?:ab)+c?',
      '(?<year>\\d+)',
      '^\\/[a-z]*\\]$',
      '^[]a]',
      '^\\u0041',
      '\\.\\*',
      '^[\\]\\\\a-c]+$',
      '^(|a)+$',
      'x*',
      '^\\u{1F600}$',
      'a{,3}',
      '^\\-_$',
    ];
    const text = fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.string({ unit: fc.constantFrom(...Array.from('ab0-1/.:@hftps_ é😀A\n]\\{,3}')), maxLength: 12 }),
    );
    const engine = (source: string): RegExp => {
      try {
        return new RegExp(source, 'u');
      } catch {
        return new RegExp(source);
      }
    };
    fc.assert(
      fc.property(fc.constantFrom(...sources), text, (source, subject) => {
        expect(compilePattern(source)!(subject, () => true)).toBe(engine(source).test(subject));
      }),
      { numRuns: 4000 },
    );
  });
});
