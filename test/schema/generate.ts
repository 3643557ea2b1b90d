/** Schemas with values that fit them, and what a model would send for these values through a lowered schema. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/types.ts';

/** How values change on their way through a profile. */
export interface Sending {
  /** Members that may be left out are sent as null. */
  nulls: boolean;
  /** The name that a member has for the model. */
  name(name: string, depth: number): string;
}

export interface Sent {
  /** As the model sends it. */
  sent: Json;
  /** As it must arrive: the value, with nulls where the schema itself allows them. */
  expected: Json;
}

export interface Sample {
  schema: JsonObject;
  /** Whether null fits. */
  nullable: boolean;
  value: fc.Arbitrary<Json>;
  send(value: Json, sending: Sending, depth: number): Sent;
}

const scalar = (schema: JsonObject, value: fc.Arbitrary<Json>, nullable = false): Sample => ({
  schema,
  nullable,
  value,
  send: (value) => ({ sent: value, expected: value }),
});

const SCALARS: Sample[] = [
  scalar({ type: 'string' }, fc.string()),
  scalar({ type: 'string', format: 'uri' }, fc.constant('https://example.com/')),
  scalar(
    { type: 'string', minLength: 1, maxLength: 9, pattern: '^[a-z]+$' },
    fc.constantFrom('a', 'abc', 'null'),
  ),
  scalar({ type: 'integer', minimum: 0, exclusiveMaximum: 100 }, fc.integer({ min: 0, max: 99 })),
  scalar(
    { type: 'number', multipleOf: 0.5 },
    fc.integer().map((number) => number / 2),
  ),
  scalar({ type: 'integer', minimum: 3, exclusiveMinimum: true }, fc.integer({ min: 4, max: 99 })),
  scalar({ type: 'boolean' }, fc.boolean()),
  scalar({ const: 'fixed' }, fc.constant('fixed')),
  scalar({ enum: ['a', 2, null, true] }, fc.constantFrom<Json>('a', 2, null, true), true),
  scalar({ type: ['string', 'null'] }, fc.option(fc.string()), true),
  scalar({ type: 'string', nullable: true }, fc.option(fc.string()), true),
  scalar({ anyOf: [{ type: 'integer' }, { type: 'null' }], default: null }, fc.option(fc.integer()), true),
  scalar({ type: 'string', description: 'words', examples: ['x'], default: 'x' }, fc.string()),
];

/** Odd names come out different under every rule, so that a name can be followed through the lowering. */
const NAMES = [
  'name',
  'kind-of',
  'filter[id]',
  '$top',
  '@x',
  '',
  '__proto__',
  'constructor',
  'a b',
  'l'.repeat(70),
  'toString',
];

function arrayOf(item: Sample): Sample {
  return {
    schema: { type: 'array', items: item.schema },
    nullable: false,
    value: fc.array(item.value, { maxLength: 3 }),
    send: (value, sending, depth) => both((value as Json[]).map((one) => item.send(one, sending, depth + 1))),
  };
}

function tupleOf(items: Sample[], draft: 'old' | 'new'): Sample {
  return {
    schema: { type: 'array', [draft === 'old' ? 'items' : 'prefixItems']: items.map(({ schema }) => schema) },
    nullable: false,
    value: fc.tuple(...items.map(({ value }) => value)),
    send: (value, sending, depth) =>
      both((value as Json[]).map((one, index) => items[index]!.send(one, sending, depth + 1))),
  };
}

function both(parts: Sent[]): Sent {
  return { sent: parts.map(({ sent }) => sent), expected: parts.map(({ expected }) => expected) };
}

interface Member {
  name: string;
  sample: Sample;
  required: boolean;
}

