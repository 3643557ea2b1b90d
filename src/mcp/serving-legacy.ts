/**
 * Clients of 2025-11-25 and older: what a revision does not know is left out of what it is told, or told as text; nothing is
 * renamed.
 */
import {
  HEADER_MISMATCH,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  MISSING_CAPABILITY,
  UNSUPPORTED_VERSION,
  URL_ELICITATION_REQUIRED,
  isObject,
} from './message.ts';
import { randomUUID } from 'node:crypto';
import type { Message, RpcErrorObject } from './message.ts';
import { LEGACY_REQUESTS } from './legacy.ts';
import { unreserved } from './meta.ts';
import { toLegacyTask } from './tasks.ts';
import type { ClientRequest, ListKind, Served, Serving } from './serving.ts';
import type { InputRequest } from './input.ts';
import type { Json, JsonObject } from '../types.ts';

/** What each revision brought. */
const SINCE = {
  annotations: '2025-03-26',
  audio: '2025-03-26',
  structured: '2025-06-18',
  icons: '2025-11-25',
  titledEnums: '2025-11-25',
  tasks: '2025-11-25',
} as const;

/** Members of definitions, and the revision that has them first. */
const MEMBERS: readonly (readonly [member: string, since: string])[] = [
  ['annotations', SINCE.annotations],
  ['title', SINCE.structured],
  ['outputSchema', SINCE.structured],
  ['_meta', SINCE.structured],
  ['icons', SINCE.icons],
  ['execution', SINCE.tasks],
];
/** Resources had annotations from the beginning. */
const TOOLS_ONLY: ReadonlySet<string> = new Set(['annotations', 'outputSchema', 'execution']);

/** A resource that is not there; the neutral form is INVALID_PARAMS with `data.uri` alone. */
const RESOURCE_NOT_FOUND = -32_002;

export function servingLegacy(version: string): Serving {
  const has = (since: string): boolean => version >= since;
  return {
    era: 'legacy',
    version,
    requests: LEGACY_REQUESTS,
    read,
    result: (method, served) => resultOf(method, served, has),
    items: (kind, definitions) => definitions.map((definition) => itemOf(kind, definition, has)),
    question: (request) => questionOf(request, has),
    error: (error) => errorOf(error, has),
    status: () => 200,
  };
}

type Has = (since: string) => boolean;

function read({ id, method, params }: Message & { kind: 'request' }): ClientRequest {
  const { _meta: meta, ...rest } = params;
  const { progressToken } = isObject(meta) ? meta : {};
  const others = isObject(meta) ? unreserved(meta) : {};
  return {
    id,
    method,
    params: rest,
    capabilities: {},
    clientInfo: undefined,
    progressToken:
      typeof progressToken === 'string' || typeof progressToken === 'number' ? progressToken : undefined,
    logLevel: undefined,
    round: undefined,
    meta: Object.keys(others).length === 0 ? undefined : others,
  };
}

function resultOf(
  method: string,
  served: Served & { kind: 'complete' | 'input' | 'task' },
  has: Has,
): JsonObject {
  if (served.kind === 'task') return { task: toLegacyTask(served.task) };
  // Never: whoever serves this era asks the client itself.
  if (served.kind === 'input') return {};
  const { result } = served;
  if (method === 'tools/call' || method === 'tasks/result') return callResult(result, has);
  if (method === 'prompts/get') return promptResult(result, has);
  if (method === 'tasks/get' || method === 'tasks/cancel') return toLegacyTask(result);
  if (method === 'tasks/list' && Array.isArray(result.tasks))
    return { ...result, tasks: result.tasks.filter(isObject).map(toLegacyTask) };
  return result;
}

/** Structured content that is no object is for later revisions; it is told as text, where no text is. */
function callResult(result: JsonObject, has: Has): JsonObject {
  const { content, structuredContent } = result;
  const blocks = Array.isArray(content) ? blocksOf(content, has) : content;
  const isKept = structuredContent === undefined || (has(SINCE.structured) && isObject(structuredContent));
  if (isKept && blocks === content) return result;
  const written: JsonObject = { ...result, content: blocks };
  if (isKept) return written;
  delete written.structuredContent;
  if (Array.isArray(blocks) && !blocks.some((block) => isObject(block) && block.type === 'text'))
    written.content = [...blocks, text(JSON.stringify(structuredContent))];
  return written;
}

