/** Writes a schema for one profile, together with the plan that turns values back. */
import type { Json, JsonObject } from '../types.ts';
import { createDefinitions } from './definitions.ts';
import { describe, joinTexts, keywordWords } from './describe.ts';
import type { SchemaDocument } from './document.ts';
import { evaluate, Unfinished } from './evaluate.ts';
import type { Budget } from './evaluate.ts';
import { isExactLeaf } from './exact.ts';
import { annotationsOf, fit } from './fit.ts';
import { cloneJson, isObject, KEYWORDS, distinct, schemaList, setMember, typesOf } from './keywords.ts';
import type { Schema } from './keywords.ts';
import { MAX_DEPTH, MAX_RECURSION, MAX_STEPS } from './limits.ts';
import { inline, placeName, quoted } from './notes.ts';
import { openapiAny, openapiUnion } from './openapi.ts';
import { writePlain } from './plain.ts';
import { writes } from './profiles.ts';
import type { BranchPlan, Plan } from './restore.ts';
import { CannotCarry, TooLarge } from './strict.ts';
import type { Writer, Writing, Written } from './writer.ts';

export interface WrittenRoot {
  schema: JsonObject;
  plan: Plan;
  renamed: Record<string, string>;
  inverts: boolean;
}

/** @throws CannotCarry, TooLarge */
export function writeRoot(writing: Writing, root: JsonObject): WrittenRoot {
  const { document, rules, notes } = writing;
  const shared: Budget = { steps: MAX_STEPS };
  const writer: Writer = {
    ...writing,
    definitions: createDefinitions(document, rules, notes, root, (...given) => write(writer, ...given)),
    renamed: new Map(),
    inverts: false,
    write: (...given) => write(writer, ...given),
    misfit: (schema, value, budget = shared) => misfit(document, schema, value, budget),
    tellInWords(keyword, value, words, place) {
      const said = keywordWords(keyword, value);
      if (said !== undefined) words.push(said);
      const name =
        keyword === 'format' && typeof value === 'string' ? `format ${inline(value, 30)}` : keyword;
      const known = KEYWORDS.has(keyword) ? name : `keyword ${quoted(keyword)}`;
      notes.add(`${known} ${said === undefined ? 'left out' : 'moved to description'}`, place);
    },
  };
  const { schema, plan } = write(writer, root, [], 0);
  const whole = writer.definitions.finish(schema as JsonObject, plan);
  return { schema: whole, plan, renamed: Object.fromEntries(writer.renamed), inverts: writer.inverts };
}

function write(writer: Writer, given: Schema, place: string[], level: number): Written {
  const { rules, combiner, notes } = writer;
  writer.charge(1);
  if (place.length > MAX_DEPTH) throw new TooLarge(`the schema is nested deeper than ${MAX_DEPTH}`);
  const top = place.length === 0;
  if (!rules.flat)
    return typeof given === 'boolean' ? { schema: given, plan: {} } : writePlain(writer, given, place, level);
  if (!top && isExactLeaf(given, rules)) return { schema: given, plan: {} };
  const schema = top ? given : fit(given, rules, combiner, (change) => notes.add(change, place));
  if (typeof schema === 'boolean') return { schema: anything(writer, schema, {}, place), plan: {} };
  if (typeof schema['$ref'] === 'string') return writeReference(writer, schema, place, level);
  if (schema['anyOf'] !== undefined) return writeUnion(writer, schema, place, level);
  if (typesOf(schema).length === 0)
    return { schema: anything(writer, true, annotated(writer, schema, place), place), plan: {} };
  return writePlain(writer, schema, place, level);
}

/** A value of any kind, or none at all: flat profiles have words for it at best. */
function anything(
  { rules, notes }: Writer,
  allowed: boolean,
  words: JsonObject,
  place: readonly string[],
): JsonObject {
  if (rules.strict) {
    const where = quoted(placeName(place));
    throw new CannotCarry(
      `${where} ${allowed ? 'may be anything, and strict schemas need a type' : 'can never be valid'}`,
    );
  }
  if (!allowed) {
    notes.add('schema false written in words', place);
    words = { description: 'must not be given' };
  }
  return rules.openapi ? openapiUnion(openapiAny(), words) : words;
}

function writeReference(writer: Writer, schema: JsonObject, place: string[], level: number): Written {
  const { document, rules, notes, definitions, combiner } = writer;
  const ref = schema['$ref'] as string;
  const target = document.target(ref);
  const recursive = isObject(target) && definitions.isRecursive(target);
  if (recursive && rules.recursion === 'refused')
    throw new CannotCarry(`${quoted(placeName(place))} is recursive`);
  const next = recursive && rules.recursion === 'cut' ? level + 1 : level;
  if (next > MAX_RECURSION && isObject(target)) {
    notes.add(`recursion cut after ${MAX_RECURSION} levels`, place);
    const merged = combiner.merged(target);
    const type = isObject(merged) ? typesOf(merged).find((type) => type !== 'null') : undefined;
    const description = joinTexts(schema['description'], 'nested further in the same way')!;
    return writer.write({ type: type ?? 'object', description }, place, level);
  }
  if (rules.references === 'inlined' || typeof target === 'boolean') {
    notes.add('$ref written out', place);
    return writer.write(isObject(target) ? { ...target, ...annotationsOf(schema) } : target, place, next);
  }
  const reference = definitions.refer(ref, target, place, next);
  const words = annotated(writer, schema, place);
  if (Object.keys(words).length === 0) return reference;
  notes.add('$ref with words beside it put into anyOf', place);
  return { schema: { ...words, anyOf: [reference.schema] }, plan: reference.plan };
}

function writeUnion(writer: Writer, schema: JsonObject, place: string[], level: number): Written {
  const written: JsonObject[] = [];
  const branches: BranchPlan[] = [];
  for (const [index, branch] of schemaList(schema['anyOf']).entries()) {
    if (branch === false) continue;
    const one = writer.write(branch, [...place, 'anyOf', String(index)], level);
    branches.push({ plan: one.plan, misfit: (value, budget) => writer.misfit(branch, value, budget) });
    written.push(one.schema as JsonObject);
  }
  const words = annotated(writer, schema, place);
  const union = writer.rules.openapi ? openapiUnion(written, words) : { ...words, anyOf: distinct(written) };
  return {
    schema: union,
    plan: branches.some(({ plan }) => Object.keys(plan).length > 0) ? { branches } : {},
  };
}

/** Title, description and default as far as the profile writes them; the rest of what they say as words. */
function annotated(writer: Writer, schema: JsonObject, place: readonly string[]): JsonObject {
  const out: JsonObject = {};
  const words: string[] = [];
  for (const [keyword, value] of Object.entries(annotationsOf(schema))) {
    if (value === undefined || keyword === '$defs' || keyword === 'definitions') continue;
    if (writes(writer.rules, keyword, schema, false)) setMember(out, keyword, cloneJson(value));
    else writer.tellInWords(keyword, value, words, place);
  }
  const description = describe(out['description'], words);
  return description === undefined ? out : { ...out, description };
}

function misfit(document: SchemaDocument, schema: Schema, value: Json, budget: Budget): number {
  try {
    return evaluate(document, schema, value, { budget }).failures.length;
  } catch (error) {
    if (error instanceof Unfinished) return Infinity;
    throw error;
  }
}
