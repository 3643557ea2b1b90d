/** What Anthropic Messages refuses of a request's own members and of its tools. */
import { isObject, Refusal, show } from './server.ts';
import type { Json, JsonObject } from '../../src/types.ts';
import { check } from '../schema/profiles.ts';

export function invalid(message: string): never {
  throw new Refusal(400, 'invalid_request_error', message);
}

/** Refuses members that are not in the list. */
export function only(value: JsonObject, path: string, members: readonly string[]): void {
  for (const name of Object.keys(value)) {
    if (!members.includes(name))
      invalid(`${path === '' ? '' : `${path}.`}${name}: Extra inputs are not permitted`);
  }
}

const MEMBERS = [
  'model',
  'max_tokens',
  'messages',
  'mcp_servers', // with a beta header, which is looked at beside its content
  'system',
  'tools',
  'tool_choice',
  'stream',
  'stop_sequences',
  'metadata',
  'thinking',
  'cache_control',
  'container',
  'diagnostics',
  'inference_geo',
  'output_config',
  'service_tier',
  'speed',
  'user_profile_id',
  'workspace_id',
  'temperature',
  'top_p',
  'top_k',
];

/** These models take no forced calls. */
const NEWEST = /(?:opus|sonnet)-5-5|fable-5-[12]|mythos-(?:5-[12]|preview)/;

export function checkRequest(body: JsonObject, version: string): void {
  only(body, '', MEMBERS);
  for (const name of ['model', 'max_tokens', 'messages'])
    if (body[name] === undefined) invalid(`${name}: Field required`);
  const { model, max_tokens: maxTokens } = body;
  if (typeof model !== 'string') return invalid('model: Input should be a valid string');
  if (!model.startsWith('claude-')) throw new Refusal(404, 'not_found_error', `model: ${model}`);
  if (!Number.isInteger(maxTokens)) invalid('max_tokens: Input should be a valid integer');
  if (Number(maxTokens) < 1) invalid('max_tokens: Input should be greater than or equal to 1');
  if (Number(maxTokens) > 128_000) {
    invalid(
      `max_tokens: ${Number(maxTokens)} > 128000, which is the maximum allowed number of output tokens for ${model}`,
    );
  }
  if (version === '2026-10-21') {
    for (const name of ['temperature', 'top_p', 'top_k']) {
      if (body[name] !== undefined)
        invalid(`${name}: sampling parameters are not supported in API version 2026-10-21`);
    }
  }
  if (body.stream !== undefined && typeof body.stream !== 'boolean')
    invalid('stream: Input should be a valid boolean');
  checkSystem(body.system);
  checkTools(body.tools);
  checkThinking(body);
  checkChoice(body, model);
}

function checkSystem(system: Json | undefined): void {
  if (system === undefined || typeof system === 'string') return;
  if (!Array.isArray(system)) return invalid('system: Input should be a valid string or list');
  for (const [index, block] of system.entries()) {
    if (!isObject(block) || block.type !== 'text' || typeof block.text !== 'string') {
      return invalid(`system.${index}: Input should be a text block`);
    }
    if (block.text === '') invalid('system: text content blocks must be non-empty');
  }
}

const TOOL_MEMBERS = [
  'name',
  'description',
  'input_schema',
  'type',
  'cache_control',
  'strict',
  'defer_loading',
  'allowed_callers',
  'input_examples',
  'eager_input_streaming',
];

function checkTools(tools: Json | undefined): void {
  if (tools === undefined) return;
  if (!Array.isArray(tools)) return invalid('tools: Input should be a valid list');
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const path = `tools.${index}.custom`;
    if (!isObject(tool)) return invalid(`tools.${index}: Input should be a valid dictionary`);
    if (tool.type === 'mcp_toolset') continue;
    only(tool, path, TOOL_MEMBERS);
    const { name } = tool;
    if (name === undefined) return invalid(`${path}.name: Field required`);
    if (typeof name !== 'string' || name.length < 1)
      return invalid(`${path}.name: String should have at least 1 character`);
    if (name.length > 128) invalid(`${path}.name: String should have at most 128 characters`);
    if (!/^[a-zA-Z0-9_-]+$/.test(name))
      invalid(`${path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (names.has(name)) invalid('tools: Tool names must be unique.');
    names.add(name);
    if (tool.description !== undefined && typeof tool.description !== 'string') {
      invalid(`${path}.description: Input should be a valid string`);
    }
    checkSchema(tool.input_schema, `${path}.input_schema`, tool.strict === true);
  }
}

function checkSchema(schema: Json | undefined, path: string, strict: boolean): void {
  if (schema === undefined) return invalid(`${path}: Field required`);
  if (!isObject(schema)) return invalid(`${path}: Input should be a valid dictionary`);
  if (schema.type === undefined) invalid(`${path}.type: Field required`);
  if (schema.type !== 'object') invalid(`${path}.type: Input should be 'object'`);
  for (const combinator of ['oneOf', 'allOf', 'anyOf']) {
    if (schema[combinator] !== undefined) {
      invalid(
        `${path.replace('.input_schema', '')}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
      );
    }
  }
  const properties = schema.properties ?? {};
  if (!isObject(properties))
    return invalid(`${path}: JSON schema is invalid. It must match JSON Schema draft 2020-12`);
  for (const key of Object.keys(properties)) {
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) {
      invalid(`${path}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`);
    }
  }
  const problems = check(strict ? 'anthropic-strict' : 'anthropic', schema);
  if (problems.length > 0) {
    invalid(
      `${path}: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). [${problems.join('; ')}]`,
    );
  }
}

function checkThinking({ thinking, max_tokens: maxTokens }: JsonObject): void {
  if (thinking === undefined) return;
  if (!isObject(thinking)) return invalid('thinking: Input should be a valid dictionary');
  if (!['enabled', 'disabled', 'adaptive'].includes(show(thinking.type))) {
    invalid(
      `thinking: Input tag '${show(thinking.type)}' found using 'type' does not match any of the expected tags`,
    );
  }
  if (thinking.type !== 'enabled') return;
  const budget = Number(thinking.budget_tokens);
  if (!(budget >= 1024))
    invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  if (budget >= Number(maxTokens)) invalid('`max_tokens` must be greater than `thinking.budget_tokens`.');
}

function checkChoice({ tool_choice: choice, tools, thinking }: JsonObject, model: string): void {
  if (choice === undefined) return;
  if (!isObject(choice)) return invalid('tool_choice: Input should be a valid dictionary');
  const type = show(choice.type);
  if (!['auto', 'any', 'tool', 'none'].includes(type)) {
    invalid(
      `tool_choice: Input tag '${type}' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'`,
    );
  }
  only(choice, `tool_choice.${type}`, [
    'type',
    ...(type === 'none' ? [] : ['disable_parallel_tool_use']),
    ...(type === 'tool' ? ['name'] : []),
  ]);
  const names = Array.isArray(tools) ? tools.map((tool) => (isObject(tool) ? tool.name : undefined)) : [];
  if (names.length === 0) invalid('tool_choice: tool_choice may only be specified while providing tools.');
  if (type !== 'any' && type !== 'tool') return;
  if (NEWEST.test(model)) invalid('tool_choice: type "tool" and "any" are not supported for this model.');
  if (isObject(thinking) && thinking.type === 'enabled')
    invalid('Thinking may not be enabled when tool_choice forces tool use.');
  if (type === 'tool' && !names.includes(choice.name)) {
    invalid(`tool_choice.tool.name: Tool '${show(choice.name)}' not found in provided tools`);
  }
}
