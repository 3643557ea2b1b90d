/** What OpenAI Responses refuses of a request's own members and of its tools. */
import type { Json, JsonObject } from '../../src/types.ts';
import { checkMcpTool } from './openai-responses-mcp.ts';
import { checkCount, checkName, checkParameters, onlyKnown, refuse } from './openai.ts';
import { isObject, Refusal, show } from './server.ts';

const MEMBERS = [
  'background',
  'context_management',
  'conversation',
  'include',
  'input',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'model',
  'moderation',
  'parallel_tool_calls',
  'previous_response_id',
  'prompt',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'safety_identifier',
  'service_tier',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
];
const INCLUDABLE = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
];
const REASONING = /^(?:gpt-[5-9]|o\d)/;

export function checkRequest(body: JsonObject): void {
  onlyKnown(body, '', MEMBERS);
  const { model } = body;
  if (model === undefined)
    return refuse("Missing required parameter: 'model'.", 'missing_required_parameter', 'model');
  if (typeof model !== 'string' || !/^(?:gpt|o\d|chatgpt)/.test(model)) {
    throw new Refusal(
      404,
      'invalid_request_error',
      `The model \`${show(model)}\` does not exist or you do not have access to it.`,
      {
        code: 'model_not_found',
      },
    );
  }
  for (const name of ['stream', 'store', 'parallel_tool_calls', 'background']) {
    const value = body[name];
    if (value !== undefined && value !== null && typeof value !== 'boolean') {
      refuse(
        `Invalid type for '${name}': expected a boolean, but got ${kindOf(value)} instead.`,
        'invalid_type',
        name,
      );
    }
  }
  if (
    body.instructions !== undefined &&
    body.instructions !== null &&
    typeof body.instructions !== 'string'
  ) {
    refuse("Invalid type for 'instructions': expected a string.", 'invalid_type', 'instructions');
  }
  const limit = body.max_output_tokens;
  if (typeof limit === 'number' && limit < 16) {
    refuse(
      `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${limit} instead.`,
      'integer_below_min_value',
      'max_output_tokens',
    );
  }
  for (const [index, include] of (Array.isArray(body.include) ? body.include : []).entries()) {
    if (!INCLUDABLE.includes(show(include)))
      refuse(`Invalid value: '${show(include)}'.`, 'invalid_value', `include[${index}]`);
    if (include === 'reasoning.encrypted_content' && !REASONING.test(model)) {
      refuse('Encrypted content is not supported with this model.', null, 'include');
    }
  }
  for (const name of ['temperature', 'top_p']) {
    if (REASONING.test(model) && body[name] !== undefined && body[name] !== null) {
      refuse(
        `Unsupported parameter: '${name}' is not supported with this model.`,
        'unsupported_parameter',
        name,
      );
    }
  }
  if (body.previous_response_id !== undefined && body.previous_response_id !== null) {
    refuse(
      `Previous response with id '${show(body.previous_response_id)}' not found.`,
      'previous_response_not_found',
      'previous_response_id',
    );
  }
  const { names, labels } = checkTools(body.tools);
  checkChoice(body.tool_choice, names, labels);
}

const kindOf = (value: Json): string => (Array.isArray(value) ? 'an array' : `a ${typeof value}`);

const TOOL_MEMBERS = [
  'type',
  'name',
  'description',
  'parameters',
  'strict',
  'defer_loading',
  'async',
  'allowed_callers',
  'output_schema',
];

function checkTools(tools: Json | undefined): { names: string[]; labels: string[] } {
  if (tools === undefined || tools === null) return { names: [], labels: [] };
  if (!Array.isArray(tools))
    return refuse("Invalid type for 'tools': expected an array of objects.", 'invalid_type', 'tools');
  checkCount(tools, 128);
  const names: string[] = [];
  const labels: string[] = [];
  const namespaces: string[] = [];
  for (const [index, tool] of tools.entries()) {
    const path = `tools[${index}]`;
    if (!isObject(tool))
      return refuse(`Invalid type for '${path}': expected an object.`, 'invalid_type', path);
    if (tool.type === undefined)
      refuse(`Missing required parameter: '${path}.type'.`, 'missing_required_parameter', `${path}.type`);
    if (tool.type === 'mcp') labels.push(checkMcpTool(tool, path, labels));
    else if (tool.type === 'namespace') checkNamespace(tool, path, namespaces, names);
    else checkFunction(tool, path, names);
  }
  return { names, labels };
}

