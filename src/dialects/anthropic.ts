/** Anthropic Messages (API versions 2023-06-01 and 2026-10-21). */
import type { ContentBlock, JsonObject } from '../types.ts';
import {
  anthropicConnector,
  CONNECTOR_BETA,
  mcpServers,
  servedCalls,
  toolsets,
} from './anthropic-connector.ts';
import { strictBudget } from './anthropic-strict.ts';
import { readArguments, readCalls } from './calls.ts';
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
import { asNumber, asObject, asObjects, asText } from './json.ts';
import { captionOf, readResult } from './results.ts';

const rules: DefinitionRules = {
  dialect: 'anthropic',
  profile: 'anthropic',
  strictProfile: 'anthropic-strict',
  names: /^[a-zA-Z0-9_-]{1,64}$/,
  strictBudget,
  // Current Claude vocabularies need about 1.45 times the tokens of the usual estimate.
  tokenFactor: 1.45,
  entry: ({ name, description, schema, strict }) => ({
    name,
    ...(description === '' ? {} : { description }),
    input_schema: schema,
    ...(strict ? { strict: true } : {}),
  }),
};

/** The API requires a limit; every current model allows this one. */
const usualMaxTokens = 32_000;
/** Base64 characters: the API refuses larger images, and bodies over 32 MB. */
const mostImage = 5_242_880;
const mostFile = 20_000_000;
/** These models refuse `tool_choice` `any` and `tool`. */
const refusesForcedCalls = /(?:opus|sonnet)-5-5|fable-5-[12]|mythos-(?:5-[12]|preview)/;

const stops: Record<string, Stop> = {
  end_turn: 'complete',
  tool_use: 'calls',
  max_tokens: 'max-tokens',
  stop_sequence: 'stop-sequence',
  pause_turn: 'pause',
  refusal: 'refusal',
  model_context_window_exceeded: 'context-window',
  compaction: 'compaction',
};

export const anthropic: Dialect = {
  id: 'anthropic',
  connector: anthropicConnector,
  definitions: (tools) => compile(tools, rules),
  calls: (body: JsonObject) => turn(body, '').message.calls,
  turn,
  reader,
  results(results, options) {
    const losses: string[] = [];
    return {
      messages:
        results.length === 0 ? [] : [{ role: 'user', content: resultBlocks(results, options, losses) }],
      losses,
    };
  },
  request(request, options) {
    const losses: string[] = [];
    const choice = toolChoice(request, losses);
    const { servers = [] } = request;
    const functions =
      choice.only === undefined
        ? request.tools.tools
        : request.tools.tools.filter(({ name }) => choice.only?.includes(asText(name)));
    const tools = [...functions, ...toolsets(servers)];
    return {
      body: {
        model: request.model,
        max_tokens: request.maxTokens ?? usualMaxTokens,
        ...(request.system === undefined || request.system === '' ? {} : { system: request.system }),
        messages: messages(request, options, losses),
        ...(servers.length === 0 ? {} : { mcp_servers: mcpServers(servers) }),
        ...(tools.length === 0 ? {} : { tools }),
        ...(tools.length === 0 || choice.member === undefined ? {} : { tool_choice: choice.member }),
        stream: true,
        ...request.extra,
      },
      ...(servers.length === 0 ? {} : { headers: { 'anthropic-beta': CONNECTOR_BETA } }),
      losses,
    };
  },
};

function turn(body: JsonObject, model: string): Turn {
  if (body['type'] === 'error') throw apiError(body['error']);
  const blocks = asObjects(body['content']);
  const uses = blocks.filter(isCall);
  const calls = readCalls(
    uses.map((use) => ({ id: use['id'], name: use['name'], arguments: use['input'] })),
    asText(body['id']),
  );
  const idOf = new Map(uses.map((use, at) => [use, calls[at]?.id]));
  const items = blocks.flatMap((block) => {
    // Text without a visible character is refused when it comes back.
    if (block['type'] === 'text' && asText(block['text']).trim() === '') return [];
    const id = idOf.get(block);
    if (id !== undefined) return [{ ...block, id, input: readArguments(block['input']).arguments }];
    return typeof block['input'] === 'string'
      ? [{ ...block, input: readArguments(block['input']).arguments }]
      : [block];
  });
  const reported = asText(body['model']);
  return {
    message: {
      role: 'assistant',
      text: blocks.map((block) => (block['type'] === 'text' ? asText(block['text']) : '')).join(''),
      calls,
      ...servedMembers(servedCalls(blocks)),
      echo: { dialect: 'anthropic', model: reported || model, items },
    },
    ...stopOf(body, calls.length > 0),
    usage: usageOf(asObject(body['usage']) ?? {}),
    ...(reported === '' ? {} : { model: reported }),
  };
}

/** Tools that Anthropic runs itself have other block types and are not ours to answer. */
function isCall(block: JsonObject): boolean {
  return block['type'] === 'tool_use';
}

