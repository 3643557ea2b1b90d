import { describe, expect, it } from 'vitest';
import { lower, validate } from '../../src/schema/index.ts';
import type { Profile } from '../../src/schema/index.ts';
import type { JsonObject } from '../../src/types.ts';
import { ALL_PROFILES } from '../corpus/schemas.ts';
import { loweredBy } from './lowered.ts';

const of = (p: JsonObject | boolean, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: { p },
  ...more,
});

/** Schemas that the profiles without strictness take as they are. */
const TAKEN: Record<string, JsonObject> = {
  'a plain object': of(
    { type: 'string', minLength: 1, format: 'uri', default: 'x', examples: ['y'] },
    { required: ['p'] },
  ),
  'nested unions, constants and conditions': of({
    oneOf: [{ const: 1 }, { type: ['string', 'null'] }, { not: { type: 'boolean' } }],
    if: { type: 'string' },
    else: {},
  }),
  'definitions in both places': of(
    { $ref: '#/$defs/a' },
    { $defs: { a: { type: 'string' } }, definitions: { b: { $ref: '#/$defs/a' } } },
  ),
  'open objects, maps and patterns': of({
    type: 'object',
    properties: {},
    additionalProperties: { type: 'string' },
    patternProperties: { '^x': true },
  }),
  tuples: of({ type: 'array', prefixItems: [{ type: 'string' }], items: false }),
  'boolean schemas': of(true),
  'unknown keywords': of({ type: 'string', 'x-order': 1, optional: true }, { 'x-vendor': { a: 1 } }),
  'an $id at the root': of({ type: 'string' }, { $id: 'https://example.com/a', title: 'T' }),
};

describe.each(['anthropic', 'openai'] as Profile[])('%s takes as they are', (profile) => {
  it.each(Object.entries(TAKEN))('%s', (_, schema) => {
    const { schema: lowered, changes, restore } = loweredBy(profile, schema);
    expect(lowered).toEqual(schema);
    expect(changes).toEqual([]);
    const args = { p: null, more: [1] };
    expect(restore(args)).toEqual(args);
  });

  it('all of it without $schema', () => {
    const schema = of({ type: 'string' }, { $schema: 'http://json-schema.org/draft-07/schema#' });
    expect(loweredBy(profile, schema)).toMatchObject({ schema: of({ type: 'string' }), changes: [] });
  });
});

/** Spellings of older drafts and of OpenAPI: given, written, told. */
const OLDER: Record<string, [JsonObject, JsonObject, string]> = {
  'boolean exclusive bounds': [
    { type: 'integer', minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
    { type: 'integer', exclusiveMinimum: 1, maximum: 9 },
    'boolean exclusiveMinimum written as a number: `p`',
  ],
  'tuple items': [
    { type: 'array', items: [{ type: 'string' }, true], additionalItems: false },
    { type: 'array', prefixItems: [{ type: 'string' }, true], items: false },
    'tuple items written as prefixItems: `p`',
  ],
  dependencies: [
    { type: 'object', properties: {}, dependencies: { a: ['b'], c: { required: ['d'] } } },
    {
      type: 'object',
      properties: {},
      dependentRequired: { a: ['b'] },
      dependentSchemas: { c: { required: ['d'] } },
    },
    'dependencies written as dependentRequired and dependentSchemas: `p`',
  ],
  nullable: [
    { type: 'string', enum: ['a'], nullable: true },
    { type: ['string', 'null'], enum: ['a', null] },
    'nullable written as the type null: `p`',
  ],
  'nullable without a type': [
    { $ref: '#/$defs/a', nullable: true, description: 'd' },
    { description: 'd', anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] },
    'nullable written as the type null: `p`',
  ],
  'type any': [{ type: 'any', description: 'd' }, { description: 'd' }, 'type any left out: `p`'],
  'types in upper case': [
    { type: 'STRING' },
    { type: 'string' },
    'type names brought to the standard form: `p`',
  ],
  'required on the member': [
    { type: 'object', properties: { a: { type: 'string', required: true } } },
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    'required: true on members written as a list: `p`',
  ],
  'malformed values': [
    { type: 'string', minLength: '3', enum: 'a', title: null, pattern: 5 },
    { type: 'string' },
    'malformed minLength left out: `p`',
  ],
  'malformed lists and maps': [
    { type: 'object', properties: { a: 'string', b: { type: ['string', 'int'] } }, required: ['a', 'a', 1] },
    { type: 'object', properties: { a: true, b: { type: ['string'] } }, required: ['a'] },
    'malformed parts of properties left out: `p`',
  ],
  'an empty enum': [{ type: 'string', enum: [] }, { type: 'string' }, 'empty enum left out: `p`'],
};

