/**
 * What each provider's schema reader accepts, as its API answers: `check` lists the objections of the strictest reader
 * of a profile. Written apart from the lowering, so that the two can disagree.
 */
import type { Profile } from '../../src/schema/index.ts';
import type { Json, JsonObject } from '../../src/types.ts';

type Shape = (value: Json) => boolean;

const isRecord = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
const isSchema: Shape = (value) => typeof value === 'boolean' || isRecord(value);
const isCount: Shape = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const isText: Shape = (value) => typeof value === 'string';
const isNumber: Shape = (value) => typeof value === 'number';
const isFlag: Shape = (value) => typeof value === 'boolean';
const isNames: Shape = (value) =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const TYPE_NAMES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const isTypes: Shape = (value) =>
  TYPE_NAMES.includes(textOf(value)) ||
  (Array.isArray(value) &&
    value.length > 0 &&
    new Set(value).size === value.length &&
    value.every((name) => TYPE_NAMES.includes(textOf(name))));
const isMap =
  (shape: Shape): Shape =>
  (value) =>
    isRecord(value) && Object.values(value).every((item) => item !== undefined && shape(item));
const isList: Shape = (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema);

/** The 2020-12 meta-schema, as far as shapes go. */
const SHAPES: Record<string, Shape> = {
  $ref: isText,
  $id: isText,
  $anchor: isText,
  $comment: isText,
  $schema: isText,
  $defs: isMap(isSchema),
  definitions: isMap(isSchema),
  title: isText,
  description: isText,
  format: isText,
  type: isTypes,
  enum: Array.isArray,
  required: isNames,
  properties: isMap(isSchema),
  patternProperties: isMap(isSchema),
  dependentSchemas: isMap(isSchema),
  additionalProperties: isSchema,
  propertyNames: isSchema,
  unevaluatedProperties: isSchema,
  dependentRequired: isMap(isNames),
  dependencies: () => false,
  items: isSchema,
  additionalItems: () => false,
  contains: isSchema,
  unevaluatedItems: isSchema,
  prefixItems: isList,
  allOf: isList,
  anyOf: isList,
  oneOf: isList,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minProperties: isCount,
  maxProperties: isCount,
  minContains: isCount,
  maxContains: isCount,
  uniqueItems: isFlag,
  pattern: isText,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) => typeof value === 'number' && value > 0,
  ...Object.fromEntries(['not', 'if', 'then', 'else'].map((word) => [word, isSchema])),
};
const SINGLE = [
  'items',
  'additionalProperties',
  'propertyNames',
  'unevaluatedProperties',
  'contains',
  'unevaluatedItems',
  'not',
  'if',
  'then',
  'else',
];
const LISTS = ['prefixItems', 'allOf', 'anyOf', 'oneOf'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'];

const ANTHROPIC_STRICT = new Set(
  `$id $ref $defs definitions type enum const anyOf allOf default format minItems pattern title description properties required additionalProperties items`.split(
    ' ',
  ),
);
const OPENAI_STRICT = new Set(
  `$ref $defs type enum const anyOf pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems title description properties required additionalProperties items`.split(
    ' ',
  ),
);
const GEMINI_JSON = new Set(
  `$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering`.split(
    ' ',
  ),
);
const GEMINI_OPENAPI = new Set(
  `type format title description nullable enum items minItems maxItems minLength maxLength pattern properties minProperties maxProperties required propertyOrdering anyOf minimum maximum default example`.split(
    ' ',
  ),
);
const COMMON_FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];