function objectOf(members: Member[], closed: boolean): Sample {
  const schema: JsonObject = {
    type: 'object',
    properties: Object.fromEntries(members.map(({ name, sample }) => [name, sample.schema])),
    required: members.filter(({ required }) => required).map(({ name }) => name),
  };
  if (closed) schema['additionalProperties'] = false;
  return {
    schema,
    nullable: false,
    value: fc
      .tuple(
        ...members.map(({ sample, required }) =>
          fc.tuple(required ? fc.constant(true) : fc.boolean(), sample.value),
        ),
      )
      .map((given) =>
        Object.fromEntries(
          members.flatMap(({ name }, index) => (given[index]![0] ? [[name, given[index]![1]]] : [])),
        ),
      ),
    send(value, sending, depth) {
      const sent: [string, Json][] = [];
      const expected: [string, Json][] = [];
      for (const { name, sample } of members) {
        const shown = sending.name(name, depth);
        if (Object.hasOwn(value as JsonObject, name)) {
          const one = sample.send((value as JsonObject)[name]!, sending, depth + 1);
          sent.push([shown, one.sent]);
          expected.push([name, one.expected]);
        } else if (sending.nulls) {
          sent.push([shown, null]);
          if (sample.nullable) expected.push([name, null]);
        }
      }
      return { sent: Object.fromEntries(sent), expected: Object.fromEntries(expected) };
    },
  };
}

/** Variants that a tag tells apart. */
function unionOf(keyword: string, variants: Sample[]): Sample {
  const tagged = variants.map((variant, index) =>
    objectOf(
      [
        { name: 'tag', sample: scalar({ const: `t${index}` }, fc.constant(`t${index}`)), required: true },
        { name: 'content', sample: variant, required: false },
      ],
      false,
    ),
  );
  return {
    schema: { [keyword]: tagged.map(({ schema }) => schema) },
    nullable: false,
    value: fc.oneof(...tagged.map(({ value }) => value)),
    send(value, sending, depth) {
      const { tag } = value as { tag: string };
      return tagged[Number(tag.slice(1))]!.send(value, sending, depth);
    },
  };
}

/** The same by reference; the definition goes to the root. */
function referred(sample: Sample, defs: Map<string, JsonObject>, spelling: string): Sample {
  const name = `${spelling}${defs.size}`;
  defs.set(name, sample.schema);
  const ref = `#/$defs/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
  return { ...sample, schema: { $ref: ref, description: 'by reference' } };
}

function sample(depth: number, defs: Map<string, JsonObject>): fc.Arbitrary<Sample> {
  const leaf = fc.constantFrom(...SCALARS);
  if (depth === 0) return leaf;
  const inner = fc.constant(null).chain(() => sample(depth - 1, defs));
  return fc.oneof(
    { weight: 3, arbitrary: leaf },
    inner.map(arrayOf),
    fc
      .tuple(fc.tuple(inner, inner), fc.constantFrom('old' as const, 'new' as const))
      .map(([items, draft]) => tupleOf(items, draft)),
    members(depth, defs).map(([given, closed]) => objectOf(given, closed)),
    fc
      .tuple(fc.constantFrom('oneOf', 'anyOf'), fc.array(inner, { minLength: 1, maxLength: 3 }))
      .map(([keyword, variants]) => unionOf(keyword, variants)),
    fc
      .tuple(inner, fc.constantFrom('d', 'a/b', 'a~b', 'a b'))
      .map(([one, spelling]) => referred(one, defs, spelling)),
  );
}

function members(depth: number, defs: Map<string, JsonObject>): fc.Arbitrary<[Member[], boolean]> {
  const one = fc.record({
    name: fc.constantFrom(...NAMES),
    sample: sample(depth - 1, defs),
    required: fc.boolean(),
  });
  return fc.tuple(
    fc.uniqueArray(one, { selector: ({ name }) => name, minLength: 1, maxLength: 5 }),
    fc.boolean(),
  );
}

/** Object schemas for tools. */
export const toolSample: fc.Arbitrary<Sample> = fc.constant(null).chain(() => {
  const defs = new Map<string, JsonObject>();
  return members(3, defs).map(([given, closed]) => {
    const made = objectOf(given, closed);
    const schema = defs.size === 0 ? made.schema : { ...made.schema, $defs: Object.fromEntries(defs) };
    return { ...made, schema, [fc.toStringMethod]: () => JSON.stringify(schema) };
  });
});
