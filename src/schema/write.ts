/** Writes a schema for one profile, together with the plan that turns values back. */
import type { Json, JsonObject } from '../types.ts';
import type { Combiner } from './combine.ts';
import { createDefinitions } from './definitions.ts';
import { describe, joinTexts, keywordWords } from './describe.ts';
import type { SchemaDocument } from './document.ts';
import { evaluate, Unfinished } from './evaluate.ts';
import { annotationsOf, fit } from './fit.ts';
import {
  cloneJson,
  isObject,
  isSchema,
  KEYWORDS,
  member,
  sameJson,
  schemaList,
  schemaMap,
  setMember,
  stringList,
  typesOf,
} from './keywords.ts';
import type { Schema } from './keywords.ts';
import { MAX_DEPTH, MAX_RECURSION } from './limits.ts';
import { renameMembers } from './names.ts';
import { inline, placeName, quoted } from './notes.ts';
import type { Notes } from './notes.ts';
import { closeObject, nullable } from './strict.ts';
import { CannotCarry, TooLarge } from './strict.ts';
import { openapiAny, openapiType, openapiUnion } from './openapi.ts';
import { writes } from './profiles.ts';
import type { Rules } from './profiles.ts';
import { pointer } from './reference.ts';
import type { BranchPlan, MemberPlan, Plan } from './restore.ts';

export interface Written {
  schema: Schema;
  plan: Plan;
}

export interface Writing {
  document: SchemaDocument;
  rules: Rules;
  combiner: Combiner;
  notes: Notes;
  charge(amount: number): void;
}

export interface WrittenRoot {
  schema: JsonObject;
  plan: Plan;
  renamed: Record<string, string>;
  /** Whether any value has to be changed on its way back. */
  inverts: boolean;
}

