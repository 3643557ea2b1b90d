import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/types.ts';
import { failureOf, loweredBy } from './lowered.ts';

const task = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    due: { type: 'string', format: 'date' },
    status: { enum: ['onTrack', 'late'] },
    note: { type: ['string', 'null'] },
  },
  required: ['title'],
};

describe('strict mode and optional arguments (R4)', () => {
  it('requires all members, the optional ones nullable', () => {
    const { schema, changes } = loweredBy('openai-strict', task);
    expect(schema).toEqual({
      type: 'object',
      properties: {
        title: { type: 'string' },
        due: { type: ['string', 'null'], format: 'date' },
        status: { type: ['string', 'null'], enum: ['onTrack', 'late', null] },
        note: { type: ['string', 'null'] },
      },
      required: ['title', 'due', 'status', 'note'],
      additionalProperties: false,
    });
    expect(changes).toContain('optional members made required and nullable: `due`, `status`, `note`');
  });

  it('drops the null where the original allows none, and only there', () => {
    const { restore } = loweredBy('openai-strict', task);
    expect(restore({ title: 'x', due: null, status: null, note: null })).toEqual({ title: 'x', note: null });
    expect(restore({ title: null, due: 'null', status: 'late', note: 'null' })).toEqual({
      title: null,
      due: 'null',
      status: 'late',
      note: 'null',
    });
    expect(restore({ title: 'x', due: null, extra: null })).toEqual({ title: 'x', extra: null });
  });

  it('does so in nested objects, items, definitions and the branch that was meant', () => {
    const nested = {
      type: 'object',
      properties: {
        parent: task,
        list: { type: 'array', items: { $ref: '#/$defs/item' } },
        either: {
          anyOf: [
            {
              type: 'object',
              properties: { kind: { const: 'a' }, v: { type: 'string' } },
              required: ['kind'],
            },
            {
              type: 'object',
              properties: { kind: { const: 'b' }, v: { type: ['string', 'null'] } },
              required: ['kind'],
            },
            { type: 'string' },
          ],
        },
      },
      required: ['parent', 'list', 'either'],
      $defs: {
        item: {
          type: 'object',
          properties: { name: { type: 'string' }, more: { type: 'array', items: { $ref: '#/$defs/item' } } },
        },
      },
    };
    const { restore } = loweredBy('openai-strict', nested);
    expect(
      restore({
        parent: { title: 'x', due: null, status: null, note: null },
        list: [
          { name: null, more: [{ name: 'n', more: null }] },
          { name: 'm', more: null },
        ],
        either: { kind: 'a', v: null },
      }),
    ).toEqual({
      parent: { title: 'x', note: null },
      list: [{ more: [{ name: 'n' }] }, { name: 'm' }],
      either: { kind: 'a' },
    });
    expect(restore({ either: { kind: 'b', v: null } })).toEqual({ either: { kind: 'b', v: null } });
    expect(restore({ either: 'null', parent: null })).toEqual({ either: 'null', parent: null });
  });

  it('leaves a schema that is strict already as it is', () => {
    const strict = {
      type: 'object',
      properties: { a: { type: ['string', 'null'] } },
      required: ['a'],
      additionalProperties: false,
    };
    for (const profile of ['openai-strict', 'anthropic-strict'] as const) {
      const { schema, changes, restore } = loweredBy(profile, {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        ...strict,
      });
      expect(schema).toEqual(strict);
      expect(changes).toEqual([]);
      expect(restore({ a: null })).toEqual({ a: null });
    }
  });

  it('keeps optional members optional for Anthropic, within its limits', () => {
    const { schema, restore } = loweredBy('anthropic-strict', task);
    expect(schema['required']).toEqual(['title']);
    expect(restore({ title: 'x', due: null })).toEqual({ title: 'x', due: null });
    const many = (count: number): JsonObject => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string' }]),
      ),
    });
    loweredBy('anthropic-strict', many(24));
    expect(failureOf('anthropic-strict', many(25))).toBe('more than 24 optional members');
    loweredBy('openai-strict', many(1000));
    expect(failureOf('openai-strict', many(5001))).toBe('more than 5000 members');
  });

  it('fails with the reason where strict cannot say it', () => {
    const of = (p: JsonObject | boolean): JsonObject => ({
      type: 'object',
      properties: { p },
      required: ['p'],
    });
    for (const profile of ['openai-strict', 'anthropic-strict'] as const) {
      expect(failureOf(profile, of({ type: 'object', additionalProperties: { type: 'string' } }))).toContain(
        '`p` takes members of any name',
      );
      expect(failureOf(profile, of({ type: 'object', patternProperties: { '^x': {} } }))).toContain(
        '`p` takes members of any name',
      );
      expect(failureOf(profile, of({ type: 'object' }))).toContain('`p` is an object of any shape');
      expect(failureOf(profile, of({}))).toContain('`p` may be anything');
      expect(failureOf(profile, of({ type: 'array' }))).toContain('the items of `p` may be anything');
      expect(failureOf(profile, { ...of({ type: 'string' }), additionalProperties: true })).toContain(
        'the root takes members of any name',
      );
      loweredBy(profile, { type: 'object' });
    }
    let deep: JsonObject = { type: 'string' };
    for (let level = 0; level < 10; level++)
      deep = { type: 'object', properties: { p: deep }, required: ['p'] };
    loweredBy('openai-strict', deep);
    expect(failureOf('openai-strict', of(deep))).toContain('nested deeper than 10 levels');
    const values = Array.from({ length: 1001 }, (_, index) => `v${index}`);
    expect(failureOf('openai-strict', of({ enum: values }))).toBe('more than 1000 enum values');
    expect(
      failureOf('openai-strict', of({ enum: values.slice(0, 260).map((value) => value.padEnd(60, 'x')) })),
    ).toContain('longer than 15000 characters');
  });

  it('says in words what strict readers refuse', () => {
    const bounds = {
      type: 'object',
      properties: {
        u: { type: 'string', format: 'uri', minLength: 1, pattern: '^(?=h)', default: 'h' },
        n: { type: 'integer', minimum: 1, exclusiveMaximum: 9, multipleOf: 2 },
        l: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 3, uniqueItems: true },
        t: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
        f: { type: 'string', not: { const: 'x' } },
      },
      required: ['u', 'n', 'l', 't', 'f'],
      dependentRequired: { u: ['n'] },
    };
    const openai = loweredBy('openai-strict', bounds).schema['properties'] as JsonObject;
    expect(openai['u']).toEqual({
      type: 'string',
      description: 'format uri; at least 1 character; pattern "^(?=h)"; default "h"',
    });
    expect(openai['n']).toEqual(bounds.properties.n);
    expect(openai['l']).toEqual({
      type: 'array',
      items: { type: 'string' },
      minItems: 2,
      maxItems: 3,
      description: 'no item twice',
    });
    expect(openai['t']).toEqual({
      type: 'array',
      items: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      description: 'items in order: [{"type":"string"},{"type":"number"}]',
    });
    expect(openai['f']).toEqual({ type: 'string', description: 'not {"const":"x"}' });
    const anthropic = loweredBy('anthropic-strict', bounds).schema['properties'] as JsonObject;
    expect(anthropic['u']).toEqual({
      type: 'string',
      format: 'uri',
      default: 'h',
      description: 'at least 1 character; pattern "^(?=h)"',
    });
    expect(anthropic['l']).toEqual({
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      description: 'at least 2 items; at most 3 items; no item twice',
    });
    expect(loweredBy('openai-strict', bounds).schema['description']).toBe('`u` needs `n`');
  });
});
