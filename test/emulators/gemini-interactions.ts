/** Gemini Interactions, emulated: `POST /v1beta/interactions`, streamed and whole, without a memory: histories come whole. */
import type { Json, JsonObject } from '../../src/types.ts';
import { check } from '../schema/profiles.ts';
import {
  type ApiRequest,
  type EmulatedApi,
  type Emulator,
  type EmulatorScript,
  type EmulatorTurn,
  isObject,
  Refusal,
  show,
  startEmulator,
  type StreamEvent,
} from './server.ts';

const KEY = 'emulated-gemini-key';

function refuse(message: string): never {
  throw new Refusal(400, 'invalid_request', message);
}

export function startInteractions(script: EmulatorScript): Promise<Emulator> {
  /** Of the thoughts that were given: only those come back. */
  const signatures = new Set<string>();
  const api: EmulatedApi = {
    key: KEY,
    maxBody: 20 * 1024 * 1024,
    serves: (method, path) => method === 'POST' && path === '/v1beta/interactions',
    authorize(headers) {
      if (headers['x-goog-api-key'] !== KEY)
        throw new Refusal(403, 'permission_denied', 'API key not valid.');
    },
    check: ({ body }) => checkInteraction(body, signatures),
    streams: ({ body }) => body.stream === true,
    answer: (turn, request, index) => answer(turn, request, index, signatures),
    errorBody: ({ type, message }) => ({ error: { code: type, message } }),
    errorEvent: (type, message) => ({ data: { event_type: 'error', error: { code: type, message } } }),
    typeOfStatus: (status) => (status === 429 ? 'too_many_requests' : 'api_error'),
  };
  return startEmulator(api, script);
}

function onlyFields(value: JsonObject, path: string, fields: readonly string[]): void {
  for (const name of Object.keys(value))
    if (!fields.includes(name)) refuse(`Unknown parameter '${path}${name}'.`);
}

const MEMBERS = [
  'model',
  'agent',
  'input',
  'system_instruction',
  'tools',
  'generation_config',
  'stream',
  'store',
  'background',
  'previous_interaction_id',
  'response_format',
  'response_mime_type',
  'response_modalities',
  'service_tier',
];

function checkInteraction(body: JsonObject, signatures: ReadonlySet<string>): void {
  onlyFields(body, '', MEMBERS);
  if (typeof body.model !== 'string' || !body.model.startsWith('gemini-'))
    throw new Refusal(404, 'not_found', `Model ${show(body.model)} is not found.`);
  if (body.previous_interaction_id !== undefined)
    throw new Refusal(404, 'not_found', `Interaction ${show(body.previous_interaction_id)} is not found.`);
  if (body.store === false && body.background === true) refuse("'background' needs 'store'.");
  checkInput(body.input, signatures);
  const names = checkTools(body.tools);
  const config = isObject(body.generation_config) ? body.generation_config : {};
  if (config.tool_choice !== undefined) checkChoice(config.tool_choice, names);
}

function checkInput(input: Json | undefined, signatures: ReadonlySet<string>): void {
  if (typeof input === 'string' && input !== '') return;
  if (!Array.isArray(input) || input.length === 0) return refuse("'input' must not be empty.");
  const open = new Map<string, string>();
  const seen = new Set<string>();
  for (const [index, step] of input.flatMap(resultsAlone).entries()) {
    const path = `input[${index}]`;
    if (!isObject(step)) return refuse(`'${path}' must be a step.`);
    if (
      step.type !== 'function_call' &&
      step.type !== 'function_result' &&
      step.type !== 'thought' &&
      open.size > 0
    )
      refuse(`'${path}': the function calls ${[...open.keys()].join(', ')} have no results.`);
    switch (step.type) {
      case 'user_input':
      case 'model_output':
        checkContents(step.content, `${path}.content`, ['text', 'image', 'audio', 'video', 'document']);
        break;
      case 'thought':
        onlyFields(step, `${path}.`, ['type', 'signature', 'summary']);
        if (!signatures.has(show(step.signature)))
          refuse(`'${path}.signature' is not the signature of a thought of this model.`);
        break;
      case 'function_call': {
        const id = show(step.id);
        if (typeof step.id !== 'string' || id === '' || seen.has(id))
          refuse(`'${path}.id' must be given and new.`);
        if (typeof step.name !== 'string' || !isObject(step.arguments))
          refuse(`'${path}' must have a name and arguments.`);
        open.set(id, show(step.name));
        seen.add(id);
        break;
      }
      case 'function_result':
        checkResult(step, path, open);
        break;
      default:
        refuse(`'${path}.type' has the unknown value '${show(step.type)}'.`);
    }
  }
  if (open.size > 0) refuse(`The function calls ${[...open.keys()].join(', ')} have no results.`);
}

