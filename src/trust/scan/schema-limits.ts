/** Rules about what a definition costs whoever reads it: size, references, regular expressions. */
import { isExponential } from '../../schema/ambiguity.ts';
import { isObject } from '../../schema/keywords.ts';
import { compilePattern, isExpression } from '../../schema/pattern.ts';
import { follow, pointer } from '../../schema/reference.ts';
import type { Item, JsonObject } from '../../types.ts';
import { found, type ItemFinding } from './found.ts';
import { LIMITS, NOTED } from './limits.ts';
import type { ItemRule } from './rule.ts';
import { type Facts, factsOf, placeOf, type SchemaNode } from './schema-facts.ts';

export const LIMIT: ItemRule = {
  on: 'item',
  id: 'S04',
  title: 'larger than any definition in use',
  tier: 'hard',
  severity: 'high',
  why: 'A definition that is deeper, longer or wider than any in use costs every reader time and memory, and may be made for that: a few references that multiply each other stand for millions of schemas.',
  example: 'ten definitions, each of which names the next one ten times',
  advice: 'Ask the author for a smaller definition. Nothing of it is shown.',
  find(item) {
    const facts = factsOf(item);
    const findings: ItemFinding[] = [];
    const limit = (pointer: string, what: string, value: number, most: number): void => {
      if (value > most)
        findings.push(found({ pointer }, `${what}: ${value}, of at most ${most}`, 'hard', 'high'));
    };
    limit('', 'nesting', facts.depth, LIMITS.depth);
    limit('', 'values', facts.nodes, LIMITS.nodes);
    limit('', 'characters', facts.size, LIMITS.definition);
    const mostText = item.kind === 'instructions' ? LIMITS.instructions : LIMITS.description;
    for (const { pointer, length } of longTexts(item)) limit(pointer, 'characters', length, mostText);
    return findings.length > 0 || facts.references.length === 0 ? findings : expansions(facts);
  },
};

export const SIZE: ItemRule = {
  on: 'item',
  id: 'S11',
  title: 'long for what it is',
  tier: 'note',
  severity: 'low',
  why: 'Every word of a definition is paid for in every request, and long texts hide what they say.',
  example: 'a description of ten thousand characters',
  advice: 'Read all of it once; `midspan cost` tells what it costs.',
  find(item) {
    const { size } = factsOf(item);
    const large = size > NOTED.definition ? [{ pointer: '', length: size }] : [];
    return [...large, ...longTexts(item)].map(({ pointer, length }) =>
      found({ pointer }, `about ${length} characters`, 'note', 'low'),
    );
  },
};

/** Texts of an item itself that are worth a note at least. */
function longTexts({ kind, value }: Item & { value: JsonObject }): { pointer: string; length: number }[] {
  const least = kind === 'instructions' ? NOTED.instructions : NOTED.description;
  const found: { pointer: string; length: number }[] = [];
  for (const name of Object.keys(value)) {
    const text = value[name];
    if (typeof text !== 'string' || text.length <= least) continue;
    found.push({ pointer: kind === 'instructions' ? '' : pointer([name]), length: text.length });
  }
  return found;
}

/** References that multiply: what each schema comes to when all of them are written out. One that leads back counts once. */
function expansions({ roots, references }: Facts): ItemFinding[] {
  return roots.flatMap((root) => {
    const own = references.filter((schema) => schema.root === root.root);
    const loop = endless(own, root.node);
    if (loop !== undefined)
      return [found({ pointer: placeOf(loop) }, 'the schema is defined by itself alone', 'hard', 'high')];
    const size = own.length === 0 ? 0 : writtenOut(root.node, root.node, new Map());
    return size > LIMITS.expansion
      ? [
          found(
            { pointer: placeOf(root) },
            `more than ${LIMITS.expansion} schemas once references are written out`,
            'hard',
            'high',
          ),
        ]
      : [];
  });
}

function writtenOut(node: JsonObject, root: JsonObject, sizes: Map<JsonObject, number>, level = 0): number {
  const before = sizes.get(node);
  if (before !== undefined) return before;
  if (level > MAX_CHAIN) return Infinity;
  sizes.set(node, 1);
  let size = 1;
  for (const inner of innerSchemas(node, root)) size += writtenOut(inner, root, sizes, level + 1);
  sizes.set(node, size);
  return size;
}

/** Schemas that stand in or refer to each other in a row. */
const MAX_CHAIN = 1_000;

