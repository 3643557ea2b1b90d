/** The OpenAPI 3.0 subset: one type per node in upper case, `nullable` for null, a union with nothing beside it. */
import type { JsonObject } from '../types.ts';
import { joinTexts } from './describe.ts';
import { typesOf } from './keywords.ts';

/** Any JSON value. */
export function openapiAny(): JsonObject {
  return {
    anyOf: [
      { type: 'STRING', nullable: true },
      { type: 'NUMBER' },
      { type: 'BOOLEAN' },
      { type: 'OBJECT' },
      { type: 'ARRAY', items: { type: 'STRING' } },
    ],
  };
}

/** A schema with one type, perhaps beside `null`, in OpenAPI's spelling. */
export function openapiType(schema: JsonObject): JsonObject {
  if (schema['type'] === undefined) return schema;
  const types = typesOf(schema);
  const type = types.find((type) => type !== 'null');
  if (type === undefined)
    return {
      ...schema,
      type: 'STRING',
      nullable: true,
      description: joinTexts(schema['description'], 'must be null')!,
    };
  const written: JsonObject = { ...schema, type: type.toUpperCase() };
  if (types.includes('null')) written['nullable'] = true;
  return written;
}

/** A union of written branches; the words about it go to the first, as nothing may stand beside `anyOf`. */
export function openapiUnion(branches: readonly JsonObject[], words: JsonObject): JsonObject {
  const isNull = (branch: JsonObject): boolean =>
    branch['nullable'] === true && branch['description'] === 'must be null';
  const others = branches
    .filter((branch) => !isNull(branch))
    .flatMap((branch) => (Array.isArray(branch['anyOf']) ? (branch['anyOf'] as JsonObject[]) : [branch]));
  const [first, ...rest] = others.length === 0 ? branches : others;
  const described: JsonObject = { ...first };
  if (others.length > 0 && others.length + rest.length >= 0 && branches.some(isNull))
    described['nullable'] = true;
  const description = joinTexts(words['description'], first?.['description']);
  if (description !== undefined) described['description'] = description;
  if (rest.length > 0) return { anyOf: [described, ...rest] };
  const { description: _, ...notes } = words;
  return { ...described, ...notes };
}
