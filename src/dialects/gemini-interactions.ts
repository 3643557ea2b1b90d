/** Gemini Interactions, stateless: nothing is stored by the API, and its steps are sent back as they came. */
import type { ContentBlock, Json, JsonObject } from '../types.ts';
import { callId, readArguments, readCalls } from './calls.ts';
import { wanted } from './choice.ts';
import type { DefinitionRules } from './compile.ts';
import { compile } from './compile.ts';
import type { Media, Piece, Place } from './content.ts';
import { imageTypes, readBlocks } from './content.ts';
import { servedMembers } from './connector.ts';
import { conversation } from './conversation.ts';
import type {
  CallResult,
  Dialect,
  ResultOptions,
  Stop,
  Turn,
  TurnDelta,
  TurnReader,
  TurnRequest,
  Usage,
} from './dialect.ts';
import { apiError, endedEarly } from './failures.ts';
import { geminiConnector, servedCalls, serverTools } from './gemini-connector.ts';
import { asNumber, asObject, asObjects, asText } from './json.ts';
import { readResult } from './results.ts';

const rules: DefinitionRules = {
  dialect: 'gemini-interactions',
  profile: 'gemini-json-schema',
  names: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  maxTools: 512,
  describe: true,
  tokenFactor: 1.05,
  entry: ({ name, description, schema }) => ({ type: 'function', name, description, parameters: schema }),
};

/** Base64 characters: a request with everything in it may have 20 MB. */
const mostMedia = 19_000_000;

const stops: Record<string, Stop> = {
  completed: 'complete',
  requires_action: 'complete',
  incomplete: 'max-tokens',
  budget_exceeded: 'max-tokens',
  requires_continuation: 'pause',
};

export const geminiInteractions: Dialect = {
  id: 'gemini-interactions',
  connector: geminiConnector,
  definitions: (tools) => compile(tools, rules),
  calls: (body: JsonObject) => turn(body, '').message.calls,
  turn,
  reader,
  results(results, options) {
    const losses: string[] = [];
    return { messages: results.map((one) => resultStep(one, options, losses)), losses };
  },
  request(request, options) {
    const losses: string[] = [];
    const { system, maxTokens, extra } = request;
    const tools = [...request.tools.tools, ...serverTools(request.servers ?? [])];
    const choice = toolChoice(request, losses);
    const config = {
      ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
      ...(choice === undefined ? {} : { tool_choice: choice }),
      ...asObject(extra?.['generation_config']),
    };
    return {
      body: {
        model: request.model,
        ...(system === undefined || system === '' ? {} : { system_instruction: system }),
        input: input(request, options, losses),
        ...(tools.length === 0 ? {} : { tools }),
        store: false,
        stream: true,
        ...extra,
        ...(Object.keys(config).length === 0 ? {} : { generation_config: config }),
      },
      losses,
    };
  },
};

function turn(body: JsonObject, model: string): Turn {
  if (body['status'] === undefined && asObject(body['error']) !== undefined) throw apiError(body['error']);
  const steps = asObjects(body['steps']);
  const made = steps.filter(isCall);
  const calls = readCalls(
    made.map((step) => ({ id: step['id'], name: step['name'], arguments: step['arguments'] })),
    asText(body['id']),
  );
  const idOf = new Map(made.map((step, at) => [step, calls[at]?.id]));
  const items = steps.map((step): JsonObject => {
    const id = idOf.get(step);
    return id === undefined ? step : { ...step, id, arguments: readArguments(step['arguments']).arguments };
  });
  const said = steps.flatMap((step) => (step['type'] === 'model_output' ? asObjects(step['content']) : []));
  const reported = asText(body['model']);
  return {
    message: {
      role: 'assistant',
      text: said.map((content) => (content['type'] === 'text' ? asText(content['text']) : '')).join(''),
      calls,
      ...servedMembers(servedCalls(steps)),
      echo: { dialect: 'gemini-interactions', model: reported || model, items },
    },
    ...stopOf(body, steps, calls.length > 0),
    usage: usageOf(asObject(body['usage']) ?? {}),
    ...(reported === '' ? {} : { model: reported }),
  };
}

function isCall(step: JsonObject): boolean {
  return step['type'] === 'function_call';
}

