/** `key=value` words as the arguments of a tool, typed by the tool's schema. */
import { suggestion } from '../config/problems.ts';
import { MidspanError, messageOf } from '../errors.ts';
import type { Json, JsonObject } from '../types.ts';

type Type = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'object' | 'array';

/**
 * @param words `key=value`; `key=@file` takes the text of a file and `key=@@x` is the text `@x`. A key that is given again adds to an array.
 * @param start arguments to add to.
 * @throws MidspanError `usage`, naming the key and what it must be.
 */
export async function readArguments(
  words: readonly string[],
  schema: JsonObject,
  start: JsonObject,
  readFile: (path: string) => Promise<string>,
): Promise<JsonObject> {
  const result = new Map<string, Json | undefined>(Object.entries(start));
  const given = new Set<string>();
  for (const word of words) {
    const [key, text] = await splitWord(word, readFile);
    const property = propertyOf(schema, key);
    const types = property === undefined ? [] : typesOf(property, schema);
    const before = given.has(key) ? result.get(key) : undefined;
    if (before !== undefined && !Array.isArray(before))
      throw usage(`${key} is given twice`, 'It takes one value');
    const value =
      types.includes('array') && !text.trimStart().startsWith('[')
        ? [typed(key, text, itemTypes(property ?? {}, schema))]
        : typed(key, text, types);
    result.set(key, before !== undefined && Array.isArray(value) ? [...before, ...value] : value);
    given.add(key);
  }
  return Object.fromEntries(result);
}

/** The text of `--args` as an object. */
export function parseArguments(text: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw usage(
      `the arguments are not JSON: ${messageOf(error)}`,
      'Give one object, such as \'{"path":"."}\'',
    );
  }
  if (!isObject(value))
    throw usage('the arguments are not a JSON object', 'Give one object, such as \'{"path":"."}\'');
  return value;
}

async function splitWord(
  word: string,
  readFile: (path: string) => Promise<string>,
): Promise<[string, string]> {
  const at = word.indexOf('=');
  if (at < 1)
    throw usage(
      `${JSON.stringify(word)} is not key=value`,
      'Write each argument as key=value, or all as --args JSON',
    );
  const [key, text] = [word.slice(0, at), word.slice(at + 1)];
  if (!text.startsWith('@')) return [key, text];
  if (text.startsWith('@@')) return [key, text.slice(1)];
  try {
    return [key, await readFile(text.slice(1))];
  } catch (error) {
    throw usage(
      `${key}: the file cannot be read: ${messageOf(error)}`,
      `For the text itself write ${key}=@${text}`,
    );
  }
}

function propertyOf(schema: JsonObject, key: string): JsonObject | undefined {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property !== undefined) return isObject(property) ? property : {};
  const names = Object.keys(properties);
  if (schema['additionalProperties'] !== false || schema['patternProperties'] !== undefined) return undefined;
  throw usage(
    `the tool takes no argument ${JSON.stringify(key)}${suggestion(key, names)}`,
    `It takes: ${names.join(', ') || 'none'}`,
  );
}

/** The types that a schema allows; none when it does not say. */
function typesOf(schema: JsonObject, root: JsonObject, depth: number = 0): Type[] {
  if (depth > 8) return [];
  const reference = schema['$ref'];
  if (typeof reference === 'string') {
    const target = pointed(root, reference);
    return target === undefined ? [] : typesOf(target, root, depth + 1);
  }
  const { type } = schema;
  if (typeof type === 'string') return [type as Type];
  if (Array.isArray(type)) return type.filter((name) => typeof name === 'string') as Type[];
  const values = Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : [];
  if (values.length > 0) return [...new Set(values.map(typeOf))];
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap((key) =>
    Array.isArray(schema[key]) ? schema[key] : [],
  );
  return [
    ...new Set(branches.flatMap((branch) => (isObject(branch) ? typesOf(branch, root, depth + 1) : []))),
  ];
}

function itemTypes(schema: JsonObject, root: JsonObject): Type[] {
  const target = typeof schema['$ref'] === 'string' ? (pointed(root, schema['$ref']) ?? {}) : schema;
  return isObject(target['items']) ? typesOf(target['items'], root) : [];
}

function pointed(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#')) return undefined;
  let value: Json | undefined = root;
  for (const step of reference.split('/').slice(1)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return isObject(value) ? value : undefined;
}

/** Text of the command line as a value. What a schema allows beside text is tried first; text that fits nothing is an error. */
function typed(key: string, text: string, types: readonly Type[]): Json {
  const value = parsed(text);
  // Without a word from the schema: what reads as JSON is JSON, but never a bare quoted string.
  if (types.length === 0) return value === undefined || typeof value === 'string' ? text : value;
  const fits = value !== undefined && types.some((type) => isOf(value, type));
  if (fits && typeof value !== 'string') return value;
  if (types.includes('string')) return text;
  throw usage(`${key} must be ${types.map(articled).join(' or ')}`, hintFor(key, types));
}

function hintFor(key: string, types: readonly Type[]): string {
  if (types.includes('object')) return `Write it as JSON: ${key}='{"a":1}'`;
  if (types.includes('array')) return `Write it as JSON: ${key}='["a","b"]', or repeat ${key}=a ${key}=b`;
  return types.includes('boolean') ? `Write ${key}=true or ${key}=false` : `Write it as ${key}=1`;
}

const articled = (type: Type): string =>
  /^[aeiou]/.test(type) ? `an ${type}` : type === 'null' ? type : `a ${type}`;

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function isOf(value: Json, type: Type): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeOf(value) === type;
}

function typeOf(value: Json | undefined): Type {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as Type;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const usage = (what: string, next: string): MidspanError => new MidspanError({ code: 'usage', what, next });
