import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lower, validate } from '../../src/schema/index.ts';
import type { Profile } from '../../src/schema/index.ts';
import type { Json, JsonObject } from '../../src/types.ts';
import { ALL_PROFILES } from '../corpus/schemas.ts';
import { toolSample } from './generate.ts';
import type { Sending } from './generate.ts';
import { check } from './profiles.ts';

const RUNS = { numRuns: 60 };

/** The sample, a value for it, and what a profile makes of both. */
const cases = toolSample.chain((sample) => fc.record({ sample: fc.constant(sample), value: sample.value }));

function sendingOf(profile: Profile, renamed: Record<string, string>): Sending {
  const names = new Map(
    Object.entries(renamed).map(([pointer, name]) => [pointer.slice(pointer.lastIndexOf('/') + 1), name]),
  );
  const deep = profile === 'gemini-openapi';
  return {
    nulls: profile === 'openai-strict',
    name: (name, depth) =>
      deep || depth === 0 ? (names.get(name.replaceAll('~', '~0').replaceAll('/', '~1')) ?? name) : name,
  };
}

describe.each(ALL_PROFILES)('for every schema, lowering to %s', (profile) => {
  it('is accepted by its reader, the same every time, stable when repeated, and leaves its input alone', () => {
    fc.assert(
      fc.property(toolSample, ({ schema }) => {
        const before = JSON.stringify(schema);
        const lowered = lower(schema, profile);
        expect(JSON.stringify(schema)).toBe(before);
        expect(JSON.stringify(lower(JSON.parse(before) as JsonObject, profile))).toBe(
          JSON.stringify(lowered),
        );
        if ('failed' in lowered) {
          expect(profile).toContain('strict');
          return;
        }
        expect(check(profile, lowered.schema)).toEqual([]);
        const again = lower(lowered.schema, profile);
        expect(again).toMatchObject({ schema: lowered.schema, changes: [] });
      }),
      RUNS,
    );
  });

  it('is written alike whether or not something at the root has to change', () => {
    fc.assert(
      fc.property(toolSample, ({ schema }) => {
        const lowered = lower(schema, profile);
        const longer = lower({ ...schema, 'x-unknown': true }, profile);
        if ('failed' in lowered || 'failed' in longer) {
          expect(longer).toEqual(lowered);
          return;
        }
        const { 'x-unknown': _, ...rest } = longer.schema;
        expect(JSON.stringify(rest)).toBe(JSON.stringify(lowered.schema));
        expect(longer.changes.filter((change) => !change.includes('x-unknown'))).toEqual(lowered.changes);
      }),
      RUNS,
    );
  });

  it('lets every valid value through, and restores it', () => {
    fc.assert(
      fc.property(cases, ({ sample, value }) => {
        expect(validate(sample.schema, value)).toEqual({ ok: true });
        const lowered = lower(sample.schema, profile);
        if ('failed' in lowered) return;
        const { sent, expected } = sample.send(value, sendingOf(profile, lowered.renamed), 0);
        expect(validate(lowered.schema, sent)).toEqual({ ok: true });
        expect(lowered.restore(sent as JsonObject)).toEqual(expected);
      }),
      RUNS,
    );
  });

  it('restores any JSON without throwing, and what passes then is valid for the original', () => {
    fc.assert(
      fc.property(toolSample, fc.jsonValue({ maxDepth: 4 }), ({ schema }, json) => {
        const lowered = lower(schema, profile);
        if ('failed' in lowered) return;
        const restored = lowered.restore(json as JsonObject);
        if (validate(schema, restored).ok === true) expect(oracle(schema, restored)).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('a schema that needs no change', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      unit: { type: 'string', enum: ['day', 'hour'], description: 'words' },
      from: { type: 'array', items: { type: 'integer' } },
    },
    required: ['unit', 'from'],
    additionalProperties: false,
  };

  it.each(ALL_PROFILES.filter((profile) => profile !== 'gemini-openapi'))(
    'goes out to %s as it is, but for $schema',
    (profile) => {
      expect(lower(schema, profile)).toMatchObject({ changes: [], renamed: {} });
      expect((lower(schema, profile) as { schema: JsonObject }).schema).toBe(schema);
      const dated = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema };
      expect(lower(dated, profile)).toMatchObject({ schema, changes: [] });
      expect(lower(dated, profile)).not.toHaveProperty('schema.$schema');
    },
  );
});

describe('validation', () => {
  it('agrees with another implementation on values near to valid ones', () => {
    fc.assert(
      fc.property(cases, fc.jsonValue({ maxDepth: 2 }), fc.nat(), ({ sample, value }, other, at) => {
        const near = replaced(value, other, at);
        expect(validate(sample.schema, near).ok).toBe(oracle(sample.schema, near));
      }),
      { numRuns: 300 },
    );
  });
});

/** Another implementation, on the schema in 2020-12 spelling and without formats. */
function oracle(schema: JsonObject, value: Json): boolean {
  const modern = JSON.parse(JSON.stringify(schema), (_, item: unknown) => {
    if (typeof item !== 'object' || item === null) return item;
    const node = item as JsonObject;
    if (node['exclusiveMinimum'] === true) return { type: 'integer', exclusiveMinimum: node['minimum'] };
    if (node['nullable'] === true) return { type: ['string', 'null'] };
    if (node['format'] === 'uri') return { type: 'string' };
    if (node['type'] === 'array' && Array.isArray(node['items']))
      return { type: 'array', prefixItems: node['items'] };
    return item;
  }) as JsonObject;
  return new Validator(modern, '2020-12', false).validate(value).valid;
}

/** The value with one of its parts replaced. */
function replaced(value: Json, other: Json, at: number): Json {
  if (typeof value !== 'object' || value === null || at % 4 === 0) return other;
  const names = Object.keys(value);
  if (names.length === 0) return other;
  const chosen = names[at % names.length]!;
  const change = (name: string, item: Json): Json =>
    name === chosen ? replaced(item, other, Math.floor(at / 4)) : item;
  if (Array.isArray(value)) return value.map((item, index) => change(String(index), item));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, change(name, item!)]));
}
