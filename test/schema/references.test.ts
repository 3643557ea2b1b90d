import { describe, expect, it } from 'vitest';
import { lower, validate } from '../../src/schema/index.ts';
import type { JsonObject } from '../../src/types.ts';
import { ALL_PROFILES } from '../corpus/schemas.ts';
import { failureOf, loweredBy } from './lowered.ts';

const intoProperties = {
  type: 'object',
  properties: {
    opts: { type: 'object', properties: { k: { type: 'string' } } },
    steps: { type: 'array', items: { $ref: '#/properties/opts' } },
  },
};
const recursive = {
  type: 'object',
  properties: { root: { $ref: '#/$defs/node', description: 'the tree' } },
  required: ['root'],
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['name'],
    },
  },
};
const CARRIES_RECURSION = ['anthropic', 'openai', 'openai-strict'] as const;
const CUTS_RECURSION = ['gemini-json-schema', 'gemini-openapi'] as const;

describe('references inside a schema (R2)', () => {
  for (const profile of ALL_PROFILES) {
    it(`into properties: ${profile} gets items for the steps`, () => {
      const { schema } = loweredBy(profile, intoProperties);
      const steps = (schema['properties'] as JsonObject)['steps'] as JsonObject;
      expect(JSON.stringify(steps)).toContain('"items":');
      expect(validate(schema, { opts: { k: 'a' }, steps: [{ k: 'b' }] })).toEqual({ ok: true });
      expect(validate(schema, { opts: { k: 'a' }, steps: [{ k: 5 }] }).ok).toBe(false);
    });

    it(`with odd pointers, anchors, ids and old spellings reach the same schema for ${profile}`, () => {
      for (const [defs, ref] of [
        [{ $defs: { 'a/b': { type: 'string' } } }, '#/$defs/a~1b'],
        [{ $defs: { 'a~b': { type: 'string' } } }, '#/$defs/a~0b'],
        [{ $defs: { 'a b': { type: 'string' } } }, '#/$defs/a%20b'],
        [{ $defs: { 'a"b': { type: 'string' } } }, '#/$defs/a%22b'],
        [{ definitions: { a: { type: 'string' } } }, '#/definitions/a'],
        [{ $defs: { a: { $anchor: 'here', type: 'string' } } }, '#here'],
        [
          { $id: 'https://example.com/s', $defs: { a: { type: 'string' } } },
          'https://example.com/s#/$defs/a',
        ],
        [{ $defs: { a: { $id: 'urn:example:a', type: 'string' } } }, 'urn:example:a'],
        [{ components: { schemas: { a: { type: 'string' } } } }, '#/components/schemas/a'],
        [{ $defs: { a: { $ref: '#/$defs/b' }, b: { type: 'string' } } }, '#/$defs/a'],
      ] as [JsonObject, string][]) {
        const schema = { type: 'object', properties: { p: { $ref: ref } }, required: ['p'], ...defs };
        const lowered = loweredBy(profile, schema);
        expect(validate(lowered.schema, { p: 'x' }), ref).toEqual({ ok: true });
        expect(validate(lowered.schema, { p: 1 }).ok, ref).toBe(false);
        expect(validate(schema, { p: 1 }).ok, ref).toBe(false);
      }
    });

    it(`outside the schema are refused by ${profile} with the reason, and never fetched`, () => {
      for (const ref of [
        'https://example.com/schema.json',
        'other.json#/a',
        'http://127.0.0.1:9/x',
        'file:///etc/passwd',
      ]) {
        expect(failureOf(profile, { type: 'object', properties: { p: { $ref: ref } } })).toBe(
          `$ref "${ref}" at \`p\` points outside the schema, and nothing is fetched`,
        );
      }
      expect(failureOf(profile, { type: 'object', properties: { p: { $ref: '#/$defs/none' } } })).toContain(
        'points to nothing',
      );
      expect(
        failureOf(profile, { type: 'object', properties: { p: { $ref: '#/title' } }, title: 'x' }),
      ).toContain('not a schema');
    });

    it(`that lead to themselves are refused by ${profile}`, () => {
      expect(failureOf(profile, { $ref: '#' })).toContain('leads back to itself');
      const mutual = {
        type: 'object',
        properties: { p: { $ref: '#/$defs/a' } },
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { anyOf: [{ $ref: '#/$defs/a' }] } },
      };
      expect(failureOf(profile, mutual)).toContain('leads back to itself');
    });
  }

  for (const profile of CARRIES_RECURSION) {
    it(`stay recursive for ${profile}`, () => {
      const { schema } = loweredBy(profile, recursive);
      expect((schema['$defs'] as JsonObject)['node']).toBeDefined();
      const tree = {
        root: { name: 'a', children: [{ name: 'b', children: [{ name: 'c', children: [] }] }] },
      };
      expect(validate(schema, tree)).toEqual({ ok: true });
    });
  }

  for (const profile of CUTS_RECURSION) {
    it(`are cut at a fixed depth with a note for ${profile}`, () => {
      const { schema, changes } = loweredBy(profile, recursive);
      expect(changes.some((change) => change.startsWith('recursion cut after 3 levels'))).toBe(true);
      expect(JSON.stringify(schema)).toContain('nested further in the same way');
      let tree: JsonObject = { name: 'leaf' };
      for (let depth = 0; depth < 10; depth++) tree = { name: 'n', children: [tree] };
      expect(validate(schema, { root: tree })).toEqual({ ok: true });
    });
  }

  it('that recur are refused where grammars have no recursion', () => {
    expect(failureOf('anthropic-strict', recursive)).toContain('is recursive');
  });

  it('keep the words beside them', () => {
    for (const profile of ['anthropic', 'openai', 'openai-strict', ...CUTS_RECURSION] as const) {
      expect(JSON.stringify(loweredBy(profile, recursive).schema), profile).toContain('the tree');
    }
    expect(loweredBy('anthropic', recursive)).toMatchObject({ schema: recursive, changes: [] });
  });

  it('to the root keep its union below, where unions are fine', () => {
    const schema = {
      type: 'object',
      properties: { id: { type: 'string' }, url: { type: 'string' }, next: { $ref: '#' } },
      anyOf: [{ required: ['id'] }, { required: ['url'] }],
    };
    const { schema: lowered } = loweredBy('anthropic', schema);
    expect((lowered['properties'] as JsonObject)['next']).toEqual({ $ref: '#/$defs/root' });
    expect(validate(lowered, { id: 'a', next: {} }).ok).toBe(false);
    expect(validate(lowered, { id: 'a', next: { url: 'b' } })).toEqual({ ok: true });
    for (const profile of ALL_PROFILES) if (profile !== 'anthropic-strict') loweredBy(profile, schema);
  });

  it('to the root stay as they are when the root does', () => {
    const list = {
      type: 'object',
      properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
      required: ['next'],
      additionalProperties: false,
    };
    for (const profile of CARRIES_RECURSION)
      expect(loweredBy(profile, list)).toMatchObject({ schema: list, changes: [] });
  });

  it('mutual and recursive through a renamed member keep their original names below the root', () => {
    const schema = { type: 'object', properties: { 'child[]': { type: 'array', items: { $ref: '#' } } } };
    const { schema: lowered, renamed, restore } = loweredBy('anthropic', schema);
    expect(renamed).toEqual({ '/properties/child[]': 'child' });
    expect(validate(lowered, { child: [{ 'child[]': [] }] })).toEqual({ ok: true });
    expect(restore({ child: [{ 'child[]': [] }] })).toEqual({ 'child[]': [{ 'child[]': [] }] });
  });

  it('that multiply without end become an open object, or fail in strict profiles', () => {
    const $defs: JsonObject = { d0: { type: 'object', properties: { s: { type: 'string' } } } };
    for (let level = 1; level < 30; level++) {
      const ref = { $ref: `#/$defs/d${level - 1}` };
      $defs[`d${level}`] = { type: 'object', properties: { a: ref, b: ref } };
    }
    const bomb = { type: 'object', properties: { p: { $ref: '#/$defs/d29' } }, $defs };
    const lowered = lower(bomb, 'gemini-openapi');
    expect(lowered).toMatchObject({ schema: { type: 'OBJECT' } });
    expect((lowered as { changes: string[] }).changes[0]).toMatch(/^replaced by an open object: /);
    for (const profile of ['anthropic', 'openai', 'gemini-json-schema'] as const) loweredBy(profile, bomb);
    expect(failureOf('openai-strict', bomb)).toContain('nested deeper than 10 levels');
    expect(validate(bomb, { p: { a: { b: 5 } } })).toEqual({
      ok: false,
      problem: '`p.a.b` must be an object, got the number 5',
    });
  });
});
