/** Writes a schema that is no reference and no lone union: keyword by keyword, then what the profile wants beside them. */
import type { Json, JsonObject } from '../types.ts';
import { describe } from './describe.ts';
import {
  cloneJson,
  isObject,
  KEYWORDS,
  member,
  schemaList,
  schemaMap,
  setMember,
  stringList,
  typesOf,
} from './keywords.ts';
import type { Schema } from './keywords.ts';
import { writeMembers, writeOthersByPattern, writeTuple } from './members.ts';
import { renameMembers } from './names.ts';
import { placeName, quoted } from './notes.ts';
import { openapiAny, openapiType } from './openapi.ts';
import { writes } from './profiles.ts';
import { pointer } from './reference.ts';
import { CannotCarry, closeObject } from './strict.ts';
import type { Plain, Writer, Written } from './writer.ts';

/** Keywords that speak of members by their original names. */
const MENTION_MEMBERS = new Set(
  'dependentRequired dependentSchemas if then else not patternProperties propertyNames'.split(' '),
);

export function writePlain(writer: Writer, schema: JsonObject, place: string[], level: number): Written {
  const { rules, definitions } = writer;
  const plain: Plain = {
    writer,
    schema,
    place,
    level,
    names: renamed(writer, schema, place),
    plan: {},
    out: {},
  };
  const words = writeKeywords(plain);
  complete(plain);
  const { out, plan } = plain;
  const description = describe(out['description'], words);
  if (description !== undefined) out['description'] = description;
  const finished = rules.openapi ? openapiType(out) : out;
  if (!rules.flat) definitions.stands(schema, finished, place);
  return { schema: finished, plan };
}

function renamed(writer: Writer, schema: JsonObject, place: string[]): Map<string, string> {
  const names = renameMembers(schema['properties'], writer.rules, place.length === 0);
  for (const [name, shown] of names) {
    writer.notes.add(`${quoted(name)} renamed to ${quoted(shown)}`, place);
    writer.renamed.set(pointer([...place, 'properties', name]), shown);
    writer.inverts = true;
  }
  return names;
}

/** Returns what has to be said in words. */
function writeKeywords(plain: Plain): string[] {
  const { writer, schema, place, names, out } = plain;
  const { rules } = writer;
  const words: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined) continue;
    if (rules.flat && (keyword === '$defs' || keyword === 'definitions')) continue;
    if (rules.strict && (keyword === 'patternProperties' || keyword === 'unevaluatedProperties')) continue;
    const saysOldNames = names.size > 0 && MENTION_MEMBERS.has(keyword);
    if (!saysOldNames && writes(rules, keyword, schema, place.length === 0)) {
      setMember(out, keyword, writeKeyword(plain, keyword, value));
    } else {
      if (rules.strict && keyword === 'minItems' && Number(value) > 1) out['minItems'] = 1;
      writer.tellInWords(keyword, value, words, place);
    }
  }
  return words;
}

function writeKeyword(plain: Plain, keyword: string, value: Json): Json {
  const { names, plan } = plain;
  if (keyword === 'properties') return writeMembers(plain, schemaMap(value));
  if ((keyword === 'required' || keyword === 'propertyOrdering') && Array.isArray(value))
    return value.map((name) => (typeof name === 'string' ? (names.get(name) ?? name) : name));
  const holds = KEYWORDS.get(keyword);
  if (holds !== 'schema' && holds !== 'schemas' && holds !== 'schemaMap') return cloneJson(value);
  const inside = (schema: Schema, ...tokens: string[]): Schema => {
    const written = plain.writer.write(schema, [...plain.place, ...tokens], plain.level);
    if (keyword === 'prefixItems') (plan.prefix ??= []).push(written.plan);
    if (Object.keys(written.plan).length > 0) {
      if (keyword === 'items') plan.items = written.plan;
      else if (keyword === 'additionalProperties') plan.others = written.plan;
    }
    return written.schema;
  };
  switch (holds) {
    case 'schema':
      if (typeof value === 'boolean' && !(plain.writer.rules.flat && keyword === 'items')) return value;
      return value === false ? {} : inside(value as Schema, keyword);
    case 'schemas':
      return schemaList(value).map((one, index) => inside(one, keyword, String(index)));
    default:
      return Object.fromEntries(schemaMap(value).map(([name, one]) => [name, inside(one, keyword, name)]));
  }
}

/** What the profile wants to stand on every object and array. */
function complete(plain: Plain): void {
  const { writer, schema, place, out } = plain;
  const { rules, notes } = writer;
  const types = typesOf(out);
  if (Array.isArray(out['enum']) && out['enum'].length === 0) {
    delete out['enum'];
    notes.add('empty enum left out', place);
  }
  if (types.includes('object')) {
    if (rules.flat && out['properties'] === undefined && stringList(schema['required']).length > 0) {
      out['properties'] = writeMembers(plain, []);
    }
    if (rules.needs.includes('properties') && out['properties'] === undefined) {
      out['properties'] = {};
      notes.add('empty properties added', place);
    }
    if (rules.strict) closeObject(schema, out, place, rules, notes);
    else if (rules.flat) writeOthersByPattern(plain);
  }
  if (types.includes('array')) {
    if (rules.flat && !writes(rules, 'prefixItems', schema, false)) writeTuple(plain);
    if (rules.needs.includes('items') && out['items'] === undefined) {
      if (rules.strict) {
        throw new CannotCarry(
          `the items of ${quoted(placeName(place))} may be anything, and strict schemas need a type`,
        );
      }
      out['items'] = rules.openapi ? { anyOf: openapiAny() } : {};
      notes.add('items added', place);
    }
  }
  if (rules.flat && Array.isArray(out['required'])) {
    const known = isObject(out['properties']) ? out['properties'] : {};
    out['required'] = out['required'].filter(
      (name) => typeof name === 'string' && member(known, name) !== undefined,
    );
  }
}