function promptResult(result: JsonObject, has: Has): JsonObject {
  const { messages } = result;
  if (!Array.isArray(messages)) return result;
  const written = messages.map((message) => {
    if (!isObject(message)) return message;
    const content = blockOf(message.content, has);
    return content === message.content ? message : { ...message, content };
  });
  return written.every((message, index) => message === messages[index])
    ? result
    : { ...result, messages: written };
}

function blocksOf(blocks: Json[], has: Has): Json[] {
  const written = blocks.map((block) => blockOf(block, has) ?? null);
  return written.every((block, index) => block === blocks[index]) ? blocks : written;
}

function blockOf(block: Json | undefined, has: Has): Json | undefined {
  if (!isObject(block)) return block;
  if (block.type === 'audio' && !has(SINCE.audio))
    return text('[a sound, which this revision of MCP cannot carry]');
  if (block.type === 'resource_link' && !has(SINCE.structured))
    return text(
      [block.name, block.description, block.uri].filter((each) => typeof each === 'string').join('\n'),
    );
  return block;
}

const text = (words: string): JsonObject => ({ type: 'text', text: words });

function itemOf(kind: ListKind, definition: JsonObject, has: Has): JsonObject {
  const unknown = MEMBERS.filter(
    ([member, since]) =>
      definition[member] !== undefined && !has(since) && (kind === 'tools' || !TOOLS_ONLY.has(member)),
  ).map(([member]) => member);
  const { outputSchema } = definition;
  // Any schema may describe the output from 2026-07-28 on; before, it is one of an object.
  if (outputSchema !== undefined && !(isObject(outputSchema) && outputSchema.type === 'object'))
    unknown.push('outputSchema');
  if (unknown.length === 0) return definition;
  return Object.fromEntries(Object.entries(definition).filter(([member]) => !unknown.includes(member)));
}

function questionOf({ method, params }: InputRequest, has: Has): InputRequest {
  if (method !== 'elicitation/create') return { method, params };
  if (params.mode === 'url')
    return { method, params: { ...params, elicitationId: params.elicitationId ?? randomUUID() } };
  if (has(SINCE.titledEnums)) return { method, params };
  const { mode: _mode, requestedSchema: schema, ...rest } = params;
  return { method, params: schema === undefined ? rest : { ...rest, requestedSchema: formOf(schema) } };
}

/** Choices with titles were written otherwise before. */
function formOf(schema: Json): Json {
  if (!isObject(schema) || !isObject(schema.properties)) return schema;
  const fields = Object.entries(schema.properties).map(([name, field]) => [name, choicesOf(field)] as const);
  return { ...schema, properties: Object.fromEntries(fields) };
}

function choicesOf(field: Json | undefined): Json | undefined {
  if (!isObject(field) || !Array.isArray(field.oneOf)) return field;
  const { oneOf, ...rest } = field;
  const choices = oneOf.filter(isObject);
  if (choices.length < oneOf.length || choices.some(({ const: value }) => typeof value !== 'string'))
    return field;
  const values = choices.map(({ const: value }) => value as string);
  const titles = choices.map(({ title }, index) =>
    typeof title === 'string' ? title : (values[index] as string),
  );
  return { ...rest, enum: values, enumNames: titles };
}

function errorOf({ code, message, data }: RpcErrorObject, has: Has): RpcErrorObject {
  const more = data === undefined ? {} : { data };
  if (code === INVALID_PARAMS && isObject(data) && Object.keys(data).join() === 'uri')
    return { code: RESOURCE_NOT_FOUND, message, ...more };
  const isUnknown =
    code === HEADER_MISMATCH ||
    code === MISSING_CAPABILITY ||
    code === UNSUPPORTED_VERSION ||
    (code === URL_ELICITATION_REQUIRED && !has(SINCE.icons));
  return { code: isUnknown ? INTERNAL_ERROR : code, message, ...more };
}
