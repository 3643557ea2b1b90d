/** Arguments that fit a schema as its server wrote it: a few per tool, always the same, checked before they are used. */
import { validate } from '../../src/schema/index.ts';
import type { Json, JsonObject } from '../../src/types.ts';

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const TEXTS = [
  'text',
  'a',
  '2026-01-31',
  '2026-01-31T12:00:00Z',
  '12:00',
  '00000000-0000-4000-8000-000000000000',
  'a@example.com',
  'https://example.com/a',
  'https://example.com/a.png',
  '1',
  '12345',
  'A1',
  'ABC-1',
  '#aabbcc',
  'v1.0.0',
  '0123456789abcdef0123456789abcdef01234567',
  'a/b',
  '/a',
  '1h',
  'en',
  'en-US',
  'EUR',
  '0x0000000000000000000000000000000000000000',
  'data:image/png;base64,AAAA',
];
const FORMATS: Record<string, string> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  email: 'a@example.com',
  uri: 'https://example.com/a',
  url: 'https://example.com/a',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '127.0.0.1',
  ipv6: '::1',
  duration: 'PT1H',
  hostname: 'example.com',
};

/** How a sample is made: what is optional, and which of several ways is taken. */
interface Way {
  optional: 'none' | 'all' | 'some';
  branch: number;
}

const WAYS: Way[] = [
  { optional: 'none', branch: 0 },
  { optional: 'all', branch: 0 },
  { optional: 'all', branch: 1 },
  { optional: 'some', branch: 2 },
  { optional: 'none', branch: 1 },
  { optional: 'some', branch: 3 },
];

/** At most one per way; empty when none of them fits. */
export function sampleArguments(schema: JsonObject): JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const way of WAYS) {
    const made = sample(schema, schema, way, 0);
    if (isObject(made) && validate(schema, made).ok === true) found.set(JSON.stringify(made), made);
  }
  return [...found.values()];
}

function sample(node: Json | undefined, root: JsonObject, way: Way, level: number): Json | undefined {
  if (!isObject(node)) return node === false ? undefined : 'anything';
  if (typeof node['$ref'] === 'string') {
    const target = follow(root, node['$ref']);
    return level > 12 ? undefined : sample(target, root, way, level + 1);
  }
  if ('const' in node) return node['const'];
  if (Array.isArray(node['enum'])) return pick(node['enum'], way);
  for (const word of ['allOf', 'anyOf', 'oneOf']) {
    const branches = node[word];
    if (!Array.isArray(branches) || branches.length === 0) continue;
    const { [word]: _, ...rest } = node;
    const chosen = word === 'allOf' ? branches : [pick(branches, way) ?? true];
    return sample(
      chosen.reduce<JsonObject>((sum, branch) => joined(sum, branch, root), rest),
      root,
      way,
      level + 1,
    );
  }
  switch (typeOf(node, way)) {
    case 'object':
      return sampleObject(node, root, way, level);
    case 'array':
      return sampleArray(node, root, way, level);
    case 'string':
      return sampleText(node, way);
    case 'integer':
    case 'number':
      return sampleNumber(node, way);
    case 'boolean':
      return way.branch % 2 === 0;
    case 'null':
      return null;
    default:
      return 'anything';
  }
}

function pick(list: readonly Json[], { branch }: Way): Json | undefined {
  return list[branch % list.length];
}

function typeOf(node: JsonObject, way: Way): Json | undefined {
  const { type } = node;
  if (Array.isArray(type)) return pick(type, way);
  if (type !== undefined) return type;
  if (node['properties'] !== undefined || node['required'] !== undefined) return 'object';
  return node['items'] === undefined ? undefined : 'array';
}

/** Two schemas that both hold, as far as samples need it. */
function joined(one: JsonObject, other: Json, root: JsonObject): JsonObject {
  let more = other;
  if (isObject(more) && typeof more['$ref'] === 'string') more = follow(root, more['$ref']) ?? {};
  if (!isObject(more)) return one;
  const both = { ...one, ...more };
  if (isObject(one['properties']) && isObject(more['properties']))
    both['properties'] = { ...one['properties'], ...more['properties'] };
  if (Array.isArray(one['required']) && Array.isArray(more['required']))
    both['required'] = [...new Set([...one['required'], ...more['required']])];
  return both;
}

