/** OpenAI Responses, stateless: nothing is stored by the API, and its items are sent back as they came. */
import type { ContentBlock, Json, JsonObject } from '../types.ts';
import { callId, readArguments, readCalls } from './calls.ts';
import { wanted } from './choice.ts';
import type { DefinitionRules } from './compile.ts';
import { compile } from './compile.ts';
import type { Media, Piece, Place } from './content.ts';
import { fileName, imageTypes, readBlocks } from './content.ts';
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
import {
  approvalRequests,
  approvalResponses,
  listFailures,
  mcpTools,
  openaiConnector,
  servedCall,
} from './openai-connector.ts';
import { functionsOf, grouped, inNamespaces, MOST_ENTRIES, placed } from './openai-namespaces.ts';
import { readResult, withErrorPrefix } from './results.ts';

const rules: DefinitionRules = {
  dialect: 'openai-responses',
  profile: 'openai',
  strictProfile: 'openai-strict',
  names: /^[a-zA-Z0-9_-]{1,64}$/,
  tokenFactor: 1,
  entry: ({ name, description, schema, strict }) => ({
    type: 'function',
    name,
    ...(description === '' ? {} : { description }),
    parameters: schema,
    // Left out, the API tries to make the schema strict, and optional arguments arrive as null.
    strict,
  }),
};

/** Base64 characters: the API takes 20 MiB of image address and 70 MiB of file. */
const mostImage = 20_900_000;
const mostFile = 70_000_000;
/** Models without reasoning refuse to include it. */
const withoutReasoning = /^(?:ft:)?(?:gpt-3|gpt-4|chatgpt-)/;

export const openaiResponses: Dialect = {
  id: 'openai-responses',
  connector: openaiConnector,
  definitions: (tools) => inNamespaces(compile(tools, rules)),
  calls: (body: JsonObject) => turn(body, '').message.calls,
  turn,
  reader,
  results(results, options) {
    const losses: string[] = [];
    return { messages: results.map((one) => outputOf(one, options, losses)), losses };
  },
  request(request, options) {
    const losses: string[] = [];
    const { tools: offered, choice } = chosen(request, losses);
    const delegated = mcpTools(request.servers ?? []);
    const room = MOST_ENTRIES - delegated.length;
    const tools = [...(offered.length > room ? grouped(functionsOf(offered), room) : offered), ...delegated];
    return {
      body: {
        model: request.model,
        ...(request.system === undefined || request.system === '' ? {} : { instructions: request.system }),
        input: placed(input(request, options, losses), tools),
        ...(tools.length === 0 ? {} : { tools }),
        ...(choice === undefined ? {} : { tool_choice: choice }),
        ...(tools.length > 0 && request.parallel === false ? { parallel_tool_calls: false } : {}),
        ...(request.maxTokens === undefined ? {} : { max_output_tokens: request.maxTokens }),
        ...(withoutReasoning.test(request.model) ? {} : { include: ['reasoning.encrypted_content'] }),
        store: false,
        stream: true,
        ...request.extra,
      },
      losses,
    };
  },
};

function turn(body: JsonObject, model: string): Turn {
  if (body['output'] === undefined && asObject(body['error']) !== undefined) throw apiError(body['error']);
  const output = asObjects(body['output']);
  const made = output.filter(isCall);
  const calls = readCalls(
    made.map((item) => ({ id: item['call_id'], name: item['name'], arguments: item['arguments'] })),
    asText(body['id']),
  );
  const idOf = new Map(made.map((item, at) => [item, calls[at]?.id]));
  const items = output.map((item): JsonObject => {
    const id = idOf.get(item);
    if (id === undefined) return item;
    // Compatible servers refuse the request when arguments that they made themselves come back unreadable.
    const text = item['arguments'];
    const readable =
      typeof text === 'string' && text.trim() !== '' && readArguments(text).problem === undefined;
    return {
      ...item,
      call_id: id,
      arguments: readable ? text : JSON.stringify(readArguments(text).arguments),
    };
  });
  const served = output.flatMap((item) => servedCall(item) ?? []);
  const approvals = approvalRequests(output);
  const notices = listFailures(output);
  const parts = output.flatMap((item) => (item['type'] === 'message' ? asObjects(item['content']) : []));
  const refusal = parts.map((part) => (part['type'] === 'refusal' ? asText(part['refusal']) : '')).join('');
  const reported = asText(body['model']);
  return {
    message: {
      role: 'assistant',
      text: parts.map((part) => (part['type'] === 'output_text' ? asText(part['text']) : '')).join(''),
      calls,
      ...servedMembers(served, approvals),
      echo: { dialect: 'openai-responses', model: reported || model, items },
    },
    ...stopOf(body, calls.length > 0 || approvals.length > 0, refusal),
    ...(notices.length === 0 ? {} : { notices }),
    usage: usageOf(asObject(body['usage']) ?? {}),
    ...(reported === '' ? {} : { model: reported }),
  };
}