function checkNamespace(tool: JsonObject, path: string, namespaces: string[], names: string[]): void {
  onlyKnown(tool, path, ['type', 'name', 'description', 'tools']);
  const name = checkName(tool.name, `${path}.name`);
  if (namespaces.includes(name))
    refuse(`Duplicate namespace '${name}' in 'tools'.`, 'invalid_value', `${path}.name`);
  namespaces.push(name);
  if (typeof tool.description !== 'string')
    refuse(
      `Missing required parameter: '${path}.description'.`,
      'missing_required_parameter',
      `${path}.description`,
    );
  if (!Array.isArray(tool.tools) || tool.tools.length === 0)
    return refuse(`Invalid '${path}.tools': empty array.`, 'empty_array', `${path}.tools`);
  for (const [index, inner] of tool.tools.entries()) {
    const innerPath = `${path}.tools[${index}]`;
    if (!isObject(inner))
      return refuse(`Invalid type for '${innerPath}': expected an object.`, 'invalid_type', innerPath);
    checkFunction(inner, innerPath, names);
  }
}

function checkFunction(tool: JsonObject, path: string, names: string[]): void {
  if (tool.type !== 'function')
    refuse(`Invalid value: '${show(tool.type)}'.`, 'invalid_value', `${path}.type`);
  onlyKnown(tool, path, TOOL_MEMBERS);
  const name = checkName(tool.name, `${path}.name`);
  if (names.includes(name))
    refuse(`Duplicate function name '${name}' in 'tools'.`, 'invalid_value', `${path}.name`);
  names.push(name);
  if (tool.description !== undefined && tool.description !== null && typeof tool.description !== 'string') {
    refuse(
      `Invalid type for '${path}.description': expected a string.`,
      'invalid_type',
      `${path}.description`,
    );
  }
  if (tool.strict !== undefined && tool.strict !== null && typeof tool.strict !== 'boolean') {
    refuse(`Invalid type for '${path}.strict': expected a boolean.`, 'invalid_type', `${path}.strict`);
  }
  checkParameters(name, tool.parameters, tool.strict === true, `${path}.parameters`);
}

function checkChoice(choice: Json | undefined, names: readonly string[], labels: readonly string[]): void {
  if (choice === undefined || choice === null) return;
  const unknown = (name: Json | undefined): never =>
    refuse(`Tool choice 'function' not found in 'tools' parameter: '${show(name)}'.`, null, 'tool_choice');
  if (typeof choice === 'string') {
    if (!['auto', 'none', 'required'].includes(choice))
      refuse(`Invalid value: '${choice}'.`, 'invalid_value', 'tool_choice');
    if (choice === 'required' && names.length + labels.length === 0) {
      refuse("Tool choice 'required' must be specified with 'tools' parameter.", null, 'tool_choice');
    }
    return;
  }
  if (!isObject(choice)) return refuse("Invalid type for 'tool_choice'.", 'invalid_type', 'tool_choice');
  if (choice.type === 'function') {
    onlyKnown(choice, 'tool_choice', ['type', 'name']);
    if (!names.includes(show(choice.name))) unknown(choice.name);
  } else if (choice.type === 'allowed_tools') {
    onlyKnown(choice, 'tool_choice', ['type', 'mode', 'tools']);
    if (choice.mode !== 'auto' && choice.mode !== 'required')
      refuse(`Invalid value: '${show(choice.mode)}'.`, 'invalid_value', 'tool_choice.mode');
    const allowed = Array.isArray(choice.tools) ? choice.tools : [];
    if (allowed.length === 0)
      refuse("Invalid 'tool_choice.tools': empty array.", 'empty_array', 'tool_choice.tools');
    for (const tool of allowed)
      if (!isObject(tool) || !names.includes(show(tool.name))) unknown(isObject(tool) ? tool.name : tool);
  } else refuse(`Invalid value: '${show(choice.type)}'.`, 'invalid_value', 'tool_choice.type');
}