function sampleObject(node: JsonObject, root: JsonObject, way: Way, level: number): JsonObject {
  const properties = isObject(node['properties']) ? node['properties'] : {};
  const required = new Set(namesIn(node['required']));
  const made: [string, Json][] = [];
  for (const [at, name] of [...new Set([...Object.keys(properties), ...required])].entries()) {
    const wanted =
      required.has(name) ||
      (level < 4 && (way.optional === 'all' || (way.optional === 'some' && (at + way.branch) % 2 === 0)));
    const value = wanted ? sample(properties[name] ?? true, root, way, level + 1) : undefined;
    if (value !== undefined) made.push([name, value]);
  }
  const others = node['additionalProperties'];
  if (way.optional === 'all' && level < 4 && (isObject(others) || (others === true && level > 0))) {
    const value = sample(others, root, way, level + 1);
    if (value !== undefined) made.push(['any name', value]);
  }
  return Object.fromEntries(made);
}

/** The strings of a list. */
export function namesIn(list: Json | undefined): string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
}

function sampleArray(node: JsonObject, root: JsonObject, way: Way, level: number): Json[] {
  const first = node['prefixItems'] ?? node['items'];
  if (Array.isArray(first)) return first.map((item) => sample(item, root, way, level + 1) ?? null);
  const least = Number(node['minItems'] ?? 0);
  const most = Number(node['maxItems'] ?? Infinity);
  const length = Math.min(most, Math.max(least, way.optional === 'none' || level > 6 ? 0 : 2));
  const items: Json[] = [];
  for (let at = 0; at < length && at < 50; at++) {
    const value = sample(node['items'] ?? true, root, { ...way, branch: way.branch + at }, level + 1);
    if (value !== undefined) items.push(value);
  }
  return node['uniqueItems'] === true ? distinct(items).slice(0, Math.max(least, 1)) : items;
}

function distinct(items: Json[]): Json[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

function sampleText(node: JsonObject, way: Way): string {
  const least = Number(node['minLength'] ?? 0);
  const most = Number(node['maxLength'] ?? Infinity);
  const given = [node['default'], ...(Array.isArray(node['examples']) ? node['examples'] : [])];
  const formatted = typeof node['format'] === 'string' ? FORMATS[node['format']] : undefined;
  const likely = [...(formatted === undefined ? [] : [formatted]), ...given, ...TEXTS];
  // The words that odd APIs and lowerings mistake for something else are texts like any other.
  if (way.branch === 3 && node['pattern'] === undefined && formatted === undefined)
    likely.unshift('null', '');
  const fits = likely.filter((text): text is string => {
    if (typeof text !== 'string' || text.length < least || text.length > most) return false;
    return typeof node['pattern'] !== 'string' || new RegExp(node['pattern'], 'u').test(text);
  });
  return fits[0] ?? 'x'.repeat(Math.min(Math.max(least, 1), 5_000));
}

function sampleNumber(node: JsonObject, way: Way): number {
  const whole = node['type'] !== 'number';
  const low = Number(node['minimum'] ?? Number(node['exclusiveMinimum'] ?? NaN) + (whole ? 1 : 0.5));
  const high = Number(node['maximum'] ?? Number(node['exclusiveMaximum'] ?? NaN) - (whole ? 1 : 0.5));
  const start =
    way.branch % 2 === 1 && !Number.isNaN(high) ? high : Number.isNaN(low) ? Math.min(high || 1, 1) : low;
  const step = Number(node['multipleOf'] ?? (Number.isInteger(start) ? 1 : 0.01));
  const made =
    way.branch % 2 === 1 && start === high ? Math.floor(start / step) * step : Math.ceil(start / step) * step;
  return Number.isInteger(step) || whole ? made : start;
}

export function follow(root: JsonObject, ref: string): Json | undefined {
  if (!ref.startsWith('#')) return undefined;
  let node: Json | undefined = root;
  for (const token of ref.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
    node = Array.isArray(node) ? node[Number(name)] : isObject(node) ? node[name] : undefined;
  }
  return node;
}
