/** What Chat Completions refuses of a request's own members and of its tools. */
import type { Json, JsonObject } from '../../src/types.ts';
import { checkCount, checkName, checkParameters, onlyKnown, refuse } from './openai.ts';
import { isObject, Refusal, show } from './server.ts';

const MEMBERS = [
  'messages',
  'model',
  'audio',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'metadata',
  'modalities',
  'n',
  'parallel_tool_calls',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_retention',
  'reasoning_effort',
  'response_format',
  'safety_identifier',
  'seed',
  'service_tier',
  'stop',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'user',
  'verbosity',
];

export function checkChatRequest(body: JsonObject): void {
  onlyKnown(body, '', MEMBERS);
  const { model, tools } = body;
  if (typeof model !== 'string') refuse('you must provide a model parameter', null);
  if (model.startsWith('claude')) {
    throw new Refusal(
      404,
      'invalid_request_error',
      `The model \`${model}\` does not exist or you do not have access to it.`,
      {
        code: 'model_not_found',
      },
    );
  }
  if (body.max_tokens !== undefined && /^(?:o\d|gpt-[5-9])/.test(model)) {
    refuse(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'unsupported_parameter',
      'max_tokens',
    );
  }
  if (body.stream_options !== undefined && body.stream !== true) {
    refuse(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      null,
      'stream_options',
    );
  }
  const names = checkTools(tools);
  if (names.length === 0) {
    for (const name of ['tool_choice', 'parallel_tool_calls']) {
      if (body[name] !== undefined)
        refuse(`'${name}' is only allowed when 'tools' are specified.`, null, name);
    }
  }
  checkChoice(body.tool_choice, names);
}

function checkTools(tools: Json | undefined): string[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools))
    return refuse("Invalid type for 'tools': expected an array of objects.", 'invalid_type', 'tools');
  if (tools.length === 0)
    refuse(
      "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      'empty_array',
      'tools',
    );
  checkCount(tools, 128);
  return tools.map((tool, index) => {
    const path = `tools[${index}]`;
    if (!isObject(tool) || tool.type !== 'function')
      return refuse(
        `Invalid value for '${path}.type'. Supported values are: 'function' and 'custom'.`,
        'invalid_value',
        `${path}.type`,
      );
    onlyKnown(tool, path, ['type', 'function']);
    const made = tool.function;
    if (!isObject(made))
      return refuse(
        `Missing required parameter: '${path}.function'.`,
        'missing_required_parameter',
        `${path}.function`,
      );
    onlyKnown(made, `${path}.function`, ['name', 'description', 'parameters', 'strict']);
    const name = checkName(made.name, `${path}.function.name`);
    if (typeof made.description === 'string' && made.description.length > 1024) {
      refuse(
        `Invalid '${path}.function.description': string too long. Expected a string with maximum length 1024.`,
        'string_above_max_length',
        `${path}.function.description`,
      );
    }
    checkParameters(name, made.parameters, made.strict === true, `${path}.function.parameters`);
    return name;
  });
}

function checkChoice(choice: Json | undefined, names: readonly string[]): void {
  if (choice === undefined) return;
  if (typeof choice === 'string') {
    if (!['auto', 'none', 'required'].includes(choice))
      refuse(`Invalid value: '${choice}'.`, 'invalid_value', 'tool_choice');
    return;
  }
  const named = (one: Json | undefined): void => {
    const made = isObject(one) ? one.function : undefined;
    const name = isObject(made) ? show(made.name) : '';
    if (!names.includes(name))
      refuse(
        `Invalid value: 'tool_choice' names a function that is not in 'tools': '${name}'.`,
        'invalid_value',
        'tool_choice',
      );
  };
  if (!isObject(choice)) refuse("Invalid type for 'tool_choice'.", 'invalid_type', 'tool_choice');
  if (choice.type === 'function') named(choice);
  else if (
    choice.type === 'allowed_tools' &&
    isObject(choice.allowed_tools) &&
    Array.isArray(choice.allowed_tools.tools)
  ) {
    for (const tool of choice.allowed_tools.tools) named(tool);
  } else refuse(`Invalid value: '${show(choice.type)}'.`, 'invalid_value', 'tool_choice.type');
}
