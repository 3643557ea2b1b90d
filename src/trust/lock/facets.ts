/** Which parts of an item there are, so that a change says what it touches: its words, its shape, its hints, its looks. */
import { objectOf } from '../../schema/keywords.ts';
import { pointerTo } from '../../schema/reference.ts';
import type { Item, Json, JsonObject } from '../../types.ts';
import { digestOf } from './digest.ts';
import type { Digest } from './lock.ts';

/** Every string for people or models, as JSON pointer and text, in the order of the pointers. */
export type TextLeaves = [pointer: string, text: string][];

export interface Parts {
  text: TextLeaves;
  shape: Json;
  out: Json;
  hints: Json;
  look: Json;
  meta: Json;
}

const KNOWN: ReadonlySet<string> = new Set(
  (
    'name title description inputSchema outputSchema annotations execution icons ' +
    'arguments uri uriTemplate mimeType size'
  ).split(' '),
);

export function partsOf(kind: Item['kind'], item: JsonObject): Parts {
  const text: TextLeaves = [];
  const texts = (pointer: string, value: Json | undefined): void => {
    if (typeof value === 'string') text.push([pointer, value]);
  };
  texts('/title', item['title']);
  texts('/description', item['description']);
  const annotations = objectOf(item['annotations']);
  texts('/annotations/title', annotations['title']);
  const shape =
    kind === 'tool'
      ? schemaShape(item['inputSchema'], '/inputSchema', text)
      : without(item, ['title', 'description', 'annotations', 'icons', '_meta']);
  if (kind === 'prompt') argumentTexts(item['arguments'], text);
  const out = schemaShape(item['outputSchema'], '/outputSchema', text);
  const hints: Json = {
    annotations: item['annotations'] === undefined ? null : without(annotations, ['title', 'lastModified']),
    execution: item['execution'] ?? null,
    headers: headerHints(item['inputSchema']),
  };
  const unknown = Object.fromEntries(Object.entries(item).filter(([key]) => !KNOWN.has(key)));
  text.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return { text, shape: shape ?? null, out: out ?? null, hints, look: item['icons'] ?? null, meta: unknown };
}

export function facetsOf(kind: Item['kind'], item: JsonObject): { [facet: string]: Digest } {
  const parts = partsOf(kind, item);
  return Object.fromEntries(
    (Object.keys(parts) as (keyof Parts)[]).map((facet) => [facet, digestOf(`facet/${facet}`, parts[facet])]),
  );
}

/** Keywords whose values are words for people, or values that a model copies. */
const WORDS = new Set([
  'title',
  'description',
  '$comment',
  'examples',
  'default',
  'const',
  'enum',
  'enumNames',
]);
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** A schema without its words, which are added to `text`; names of properties count as both. */
function schemaShape(schema: Json | undefined, pointer: string, text: TextLeaves): Json | undefined {
  if (schema === undefined) return undefined;
  if (Array.isArray(schema)) {
    return schema.map((item, index) => schemaShape(item, `${pointer}/${index}`, text) ?? null);
  }
  if (typeof schema !== 'object' || schema === null) return schema;
  const shape: [string, Json][] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || key === 'x-mcp-header') continue;
    const at = pointerTo(pointer, key);
    if (WORDS.has(key)) {
      stringsOf(value, at, text);
      shape.push([key, blanked(value)]);
    } else if (MAPS.has(key) && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const members = Object.entries(value).map(([name, member]): [string, Json] => {
        text.push([pointerTo(at, name), name]);
        return [name, schemaShape(member, pointerTo(at, name), text) ?? null];
      });
      shape.push([key, fromEntries(members)]);
    } else {
      shape.push([key, schemaShape(value, at, text) ?? null]);
    }
  }
  return fromEntries(shape);
}

/** Values that are words are compared as words; what kind of value stood there stays in the shape. */
function blanked(value: Json): Json {
  if (typeof value === 'string') return '';
  if (Array.isArray(value)) return value.filter((item) => typeof item !== 'string').map(blanked);
  if (typeof value !== 'object' || value === null) return value;
  return fromEntries(Object.entries(value).map(([key, member]) => [key, blanked(member ?? null)]));
}

function stringsOf(value: Json, pointer: string, text: TextLeaves): void {
  if (typeof value === 'string') text.push([pointer, value]);
  else if (Array.isArray(value)) value.forEach((item, index) => stringsOf(item, `${pointer}/${index}`, text));
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      text.push([pointerTo(pointer, key), key]);
      if (member !== undefined) stringsOf(member, pointerTo(pointer, key), text);
    }
  }
}

function argumentTexts(value: Json | undefined, text: TextLeaves): void {
  if (value !== undefined) stringsOf(value, '/arguments', text);
}

/** `x-mcp-header` of the properties: what the server may put into request headers. */
function headerHints(schema: Json | undefined): Json {
  const properties = objectOf(objectOf(schema)['properties']);
  return fromEntries(
    Object.entries(properties).flatMap(([name, property]) => {
      const header = objectOf(property)['x-mcp-header'];
      return header === undefined ? [] : [[name, header] as [string, Json]];
    }),
  );
}

/** A member that names an item; whatever is no text names nothing. */
export const nameOf = (item: JsonObject, member: string): string => {
  const name = item[member];
  return typeof name === 'string' ? name : '';
};

const without = (value: JsonObject, keys: readonly string[]): JsonObject =>
  fromEntries(
    Object.entries(value).flatMap(([key, member]) =>
      keys.includes(key) || member === undefined ? [] : [[key, member] as [string, Json]],
    ),
  );

/** Own members whatever their names. */
const fromEntries = (entries: readonly (readonly [string, Json])[]): JsonObject =>
  Object.fromEntries(entries);
