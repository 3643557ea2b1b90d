/**
 * Arguments on their way: what a model that follows the compiled schema would send for arguments of the original one,
 * and whether they come back as they were.
 */
import { isDeepStrictEqual } from 'node:util';
import type { CatalogEntry } from '../../src/host/catalog.ts';
import { validate } from '../../src/schema/index.ts';
import type { Json, JsonObject } from '../../src/types.ts';
import { follow, namesIn, sampleArguments } from './samples.ts';
import { compileFor, definitionsIn, schemaIn, type Subject } from './subjects.ts';

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export interface ArgumentCounts {
  /** Argument objects that went there and back. */
  samples: number;
  /** Tools that no sample fits. */
  unsampled: string[];
}

export function checkArguments(
  subjects: readonly Subject[],
  entries: readonly CatalogEntry[],
  problems: string[],
): ArgumentCounts {
  const counts: ArgumentCounts = { samples: 0, unsampled: [] };
  for (const entry of entries) {
    const original = entry.definition.inputSchema;
    const samples = sampleArguments(original);
    if (samples.length === 0) counts.unsampled.push(entry.name);
    for (const subject of subjects) {
      const compiled = compileFor(subject, [entry]);
      const [definition] = definitionsIn(compiled);
      if (definition === undefined) continue; // told with the definitions
      const schema = schemaIn(definition);
      const names = newNames(compiled.report[0]?.renamed ?? {});
      for (const args of samples) {
        const say = (text: string): void =>
          void problems.push(
            `${subject.name}: ${entry.name}: ${text}: ${JSON.stringify(args).slice(0, 400)}`,
          );
        const sent = asModel(schema, args, schema, names) as JsonObject;
        const reachable = validate(schema, sent);
        if (reachable.ok !== true)
          say(
            `the compiled schema does not take ${JSON.stringify(sent).slice(0, 400)}: ${JSON.stringify(reachable)}`,
          );
        const restored = compiled.restore(entry.name, sent);
        if (!isDeepStrictEqual(withoutNewNulls(restored, args), args))
          say(
            `sent as ${JSON.stringify(sent).slice(0, 400)}, came back as ${JSON.stringify(restored).slice(0, 400)}`,
          );
        const verdict = validate(original, restored);
        if (verdict.ok !== true) say(`restored arguments do not fit: ${JSON.stringify(verdict)}`);
        counts.samples++;
      }
    }
  }
  return counts;
}

/**
 * Where strict mode asks for a member that may be null anyway, null may also mean that it was not given, and is kept: such
 * nulls do not count. That the server accepts them is checked apart.
 */
function withoutNewNulls(restored: Json | undefined, args: Json | undefined): Json | undefined {
  if (Array.isArray(restored) && Array.isArray(args)) {
    return restored.map((item, at) => withoutNewNulls(item, args[at]) ?? null);
  }
  if (!isObject(restored) || !isObject(args)) return restored;
  return Object.fromEntries(
    Object.entries(restored)
      .filter(([name, value]) => value !== null || Object.hasOwn(args, name))
      .map(([name, value]) => [name, withoutNewNulls(value, args[name])]),
  );
}

/** By the original name: renames are rare enough that one name stands for one new name in a tool. */
function newNames(renamed: Record<string, string>): Map<string, string> {
  return new Map(
    Object.entries(renamed).map(([pointer, name]) => [
      (pointer.split('/').at(-1) ?? '').replaceAll('~1', '/').replaceAll('~0', '~'),
      name,
    ]),
  );
}

/** Renames what the schema names otherwise, and gives null for what it asks for and the arguments do not have. */
function asModel(
  node: Json | undefined,
  value: Json,
  root: JsonObject,
  names: ReadonlyMap<string, string>,
): Json {
  if (!isObject(node)) return value;
  if (typeof node['$ref'] === 'string') return asModel(follow(root, node['$ref']), value, root, names);
  for (const word of ['anyOf', 'oneOf']) {
    const branches = node[word];
    if (!Array.isArray(branches)) continue;
    for (const branch of branches) {
      const candidate = asModel(branch, value, root, names);
      if (isObject(branch) && validate({ ...branch, ...definitionsOf(root) }, candidate).ok === true)
        return candidate;
    }
  }
  if (Array.isArray(value)) {
    const prefix = Array.isArray(node['prefixItems']) ? node['prefixItems'] : [];
    return value.map((item, at) => asModel(prefix[at] ?? node['items'], item, root, names));
  }
  if (!isObject(value)) return value;
  const properties = isObject(node['properties']) ? node['properties'] : {};
  const sent: [string, Json][] = [];
  for (const [name, item] of Object.entries(value)) {
    const shown = Object.hasOwn(properties, name) ? name : (names.get(name) ?? name);
    sent.push([shown, asModel(properties[shown] ?? node['additionalProperties'], item ?? null, root, names)]);
  }
  const given = new Set(sent.map(([name]) => name));
  for (const name of namesIn(node['required'])) if (!given.has(name)) sent.push([name, null]);
  return Object.fromEntries(sent);
}

function definitionsOf(root: JsonObject): JsonObject {
  const { $defs, definitions } = root;
  return { ...($defs === undefined ? {} : { $defs }), ...(definitions === undefined ? {} : { definitions }) };
}
