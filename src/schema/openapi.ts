/** The OpenAPI 3.0 subset: one type per node in upper case, `nullable` for null, a union with nothing beside it. */
import type { JsonObject } from '../types.ts';
import { describe, joinTexts, keywordWords } from './describe.ts';
import { distinct, typesOf } from './keywords.ts';

const NULL_WORDS = 'must be null';

/** The branches of a schema for any JSON value. */
export function openapiAny(): JsonObject[] {
  return [
    { type: 'STRING', nullable: true },
    { type: 'NUMBER' },
    { type: 'BOOLEAN' },
    { type: 'OBJECT' },
    { type: 'ARRAY', items: { type: 'STRING' } },
  ];
}

/** A schema with one type, perhaps beside `null`, in OpenAPI's spelling. */
export function openapiType(schema: JsonObject): JsonObject {
  const types = typesOf(schema);
  const type = types.find((type) => type !== 'null');
  if (type !== undefined)
    return inOrder({ ...schema, type: type.toUpperCase() }, types.includes('null'), schema['description']);
  return inOrder({ ...schema, type: 'STRING' }, true, joinTexts(schema['description'], NULL_WORDS));
}

/** A union of written branches; the words about it go to the first, as nothing may stand beside `anyOf`. */
export function openapiUnion(branches: readonly JsonObject[], words: JsonObject): JsonObject {
  const flat = distinct(
    branches.flatMap((branch) =>
      Array.isArray(branch['anyOf']) ? (branch['anyOf'] as JsonObject[]) : [branch],
    ),
  );
  const values = flat.filter((branch) => branch['description'] !== NULL_WORDS);
  const [first = {}, ...rest] = values.length === 0 ? flat : values;
  const { description, ...notes } = words;
  const nullable = first['nullable'] === true || values.length < flat.length;
  const text = joinTexts(description, first['description']);
  if (rest.length === 0) return inOrder({ ...first, ...notes }, nullable, text);
  const said = Object.entries(notes).map(([keyword, value]) => keywordWords(keyword, value) ?? '');
  return { anyOf: [inOrder(first, nullable, describe(text, said)), ...rest] };
}

/** `nullable` and the description last, so that lowering again writes the same bytes. */
function inOrder(schema: JsonObject, nullable: boolean, text: JsonObject[string]): JsonObject {
  const { nullable: _, description: __, ...rest } = schema;
  return { ...rest, ...(nullable ? { nullable } : {}), ...(text === undefined ? {} : { description: text }) };
}