function isCall(item: JsonObject): boolean {
  return item['type'] === 'function_call';
}

/** The API has no stop reason for calls: that there is one is the sign. */
function stopOf(body: JsonObject, hasCalls: boolean, refusal: string): { stop: Stop; detail?: string } {
  const status = asText(body['status']) || 'completed';
  if (status === 'incomplete') {
    const reason = asText(asObject(body['incomplete_details'])?.['reason']);
    if (reason === 'max_output_tokens') return { stop: 'max-tokens' };
    if (reason === 'content_filter') return { stop: 'content-filter' };
    if (reason === 'steered') return { stop: 'pause', detail: reason };
    return { stop: 'failed', detail: `the answer is incomplete: ${reason || 'no reason given'}` };
  }
  if (status !== 'completed') {
    const error = asObject(body['error']);
    const words = error === undefined ? '' : `: ${asText(error['code'])} ${asText(error['message'])}`;
    return { stop: 'failed', detail: `the response is ${status}${words}` };
  }
  if (hasCalls) return { stop: 'calls' };
  return refusal === '' ? { stop: 'complete' } : { stop: 'refusal', detail: refusal };
}

function usageOf(usage: JsonObject): Usage {
  const input = asObject(usage['input_tokens_details']);
  const reasoning = asNumber(asObject(usage['output_tokens_details'])?.['reasoning_tokens']);
  return {
    input: asNumber(usage['input_tokens']),
    output: asNumber(usage['output_tokens']),
    cacheRead: asNumber(input?.['cached_tokens']),
    cacheWrite: asNumber(input?.['cache_write_tokens']),
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}

function reader(model: string): TurnReader {
  let answer = '';
  let final: JsonObject | undefined;
  const items = new Map<number, JsonObject>();
  const ids = new Set<string>();

  const added = (index: number, item: JsonObject): TurnDelta[] => {
    items.set(index, item);
    if (!isCall(item)) return [];
    const id = callId(item['call_id'], ids.size, answer, ids);
    ids.add(id);
    return [{ type: 'call', id, name: asText(item['name']) }];
  };
  /** For servers that never send the finished item. */
  const change = (event: JsonObject, changed: (item: JsonObject) => JsonObject): void => {
    const index = asNumber(event['output_index']);
    const item = items.get(index);
    if (item !== undefined) items.set(index, changed(item));
  };

  return {
    push(event: JsonObject) {
      const delta = asText(event['delta']);
      switch (event['type']) {
        case 'error':
          throw apiError(asObject(event['error']) ?? { ...event, type: undefined });
        case 'response.created':
          answer = asText(asObject(event['response'])?.['id']);
          return [];
        case 'response.output_item.added':
          return added(asNumber(event['output_index']), asObject(event['item']) ?? {});
        case 'response.output_item.done': {
          const index = asNumber(event['output_index']);
          const item = asObject(event['item']) ?? {};
          const known = items.has(index);
          const deltas = known ? [] : added(index, item);
          items.set(index, item);
          const call = servedCall(item);
          return call === undefined ? deltas : [...deltas, { type: 'served', call }];
        }
        case 'response.function_call_arguments.delta':
          change(event, (item) => ({ ...item, arguments: asText(item['arguments']) + delta }));
          return [];
        case 'response.function_call_arguments.done':
          change(event, (item) => ({ ...item, arguments: event['arguments'] ?? item['arguments'] }));
          return [];
        case 'response.mcp_call_arguments.done': {
          const item = items.get(asNumber(event['output_index'])) ?? {};
          const call = servedCall({ ...item, status: 'calling', arguments: event['arguments'] });
          return call === undefined ? [] : [{ type: 'served', call }];
        }
        case 'response.output_text.delta':
          change(event, (item) => ({
            ...item,
            content: withText(item['content'], asNumber(event['content_index']), delta),
          }));
          return delta === '' ? [] : [{ type: 'text', delta }];
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return delta === '' ? [] : [{ type: 'reasoning', delta }];
        case 'response.completed':
        case 'response.incomplete':
        case 'response.failed':
          final = asObject(event['response']) ?? {};
          return [];
        default:
          return [];
      }
    },
    end() {
      if (final === undefined) {
        throw endedEarly();
      }
      const streamed = [...items.entries()].sort(([a], [b]) => a - b).map(([, item]) => item);
      return turn({ ...final, output: streamed.length > 0 ? streamed : (final['output'] ?? []) }, model);
    },
  };
}

function withText(content: Json | undefined, index: number, delta: string): JsonObject[] {
  const parts = asObjects(content);
  const part = parts[index] ?? { type: 'output_text', text: '', annotations: [] };
  return [
    ...parts.slice(0, index),
    { ...part, text: asText(part['text']) + delta },
    ...parts.slice(index + 1),
  ];
}

function place(media: Media): Place {
  if (media.type === 'image') {
    return imageTypes.has(media.mimeType) && media.data.length <= mostImage ? 'inside' : 'nowhere';
  }
  return media.mimeType === 'application/pdf' && media.data.length <= mostFile ? 'inside' : 'nowhere';
}

function partOf(piece: Piece): JsonObject {
  if (piece.type === 'text') return { type: 'input_text', text: piece.text };
  const address = `data:${piece.mimeType};base64,${piece.data}`;
  return piece.type === 'image'
    ? { type: 'input_image', image_url: address }
    : { type: 'input_file', filename: fileName(piece), file_data: address };
}

/** One text is sent as a string, which every compatible server takes; several blocks keep their boundaries. */
function contentOf(pieces: readonly Piece[]): string | JsonObject[] {
  const [first, ...others] = pieces;
  if (first === undefined) return '';
  return first.type === 'text' && others.length === 0 ? first.text : pieces.map(partOf);
}

function outputOf(one: CallResult, options: ResultOptions | undefined, losses: string[]): JsonObject {
  const read = readResult(one, { place }, options);
  losses.push(...read.losses);
  const output = contentOf(read.isError ? withErrorPrefix(read.inside) : read.inside);
  return { type: 'function_call_output', call_id: one.call.id, output };
}

function userContent(content: string | ContentBlock[], losses: string[]): string | JsonObject[] {
  if (typeof content === 'string') return content;
  const read = readBlocks(content, { place }, () => undefined);
  losses.push(...read.losses.map((loss) => `user message: ${loss}`));
  return contentOf(read.inside);
}

function input(request: TurnRequest, options: ResultOptions | undefined, losses: string[]): JsonObject[] {
  return conversation(request, 'openai-responses', losses).flatMap((step): JsonObject[] => {
    if (step.role === 'user') return [{ role: 'user', content: userContent(step.content, losses) }];
    if (step.role === 'tool') {
      const outputs = step.results.map((one) => outputOf(one, options, losses));
      return [...outputs, ...approvalResponses(step.approvals)];
    }
    if (step.echo !== undefined) return step.echo;
    const calls = step.calls.map(({ id, name, arguments: args }): JsonObject => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    }));
    return [...(step.text === '' ? [] : [{ role: 'assistant', content: step.text }]), ...calls];
  });
}

