import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/types.ts';

const word = fc.stringMatching(/^[a-z]{3,8}$/);
const sentence = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '));

const leafSchema: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({
    type: fc.constant('string'),
    description: sentence,
    maxLength: fc.integer({ min: 1, max: 99 }),
  }),
  fc.record({ type: fc.constant('integer'), minimum: fc.integer({ min: 0, max: 9 }), default: fc.integer() }),
  fc.record({ enum: fc.uniqueArray(word, { minLength: 1, maxLength: 4 }), title: sentence }),
  fc.record({ type: fc.constant('boolean'), const: fc.boolean() }),
);
const schema: fc.Arbitrary<JsonObject> = fc
  .uniqueArray(fc.tuple(word, leafSchema), { selector: ([name]) => name, minLength: 1, maxLength: 4 })
  .map((properties) => ({
    type: 'object',
    properties: Object.fromEntries(properties),
    required: [properties[0]?.[0] ?? ''],
    additionalProperties: false,
  }));

/** Tools with all that a tool may have, unknown members among them. */
export const anyTool: fc.Arbitrary<JsonObject> = fc.record({
  name: word,
  title: sentence,
  description: sentence,
  inputSchema: schema,
  outputSchema: schema,
  annotations: fc.record({ title: sentence, readOnlyHint: fc.boolean(), destructiveHint: fc.boolean() }),
  icons: fc.constant([{ src: 'https://example.com/a.png' }]),
  execution: fc.constant({ taskSupport: 'optional' }),
  _meta: fc.record({ 'example.com/a': sentence }),
  unheardOf: fc.record({ deep: fc.array(fc.integer(), { minLength: 1, maxLength: 2 }) }),
});

type Path = (string | number)[];

/** Paths of all values that are no objects or lists. */
export function leavesOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  if (Array.isArray(value)) return value.flatMap((item, index) => leavesOf(item, [...path, index]));
  return Object.entries(value).flatMap(([key, member]) => leavesOf(member ?? null, [...path, key]));
}

/** A copy in which one leaf is another. */
export function withLeaf(value: JsonObject, path: Path): JsonObject {
  const copy = structuredClone(value);
  let at: { [key: string]: Json } = copy as { [key: string]: Json };
  for (const step of path.slice(0, -1)) at = at[step] as { [key: string]: Json };
  const last = path.at(-1) ?? '';
  const leaf = at[last];
  at[last] =
    typeof leaf === 'string'
      ? `${leaf} x`
      : typeof leaf === 'number'
        ? leaf + 1
        : typeof leaf === 'boolean'
          ? !leaf
          : 'x';
  return copy;
}

/** The same value with its members in the opposite order. */
export function reordered<T extends Json>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => reordered(item)) as unknown as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reordered(member ?? null)]),
  ) as T;
}