describe.each(['anthropic', 'openai'] as Profile[])('%s gets in the spelling of 2020-12', (profile) => {
  it.each(Object.entries(OLDER))('%s', (_, [given, written, change]) => {
    const $defs = { a: { type: 'string' } };
    const { schema, changes } = loweredBy(profile, of(given, { $defs }));
    expect(schema).toEqual(of(written, { $defs }));
    expect(changes).toContain(change);
  });

  it('siblings of $ref left out where the draft ignores them', () => {
    const schema = of(
      { $ref: '#/definitions/a', minLength: 5, description: 'd' },
      { definitions: { a: { type: 'string' } } },
    );
    const old = { $schema: 'http://json-schema.org/draft-07/schema#', ...schema };
    expect(loweredBy(profile, old).schema).toEqual(
      of({ $ref: '#/definitions/a', description: 'd' }, { definitions: { a: { type: 'string' } } }),
    );
    expect(loweredBy(profile, schema).schema).toEqual(schema);
  });
});

describe('openai', () => {
  it('gets properties on objects and items on arrays, at any depth', () => {
    const given = of(
      { type: ['array', 'null'] },
      { required: [], $defs: { m: { type: 'object', additionalProperties: { type: 'array' } } } },
    );
    const { schema, changes } = loweredBy('openai', given);
    expect((schema['properties'] as JsonObject)['p']).toEqual({ type: ['array', 'null'], items: {} });
    expect(schema['$defs']).toEqual({
      m: { type: 'object', properties: {}, additionalProperties: { type: 'array', items: {} } },
    });
    expect(changes).toEqual(['items added: `p`, `m.*`', 'empty properties added: `m`']);
    expect(loweredBy('openai', { type: 'object' }).schema).toEqual({ type: 'object', properties: {} });
  });

  it('gets enum and not of the root in words', () => {
    const { schema } = loweredBy('openai', of({ type: 'string' }, { not: { required: ['p', 'q'] } }));
    expect(schema).toEqual(of({ type: 'string' }, { description: 'not with `p` and `q` given' }));
  });
});

describe('anthropic', () => {
  it('renames members of the root that its pattern refuses, and only there', () => {
    const inner = { type: 'object', properties: { $top: { type: 'integer' } } };
    const given: JsonObject = {
      type: 'object',
      properties: JSON.parse(
        '{"__proto__":{"type":"string"},"@x":{"type":"string"},"x":{"type":"string"},"in ner":{}}',
      ) as JsonObject,
      required: ['@x', '__proto__'],
      dependentRequired: { '@x': ['x'] },
    };
    (given['properties'] as JsonObject)['in ner'] = inner;
    const { schema, renamed, restore } = loweredBy('anthropic', given);
    expect(renamed).toEqual({ '/properties/@x': 'x_2', '/properties/in ner': 'in_ner' });
    expect(schema['required']).toEqual(['x_2', '__proto__']);
    expect((schema['properties'] as JsonObject)['in_ner']).toEqual(inner);
    expect(schema['description']).toBe('`@x` needs `x`');
    const sent = JSON.parse(
      '{"__proto__":"p","x_2":"a","x":"b","in_ner":{"$top":1},"other":2}',
    ) as JsonObject;
    expect(JSON.stringify(restore(sent))).toBe(
      '{"__proto__":"p","@x":"a","x":"b","in ner":{"$top":1},"other":2}',
    );
  });

  it('finds the member as well when the model sends the original name', () => {
    const { restore } = loweredBy('anthropic', { type: 'object', properties: { 'a[]': { type: 'string' } } });
    expect(restore({ 'a[]': 'x' })).toEqual({ 'a[]': 'x' });
    expect(restore({ a: 'x', 'a[]': 'y' })).toEqual({ a: 'x', 'a[]': 'y' });
  });
});

describe('a schema past our limits', () => {
  const deep = (): JsonObject => {
    let schema: JsonObject = { type: 'string' };
    for (let level = 0; level < 40; level++) schema = of(schema);
    return { ...schema, description: 'deep' };
  };
  const wide = of({ enum: Array.from({ length: 20_001 }, (_, index) => index) });

  it.each(ALL_PROFILES)('does not lose the tool for %s unless it is strict', (profile) => {
    for (const schema of [deep(), wide]) {
      const lowered = lower(schema, profile);
      if (profile.endsWith('strict')) expect(lowered).toHaveProperty('failed');
      else {
        expect(lowered).toMatchObject({
          schema: { properties: {} },
          changes: [expect.stringMatching(/^replaced by an open object: the schema /)],
        });
        loweredBy(profile, (lowered as { schema: JsonObject }).schema);
      }
    }
  });

  it('cannot be validated, and says why', () => {
    expect(validate(deep(), {})).toEqual({ ok: 'unchecked', reason: 'the schema is nested deeper than 64' });
    expect(validate(wide, {})).toEqual({ ok: 'unchecked', reason: 'the schema has more than 20000 nodes' });
  });
});