/** The objections of a profile's API to a schema; empty when it is accepted. */
export function check(profile: Profile, schema: JsonObject): string[] {
  const found: string[] = [];
  const object = (at: string, text: string): void => void found.push(`${at === '' ? 'root' : at}: ${text}`);
  if (profile === 'gemini-openapi') {
    if (schema['type'] !== 'OBJECT') object('', `type is ${JSON.stringify(schema['type'])}, not OBJECT`);
    openapi(schema, '', object);
    return found;
  }
  if (schema['type'] !== 'object') object('', `got type ${JSON.stringify(schema['type'])}`);
  for (const word of ['anyOf', 'oneOf', 'allOf'])
    if (schema[word] !== undefined) object('', `${word} at the top level`);
  if (profile.startsWith('openai'))
    for (const word of ['enum', 'not'])
      if (schema[word] !== undefined) object('', `${word} at the top level`);
  if (profile.startsWith('anthropic') && isRecord(schema['properties'])) {
    for (const name of Object.keys(schema['properties'])) {
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
        object('', `property key ${JSON.stringify(name)} does not match the pattern`);
    }
  }
  walk(schema, '', (node, at) => {
    for (const [word, value] of Object.entries(node)) {
      const shape = Object.hasOwn(SHAPES, word) ? SHAPES[word] : undefined;
      if (shape !== undefined && !shape(value!)) object(at, `${word} is not valid in draft 2020-12`);
    }
    if (node['$schema'] !== undefined) object(at, '$schema');
    if (typeof node['$ref'] === 'string' && resolve(schema, node['$ref']) === undefined)
      object(at, `$ref ${node['$ref']} does not resolve`);
    NODE_RULES[profile](node, at, object, schema);
  });
  if (profile === 'openai-strict') openaiLimits(schema, object);
  if (profile === 'anthropic-strict') anthropicLimits(schema, object);
  if (profile === 'gemini-json-schema' && hasCycle(schema, (node, name) => required(node).includes(name)))
    object('', 'a cyclic $ref in a required property');
  return found;
}

type Objection = (at: string, text: string) => void;

const NODE_RULES: Record<
  Exclude<Profile, 'gemini-openapi'>,
  (node: JsonObject, at: string, object: Objection, root: JsonObject) => void