function stopOf(body: JsonObject, hasCalls: boolean): { stop: Stop; detail?: string } {
  const reason = asText(body['stop_reason']);
  const known = stops[reason];
  if (reason === 'refusal') {
    const details = asObject(body['stop_details']) ?? {};
    const words = [asText(details['category']), asText(details['explanation'])].filter((word) => word !== '');
    return words.length === 0 ? { stop: 'refusal' } : { stop: 'refusal', detail: words.join(': ') };
  }
  if (reason === 'stop_sequence') return { stop: 'stop-sequence', detail: asText(body['stop_sequence']) };
  if (known === 'complete' || known === 'calls') {
    // `tool_use` without a call of ours: the API waits for a tool that it runs itself.
    return { stop: hasCalls ? 'calls' : reason === 'tool_use' ? 'pause' : 'complete' };
  }
  if (known !== undefined) return { stop: known };
  const detail = reason === '' ? 'the answer has no stop reason' : `unknown stop reason ${reason}`;
  return { stop: hasCalls ? 'calls' : 'failed', detail };
}

function usageOf(usage: JsonObject): Usage {
  const cacheRead = asNumber(usage['cache_read_input_tokens']);
  const cacheWrite = asNumber(usage['cache_creation_input_tokens']);
  const reasoning = asNumber(asObject(usage['output_tokens_details'])?.['thinking_tokens']);
  return {
    // The API counts what the cache served apart from the rest.
    input: asNumber(usage['input_tokens']) + cacheRead + cacheWrite,
    output: asNumber(usage['output_tokens']),
    cacheRead,
    cacheWrite,
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}

function reader(model: string): TurnReader {
  let message: JsonObject = {};
  let usage: JsonObject = {};
  let stopped = false;
  const blocks = new Map<number, JsonObject>();
  const inputs = new Map<number, string>();

  const start = (index: number, block: JsonObject): TurnDelta[] => {
    blocks.set(index, { ...block });
    if (isCall(block)) return [{ type: 'call', id: asText(block['id']), name: asText(block['name']) }];
    if (block['type'] === 'mcp_tool_result') {
      return servedCalls([...blocks.values()])
        .filter(({ id }) => id === block['tool_use_id'])
        .map((call) => ({ type: 'served', call }));
    }
    const text = block['type'] === 'text' ? asText(block['text']) : '';
    return text === '' ? [] : [{ type: 'text', delta: text }];
  };
  const grow = (index: number, delta: JsonObject): TurnDelta[] => {
    const block = blocks.get(index);
    if (block === undefined) return [];
    if (delta['type'] === 'input_json_delta') {
      inputs.set(index, (inputs.get(index) ?? '') + asText(delta['partial_json']));
      return [];
    }
    if (delta['type'] === 'citations_delta') {
      block['citations'] = [...asObjects(block['citations']), ...asObjects([delta['citation']])];
      return [];
    }
    // Every other delta, known or not, carries the next piece of members that the block has under the same name.
    for (const [member, piece] of Object.entries(delta)) {
      if (member !== 'type' && typeof piece === 'string') block[member] = asText(block[member]) + piece;
    }
    if (delta['type'] === 'text_delta') return [{ type: 'text', delta: asText(delta['text']) }];
    const thinking = delta['type'] === 'thinking_delta' ? asText(delta['thinking']) : '';
    return thinking === '' ? [] : [{ type: 'reasoning', delta: thinking }];
  };

  return {
    push(event: JsonObject) {
      switch (event['type']) {
        case 'error':
          throw apiError(event['error']);
        case 'message_start':
          message = asObject(event['message']) ?? {};
          usage = asObject(message['usage']) ?? {};
          return [];
        case 'content_block_start':
          return start(asNumber(event['index']), asObject(event['content_block']) ?? {});
        case 'content_block_delta':
          return grow(asNumber(event['index']), asObject(event['delta']) ?? {});
        case 'content_block_stop': {
          const index = asNumber(event['index']);
          const block = blocks.get(index);
          if (block?.['type'] !== 'mcp_tool_use') return [];
          const whole = { ...block, input: inputs.get(index) || (block['input'] ?? {}) };
          blocks.set(index, whole);
          return servedCalls([whole]).map((call) => ({ type: 'served', call }));
        }
        case 'message_delta': {
          const changed = Object.entries(asObject(event['delta']) ?? {}).filter(
            ([, value]) => value !== null,
          );
          message = { ...message, ...Object.fromEntries(changed) };
          const counted = Object.entries(asObject(event['usage']) ?? {}).filter(
            ([, value]) => value !== null,
          );
          usage = { ...usage, ...Object.fromEntries(counted) };
          return [];
        }
        case 'message_stop':
          stopped = true;
          return [];
        default:
          return [];
      }
    },
    end() {
      if (!stopped && typeof message['stop_reason'] !== 'string') {
        throw endedEarly();
      }
      const content = [...blocks.entries()]
        .sort(([a], [b]) => a - b)
        .map(([index, block]): JsonObject => {
          const input = inputs.get(index);
          return input === undefined || input === '' ? block : { ...block, input };
        });
      return turn({ ...message, content, usage }, model);
    },
  };
}

function place(media: Media): Place {
  if (media.type === 'image') {
    return imageTypes.has(media.mimeType) && media.data.length <= mostImage ? 'inside' : 'nowhere';
  }
  return media.mimeType === 'application/pdf' && media.data.length <= mostFile ? 'inside' : 'nowhere';
}

/** A result with `is_error` may hold nothing but text. */
function placeInError(media: Media): Place {
  return place(media) === 'inside' ? 'after' : 'nowhere';
}

function blockOf(piece: Piece): JsonObject[] {
  switch (piece.type) {
    case 'text':
      // The API refuses text without a visible character.
      return piece.text.trim() === '' ? [] : [{ type: 'text', text: piece.text }];
    case 'image':
      return [{ type: 'image', source: { type: 'base64', media_type: piece.mimeType, data: piece.data } }];
    default: {
      const source = { type: 'base64', media_type: piece.mimeType, data: piece.data };
      return [{ type: 'document', source, ...(piece.name === '' ? {} : { title: piece.name }) }];
    }
  }
}

/** All results first and in call order, then the media that error results may not hold. */
function resultBlocks(
  results: readonly CallResult[],
  options: ResultOptions | undefined,
  losses: string[],
): JsonObject[] {
  const after: JsonObject[] = [];
  const blocks = results.map((one): JsonObject => {
    const read = readResult(one, { place: one.result.isError === true ? placeInError : place }, options);
    losses.push(...read.losses);
    for (const media of read.after)
      after.push({ type: 'text', text: captionOf(media, one) }, ...blockOf(media));
    const content = read.inside.flatMap(blockOf);
    return {
      type: 'tool_result',
      tool_use_id: one.call.id,
      ...(content.length === 0 ? {} : { content }),
      ...(read.isError ? { is_error: true } : {}),
    };
  });
  return [...blocks, ...after];
}

function userBlocks(content: string | ContentBlock[], losses: string[]): JsonObject[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const read = readBlocks(blocks, { place }, () => undefined);
  losses.push(...read.losses.map((loss) => `user message: ${loss}`));
  return read.inside.flatMap(blockOf);
}

/** Messages that alternate: what follows results in the same role joins their message, results first. */
function messages(request: TurnRequest, options: ResultOptions | undefined, losses: string[]): JsonObject[] {
  const made: { role: string; content: JsonObject[] }[] = [];
  const add = (role: string, content: JsonObject[]): void => {
    const last = made.at(-1);
    if (content.length === 0) return;
    if (last?.role === role) last.content.push(...content);
    else made.push({ role, content });
  };
  for (const step of conversation(request, 'anthropic', losses)) {
    if (step.role === 'user') add('user', userBlocks(step.content, losses));
    else if (step.role === 'tool') add('user', resultBlocks(step.results, options, losses));
    else {
      const uses = step.calls.map(({ id, name, arguments: input }): JsonObject => ({
        type: 'tool_use',
        id,
        name,
        input,
      }));
      add(
        'assistant',
        step.echo === undefined ? [...blockOf({ type: 'text', text: step.text }), ...uses] : [...step.echo],
      );
    }
  }
  return made;
}

/** The API has no subset: the other tools are left out of the request instead. */
function toolChoice(request: TurnRequest, losses: string[]): { member?: JsonObject; only?: string[] } {
  const parallel: JsonObject = request.parallel === false ? { disable_parallel_tool_use: true } : {};
  const want = wanted(request, losses);
  if (want === undefined) return request.parallel === false ? { member: { type: 'auto', ...parallel } } : {};
  if (want.mode === 'none') return { member: { type: 'none' } };
  if (want.mode === 'validated')
    losses.push('choice: the API enforces schemas per tool (strict), not per request');
  const [forced, ...others] = want.only ?? [];
  let member: JsonObject = { type: want.mode === 'required' ? 'any' : 'auto', ...parallel };
  if (want.mode === 'required' && forced !== undefined && others.length === 0)
    member = { type: 'tool', name: forced, ...parallel };
  const thinking = asObject(request.extra?.['thinking'])?.['type'] === 'enabled';
  if (want.mode === 'required' && (thinking || refusesForcedCalls.test(request.model))) {
    losses.push(
      `choice: ${thinking ? 'a request with manual thinking' : request.model} cannot be forced to call a tool; it may answer with text`,
    );
    member = { type: 'auto', ...parallel };
  }
  const subset = typeof request.choice === 'object' && 'tools' in request.choice;
  if (!subset || want.only === undefined || member['type'] === 'tool') return { member };
  losses.push(
    'choice: the API has no subset; the other tools are left out of this request, and its prompt cache with them',
  );
  return { member, only: want.only };
}
