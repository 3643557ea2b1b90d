/** What Gemini generateContent refuses. */
import type { Json, JsonObject } from '../../src/types.ts';
import { check } from '../schema/profiles.ts';
import { isObject, Refusal, show } from './server.ts';

function refuse(message: string): never {
  throw new Refusal(400, 'INVALID_ARGUMENT', message);
}

function onlyFields(value: JsonObject, path: string, fields: readonly string[]): void {
  for (const name of Object.keys(value)) {
    if (!fields.includes(name)) {
      refuse(
        `Invalid JSON payload received. Unknown name "${name}"${path === '' ? '' : ` at '${path}'`}: Cannot find field.`,
      );
    }
  }
}

/** Stands for a signature on calls that another model made. */
const SENTINEL = 'skip_thought_signature_validator';

export function checkGemini(body: JsonObject, model: string, signatures: ReadonlySet<string>): void {
  if (!model.startsWith('gemini-')) {
    throw new Refusal(
      404,
      'NOT_FOUND',
      `models/${model} is not found for API version v1beta, or is not supported for generateContent.`,
    );
  }
  onlyFields(body, '', [
    'contents',
    'tools',
    'toolConfig',
    'systemInstruction',
    'generationConfig',
    'safetySettings',
    'cachedContent',
    'labels',
  ]);
  const three = !/gemini-[12]/.test(model);
  checkContents(body.contents, three, signatures);
  const names = checkTools(body.tools);
  checkConfig(body.toolConfig, names);
}

const PART_FIELDS = [
  'text',
  'thought',
  'thoughtSignature',
  'functionCall',
  'functionResponse',
  'inlineData',
  'fileData',
];
const DATA_FIELDS = ['text', 'functionCall', 'functionResponse', 'inlineData', 'fileData'];

function checkContents(contents: Json | undefined, three: boolean, signatures: ReadonlySet<string>): void {
  if (!Array.isArray(contents) || contents.length === 0)
    refuse('* GenerateContentRequest.contents: contents is not specified');
  const steps = contents.map((content, index) => {
    const path = `contents[${index}]`;
    if (!isObject(content)) refuse(`Invalid value at '${path}'`);
    onlyFields(content, path, ['role', 'parts']);
    if (content.role !== 'user' && content.role !== 'model') refuse('Please use a valid role: user, model.');
    const { parts } = content;
    if (!Array.isArray(parts) || parts.length === 0)
      refuse(`* GenerateContentRequest.${path}.parts: contents.parts must not be empty.`);
    return {
      role: content.role,
      parts: parts.map((part, at) => checkPart(part, `${path}.parts[${at}]`, three)),
    };
  });
  for (const [index, { role, parts }] of steps.entries()) {
    const calls = parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [functionCall] : []));
    const responses = parts.flatMap(({ functionResponse }) =>
      isObject(functionResponse) ? [functionResponse] : [],
    );
    if (role === 'user' && calls.length > 0)
      refuse('Please ensure that function call turns have the model role.');
    if (calls.length > 0) {
      if (steps[index - 1]?.role !== 'user') {
        refuse(
          'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
        );
      }
      const next =
        steps[index + 1]?.parts.flatMap(({ functionResponse }) =>
          isObject(functionResponse) ? [functionResponse] : [],
        ) ?? [];
      if (next.length !== calls.length) {
        refuse(
          'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
        );
      }
      checkMatch(calls, next);
    }
    if (
      responses.length > 0 &&
      steps[index - 1]?.parts.some(({ functionCall }) => functionCall !== undefined) !== true
    ) {
      refuse('Please ensure that function response turn comes immediately after a function call turn.');
    }
    checkSignatures(parts, three && isCurrent(steps, index), signatures);
  }
  if (steps.at(-1)?.role !== 'user')
    refuse('Please ensure that multiturn requests end with a user role or a function response.');
}

/** Signatures are asked for since the last thing that the user said. */
function isCurrent(steps: readonly { role: string; parts: JsonObject[] }[], index: number): boolean {
  const asked = steps.findLastIndex(
    ({ role, parts }) =>
      role === 'user' && parts.every(({ functionResponse }) => functionResponse === undefined),
  );
  return index > asked;
}

function checkSignatures(
  parts: readonly JsonObject[],
  required: boolean,
  signatures: ReadonlySet<string>,
): void {
  const first = parts.find(({ functionCall }) => functionCall !== undefined);
  if (required && first !== undefined && first.thoughtSignature === undefined) {
    refuse(
      'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.',
    );
  }
  for (const { thoughtSignature: signature } of parts) {
    if (signature !== undefined && signature !== SENTINEL && !signatures.has(show(signature)))
      refuse('Corrupted thought signature.');
  }
}

function checkMatch(calls: readonly JsonObject[], responses: readonly JsonObject[]): void {
  const names = (list: readonly JsonObject[]): string =>
    JSON.stringify(list.map(({ name }) => show(name)).toSorted());
  if (names(calls) !== names(responses))
    refuse('Please ensure that function responses have the names of their function calls.');
  for (const { id } of responses) {
    if (id !== undefined && !calls.some((call) => call.id === id))
      refuse(`Function response id '${show(id)}' matches no function call.`);
  }
}