> = {
  anthropic: () => {},
  'anthropic-strict'(node, at, object) {
    strictNode(node, at, object, ANTHROPIC_STRICT, [...COMMON_FORMATS, 'uri']);
    if (node['minItems'] !== undefined && ![0, 1].includes(Number(node['minItems'])))
      object(at, 'minItems above 1');
    if (typeof node['pattern'] === 'string' && /\(\?[=!<]|\\[1-9bB]/.test(node['pattern']))
      object(at, 'pattern is not simple');
    if (Array.isArray(node['allOf']) && JSON.stringify(node['allOf']).includes('"$ref"'))
      object(at, 'allOf with $ref');
  },
  openai(node, at, object) {
    if (types(node).includes('object') && !isRecord(node['properties']))
      object(at, 'object schema missing properties');
    if (types(node).includes('array') && node['items'] === undefined)
      object(at, 'array schema missing items');
  },
  'openai-strict'(node, at, object) {
    strictNode(node, at, object, OPENAI_STRICT, COMMON_FORMATS);
    if (types(node).includes('array') && !isRecord(node['items'])) object(at, 'array schema missing items');
    if (node['$ref'] !== undefined && Object.keys(node).length > 1)
      object(at, '$ref cannot have keywords beside it');
    if (types(node).includes('object')) {
      const names = Object.keys(isRecord(node['properties']) ? node['properties'] : {});
      if (!isRecord(node['properties'])) object(at, 'object schema missing properties');
      if (names.some((name) => !required(node).includes(name)) || required(node).length !== names.length)
        object(at, 'required must list every property');
    }
  },
  'gemini-json-schema'(node, at, object) {
    for (const word of Object.keys(node)) if (!GEMINI_JSON.has(word)) object(at, `${word} is not supported`);
    if (node['$ref'] !== undefined && Object.keys(node).some((word) => !word.startsWith('$')))
      object(at, '$ref has keywords beside it');
    if (
      Array.isArray(node['enum']) &&
      node['enum'].some((value) => typeof value !== 'string' && typeof value !== 'number')
    )
      object(at, 'enum of other than strings and numbers');
    if (Array.isArray(node['enum']) && node['enum'].length === 0) object(at, 'empty enum');
    const known = isRecord(node['properties']) ? node['properties'] : {};
    for (const name of required(node))
      if (!Object.hasOwn(known, name)) object(at, `required ${name} is not defined`);
  },
};

function strictNode(
  node: JsonObject,
  at: string,
  object: Objection,
  allowed: Set<string>,
  formats: string[],
): void {
  for (const word of Object.keys(node)) if (!allowed.has(word)) object(at, `${word} is not permitted`);
  if (['type', 'enum', 'const', 'anyOf', 'allOf', '$ref'].every((word) => node[word] === undefined))
    object(at, 'schema must have a type');
  if (
    (types(node).includes('object') || node['properties'] !== undefined) &&
    node['additionalProperties'] !== false
  )
    object(at, 'additionalProperties must be false');
  if (node['format'] !== undefined && !formats.includes(textOf(node['format'])))
    object(at, `format ${textOf(node['format'])} is not supported`);
  const values = [
    ...(Array.isArray(node['enum']) ? node['enum'] : []),
    ...('const' in node ? [node['const']] : []),
  ];
  if (values.some((value) => typeof value === 'object' && value !== null))
    object(at, 'enum of complex values');
  if (Array.isArray(node['enum']) && node['enum'].length === 0) object(at, 'empty enum');
  for (const word of [...SINGLE, ...LISTS, ...MAPS]) {
    const inner = node[word];
    if (word === 'additionalProperties' || inner === undefined) continue;
    if (
      typeof inner === 'boolean' ||
      (isRecord(inner) && MAPS.includes(word) && Object.values(inner).some(isFlagOrNothing))
    )
      object(at, `${word} holds a boolean schema`);
  }
}

const isFlagOrNothing = (value: Json | undefined): boolean => typeof value === 'boolean';

function openaiLimits(root: JsonObject, object: Objection): void {
  let count = 0;
  let size = 0;
  let values = 0;
  walk(root, '', (node, at) => {
    const names = Object.keys(isRecord(node['properties']) ? node['properties'] : {});
    count += names.length;
    size += [...names, ...Object.keys(isRecord(node['$defs']) ? node['$defs'] : {})].join('').length;
    if (Array.isArray(node['enum'])) {
      values += node['enum'].length;
      const length = node['enum'].map(textOf).join('').length;
      size += length;
      if (node['enum'].length > 250 && length > 15_000) object(at, 'enum is too long');
    }
  });
  if (count > 5000) object('', 'too many properties');
  if (values > 1000) object('', 'too many enum values');
  if (size > 120_000) object('', 'names are too long together');
  if (depth(root) > 10) object('', 'nested deeper than 10 levels');
}

function depth(root: JsonObject): number {
  const known = new Map<Json, number>();
  const measure = (node: Json): number => {
    if (!isRecord(node)) return 0;
    if (known.has(node)) return known.get(node)!;
    known.set(node, 0);
    const inner = children(node)
      .filter(([path]) => !path.startsWith('$defs'))
      .map(([, child]) => child);
    if (typeof node['$ref'] === 'string') inner.push(resolve(root, node['$ref'])!);
    const own = types(node).some((name) => name === 'object' || name === 'array') ? 1 : 0;
    known.set(node, own + Math.max(0, ...inner.map(measure)));
    return known.get(node)!;
  };
  return measure(root);
}

function anthropicLimits(root: JsonObject, object: Objection): void {
  let optional = 0;
  let unions = 0;
  walk(root, '', (node) => {
    optional += Object.keys(isRecord(node['properties']) ? node['properties'] : {}).filter(
      (name) => !required(node).includes(name),
    ).length;
    if (node['anyOf'] !== undefined || Array.isArray(node['type'])) unions++;
  });
  if (optional > 24) object('', 'more than 24 optional parameters');
  if (unions > 16) object('', 'more than 16 union-typed parameters');
  if (hasCycle(root, () => true)) object('', 'recursive schema');
}

function openapi(node: Json, at: string, object: Objection): void {
  if (!isRecord(node)) return object(at, 'is not an object');
  for (const word of Object.keys(node))
    if (!GEMINI_OPENAPI.has(word)) object(at, `Unknown name ${JSON.stringify(word)}: Cannot find field`);
  if (node['anyOf'] !== undefined) {
    if (Object.keys(node).length > 1) object(at, 'when using any_of, it must be the only field set');
    if (!Array.isArray(node['anyOf']) || node['anyOf'].length === 0) return object(at, 'any_of is empty');
    for (const [index, branch] of node['anyOf'].entries()) openapi(branch, `${at}/anyOf/${index}`, object);
    return undefined;
  }
  const { type, format, properties, items } = node;
  if (!['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'].includes(textOf(type)))
    object(at, `type ${JSON.stringify(type)} is not in the enum`);
  if (node['nullable'] !== undefined && typeof node['nullable'] !== 'boolean')
    object(at, 'nullable is not a boolean');
  if (node['enum'] !== undefined) {
    if (type !== 'STRING') object(at, 'enum on other than STRING');
    if (!Array.isArray(node['enum']) || node['enum'].length === 0 || !node['enum'].every(isText))
      object(at, 'enum is not a list of strings');
  }
  if (type === 'STRING' && format !== undefined && !['enum', 'date-time'].includes(textOf(format)))
    object(at, `format ${textOf(format)} on STRING`);
  if (type === 'ARRAY' && items === undefined) object(at, 'missing field items');
  if (items !== undefined) openapi(items, `${at}/items`, object);
  for (const [name, property] of Object.entries(isRecord(properties) ? properties : {})) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/.test(name)) object(at, `parameter name ${JSON.stringify(name)}`);
    openapi(property!, `${at}/properties/${name}`, object);
  }
  for (const name of required(node))
    if (!isRecord(properties) || !Object.hasOwn(properties, name))
      object(at, `required ${name} is not defined`);
  return undefined;
}