/** @throws CannotCarry, TooLarge */
export function writeRoot(writing: Writing, root: JsonObject): WrittenRoot {
  const { document, rules, combiner, notes, charge } = writing;
  const renamed: [string, string][] = [];
  const definitions = createDefinitions(document, rules, notes, root, write);
  let inverts = false;

  /** `place` is where the schema stands in the original; `level` how often a recursion was entered on the way. */
  function write(given: Schema, place: string[], level: number): Written {
    charge(1);
    if (place.length > MAX_DEPTH) throw new TooLarge(`the schema is nested deeper than ${MAX_DEPTH}`);
    const top = place.length === 0;
    const at = placeName(place);
    const schema =
      rules.flat && !top ? fit(given, rules, combiner, (change) => notes.add(change, at)) : given;
    if (typeof schema === 'boolean') return { schema: rules.flat ? writeAny(schema, at) : schema, plan: {} };
    if (rules.flat) {
      if (typeof schema['$ref'] === 'string') return writeReference(schema, place, level);
      if (schema['anyOf'] !== undefined && !top) return writeUnion(schema, place, level);
      if (typesOf(schema).length === 0)
        return { schema: annotated(writeAny(true, at), schema, at, []), plan: {} };
    }
    return writePlain(schema, place, level);
  }

  /** A value of any kind, or none at all, which a flat profile can only say in words. */
  function writeAny(allowed: boolean, at: string): JsonObject {
    if (rules.strict) {
      throw new CannotCarry(
        `${at === '' ? 'a value' : quoted(at)} ${allowed ? 'may be anything, and strict schemas need a type' : 'can never be valid'}`,
      );
    }
    const any = rules.openapi ? openapiAny() : {};
    if (!allowed) notes.add('schema false written in words', at);
    return allowed ? any : { ...any, description: 'must not be given' };
  }

  function writeReference(schema: JsonObject, place: string[], level: number): Written {
    const ref = schema['$ref'] as string;
    const target = document.target(ref);
    const at = placeName(place);
    const recursive = typeof target !== 'boolean' && definitions.isRecursive(target);
    if (recursive && rules.recursion === 'refused')
      throw new CannotCarry(`${at === '' ? 'the schema' : quoted(at)} is recursive`);
    const next = recursive && rules.recursion === 'cut' ? level + 1 : level;
    if (next > MAX_RECURSION && isObject(target)) {
      notes.add(`recursion cut after ${MAX_RECURSION} levels`, at);
      const types = typesOf(combiner.merged(target) as JsonObject);
      const rest = types.length === 1 && types[0] !== 'null' ? { type: types[0]! } : { type: 'object' };
      return write(
        { ...rest, description: joinTexts(schema['description'], 'nested further in the same way')! },
        [...place],
        level,
      );
    }
    if (rules.references === 'inlined' || typeof target === 'boolean') {
      notes.add('$ref written out', at);
      const inlined = isObject(target) ? { ...target, ...annotationsOf(schema) } : target;
      return write(inlined, [...place, '$ref'].slice(0, MAX_DEPTH), next);
    }
    const { schema: reference, plan } = definitions.refer(ref, target, place, next);
    const words = annotated({}, schema, at, []);
    if (Object.keys(words).length === 0) return { schema: reference, plan };
    notes.add('$ref with words beside it put into anyOf', at);
    return { schema: { ...words, anyOf: [reference] }, plan };
  }

  function writeUnion(schema: JsonObject, place: string[], level: number): Written {
    const at = placeName(place);
    const written: Schema[] = [];
    const branches: BranchPlan[] = [];
    for (const [index, branch] of schemaList(schema['anyOf']).entries()) {
      if (branch === false) continue;
      const { schema: one, plan } = write(branch, [...place, 'anyOf', String(index)], level);
      branches.push({ plan, misfit: (value) => misfit(branch, value) });
      if (!written.some((other) => sameJson(other, one))) written.push(one);
    }
    const words = annotated({}, schema, at, []);
    const union = rules.openapi ? openapiUnion(written as JsonObject[], words) : { ...words, anyOf: written };
    return {
      schema: union,
      plan: branches.some(({ plan }) => Object.keys(plan).length > 0) ? { branches } : {},
    };
  }

  /** Title, description and default as far as the profile writes them, and what else has to be said. */
  function annotated(out: JsonObject, schema: JsonObject, at: string, words: string[]): JsonObject {
    for (const [keyword, value] of Object.entries(annotationsOf(schema))) {
      if (
        keyword === 'description' ||
        value === undefined ||
        keyword === '$defs' ||
        keyword === 'definitions'
      )
        continue;
      if (writes(rules, keyword, value, false)) setMember(out, keyword, cloneJson(value));
      else moveToWords(keyword, value, words, at);
    }
    const description = describe(joinTexts(schema['description'], out['description']), words);
    return description === undefined ? out : { ...out, description };
  }

  function moveToWords(keyword: string, value: Json, words: string[], at: string): void {
    const said = keywordWords(keyword, value);
    if (said !== undefined) words.push(said);
    const name =
      keyword === 'format'
        ? `format ${inline(String(value), 30)}`
        : KEYWORDS.has(keyword)
          ? keyword
          : `keyword ${quoted(keyword)}`;
    notes.add(`${name} ${said === undefined ? 'left out' : 'moved to description'}`, at);
  }

  function writePlain(schema: JsonObject, place: string[], level: number): Written {
    const top = place.length === 0;
    const at = placeName(place);
    const plan: Plan = {};
    const names = renameMembers(
      schemaMap(schema['properties']).map(([name]) => name),
      rules,
      top,
    );
    for (const [name, shown] of names) {
      notes.add(`${quoted(name)} renamed to ${quoted(shown)}`, at);
      renamed.push([pointer([...place, 'properties', name]), shown]);
      inverts = true;
    }
    const words: string[] = [];
    const out: JsonObject = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (value === undefined) continue;
      if ((keyword === '$defs' || keyword === 'definitions') && rules.flat) continue;
      const open = keyword === 'unevaluatedProperties' && rules.strict && value === false;
      const mentionsOldNames = names.size > 0 && MENTION_MEMBERS.has(keyword);
      if (keyword === 'description' || open) setMember(out, keyword, value);
      else if (!writes(rules, keyword, value, top) || mentionsOldNames) {
        if (keyword === 'minItems' && rules.strict && Number(value) > 1) out['minItems'] = 1;
        if (!(rules.strict && REFUSED_OPEN.has(keyword))) moveToWords(keyword, value, words, at);
      } else setMember(out, keyword, writeKeyword(keyword, value, names));
    }
    delete out['unevaluatedProperties'];
    if (!rules.flat && schema['unevaluatedProperties'] !== undefined)
      out['unevaluatedProperties'] = writeKeyword(
        'unevaluatedProperties',
        schema['unevaluatedProperties'],
        names,
      );
    complete();
    const description = describe(out['description'], words);
    const described = description === undefined ? out : { ...out, description };
    const finished = rules.openapi ? openapiType(described) : described;
    if (!rules.flat) definitions.stands(schema, finished, place);
    return { schema: finished, plan };

    function writeKeyword(keyword: string, value: Json, names: Map<string, string>): Json {
      if (keyword === 'properties') return writeProperties(schemaMap(value), names);
      if (keyword === 'required') return stringList(value).map((name) => names.get(name) ?? name);
      if (keyword === 'propertyOrdering' && Array.isArray(value))
        return value.map((name) => names.get(String(name)) ?? name);
      const inside = (schema: Schema, ...tokens: string[]): Schema => {
        const written = write(schema, [...place, ...tokens], level);
        if (Object.keys(written.plan).length > 0) {
          if (keyword === 'items') plan.items = written.plan;
          else if (keyword === 'additionalProperties') plan.others = written.plan;
          else if (keyword === 'prefixItems') (plan.prefix ??= [])[Number(tokens[1])] = written.plan;
        }
        return written.schema;
      };
      switch (KEYWORDS.get(keyword)) {
        case 'schema':
          if (typeof value === 'boolean') return rules.flat && keyword === 'items' ? {} : value;
          return inside(value as Schema, keyword);
        case 'schemas':
          return schemaList(value).map((one, index) => inside(one, keyword, String(index)));
        case 'schemaMap':
          return Object.fromEntries(
            schemaMap(value).map(([name, one]) => [name, inside(one, keyword, name)]),
          );
        case 'array':
          if (keyword === 'enum' && Array.isArray(value) && value.length === 0)
            notes.add('empty enum left out', at);
          return cloneJson(value);
        default:
          return cloneJson(value);
      }
    }

    function writeProperties(properties: [string, Schema][], names: Map<string, string>): JsonObject {
      const required = new Set(stringList(schema['required']));
      const others = schema['additionalProperties'];
      if (rules.flat) {
        const missing = [...required].filter((name) => !properties.some(([known]) => known === name));
        if (others !== false)
          properties = [
            ...properties,
            ...missing.map((name): [string, Schema] => [name, isSchema(others) ? others : true]),
          ];
      }
      const members = new Map<string, MemberPlan>();
      const written: [string, Schema][] = [];
      for (const [name, property] of properties) {
        const inner = [...place, 'properties', name];
        if (rules.flat && property === false) {
          notes.add('member that must not be given left out', placeName(inner));
          continue;
        }
        const one = write(property, inner, level);
        const shown = names.get(name) ?? name;
        const optional = rules.requireAll && !required.has(name);
        const dropNull = optional && misfit(property, null) > 0;
        if (dropNull) inverts = true;
        if (dropNull || shown !== name || Object.keys(one.plan).length > 0)
          members.set(shown, { name, plan: one.plan, dropNull });
        if (optional) notes.add('optional members made required and nullable', placeName(inner));
        written.push([shown, optional ? nullable(one.schema as JsonObject) : one.schema]);
      }
      if (members.size > 0) plan.members = members;
      return Object.fromEntries(written);
    }

    /** What the profile needs to stand on every object and array. */
    function complete(): void {
      if (Array.isArray(out['enum']) && out['enum'].length === 0) delete out['enum'];
      const types = typesOf(out);
      if (types.includes('object')) {
        if (rules.flat && out['properties'] === undefined && stringList(schema['required']).length > 0) {
          out['properties'] = writeProperties([], names);
        }
        if ((rules.complete && !rules.openapi) || top) {
          if (out['properties'] === undefined) {
            out['properties'] = {};
            notes.add('empty properties added', at);
          }
        }
        if (rules.strict) closeObject(schema, out, at, top, rules, notes);
        else if (rules.flat) keepPatterns();
      }
      if (types.includes('array') && rules.flat && !rules.keywords!.has('prefixItems')) tuple();
      if (types.includes('array') && rules.complete && out['items'] === undefined) {
        if (rules.strict)
          throw new CannotCarry(
            `the items of ${at === '' ? 'the array' : quoted(at)} may be anything, and strict schemas need a type`,
          );
        out['items'] = rules.openapi ? openapiAny() : {};
        notes.add('items added', at);
      }
      if (rules.flat) onlyKnownRequired();
    }

    /** A tuple where an API has none: every item may be what any position may be. */
    function tuple(): void {
      const positions = schemaList(schema['prefixItems']);
      if (positions.length === 0) return;
      const others = schema['items'];
      const all = isObject(others) ? [...positions, others] : positions;
      const distinct = all.filter((one, index) => all.findIndex((other) => sameJson(one, other)) === index);
      const items = write(
        distinct.length === 1 ? distinct[0]! : { anyOf: distinct },
        [...place, 'items'],
        level,
      );
      out['items'] = items.schema;
      if (Object.keys(items.plan).length > 0) plan.items = items.plan;
      notes.add('tuple written as array', at);
    }

    /** Members by pattern become members of any name, so that they are not shut out. */
    function keepPatterns(): void {
      const patterns = schemaMap(schema['patternProperties']).map(([, one]) => one);
      if (patterns.length === 0 || !rules.keywords!.has('additionalProperties')) return;
      const others = schema['additionalProperties'];
      const all = isObject(others) ? [...patterns, others] : patterns;
      if (others === true || (others === undefined && patterns.length > 0)) return;
      const written = write(
        all.length === 1 ? all[0]! : { anyOf: all },
        [...place, 'additionalProperties'],
        level,
      );
      out['additionalProperties'] = written.schema;
      if (Object.keys(written.plan).length > 0) plan.others = written.plan;
    }

    function onlyKnownRequired(): void {
      const known = isObject(out['properties']) ? out['properties'] : {};
      if (rules.requireAll) {
        if (typesOf(out).includes('object')) out['required'] = Object.keys(known);
      } else if (Array.isArray(out['required'])) {
        out['required'] = out['required'].filter((name) => member(known, String(name)) !== undefined);
      }
    }
  }

  function misfit(schema: Schema, value: Json): number {
    try {
      const { failures } = evaluate(document, schema, value);
      return failures.length;
    } catch (error) {
      if (error instanceof Unfinished) return Infinity;
      throw error;
    }
  }

  const { schema, plan } = write(root, [], 0);
  const whole = definitions.finish(schema as JsonObject, plan);
  return { schema: whole, plan, renamed: Object.fromEntries(renamed), inverts };
}

/** Keywords that speak of members by their original names. */
const MENTION_MEMBERS = new Set([
  'dependentRequired',
  'dependentSchemas',
  'if',
  'then',
  'else',
  'not',
  'patternProperties',
  'propertyNames',
]);
/** In a strict profile these are not told in words but refused by `closeObject`. */
const REFUSED_OPEN = new Set(['patternProperties']);