function checkPart(part: Json, path: string, three: boolean): JsonObject {
  if (!isObject(part)) refuse(`Invalid value at '${path}'`);
  onlyFields(part, path, PART_FIELDS);
  if (DATA_FIELDS.filter((field) => part[field] !== undefined).length !== 1) {
    refuse(
      `* GenerateContentRequest.${path}.data: required oneof field 'data' must have one initialized field`,
    );
  }
  const { text, functionCall, functionResponse, inlineData } = part;
  if (text !== undefined && typeof text !== 'string') refuse(`Invalid value at '${path}.text' (TYPE_STRING)`);
  if (functionCall !== undefined) {
    if (!isObject(functionCall)) refuse(`Invalid value at '${path}.function_call'`);
    onlyFields(functionCall, `${path}.function_call`, ['id', 'name', 'args']);
    if (typeof functionCall.name !== 'string' || functionCall.name === '')
      refuse(`* GenerateContentRequest.${path}.function_call.name: Name cannot be empty.`);
    if (functionCall.args !== undefined && !isObject(functionCall.args))
      refuse(`Invalid value at '${path}.function_call.args' (type.googleapis.com/google.protobuf.Struct)`);
  }
  if (functionResponse !== undefined) checkResponse(functionResponse, `${path}.function_response`, three);
  if (inlineData !== undefined) checkData(inlineData, `${path}.inline_data`);
  return part;
}

function checkResponse(response: Json, path: string, three: boolean): void {
  if (!isObject(response)) refuse(`Invalid value at '${path}'`);
  onlyFields(response, path, ['id', 'name', 'response', 'parts', 'willContinue', 'scheduling']);
  if (typeof response.name !== 'string' || response.name === '')
    refuse(`* GenerateContentRequest.${path}.name: Name cannot be empty.`);
  if (!isObject(response.response))
    refuse(`Invalid value at '${path}.response' (type.googleapis.com/google.protobuf.Struct)`);
  if (response.parts === undefined) return;
  if (!three) refuse('Multimodal function responses are not supported for this model.');
  if (!Array.isArray(response.parts)) return refuse(`Invalid value at '${path}.parts'`);
  for (const [index, part] of response.parts.entries()) {
    if (!isObject(part) || part.inlineData === undefined)
      return refuse(`Invalid value at '${path}.parts[${index}]'`);
    checkData(part.inlineData, `${path}.parts[${index}].inline_data`);
  }
}

function checkData(data: Json, path: string): void {
  if (!isObject(data)) refuse(`Invalid value at '${path}'`);
  onlyFields(data, path, ['mimeType', 'data', 'displayName']);
  if (typeof data.data !== 'string' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(data.data))
    refuse(`Invalid value at '${path}.data' (TYPE_BYTES), Base64 decoding failed`);
  if (
    !/^(?:image\/(?:png|jpeg|webp|heic|heif)|audio\/|video\/|application\/pdf|text\/)/.test(
      show(data.mimeType),
    )
  ) {
    refuse(`Unsupported MIME type: ${show(data.mimeType)}`);
  }
}

function checkTools(tools: Json | undefined): string[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) refuse("Invalid value at 'tools'");
  const names: string[] = [];
  for (const [index, tool] of tools.entries()) {
    if (!isObject(tool)) return refuse(`Invalid value at 'tools[${index}]'`);
    onlyFields(tool, `tools[${index}]`, [
      'functionDeclarations',
      'googleSearch',
      'codeExecution',
      'urlContext',
    ]);
    for (const [at, declaration] of (Array.isArray(tool.functionDeclarations)
      ? tool.functionDeclarations
      : []
    ).entries()) {
      const path = `tools[${index}].function_declarations[${at}]`;
      if (!isObject(declaration)) return refuse(`Invalid value at '${path}'`);
      onlyFields(declaration, path, [
        'name',
        'description',
        'parameters',
        'parametersJsonSchema',
        'response',
        'responseJsonSchema',
        'behavior',
      ]);
      const { name, parameters, parametersJsonSchema } = declaration;
      if (typeof name !== 'string' || !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(name)) {
        return refuse(
          `* GenerateContentRequest.${path}.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.`,
        );
      }
      if (names.includes(name)) refuse(`Duplicate function declaration found: ${name}`);
      names.push(name);
      if (parameters !== undefined && parametersJsonSchema !== undefined) {
        refuse(
          `* GenerateContentRequest.${path}: parameters and parameters_json_schema are mutually exclusive.`,
        );
      }
      if (isObject(parameters)) checkSchema('gemini-openapi', parameters, `${path}.parameters`);
      if (isObject(parametersJsonSchema))
        checkSchema('gemini-json-schema', parametersJsonSchema, `${path}.parameters_json_schema`);
    }
  }
  if (names.length > 512)
    refuse(
      `* GenerateContentRequest.tools.function_declarations: at most 512 function declarations are allowed, got ${names.length}.`,
    );
  return names;
}

function checkSchema(
  profile: 'gemini-openapi' | 'gemini-json-schema',
  schema: JsonObject,
  path: string,
): void {
  const [problem] = check(profile, schema);
  if (problem !== undefined) refuse(`Invalid JSON payload received at '${path}': ${problem}`);
}

function checkConfig(config: Json | undefined, names: readonly string[]): void {
  if (config === undefined) return;
  const calling = isObject(config) ? config.functionCallingConfig : undefined;
  if (!isObject(calling)) return refuse("Invalid value at 'tool_config'");
  onlyFields(calling, 'tool_config.function_calling_config', ['mode', 'allowedFunctionNames']);
  const mode = show(calling.mode);
  if (!['AUTO', 'ANY', 'NONE', 'VALIDATED'].includes(mode))
    refuse(`Invalid value at 'tool_config.function_calling_config.mode': "${mode}"`);
  if (names.length === 0) refuse('Function calling config is set without function_declarations.');
  if (calling.allowedFunctionNames === undefined) return;
  if (mode !== 'ANY' && mode !== 'VALIDATED')
    refuse('Allowed function names should only be set when the mode is ANY or VALIDATED.');
  for (const name of Array.isArray(calling.allowedFunctionNames) ? calling.allowedFunctionNames : []) {
    if (!names.includes(show(name))) refuse(`Allowed function name '${show(name)}' is not declared.`);
  }
}
