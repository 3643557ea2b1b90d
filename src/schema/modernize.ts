/** Brings one schema object to draft 2020-12 in place: what older drafts and OpenAPI spell differently, and values that no draft allows. */
import type { Json, JsonObject } from '../types.ts';
import { ANNOTATIONS, isObject, isSchema, KEYWORDS, sameJson, setMember, TYPES } from './keywords.ts';
import { inline } from './notes.ts';
import type { Notes } from './notes.ts';

interface Context {
  /** `$schema` names draft-07 or older, where siblings of `$ref` assert nothing. */
  old: boolean;
  /** OpenAPI's `nullable` and upper-case types are expected. */
  openapi: boolean;
  notes: Notes;
  place: readonly string[];
  root: boolean;
}

export function modernize(node: JsonObject, context: Context): void {
  const note = (change: string): void => context.notes.add(change, context.place);
  for (const keyword of context.root ? ['$schema'] : ['$schema', '$id', '$vocabulary']) {
    if (node[keyword] !== undefined) delete node[keyword];
  }
  if (context.old && typeof node['$ref'] === 'string') dropSiblings(node, note);
  if (Array.isArray(node['items']) || node['additionalItems'] !== undefined) tuples(node, note);
  exclusiveBounds(node, note);
  if (node['dependencies'] !== undefined) dependencies(node, note);
  if (node['properties'] !== undefined || typeof node['required'] === 'boolean') booleanRequired(node, note);
  const noteSpelling: Note = context.openapi ? () => {} : note;
  typeNames(node, noteSpelling);
  for (const keyword of Object.keys(node)) {
    const value = node[keyword];
    const kept = sound(keyword, value);
    if (kept === undefined) {
      delete node[keyword];
      note(`malformed ${inline(keyword, 40)} left out`);
    } else if (kept !== value) {
      node[keyword] = kept;
      note(`malformed parts of ${keyword} left out`);
    }
  }
  if (typeof node['nullable'] === 'boolean') nullable(node, noteSpelling);
}

/** Whether a schema object has only keywords of 2020-12 with values that they may have. False says nothing. */
export function isModern(node: JsonObject): boolean {
  for (const keyword of Object.keys(node)) {
    const value = node[keyword];
    if (value === undefined || !KEYWORDS.has(keyword) || sound(keyword, value) !== value) return false;
    if (keyword === 'properties' && requiredByMembers(value as JsonObject).length > 0) return false;
  }
  return true;
}

type Note = (change: string) => void;

function dropSiblings(node: JsonObject, note: Note): void {
  for (const keyword of Object.keys(node)) {
    if (keyword === '$ref' || ANNOTATIONS.has(keyword) || !KEYWORDS.has(keyword)) continue;
    delete node[keyword];
    note(`${keyword} beside $ref left out, as its draft ignores it`);
  }
}

function tuples(node: JsonObject, note: Note): void {
  const { items, additionalItems } = node;
  if (Array.isArray(items)) {
    replaceMember(node, 'items', 'prefixItems', items);
    if (isSchema(additionalItems)) node['items'] = additionalItems;
    note('tuple items written as prefixItems');
  }
  delete node['additionalItems'];
}

function exclusiveBounds(node: JsonObject, note: Note): void {
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const value = node[exclusive];
    if (typeof value !== 'boolean') continue;
    const limit = node[bound];
    delete node[exclusive];
    if (value && typeof limit === 'number') replaceMember(node, bound, exclusive, limit);
    note(`boolean ${exclusive} written as a number`);
  }
}

function dependencies(node: JsonObject, note: Note): void {
  const value = node['dependencies'];
  if (!isObject(value)) return;
  const required: JsonObject = isObject(node['dependentRequired']) ? node['dependentRequired'] : {};
  const schemas: JsonObject = isObject(node['dependentSchemas']) ? node['dependentSchemas'] : {};
  for (const [name, dependency] of Object.entries(value)) {
    if (typeof dependency === 'string') setMember(required, name, [dependency]);
    else if (Array.isArray(dependency)) setMember(required, name, dependency);
    else if (isSchema(dependency)) setMember(schemas, name, dependency);
  }
  delete node['dependencies'];
  if (Object.keys(required).length > 0) node['dependentRequired'] = required;
  if (Object.keys(schemas).length > 0) node['dependentSchemas'] = schemas;
  note('dependencies written as dependentRequired and dependentSchemas');
}