/** Results may also stand together in the contents of a user's step. */
function resultsAlone(step: Json): Json[] {
  const contents =
    isObject(step) && step.type === 'user_input' && Array.isArray(step.content) ? step.content : [];
  const results = contents.filter((content) => isObject(content) && content.type === 'function_result');
  return contents.length > 0 && results.length === contents.length ? results : [step];
}

function checkResult(step: JsonObject, path: string, open: Map<string, string>): void {
  onlyFields(step, `${path}.`, ['type', 'call_id', 'name', 'result', 'is_error', 'signature']);
  const id = show(step.call_id);
  const name = open.get(id);
  if (name === undefined) return refuse(`'${path}.call_id' answers no open function call: ${id}.`);
  if (step.name !== undefined && step.name !== name) refuse(`'${path}.name' is not the name of the call.`);
  open.delete(id);
  if (typeof step.result === 'string' || isObject(step.result)) return;
  if (!Array.isArray(step.result))
    return refuse(`'${path}.result' must be a text, an object or a list of contents.`);
  checkContents(step.result, `${path}.result`, ['text', 'image']);
}

function checkContents(contents: Json | undefined, path: string, types: readonly string[]): void {
  const list: Json | undefined = typeof contents === 'string' ? [{ type: 'text', text: contents }] : contents;
  if (!Array.isArray(list)) return refuse(`'${path}' must be a list of contents.`);
  for (const [index, content] of list.entries()) {
    const at = `${path}[${index}]`;
    if (!isObject(content) || !types.includes(show(content.type)))
      return refuse(`'${at}' must be a content of the types ${types.join(', ')}.`);
    if (content.type === 'text') {
      if (typeof content.text !== 'string') refuse(`'${at}.text' must be a text.`);
      continue;
    }
    if (typeof content.data !== 'string' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(content.data))
      refuse(`'${at}.data' must be base64.`);
    if (
      content.type === 'image' &&
      !/^image\/(?:png|jpeg|gif|webp|bmp|tiff|heic|heif)$/.test(show(content.mime_type))
    )
      refuse(`'${at}.mime_type' is not supported: ${show(content.mime_type)}.`);
  }
}

function checkTools(tools: Json | undefined): string[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools) || tools.length === 0) return refuse("'tools' must not be empty.");
  const names: string[] = [];
  for (const [index, tool] of tools.entries()) {
    const path = `tools[${index}]`;
    if (!isObject(tool) || tool.type !== 'function') return refuse(`'${path}.type' must be 'function'.`);
    onlyFields(tool, `${path}.`, ['type', 'name', 'description', 'parameters']);
    const name = show(tool.name);
    if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(name))
      refuse(`'${path}.name' is not a valid function name: ${name}.`);
    if (names.includes(name)) refuse(`Duplicate function name: ${name}.`);
    names.push(name);
    if (!isObject(tool.parameters)) continue;
    const [problem] = check('gemini-json-schema', tool.parameters);
    if (problem !== undefined) refuse(`'${path}.parameters': ${problem}`);
  }
  if (names.length > 512) refuse(`At most 512 functions are allowed, got ${names.length}.`);
  return names;
}

