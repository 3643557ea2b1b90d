/** Each bound on what a server may say holds exactly where its constant says. */
import { describe, expect, test } from 'vitest';
import { codecFor } from '../../src/mcp/codec.ts';
import {
  DEFINITION_DEPTH_MAX,
  DEFINITION_NODES_MAX,
  DESCRIPTION_MAX,
  ERROR_DATA_MAX,
  ERROR_TEXT_MAX,
  ITEM_MAX,
  TTL_MAX,
} from '../../src/mcp/protocol-limits.ts';
import { PROMPTS, RESOURCES, TEMPLATES, TOOLS, readItem } from '../../src/mcp/lists.ts';
import { rpcFailure } from '../../src/servers/failure.ts';
import type { ListKind } from '../../src/mcp/lists.ts';
import type { Json, JsonObject } from '../../src/types.ts';

/** An item that every kind of list can hold. */
const item = (more: JsonObject): JsonObject => ({
  name: 't',
  uri: 'u',
  uriTemplate: 'v',
  inputSchema: {},
  ...more,
});

/** An item whose definition has that many levels. */
function deep(levels: number): JsonObject {
  let value: Json = 1;
  for (let level = 1; level < levels; level += 1) value = { value };
  return item({ _meta: value });
}

/** An item whose definition has that many values: itself, its four members, `_meta`, a list, and what is in it. */
const many = (values: number): JsonObject =>
  item({ _meta: { list: Array.from({ length: values - 7 }, () => 0) } });

/** An item whose definition has that many characters. */
function long(characters: number): JsonObject {
  const rest = JSON.stringify(item({ _meta: { x: '' } })).length;
  return item({ _meta: { x: 'x'.repeat(characters - rest) } });
}

describe.each([TOOLS, PROMPTS, RESOURCES, TEMPLATES] as ListKind[])('in $method, an item', (kind) => {
  test.each<[string, number, (size: number) => JsonObject]>([
    ['characters of a description', DESCRIPTION_MAX, (size) => item({ description: 'd'.repeat(size) })],
    ['levels', DEFINITION_DEPTH_MAX, deep],
    ['values', DEFINITION_NODES_MAX, many],
    ['characters', ITEM_MAX, long],
  ])('is kept with as many %s as allowed (%i), and left out with one more', (_what, most, make) => {
    expect(readItem(kind, make(most), false)).toMatchObject({ item: { name: 't' } });
    expect(readItem(kind, make(most + 1), false)).toMatchObject({ dropped: expect.any(String) });
  });

  test('without what tells it apart is left out', () => {
    for (const key of [undefined, null, '', 7, {}])
      expect(readItem(kind, { ...item({}), [kind.key]: key as Json }, false)).toEqual({
        dropped: `a ${kind.one} without a ${kind.key}`,
      });
  });

  test('is the object that came, whatever else is in it', () => {
    const whole = item({ 'vendor/x': [null], later: { y: 1 } });
    expect(readItem(kind, whole, false)).toMatchObject({ item: whole });
    expect((readItem(kind, whole, false) as { item: JsonObject }).item).toBe(whole);
  });
});

test('an error of a server keeps its data up to the limit, and of its message as much as is shown', () => {
  const data = (size: number): string => 'd'.repeat(size - 2);
  const message = 'm'.repeat(2 * ERROR_TEXT_MAX);
  const error = rpcFailure('s', 'tools/call', { code: 1, message, data: data(ERROR_DATA_MAX) });
  expect(error.data).toMatchObject({ data: data(ERROR_DATA_MAX) });
  expect(error.what).toContain(`${'m'.repeat(ERROR_TEXT_MAX)}…`);
  expect(error.what).not.toContain('m'.repeat(ERROR_TEXT_MAX + 1));
  expect(
    rpcFailure('s', 'tools/call', { code: 1, message, data: data(ERROR_DATA_MAX + 1) }).data,
  ).not.toHaveProperty('data');
});

test.each<[Json, number]>([
  [5000, 5000],
  [TTL_MAX, TTL_MAX],
  [TTL_MAX + 1, TTL_MAX],
  [1e300, TTL_MAX],
  [-1, 0],
  [0, 0],
  ['5000', 0],
  [null, 0],
])('a cache hint of %j counts for %i ms', (ttlMs, counted) => {
  const codec = codecFor('2026-07-28', { clientInfo: { name: 'us', version: '1' }, capabilities: {} });
  expect(codec.answer('tools/list', { tools: [], ttlMs })).toMatchObject({ ttlMs: counted });
});