function children(node: JsonObject): [string, Json][] {
  return [
    ...SINGLE.flatMap((word): [string, Json][] => (node[word] === undefined ? [] : [[word, node[word]]])),
    ...LISTS.flatMap((word) =>
      Array.isArray(node[word])
        ? node[word].map((one, index): [string, Json] => [`${word}/${index}`, one])
        : [],
    ),
    ...MAPS.flatMap((word) =>
      isRecord(node[word])
        ? Object.entries(node[word]).map(([name, one]): [string, Json] => [`${word}/${name}`, one!])
        : [],
    ),
  ];
}

function walk(node: Json, at: string, visit: (node: JsonObject, at: string) => void): void {
  if (!isRecord(node)) return;
  visit(node, at);
  for (const [path, child] of children(node)) walk(child, `${at}/${path}`, visit);
}

function types(node: JsonObject): string[] {
  return Array.isArray(node['type']) ? node['type'].map(textOf) : [textOf(node['type'])];
}

function required(node: JsonObject): string[] {
  return Array.isArray(node['required']) ? node['required'].map(textOf) : [];
}

function resolve(root: JsonObject, ref: string): Json | undefined {
  if (ref === '#') return root;
  if (!ref.startsWith('#')) return undefined;
  if (!ref.startsWith('#/')) {
    let anchored: Json | undefined;
    walk(root, '', (node) => {
      if (node['$anchor'] === ref.slice(1)) anchored = node;
    });
    return anchored;
  }
  let node: Json | undefined = root;
  for (const token of ref.slice(2).split('/')) {
    const name = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(node)) node = node[Number(name)];
    else node = isRecord(node) && Object.hasOwn(node, name) ? node[name] : undefined;
  }
  return node !== undefined && isSchema(node) ? node : undefined;
}

/** Whether a reference leads back to itself along properties that `counts`. */
function hasCycle(root: JsonObject, counts: (node: JsonObject, name: string) => boolean): boolean {
  const done = new Set<Json>();
  function visit(node: Json, way: Set<Json>): boolean {
    if (!isRecord(node) || done.has(node)) return false;
    if (way.has(node)) return true;
    way.add(node);
    const next = children(node)
      .filter(([path]) => !/^(\$defs|definitions)\//.test(path))
      .filter(([path]) => !path.startsWith('properties/') || counts(node, path.slice('properties/'.length)))
      .map(([, child]) => child);
    if (typeof node['$ref'] === 'string') next.push(resolve(root, node['$ref']) ?? true);
    const found = next.some((child) => visit(child, way));
    way.delete(node);
    done.add(node);
    return found;
  }
  return [root, ...Object.values(isRecord(root['$defs']) ? root['$defs'] : {})].some((start) =>
    visit(start!, new Set()),
  );
}
