import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/types.ts';
import { loweredBy } from './lowered.ts';

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    note: { anyOf: [{ type: 'string' }, { type: 'null' }], description: 'A note' },
    count: { type: ['integer', 'null'], exclusiveMinimum: 0 },
    mode: { const: 'insert' },
    target: {
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'sheet' }, sheet: { type: 'string' } },
          required: ['kind', 'sheet'],
          additionalProperties: false,
        },
        {
          type: 'object',
          properties: { kind: { const: 'range' }, range: { type: 'string' } },
          required: ['kind', 'range'],
          additionalProperties: false,
        },
      ],
    },
    values: {
      type: 'array',
      items: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] } },
    },
    tags: { type: 'object', patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false },
    ratio: { type: 'number', exclusiveMinimum: 0 },
  },
  required: ['mode', 'values'],
  additionalProperties: false,
};
const member = (lowered: JsonObject, name: string): JsonObject =>
  (lowered['properties'] as JsonObject)[name] as JsonObject;

describe('type lists, const, tagged unions and 2-D arrays for Gemini (R3)', () => {
  it('fit the OpenAPI subset', () => {
    const { schema: lowered, changes } = loweredBy('gemini-openapi', schema);
    expect(member(lowered, 'note')).toEqual({ type: 'STRING', nullable: true, description: 'A note' });
    expect(member(lowered, 'count')).toEqual({ type: 'INTEGER', nullable: true, minimum: 1 });
    expect(member(lowered, 'mode')).toEqual({ type: 'STRING', enum: ['insert'] });
    expect(member(lowered, 'target')).toEqual({
      anyOf: [
        {
          type: 'OBJECT',
          properties: { kind: { type: 'STRING', enum: ['sheet'] }, sheet: { type: 'STRING' } },
          required: ['kind', 'sheet'],
        },
        {
          type: 'OBJECT',
          properties: { kind: { type: 'STRING', enum: ['range'] }, range: { type: 'STRING' } },
          required: ['kind', 'range'],
        },
      ],
    });
    expect(member(lowered, 'values')).toEqual({
      type: 'ARRAY',
      items: { type: 'ARRAY', items: { anyOf: [{ type: 'STRING', nullable: true }, { type: 'NUMBER' }] } },
    });
    expect(member(lowered, 'tags')).toEqual({
      type: 'OBJECT',
      description: 'members by pattern: {"^x-":{"type":"string"}}',
    });
    expect(member(lowered, 'ratio')).toEqual({ type: 'NUMBER', minimum: 0, description: 'greater than 0' });
    expect(changes).toEqual(
      [
        'additionalProperties left out: `target`, `tags`',
        'exclusiveMinimum written as minimum: `count`',
        'type added: `mode`, `target.kind`',
        'const written as enum: `mode`, `target.kind`',
        'oneOf written as anyOf: `target`',
        'patternProperties moved to description: `tags`',
        'exclusiveMinimum moved to description: `ratio`',
      ].sort((a, b) => changes.indexOf(a) - changes.indexOf(b)),
    );
  });

  it('fit parametersJsonSchema', () => {
    const { schema: lowered } = loweredBy('gemini-json-schema', schema);
    expect(member(lowered, 'note')).toEqual(schema.properties.note);
    expect(member(lowered, 'count')).toEqual({ type: ['integer', 'null'], minimum: 1 });
    expect(member(lowered, 'mode')).toEqual({ type: 'string', enum: ['insert'] });
    expect(member(lowered, 'target')['anyOf']).toHaveLength(2);
    expect(member(lowered, 'values')).toEqual(schema.properties.values);
    expect(member(lowered, 'tags')).toEqual({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'members by pattern: {"^x-":{"type":"string"}}',
    });
    expect(lowered['additionalProperties']).toBe(false);
  });

  it('carry enums of other than strings in words or as types', () => {
    const enums = {
      type: 'object',
      properties: {
        n: { enum: [1, 2] },
        mixed: { enum: ['a', 1, null, true] },
        yes: { const: true },
        object: { enum: [{ a: 1 }] },
        none: { type: 'string', enum: [] },
        nothing: { type: 'null' },
        id: { type: 'string', format: 'int64' },
        size: { type: 'integer', format: 'int64' },
      },
    };
    const { schema: openapi } = loweredBy('gemini-openapi', enums);
    expect(member(openapi, 'n')).toEqual({ type: 'INTEGER', description: 'one of 1, 2' });
    expect(member(openapi, 'mixed')).toEqual({
      anyOf: [
        { type: 'STRING', enum: ['a'], nullable: true },
        { type: 'INTEGER', description: 'must be 1' },
        { type: 'BOOLEAN', description: 'must be true' },
      ],
    });
    expect(member(openapi, 'yes')).toEqual({ type: 'BOOLEAN', description: 'must be true' });
    expect(member(openapi, 'none')).toEqual({ type: 'STRING' });
    expect(member(openapi, 'nothing')).toEqual({
      type: 'STRING',
      nullable: true,
      description: 'must be null',
    });
    expect(member(openapi, 'id')).toEqual({ type: 'STRING', description: 'format int64' });
    expect(member(openapi, 'size')).toEqual({ type: 'INTEGER', format: 'int64' });
    const { schema: json } = loweredBy('gemini-json-schema', enums);
    expect(member(json, 'n')).toEqual({ type: 'integer', enum: [1, 2] });
    expect(member(json, 'mixed')['anyOf']).toEqual([
      { type: 'string', enum: ['a'] },
      { type: 'integer', enum: [1] },
      { type: 'boolean', description: 'must be true' },
      { type: 'null' },
    ]);
  });

  it('rename members at any depth where the API names them so, and give the names back', () => {
    const odd = {
      type: 'object',
      properties: {
        'filter[id]': {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              $top: { type: 'integer' },
              top: { type: 'integer' },
              '@x-y': { $ref: '#/$defs/deep' },
            },
            required: ['$top'],
          },
        },
        '': { type: 'string' },
        ['n'.repeat(70)]: { type: 'string' },
        '9lives': { type: 'string' },
      },
      required: ['filter[id]', ''],
      $defs: { deep: { type: 'object', properties: { 'a.b': { type: 'string' } } } },
    };
    const { schema: lowered, renamed, restore } = loweredBy('gemini-openapi', odd);
    expect(renamed).toEqual({
      '/properties/filter[id]': 'filter_id',
      '/properties/': 'member',
      [`/properties/${'n'.repeat(70)}`]: 'n'.repeat(64),
      '/properties/9lives': '_9lives',
      '/properties/filter[id]/items/properties/$top': 'top_2',
      '/properties/filter[id]/items/properties/@x-y': 'x_y',
      '/properties/filter[id]/items/properties/@x-y/properties/a.b': 'a_b',
    });
    expect(lowered['required']).toEqual(['filter_id', 'member']);
    expect(
      restore({
        filter_id: [{ top_2: 1, top: 2, x_y: { a_b: 'c', more: 1 } }],
        member: 'e',
        _9lives: 'y',
        unknown: { a_b: 1 },
      }),
    ).toEqual({
      'filter[id]': [{ $top: 1, top: 2, '@x-y': { 'a.b': 'c', more: 1 } }],
      '': 'e',
      '9lives': 'y',
      unknown: { a_b: 1 },
    });
  });
});
