/** OpenAI Chat Completions, and the many servers that are compatible with it more or less. */
import type { ContentBlock, Json, JsonObject } from '../types.ts';
import { callId, readCalls } from './calls.ts';
import type { PartialCall } from './chat-calls.ts';
import { addPiece } from './chat-calls.ts';
import { wanted } from './choice.ts';
import type { DefinitionRules } from './compile.ts';
import { compile } from './compile.ts';
import type { Media, Piece, Place } from './content.ts';
import { fileName, imageTypes, joinedText, readBlocks } from './content.ts';
import { conversation } from './conversation.ts';
import type {
  Call,
  CallResult,
  Dialect,
  ResultOptions,
  Turn,
  TurnDelta,
  TurnReader,
  TurnRequest,
  Usage,
} from './dialect.ts';
import { apiError, endedEarly } from './failures.ts';
import { asNumber, asObject, asObjects, asText } from './json.ts';
import { captionOf, readResult, withErrorPrefix } from './results.ts';

const rules: DefinitionRules = {
  dialect: 'openai-chat',
  profile: 'openai',
  strictProfile: 'openai-strict',
  names: /^[a-zA-Z0-9_-]{1,64}$/,
  maxTools: 128,
  // Azure, Copilot and others still refuse more; what a schema describes has no limit.
  maxDescription: 1024,
  tokenFactor: 1,
  entry: ({ name, description, schema, strict }) => ({
    type: 'function',
    function: {
      name,
      ...(description === '' ? {} : { description }),
      parameters: schema,
      ...(strict ? { strict: true } : {}),
    },
  }),
};

const mostMedia = 20_900_000;
/** Members in which servers give reasoning, and some want it back while tools are being called. */
const reasoningMembers = ['reasoning_content', 'reasoning', 'reasoning_details'];
/** OpenAI's own models take the newer name of the limit only; other servers know the older one. */
const newerLimit = /^(?:o\d|gpt-(?!oss)|chatgpt-)/;

export const openaiChat: Dialect = {
  id: 'openai-chat',
  definitions: (tools) => compile(tools, rules),
  calls: (body: JsonObject) => turn(body, '').message.calls,
  turn,
  reader,
  results(results, options) {
    const losses: string[] = [];
    return { messages: resultMessages(results, options, losses), losses };
  },
  request(request, options) {
    const losses: string[] = [];
    const { tools } = request.tools;
    const choice = toolChoice(request, losses);
    const limit = newerLimit.test(request.model) ? 'max_completion_tokens' : 'max_tokens';
    return {
      body: {
        model: request.model,
        messages: messages(request, options, losses),
        ...(tools.length === 0 ? {} : { tools }),
        ...(choice === undefined ? {} : { tool_choice: choice }),
        ...(tools.length > 0 && request.parallel === false ? { parallel_tool_calls: false } : {}),
        ...(request.maxTokens === undefined ? {} : { [limit]: request.maxTokens }),
        stream: true,
        stream_options: { include_usage: true },
        ...request.extra,
      },
      losses,
    };
  },
};

function turn(body: JsonObject, model: string): Turn {
  if (body['choices'] === undefined && body['error'] !== undefined) throw apiError(body['error']);
  const choice = asObjects(body['choices'])[0] ?? {};
  const message = asObject(choice['message']) ?? {};
  const made = asObjects(message['tool_calls']);
  const calls = readCalls(
    made.map((one) => {
      const { name, arguments: args } = asObject(one['function']) ?? {};
      return { id: one['id'], name, arguments: args };
    }),
    asText(body['id']),
  );
  const text = textOf(message['content']);
  const { tool_calls: _calls, ...others } = message;
  const echo: JsonObject = {
    ...others,
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map((call, at) => ({ ...made[at], ...callItem(call) })) }),
  };
  const reported = asText(body['model']);
  return {
    message: {
      role: 'assistant',
      text,
      calls,
      echo: { dialect: 'openai-chat', model: reported || model, items: [echo] },
    },
    ...stopOf(choice, message, calls.length > 0),
    usage: usageOf(asObject(body['usage']) ?? {}),
    ...(reported === '' ? {} : { model: reported }),
  };
}

/** Arguments go back as the text of an object, whatever came: servers parse them on the way in. */
function callItem({ id, name, arguments: args }: Call): JsonObject {
  return { id, type: 'function', function: { name: name || 'unnamed', arguments: JSON.stringify(args) } };
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return asObjects(content)
    .map((part) => asText(part['text']))
    .join('');
}