function checkChoice(choice: Json, names: readonly string[]): void {
  if (names.length === 0) refuse('Function calling config is set without function_declarations.');
  const allowed = isObject(choice) && isObject(choice.allowed_tools) ? choice.allowed_tools : undefined;
  const mode = show(allowed === undefined ? choice : allowed.mode);
  if (!['auto', 'any', 'none', 'validated'].includes(mode)) refuse(`Unknown tool choice: ${mode}.`);
  for (const name of Array.isArray(allowed?.tools) ? allowed.tools : [])
    if (!names.includes(show(name))) refuse(`Allowed tool '${show(name)}' is not declared.`);
}

function answer(turn: EmulatorTurn, { body }: ApiRequest, index: number, signatures: Set<string>) {
  const calls = (turn.calls ?? []).map((call, position): JsonObject => ({
    type: 'function_call',
    id: call.id ?? `call_${index}_${position}`,
    name: call.name,
    arguments: call.arguments ?? {},
  }));
  const signature = `interactions_signature_${index}`;
  if (turn.reasoning !== undefined) signatures.add(signature);
  const thoughts: JsonObject[] =
    turn.reasoning === undefined
      ? []
      : [{ type: 'thought', signature, summary: [{ type: 'text', text: turn.reasoning }] }];
  const text =
    turn.text === undefined ? [] : [{ type: 'model_output', content: [{ type: 'text', text: turn.text }] }];
  const steps: JsonObject[] = [...thoughts, ...text, ...(turn.items ?? []), ...calls];
  const facts: JsonObject = {
    id: `interaction_${index}`,
    model: show(body.model),
    object: 'interaction',
    created: '2026-01-01T00:00:00Z',
    updated: '2026-01-01T00:00:00Z',
    role: 'model',
  };
  const end: JsonObject = {
    status: turn.stop ?? (calls.length > 0 ? 'requires_action' : 'completed'),
    usage: {
      total_input_tokens: turn.usage?.input ?? Math.ceil(JSON.stringify(body).length / 4),
      total_output_tokens: turn.usage?.output ?? 10,
      total_cached_tokens: turn.usage?.cacheRead ?? 0,
    },
  };
  const events: StreamEvent[] = [
    { data: { event_type: 'interaction.created', interaction: { ...facts, status: 'in_progress' } } },
    ...steps.flatMap((step, at) => stepEvents(step, at)),
    { data: { event_type: 'interaction.completed', interaction: { ...facts, ...end } } },
  ];
  return { whole: { ...facts, ...end, steps }, events };
}

/** Text and arguments come in two pieces. */
function stepEvents(step: JsonObject, index: number): StreamEvent[] {
  const delta = (piece: JsonObject): StreamEvent => ({
    data: { event_type: 'step.delta', index, delta: piece },
  });
  const halves = (text: string): string[] => [text.slice(0, text.length / 2), text.slice(text.length / 2)];
  const [start, pieces] =
    step.type === 'function_call'
      ? [
          { ...step, arguments: {} },
          halves(show(step.arguments)).map((part) => delta({ type: 'arguments_delta', arguments: part })),
        ]
      : step.type === 'model_output'
        ? [
            { type: 'model_output', content: [] },
            halves(textOf(step.content)).map((text) => delta({ type: 'text', text })),
          ]
        : step.type === 'thought'
          ? [
              { type: 'thought' },
              [
                ...halves(textOf(step.summary)).map((text) =>
                  delta({ type: 'thought_summary', content: { type: 'text', text } }),
                ),
                delta({ type: 'thought_signature', signature: step.signature }),
              ],
            ]
          : [step, []];
  return [
    { data: { event_type: 'step.start', index, step: start } },
    ...pieces,
    { data: { event_type: 'step.stop', index } },
  ];
}

function textOf(content: Json | undefined): string {
  const [first] = Array.isArray(content) ? content : [];
  return isObject(first) ? show(first.text) : '';
}
