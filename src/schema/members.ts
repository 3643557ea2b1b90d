/** The members of objects and the positions of tuples, with what it takes to turn them back. */
import type { JsonObject } from '../types.ts';
import { distinct, isObject, isSchema, schemaList, schemaMap, stringList } from './keywords.ts';
import type { Schema } from './keywords.ts';
import { openapiUnion } from './openapi.ts';
import type { MemberPlan } from './restore.ts';
import { nullable } from './strict.ts';
import type { Plain } from './writer.ts';

export function writeMembers(plain: Plain, properties: [string, Schema][]): JsonObject {
  const { writer, schema, place, level, names, plan } = plain;
  const { rules, notes } = writer;
  const required = new Set(stringList(schema['required']));
  const members = new Map<string, MemberPlan>();
  const written: [string, Schema][] = [];
  for (const [name, property] of rules.flat ? withRequired(schema, properties) : properties) {
    const inner = [...place, 'properties', name];
    if (rules.flat && property === false) {
      notes.add('member that must not be given left out', inner);
      continue;
    }
    const one = writer.write(property, inner, level);
    const shown = names.get(name) ?? name;
    const optional = rules.requireAll && !required.has(name);
    const dropNull = optional && writer.misfit(property, null) > 0;
    if (dropNull) writer.inverts = true;
    if (dropNull || shown !== name || Object.keys(one.plan).length > 0) {
      members.set(shown, { name, plan: one.plan, dropNull });
    }
    if (optional) notes.add('optional members made required and nullable', inner);
    written.push([shown, optional ? nullable(one.schema as JsonObject) : one.schema]);
  }
  if (members.size > 0) plan.members = members;
  return Object.fromEntries(written);
}

/** Members that are required but described nowhere, or only by `additionalProperties`. */
function withRequired(schema: JsonObject, properties: [string, Schema][]): [string, Schema][] {
  const others = schema['additionalProperties'];
  if (others === false) return properties;
  const known = new Set(properties.map(([name]) => name));
  const missing = stringList(schema['required']).filter((name) => !known.has(name));
  return [
    ...properties,
    ...missing.map((name): [string, Schema] => [name, isSchema(others) ? others : true]),
  ];
}

/** Members by pattern become members of any name, so that they are not shut out. */
export function writeOthersByPattern({ writer, schema, place, level, plan, out }: Plain): void {
  const patterns = schemaMap(schema['patternProperties']).map(([, one]) => one);
  const others = schema['additionalProperties'];
  if (patterns.length === 0 || others === undefined || others === true || writer.rules.openapi) return;
  const written = writer.write(
    anyOf(isObject(others) ? [...patterns, others] : patterns),
    [...place, 'additionalProperties'],
    level,
  );
  out['additionalProperties'] = written.schema;
  if (Object.keys(written.plan).length > 0) plan.others = written.plan;
}

/** A tuple where an API has none: every item may be what any position may be. */
export function writeTuple({ writer, schema, place, level, plan, out }: Plain): void {
  const positions = schemaList(schema['prefixItems']).map((one, index) =>
    writer.write(one, [...place, 'prefixItems', String(index)], level),
  );
  if (positions.length === 0) return;
  const all = positions.map((one) => one.schema as JsonObject);
  if (isObject(out['items']) && isObject(schema['items'])) all.push(out['items']);
  const items = distinct(all);
  if (writer.rules.openapi) out['items'] = openapiUnion(items, {});
  else out['items'] = items.length === 1 ? items[0]! : { anyOf: items };
  plan.prefix = positions.map((one) => one.plan);
  writer.notes.add('tuple written as array', place);
}

function anyOf(schemas: readonly Schema[]): Schema {
  const different = distinct(schemas);
  return different.length === 1 ? different[0]! : { anyOf: different };
}