/** Servers disagree about the reason for calls: that there are some is the sign. */
function stopOf(
  choice: JsonObject,
  message: JsonObject,
  hasCalls: boolean,
): Pick<Turn, 'stop' | 'detail' | 'repair'> {
  const reason = asText(choice['finish_reason']);
  const refusal = asText(message['refusal']);
  if (reason === 'length') return { stop: 'max-tokens' };
  if (reason === 'content_filter') return { stop: 'content-filter' };
  if (hasCalls) return { stop: 'calls' };
  if (refusal !== '') return { stop: 'refusal', detail: refusal };
  if (reason === 'stop' || reason === '') return { stop: 'complete' };
  if (reason === 'tool_calls' || reason === 'function_call') {
    return {
      stop: 'failed',
      detail: 'the answer announces calls and has none',
      repair: 'Your tool call could not be read. Make it again, with arguments that are one JSON object.',
    };
  }
  return { stop: 'failed', detail: `unknown finish reason ${reason}` };
}

function usageOf(usage: JsonObject): Usage {
  const input = asObject(usage['prompt_tokens_details']);
  const reasoning = asNumber(asObject(usage['completion_tokens_details'])?.['reasoning_tokens']);
  return {
    input: asNumber(usage['prompt_tokens']),
    output: asNumber(usage['completion_tokens']),
    cacheRead: asNumber(input?.['cached_tokens']),
    cacheWrite: asNumber(input?.['cache_write_tokens']),
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}

function reader(model: string): TurnReader {
  let body: JsonObject = {};
  let finish: Json | undefined;
  let content = '';
  const message: JsonObject = {};
  const calls: PartialCall[] = [];
  const ids = new Map<PartialCall, string>();

  /** A name may still grow until arguments, another call or the end follow. */
  const announce = (ready: readonly PartialCall[]): TurnDelta[] =>
    ready
      .filter((call) => !ids.has(call))
      .map((call) => {
        const id = callId(call.id, calls.indexOf(call), asText(body['id']), new Set(ids.values()));
        ids.set(call, id);
        return { type: 'call', id, name: call.name };
      });

  const grow = (delta: JsonObject): TurnDelta[] => {
    const deltas: TurnDelta[] = [];
    for (const member of [...reasoningMembers, 'refusal']) {
      const piece = delta[member];
      if (typeof piece === 'string') message[member] = asText(message[member]) + piece;
      else if (Array.isArray(piece)) message[member] = [...asObjects(message[member]), ...asObjects(piece)];
    }
    const reasoning = asText(delta['reasoning_content']) || asText(delta['reasoning']);
    if (reasoning !== '') deltas.push({ type: 'reasoning', delta: reasoning });
    const text = textOf(delta['content']);
    content += text;
    if (text !== '') deltas.push({ type: 'text', delta: text });
    for (const piece of asObjects(delta['tool_calls'])) {
      const call = addPiece(calls, piece);
      const before = calls.slice(0, calls.indexOf(call));
      deltas.push(...announce(call.arguments === '' ? before : [...before, call]));
    }
    return deltas;
  };

  return {
    push(event: JsonObject) {
      if (event['error'] !== undefined && event['error'] !== null) throw apiError(event['error']);
      for (const member of ['id', 'model', 'usage']) {
        if (event[member] !== undefined && event[member] !== null)
          body = { ...body, [member]: event[member] };
      }
      const choice = asObjects(event['choices'])[0];
      if (choice === undefined) return [];
      // A server that does not stream after all sends the message whole.
      const deltas = grow(asObject(choice['delta']) ?? asObject(choice['message']) ?? {});
      if (typeof choice['finish_reason'] !== 'string') return deltas;
      finish = choice['finish_reason'];
      return [...deltas, ...announce(calls)];
    },
    end() {
      if (finish === undefined) {
        throw endedEarly();
      }
      const toolCalls = calls.map((call): JsonObject => {
        const { name, arguments: args } = call;
        return { ...call.others, id: call.id, type: 'function', function: { name, arguments: args } };
      });
      const whole = { ...message, content, ...(calls.length === 0 ? {} : { tool_calls: toolCalls }) };
      return turn({ ...body, choices: [{ message: whole, finish_reason: finish }] }, model);
    },
  };
}

/** A tool message carries text alone; images follow in a user message, and other media only when a user sends them. */
function placeInResult(media: Media): Place {
  return placeInMessage(media) === 'inside' && media.type === 'image' ? 'after' : 'nowhere';
}

function placeInMessage(media: Media): Place {
  if (media.data.length > mostMedia) return 'nowhere';
  if (media.type === 'image') return imageTypes.has(media.mimeType) ? 'inside' : 'nowhere';
  if (media.type === 'audio') return audioFormat(media) === undefined ? 'nowhere' : 'inside';
  return media.mimeType === 'application/pdf' ? 'inside' : 'nowhere';
}

function audioFormat({ mimeType }: Media): string | undefined {
  if (/^audio\/(?:x-)?wav$/.test(mimeType)) return 'wav';
  return /^audio\/(?:mpeg|mp3)$/.test(mimeType) ? 'mp3' : undefined;
}

function partOf(piece: Piece): JsonObject {
  if (piece.type === 'text') return { type: 'text', text: piece.text };
  if (piece.type === 'audio') {
    return { type: 'input_audio', input_audio: { data: piece.data, format: audioFormat(piece) } };
  }
  const address = `data:${piece.mimeType};base64,${piece.data}`;
  return piece.type === 'image'
    ? { type: 'image_url', image_url: { url: address } }
    : { type: 'file', file: { filename: fileName(piece), file_data: address } };
}

/** All tool messages in call order, then one user message with every image they brought. */
function resultMessages(
  results: readonly CallResult[],
  options: ResultOptions | undefined,
  losses: string[],
): JsonObject[] {
  const after: JsonObject[] = [];
  const made = results.map((one): JsonObject => {
    const read = readResult(one, { place: placeInResult }, options);
    losses.push(...read.losses);
    for (const media of read.after)
      after.push(partOf({ type: 'text', text: captionOf(media, one) }), partOf(media));
    const content = joinedText(read.isError ? withErrorPrefix(read.inside) : read.inside);
    return { role: 'tool', tool_call_id: one.call.id, content };
  });
  return after.length === 0 ? made : [...made, { role: 'user', content: after }];
}

function userContent(content: string | ContentBlock[], losses: string[]): string | JsonObject[] {
  if (typeof content === 'string') return content;
  const read = readBlocks(content, { place: placeInMessage }, () => undefined);
  losses.push(...read.losses.map((loss) => `user message: ${loss}`));
  return read.inside.every(({ type }) => type === 'text') ? joinedText(read.inside) : read.inside.map(partOf);
}

function messages(request: TurnRequest, options: ResultOptions | undefined, losses: string[]): JsonObject[] {
  const { system } = request;
  const made: JsonObject[] =
    system === undefined || system === '' ? [] : [{ role: 'system', content: system }];
  const add = (message: JsonObject): void => {
    const last = made.at(-1);
    // The templates of many open models refuse two user messages in a row.
    if (last?.['role'] === 'user' && message['role'] === 'user') {
      made[made.length - 1] = {
        role: 'user',
        content: [...partsOf(last['content']), ...partsOf(message['content'])],
      };
    } else made.push(message);
  };
  for (const step of conversation(request, 'openai-chat', losses)) {
    if (step.role === 'user') add({ role: 'user', content: userContent(step.content, losses) });
    else if (step.role === 'tool') resultMessages(step.results, options, losses).forEach(add);
    else if (step.echo !== undefined) step.echo.flatMap(replayed).forEach(add);
    else if (step.text !== '' || step.calls.length > 0) {
      const calls = step.calls.length === 0 ? {} : { tool_calls: step.calls.map(callItem) };
      add({ role: 'assistant', content: step.text === '' ? null : step.text, ...calls });
    }
  }
  return made;
}

function partsOf(content: Json | undefined): JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : asObjects(content);
}

/** Reasoning goes back with calls, where servers want it; in a finished turn some refuse it. */
function replayed(message: JsonObject): JsonObject[] {
  if (message['tool_calls'] !== undefined) return [message];
  if (message['content'] === '') return [];
  return [
    Object.fromEntries(Object.entries(message).filter(([member]) => !reasoningMembers.includes(member))),
  ];
}

function toolChoice(request: TurnRequest, losses: string[]): Json | undefined {
  const want = wanted(request, losses);
  if (want === undefined) return undefined;
  if (want.mode === 'validated')
    losses.push('choice: the API enforces schemas per tool (strict), not per request');
  const mode = want.mode === 'validated' ? 'auto' : want.mode;
  const named = (want.only ?? []).map((name) => ({ type: 'function', function: { name } }));
  const [one, ...others] = named;
  if (one === undefined) return mode;
  if (mode === 'required' && others.length === 0) return one;
  return { type: 'allowed_tools', allowed_tools: { mode, tools: named } };
}