/** `completed` may come with calls, so that there are some is the sign. */
function stopOf(
  body: JsonObject,
  steps: readonly JsonObject[],
  hasCalls: boolean,
): { stop: Stop; detail?: string } {
  const status = asText(body['status']);
  const stop = stops[status];
  if (stop === 'complete') return { stop: hasCalls ? 'calls' : 'complete' };
  if (stop !== undefined) return { stop, detail: status };
  const error = asObject(body['error']) ?? asObject(steps.find((step) => asObject(step['error']))?.['error']);
  const words = error === undefined ? '' : `: ${asText(error['message'])}`;
  return { stop: 'failed', detail: `the interaction is ${status || 'without a status'}${words}` };
}

function usageOf(usage: JsonObject): Usage {
  const reasoning = asNumber(usage['total_thought_tokens']);
  return {
    input: asNumber(usage['total_input_tokens']) + asNumber(usage['total_tool_use_tokens']),
    // The API counts thoughts apart from the rest of the output.
    output: asNumber(usage['total_output_tokens']) + reasoning,
    cacheRead: asNumber(usage['total_cached_tokens']),
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}

function reader(model: string): TurnReader {
  let body: JsonObject = {};
  let ended = false;
  const steps = new Map<number, JsonObject>();
  const ids = new Set<string>();

  const start = (index: number, step: JsonObject): TurnDelta[] => {
    steps.set(index, step);
    if (isCall(step)) {
      const id = callId(step['id'], ids.size, asText(body['id']), ids);
      ids.add(id);
      return [{ type: 'call', id, name: asText(step['name']) }];
    }
    const text =
      step['type'] === 'model_output'
        ? asObjects(step['content'])
            .map((one) => asText(one['text']))
            .join('')
        : '';
    return text === '' ? [] : [{ type: 'text', delta: text }];
  };

  /** A call when it is whole, and again with its result. */
  const served = (step: JsonObject | undefined): TurnDelta[] => {
    const id = step?.['type'] === 'mcp_server_tool_call' ? step['id'] : step?.['call_id'];
    const isServed = asText(step?.['type']).startsWith('mcp_server_tool_');
    const calls = isServed ? servedCalls([...steps.values()]).filter((call) => call.id === id) : [];
    return calls.map((call) => ({ type: 'served', call }));
  };

  return {
    push(event: JsonObject) {
      const index = asNumber(event['index']);
      switch (event['event_type']) {
        case 'error':
          throw apiError(event['error']);
        case 'interaction.created':
        case 'interaction.completed':
          body = { ...body, ...asObject(event['interaction']) };
          ended = event['event_type'] === 'interaction.completed';
          return [];
        case 'interaction.status_update':
          body = {
            ...body,
            status: event['status'],
            ...(event['usage'] === undefined ? {} : { usage: event['usage'] }),
          };
          return [];
        case 'step.start':
          return start(index, asObject(event['step']) ?? {});
        case 'step.delta': {
          const delta = asObject(event['delta']) ?? {};
          const step = steps.get(index);
          if (step !== undefined) steps.set(index, grown(step, delta));
          if (delta['type'] === 'text') return [{ type: 'text', delta: asText(delta['text']) }];
          const thought =
            delta['type'] === 'thought_summary' ? asText(asObject(delta['content'])?.['text']) : '';
          return thought === '' ? [] : [{ type: 'reasoning', delta: thought }];
        }
        case 'step.stop':
          return served(steps.get(index));
        default:
          return [];
      }
    },
    end() {
      if (!ended) throw endedEarly();
      const streamed = [...steps.entries()].sort(([a], [b]) => a - b).map(([, step]) => step);
      return turn({ ...body, steps: streamed.length > 0 ? streamed : (body['steps'] ?? []) }, model);
    },
  };
}

function grown(step: JsonObject, delta: JsonObject): JsonObject {
  const { type, ...members } = delta;
  switch (type) {
    case 'text':
      return { ...step, content: withText(step['content'], { type, ...members }) };
    case 'arguments_delta': {
      // The step starts with an empty object; pieces of text take its place.
      const sofar = asText(step['arguments']);
      return { ...step, arguments: sofar + asText(delta['arguments']) };
    }
    case 'thought_summary':
      return { ...step, summary: withText(step['summary'], asObject(delta['content']) ?? {}) };
    case 'text_annotation_delta': {
      const content = asObjects(step['content']);
      const last = content.at(-1) ?? { type: 'text', text: '' };
      const annotations = [...asObjects(last['annotations']), ...asObjects(delta['annotations'])];
      return { ...step, content: [...content.slice(0, -1), { ...last, annotations }] };
    }
    case 'image':
    case 'audio':
    case 'video':
    case 'document':
      return { ...step, content: [...asObjects(step['content']), delta] };
    default:
      // A signature, or a step of a tool that Google runs itself: the members are the step's.
      return type === 'thought_signature'
        ? { ...step, signature: delta['signature'] }
        : { ...step, ...members };
  }
}

function withText(contents: Json | undefined, piece: JsonObject): JsonObject[] {
  const list = asObjects(contents);
  const last = list.at(-1);
  if (last?.['type'] !== 'text' || piece['type'] !== 'text') return [...list, piece];
  return [...list.slice(0, -1), { ...last, text: asText(last['text']) + asText(piece['text']) }];
}

function placeInResult(media: Media): Place {
  return media.type === 'image' && imageTypes.has(media.mimeType) ? placeInMessage(media) : 'nowhere';
}

function placeInMessage(media: Media): Place {
  const known =
    media.type === 'image'
      ? imageTypes.has(media.mimeType) || /^image\/hei[cf]$/.test(media.mimeType)
      : media.type === 'audio' || media.mimeType === 'application/pdf' || media.mimeType.startsWith('video/');
  return known && media.data.length <= mostMedia ? 'inside' : 'nowhere';
}

function contentOf(piece: Piece): JsonObject {
  if (piece.type === 'text') return { type: 'text', text: piece.text };
  const type =
    piece.type !== 'file' ? piece.type : piece.mimeType.startsWith('video/') ? 'video' : 'document';
  return { type, data: piece.data, mime_type: piece.mimeType };
}

function resultStep(one: CallResult, options: ResultOptions | undefined, losses: string[]): JsonObject {
  const read = readResult(one, { place: placeInResult }, options);
  losses.push(...read.losses);
  const [first, ...others] = read.inside;
  const text =
    first === undefined ? '' : first.type === 'text' && others.length === 0 ? first.text : undefined;
  return {
    type: 'function_result',
    call_id: one.call.id,
    name: one.call.name,
    result: asObject(read.structured) ?? text ?? read.inside.map(contentOf),
    ...(read.isError ? { is_error: true } : {}),
  };
}

function userStep(content: string | ContentBlock[], losses: string[]): JsonObject {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const read = readBlocks(blocks, { place: placeInMessage }, () => undefined);
  losses.push(...read.losses.map((loss) => `user message: ${loss}`));
  return { type: 'user_input', content: read.inside.map(contentOf) };
}

function input(request: TurnRequest, options: ResultOptions | undefined, losses: string[]): JsonObject[] {
  return conversation(request, 'gemini-interactions', losses).flatMap((step): JsonObject[] => {
    if (step.role === 'user') return [userStep(step.content, losses)];
    if (step.role === 'tool') return step.results.map((one) => resultStep(one, options, losses));
    if (step.echo !== undefined) return step.echo;
    const calls = step.calls.map(({ id, name, arguments: args }) => ({
      type: 'function_call',
      id,
      name,
      arguments: args,
    }));
    const text =
      step.text === '' ? [] : [{ type: 'model_output', content: [{ type: 'text', text: step.text }] }];
    return [...text, ...calls];
  });
}

function toolChoice(request: TurnRequest, losses: string[]): Json | undefined {
  if (request.parallel === false && request.tools.tools.length > 0) {
    losses.push('parallel: the API cannot be kept from several calls at once');
  }
  // It governs functions alone, and is refused without any.
  const want = request.tools.tools.length === 0 ? undefined : wanted(request, losses);
  if (want === undefined) return undefined;
  const mode = want.mode === 'required' ? 'any' : want.mode;
  return want.only === undefined ? mode : { allowed_tools: { mode, tools: want.only } };
}