/** Draft-03 says `required: true` on the member itself. */
function booleanRequired(node: JsonObject, note: Note): void {
  const named = isObject(node['properties']) ? requiredByMembers(node['properties']) : [];
  if (named.length > 0) {
    const required = Array.isArray(node['required']) ? node['required'] : [];
    node['required'] = [...required, ...named.filter((name) => !required.includes(name))];
    note('required: true on members written as a list');
  }
  if (typeof node['required'] === 'boolean') delete node['required'];
}

function requiredByMembers(properties: JsonObject): string[] {
  return Object.keys(properties).filter((name) => {
    const property = properties[name];
    return isObject(property) && property['required'] === true;
  });
}

function typeNames(node: JsonObject, note: Note): void {
  const { type } = node;
  if (type === undefined) return;
  if (typeof type === 'string' && TYPES.includes(type)) return;
  const given = Array.isArray(type) ? type : [type];
  if (given.includes('any')) {
    delete node['type'];
    note('type any left out');
    return;
  }
  const names = [
    ...new Set(
      given.map((name) => (typeof name === 'string' && /^[A-Z]+$/.test(name) ? name.toLowerCase() : name)),
    ),
  ];
  if (names.length === given.length && names.every((name, index) => name === given[index])) return;
  node['type'] = Array.isArray(type) ? names : names[0]!;
  note('type names brought to the standard form');
}

/** OpenAPI 3.0 says `nullable: true` where JSON Schema lists the type `null`. */
function nullable(node: JsonObject, note: Note): void {
  const wanted = node['nullable'];
  delete node['nullable'];
  note('nullable written as the type null');
  if (!wanted) return;
  const { type, enum: values } = node;
  if (type !== undefined) {
    const types = Array.isArray(type) ? type : [type];
    if (!types.includes('null')) node['type'] = [...types, 'null'];
    if (Array.isArray(values) && !values.includes(null)) node['enum'] = [...values, null];
    return;
  }
  const branches = node['anyOf'];
  if (
    Array.isArray(branches) &&
    Object.keys(node).every((keyword) => keyword === 'anyOf' || ANNOTATIONS.has(keyword))
  ) {
    if (!branches.some((branch) => isObject(branch) && branch['type'] === 'null'))
      branches.push({ type: 'null' });
    return;
  }
  const inner: JsonObject = {};
  for (const keyword of Object.keys(node)) {
    if (ANNOTATIONS.has(keyword)) continue;
    setMember(inner, keyword, node[keyword]!);
    delete node[keyword];
  }
  if (Object.keys(inner).length > 0) node['anyOf'] = [inner, { type: 'null' }];
}

/** The value in the shape that its keyword needs: the same, with malformed parts gone, or undefined. */
export function sound(keyword: string, value: Json | undefined): Json | undefined {
  switch (KEYWORDS.get(keyword)) {
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'number':
      return typeof value === 'number' && (keyword !== 'multipleOf' || value > 0) ? value : undefined;
    case 'count':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'array':
      return Array.isArray(value) ? value : undefined;
    case 'strings':
      return uniqueStrings(value);
    case 'types': {
      if (typeof value === 'string') return TYPES.includes(value) ? value : undefined;
      if (!Array.isArray(value)) return undefined;
      const known = new Set(value.filter((name) => typeof name === 'string' && TYPES.includes(name)));
      return known.size === 0 ? undefined : same([...known], value);
    }
    case 'schema':
      return isSchema(value) ? value : undefined;
    case 'schemas': {
      if (!Array.isArray(value)) return undefined;
      const schemas = value.filter(isSchema);
      return schemas.length === 0 && keyword !== 'prefixItems' ? undefined : same(schemas, value);
    }
    case 'schemaMap':
      if (!isObject(value)) return undefined;
      if (Object.values(value).every(isSchema)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, item]) => [name, isSchema(item) ? item : true]),
      );
    case 'stringsMap': {
      if (!isObject(value)) return undefined;
      const entries = Object.entries(value).map(([name, list]) => [name, uniqueStrings(list) ?? []] as const);
      const map = Object.fromEntries(entries);
      return sameJson(map, value) ? value : map;
    }
    default:
      return value;
  }
}

function uniqueStrings(value: Json | undefined): Json[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return same([...new Set(value.filter((item) => typeof item === 'string'))], value);
}

function same(kept: Json[], given: Json[]): Json[] {
  return kept.length === given.length ? given : kept;
}

/** Renames a member and keeps its place among the others. */
function replaceMember(node: JsonObject, from: string, to: string, value: Json): void {
  const entries = Object.entries(node);
  for (const [name] of entries) delete node[name];
  for (const [name, old] of entries) {
    if (name === from) setMember(node, to, value);
    else if (name !== to && old !== undefined) setMember(node, name, old);
  }
}