/** The choice, and the tools as it needs them: a choice of single tools cannot name what stands in a namespace. */
function chosen(
  request: TurnRequest,
  losses: string[],
): { tools: readonly JsonObject[]; choice: Json | undefined } {
  const { tools } = request.tools;
  const want = wanted(request, losses);
  const choice = toolChoice(want, losses);
  if (want?.only === undefined || !tools.some(({ type }) => type === 'namespace')) return { tools, choice };
  const only = functionsOf(tools).filter(({ name }) => want.only?.includes(asText(name)));
  if (only.length > MOST_ENTRIES) {
    losses.push('choice: so many tools cannot be chosen from; all of them are offered');
    return { tools, choice: want.mode === 'validated' ? 'auto' : want.mode };
  }
  losses.push('choice: the tools that were not chosen are left out of the request');
  return { tools: only, choice };
}

function toolChoice(want: ReturnType<typeof wanted>, losses: string[]): Json | undefined {
  if (want === undefined) return undefined;
  if (want.mode === 'validated')
    losses.push('choice: the API enforces schemas per tool (strict), not per request');
  const mode = want.mode === 'validated' ? 'auto' : want.mode;
  const [name, ...others] = want.only ?? [];
  if (name === undefined) return mode;
  if (mode === 'required' && others.length === 0) return { type: 'function', name };
  const tools = [name, ...others].map((one) => ({ type: 'function', name: one }));
  return { type: 'allowed_tools', mode, tools };
}
