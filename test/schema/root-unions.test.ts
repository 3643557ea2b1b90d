import { describe, expect, it } from 'vitest';
import { lower, validate } from '../../src/schema/index.ts';
import { ALL_PROFILES } from '../corpus/schemas.ts';
import { loweredBy } from './lowered.ts';
import type { JsonObject } from '../../src/types.ts';

const ok = {
  type: 'object',
  properties: { q: { type: 'string' } },
  required: ['q'],
  additionalProperties: false,
};
const either = {
  type: 'object',
  properties: { id: { type: 'string' }, url: { type: 'string' } },
  oneOf: [{ required: ['id'] }, { required: ['url'] }],
};
const viaAllOf = {
  type: 'object',
  allOf: [{ $ref: '#/$defs/Base' }, { properties: { url: { type: 'string' } }, required: ['url'] }],
  $defs: { Base: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } },
};
const { type: _, ...untyped } = either;

describe('a union at the root (R1)', () => {
  for (const profile of ALL_PROFILES) {
    it(`becomes one object with the union in words for ${profile}`, () => {
      const { schema, changes } = loweredBy(profile, either);
      expect(Object.keys(schema['properties'] as JsonObject)).toEqual(['id', 'url']);
      expect(schema['description']).toContain('give either `id` or `url`, not both');
      expect(changes).toContain('root oneOf merged: give `id` or `url`');
      loweredBy(profile, untyped);
      loweredBy(profile, { ...either, oneOf: undefined, anyOf: either.oneOf });
    });

    it(`merges allOf with a $ref for ${profile}`, () => {
      const { schema } = loweredBy(profile, viaAllOf);
      expect(Object.keys(schema['properties'] as JsonObject).sort()).toEqual(['id', 'url']);
      expect([...(schema['required'] as string[])].sort()).toEqual(['id', 'url']);
    });

    it(`leaves the tool beside it alone for ${profile}`, () => {
      expect(Object.keys(loweredBy(profile, ok).schema['properties'] as JsonObject)).toEqual(['q']);
    });
  }

  it('is refused locally, with a line that says what to give', () => {
    expect(validate(either, {})).toEqual({ ok: false, problem: 'give either `id` or `url`' });
    expect(validate(either, { id: 'a', url: 'b' })).toEqual({
      ok: false,
      problem: 'give either `id` or `url`, not both',
    });
    expect(validate(either, { url: 'b' })).toEqual({ ok: true });
    expect(validate(viaAllOf, { id: 'a' })).toEqual({ ok: false, problem: '`url` is required but missing' });
  });

  it('names the variants of a discriminated union and keeps their tags', () => {
    const shape = {
      type: 'object',
      properties: { color: { type: 'string' } },
      oneOf: [
        {
          properties: { kind: { const: 'circle' }, radius: { type: 'number' } },
          required: ['kind', 'radius'],
        },
        { properties: { kind: { const: 'square' }, side: { type: 'number' } }, required: ['kind', 'side'] },
      ],
    };
    const { schema, changes } = loweredBy('anthropic', shape);
    expect(schema).toEqual({
      type: 'object',
      properties: {
        color: { type: 'string' },
        kind: { enum: ['circle', 'square'] },
        radius: { type: 'number' },
        side: { type: 'number' },
      },
      required: ['kind'],
      description:
        'give exactly one of these variants: (1) `kind` "circle", `radius`; (2) `kind` "square", `side`',
    });
    expect(changes).toEqual(['root oneOf merged: 2 variants']);
    expect(validate(shape, { kind: 'circle' })).toEqual({
      ok: false,
      problem: '`radius` is required but missing',
    });
    expect(validate(shape, { kind: 'oval' })).toEqual({
      ok: false,
      problem: '`kind` must be one of "circle", "square", got the string "oval"',
    });
  });

  it('drops the nulls that strict mode forced for members of the other variant', () => {
    const shape = {
      oneOf: [
        {
          type: 'object',
          properties: { id: { type: ['string', 'null'] } },
          required: ['id'],
          additionalProperties: false,
        },
        {
          type: 'object',
          properties: { url: { type: 'string' } },
          required: ['url'],
          additionalProperties: false,
        },
      ],
    };
    const { restore } = loweredBy('openai-strict', shape);
    expect(restore({ id: null, url: null })).toEqual({ id: null });
    expect(restore({ id: null, url: 'x' })).toEqual({ url: 'x' });
  });

  it('wraps a root that is no object, and unwraps on the way back', () => {
    for (const profile of ALL_PROFILES) {
      const { restore, changes } = loweredBy(profile, {
        anyOf: [{ type: 'string' }, { $ref: '#/$defs/N' }],
        $defs: { N: { type: 'integer' } },
      });
      expect(changes[0]).toBe('root is not an object: wrapped as `value`');
      expect(restore({ value: 'x' })).toBe('x');
    }
  });

  it('takes the object variants when the union has others, and unites nested unions', () => {
    const { schema } = loweredBy('openai', {
      anyOf: [{ type: 'string' }, { $ref: '#/$defs/A' }],
      $defs: {
        A: { oneOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'string' } } }] },
      },
    });
    expect(Object.keys(schema['properties'] as JsonObject)).toEqual(['a', 'b']);
    expect(lower({ type: 'object', oneOf: [] }, 'openai')).toMatchObject({ schema: { type: 'object' } });
  });
});