/** The schemas in a schema and the one it refers to; definitions count only where they are referred to. */
function innerSchemas(node: JsonObject, root: JsonObject): JsonObject[] {
  const found: JsonObject[] = [];
  for (const [keyword, value] of Object.entries(node)) {
    if (DATA.has(keyword)) continue;
    const values = Array.isArray(value)
      ? value
      : MAPS.has(keyword) && isObject(value)
        ? Object.values(value)
        : [value];
    found.push(...values.filter((inner) => isObject(inner)));
  }
  const target = targetOf(node, root);
  return target === undefined ? found : [...found, target];
}

const DATA = new Set(['$defs', 'definitions', 'default', 'const', 'enum', 'examples']);
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies']);
/** Keywords that apply to the very same value. */
const IN_PLACE = ['allOf', 'anyOf', 'oneOf'];

function targetOf(node: JsonObject, root: JsonObject): JsonObject | undefined {
  const ref = node['$ref'];
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined;
  const target = follow(root, ref.slice(1));
  return isObject(target) ? target : undefined;
}

/** A schema by which judging a value means judging the same value by it again, without end. */
function endless(schemas: readonly SchemaNode[], root: JsonObject): SchemaNode | undefined {
  const done = new Set<JsonObject>();
  const open = new Set<JsonObject>();
  return schemas.find(({ node: start }) => {
    const way: { node: JsonObject; next: JsonObject[] }[] = [];
    const enter = (node: JsonObject): void => {
      open.add(node);
      way.push({ node, next: inPlace(node, root) });
    };
    if (!done.has(start)) enter(start);
    for (let at = way.at(-1); at !== undefined; at = way.at(-1)) {
      const next = at.next.pop();
      if (next === undefined) {
        way.pop();
        open.delete(at.node);
        done.add(at.node);
      } else if (open.has(next)) return true;
      else if (!done.has(next)) enter(next);
    }
    return false;
  });
}

/** The schemas that the very same value is judged by. */
function inPlace(node: JsonObject, root: JsonObject): JsonObject[] {
  const inner = IN_PLACE.flatMap((keyword) => (Array.isArray(node[keyword]) ? node[keyword] : []));
  const target = targetOf(node, root);
  return [...inner.filter((one) => isObject(one)), ...(target === undefined ? [] : [target])];
}

export const OUTSIDE_REFERENCE: ItemRule = {
  on: 'item',
  id: 'S05',
  title: 'a reference that leads out of the schema',
  tier: 'hard',
  severity: 'high',
  why: 'A reader that follows it sends a request from inside the network, or reads a file, at the word of the server. The specification forbids following it.',
  example: '{"$ref": "http://169.254.169.254/latest/meta-data/"}',
  advice: 'Ask the author to put the referred schema into `$defs`.',
  find(item) {
    const { references, ids } = factsOf(item);
    return references.flatMap((schema) =>
      ['$ref', '$dynamicRef', '$recursiveRef'].flatMap((keyword) => {
        const ref = schema.node[keyword];
        if (typeof ref !== 'string') return [];
        const address = ref.split('#', 1)[0]!;
        const isInside = address === '' || ids.has(address) || ids.has(`${address}#`) || address === BUNDLED;
        return isInside ? [] : [found({ pointer: placeOf(schema, keyword) }, ref, 'hard', 'high')];
      }),
    );
  },
};

/** Schemas of JSON Schema itself, which every evaluator has. */
const BUNDLED = 'https://json-schema.org/draft/2020-12/schema';

export const PATTERN: ItemRule = {
  on: 'item',
  id: 'S06',
  title: 'a regular expression that may never end',
  tier: 'soft',
  severity: 'medium',
  why: 'Some expressions take exponential time in the engines of most languages, so that one argument stops the reader. Midspan reads every expression in linear time or not at all; other readers of the schema may not.',
  example: '^(a+)+$',
  advice: 'Ask the author for an expression without repeated repetitions or look-around.',
  find(item) {
    return factsOf(item).patterns.flatMap((schema) => {
      const { pattern, patternProperties } = schema.node;
      const sources: [string, ItemFinding['pointer'], boolean][] = [];
      if (typeof pattern === 'string') sources.push([pattern, placeOf(schema, 'pattern'), false]);
      if (isObject(patternProperties)) {
        for (const source of Object.keys(patternProperties))
          sources.push([source, placeOf(schema, 'patternProperties', source), true]);
      }
      return sources.flatMap(([source, pointer, inKey]) => {
        // Look-around takes no time of its own: what stands in it is looked at as if it were part of the text.
        const isDanger = isExponential(source.replace(/\(\?<?[=!]/g, '(?:'));
        if (isDanger === true) return [found({ pointer, inKey }, source, 'hard', 'high')];
        if (compilePattern(source) !== undefined || !(isExpression(source) || isExpression(source, '')))
          return [];
        return [found({ pointer, inKey }, source, isDanger === false ? 'note' : 'soft', 'medium')];
      });
    });
  },
};
