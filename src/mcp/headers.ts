/** HTTP headers that mirror a request's body: `Mcp-Name`, and `Mcp-Param-*` for arguments marked `x-mcp-header`. */
import { isObject } from './message.ts';
import type { Json, JsonObject } from '../types.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PLAIN = /^[\x20-\x7e]+$/;
const SENTINEL = /^=\?base64\?(.*)\?=$/s;

/**
 * A text as a header value: as it is when every reader sees the same bytes, else in the Base64 sentinel
 * `=?base64?…?=` over its UTF-8.
 */
export function headerValue(text: string): string {
  if (PLAIN.test(text) && text.trim() === text && !SENTINEL.test(text)) return text;
  return `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

/** The inverse of headerValue; undefined for a sentinel whose content is not canonical Base64 of UTF-8. */
export function readHeaderValue(value: string): string | undefined {
  const encoded = SENTINEL.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** One argument that a tool wants as a header. */
export interface MirroredArgument {
  header: string;
  path: readonly string[];
}

/** Keywords of JSON Schema whose values are schemas, by how they hold them. */
const SCHEMA = [
  'items',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
];
const SCHEMA_LIST = ['prefixItems', 'oneOf', 'anyOf', 'allOf', 'items'];
const SCHEMA_MAP = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/**
 * The arguments marked `x-mcp-header` in a tool's input schema, or why the marks are invalid: names must be unique HTTP
 * tokens, on string, integer or boolean properties that are reached from the root through `properties` alone.
 */
export function mirroredArguments(inputSchema: JsonObject): MirroredArgument[] | { problem: string } {
  const found: MirroredArgument[] = [];
  const names = new Set<string>();
  const problem = visit(inputSchema, [], true);
  return problem === undefined ? found : { problem };

  function visit(schema: Json | undefined, path: readonly string[], reachable: boolean): string | undefined {
    if (!isObject(schema)) return undefined;
    if (Object.hasOwn(schema, 'x-mcp-header')) {
      const wrong = mark(schema, path, reachable);
      if (wrong !== undefined) return wrong;
    }
    for (const [name, property] of entries(schema.properties)) {
      const wrong = visit(property, [...path, name], reachable);
      if (wrong !== undefined) return wrong;
    }
    for (const child of unreachable(schema)) {
      const wrong = visit(child, path, false);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  function mark(schema: JsonObject, path: readonly string[], reachable: boolean): string | undefined {
    const header = schema['x-mcp-header'];
    const at = path.length === 0 ? 'the root' : path.join('.');
    if (!reachable || path.length === 0) return `x-mcp-header at ${at}, which is not a plain property`;
    if (typeof header !== 'string' || !TOKEN.test(header))
      return `x-mcp-header at ${at}, which is not a header name`;
    if (schema.type !== 'string' && schema.type !== 'integer' && schema.type !== 'boolean') {
      return `x-mcp-header at ${at}, which is not a string, an integer or a boolean`;
    }
    if (names.has(header.toLowerCase())) return `x-mcp-header at ${at}, whose name another property has`;
    names.add(header.toLowerCase());
    found.push({ header, path });
    return undefined;
  }
}

function entries(map: Json | undefined): [string, Json | undefined][] {
  return isObject(map) ? Object.entries(map) : [];
}

function unreachable(schema: JsonObject): (Json | undefined)[] {
  return [
    ...SCHEMA.map((keyword) => schema[keyword]),
    ...SCHEMA_LIST.flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : [])),
    ...SCHEMA_MAP.flatMap((keyword) => entries(schema[keyword]).map(([, child]) => child)),
  ];
}

/** The `Mcp-Param-*` headers of one call. An argument that is absent, null or not of a kind a header can carry has none. */
export function mirroredHeaders(
  mirrored: readonly MirroredArgument[],
  args: JsonObject,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of mirrored) {
    let value: Json | undefined = args;
    for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof value === 'string') headers[`Mcp-Param-${header}`] = headerValue(value);
    else if (typeof value === 'boolean' || Number.isSafeInteger(value)) {
      headers[`Mcp-Param-${header}`] = JSON.stringify(value);
    }
  }
  return headers;
}
