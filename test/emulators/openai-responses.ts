/** OpenAI Responses, emulated: `POST /v1/responses`, streamed and whole, as strict as the real API. */
import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../src/types.ts';
import { checkInput, type Ledger, newLedger } from './openai-responses-input.ts';
import { mcpEvents, mcpItems } from './openai-responses-mcp.ts';
import { checkRequest } from './openai-responses-request.ts';
import { authorizeOpenai, openaiError, openaiTypeOfStatus } from './openai.ts';
import {
  type ApiRequest,
  type EmulatedApi,
  type Emulator,
  type EmulatorScript,
  type EmulatorTurn,
  isObject,
  pieces,
  startEmulator,
  type StreamEvent,
  show,
} from './server.ts';

const KEY = 'sk-emulated-openai-key';

export function startResponses(script: EmulatorScript): Promise<Emulator> {
  const ledger = newLedger();
  const api: EmulatedApi = {
    key: KEY,
    maxBody: 64 * 1024 * 1024,
    headers: { 'x-request-id': 'req_emulated' },
    serves: (method, path) => method === 'POST' && path === '/v1/responses',
    authorize: (headers) => authorizeOpenai(headers, KEY),
    check({ body }) {
      checkRequest(body);
      checkInput(body, ledger);
    },
    streams: ({ body }) => body.stream === true,
    async connect(turn, { body }, index) {
      return { ...turn, opening: await mcpItems(turn, body, index, ledger) };
    },
    answer: (turn, request, index) => answer(turn, request, index, ledger),
    errorBody: openaiError,
    errorEvent: (type, message) => ({
      event: 'error',
      data: { type: 'error', code: type, message, param: null, sequence_number: 99 },
    }),
    typeOfStatus: openaiTypeOfStatus,
  };
  return startEmulator(api, script);
}

/** The items of an answer. Calls and text that follow reasoning are bound to it. */
function itemsOf(turn: EmulatorTurn, index: number, ledger: Ledger): JsonObject[] {
  const items: JsonObject[] = [];
  const reasoning = turn.reasoning === undefined ? undefined : `rs_${index}`;
  if (reasoning !== undefined) {
    const encrypted = createHash('sha256').update(`${reasoning} ${turn.reasoning}`).digest('base64');
    ledger.encrypted.set(reasoning, encrypted);
    items.push({
      type: 'reasoning',
      id: reasoning,
      summary: [{ type: 'summary_text', text: turn.reasoning }],
      encrypted_content: encrypted,
    });
  }
  items.push(...(turn.opening ?? []));
  if (turn.text !== undefined) {
    items.push({
      type: 'message',
      id: `msg_${index}`,
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: turn.text, annotations: [], logprobs: [] }],
    });
  }
  items.push(...(turn.items ?? []));
  for (const [position, call] of (turn.calls ?? []).entries()) {
    items.push({
      type: 'function_call',
      id: `fc_${index}_${position}`,
      call_id: call.id ?? `call_${index}_${position}`,
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
      status: turn.stop === 'max_output_tokens' ? 'incomplete' : 'completed',
    });
  }
  if (reasoning !== undefined) {
    const following = items[1];
    if (following !== undefined) ledger.follower.set(reasoning, show(following.id));
    for (const item of items.slice(1)) ledger.needs.set(show(item.id), { type: show(item.type), reasoning });
  }
  return items;
}

/** A call of a function that stands in a namespace names it. */
function inNamespace(item: JsonObject, tools: Json | undefined): JsonObject {
  if (item.type !== 'function_call' || !Array.isArray(tools)) return item;
  const home = tools
    .filter(isObject)
    .find(
      ({ type, tools: inner }) =>
        type === 'namespace' &&
        Array.isArray(inner) &&
        inner.some((tool) => isObject(tool) && tool.name === item.name),
    );
  return home === undefined ? item : { ...item, namespace: show(home.name) };
}

function answer(turn: EmulatorTurn, { body }: ApiRequest, index: number, ledger: Ledger) {
  const output = itemsOf(turn, index, ledger).map((item) => inNamespace(item, body.tools));
  const input = turn.usage?.input ?? Math.ceil(JSON.stringify(body).length / 4);
  const tokens = turn.usage?.output ?? 10;
  const incomplete = turn.stop === 'max_output_tokens' || turn.stop === 'content_filter';
  const status = turn.stop === 'failed' ? 'failed' : incomplete ? 'incomplete' : 'completed';
  const response: JsonObject = {
    id: `resp_${index}`,
    object: 'response',
    created_at: 1_790_000_000,
    status,
    error: status === 'failed' ? { code: 'server_error', message: 'The server had an error' } : null,
    incomplete_details: incomplete ? { reason: turn.stop } : null,
    instructions: body.instructions ?? null,
    metadata: {},
    model: show(body.model),
    output,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    temperature: 1,
    top_p: 1,
    tool_choice: body.tool_choice ?? 'auto',
    tools: shownTools(body.tools),
    store: body.store ?? true,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: turn.usage?.cacheRead ?? 0, cache_write_tokens: 0 },
      output_tokens: tokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + tokens,
    },
  };
  const begun = {
    ...response,
    status: 'in_progress',
    output: [],
    usage: null,
    incomplete_details: null,
    error: null,
  };
  const data: JsonObject[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap((item, at) => itemEvents(item, at)),
    { type: `response.${status}`, response },
  ];
  const events = data.map((each, at): StreamEvent => ({
    event: show(each.type),
    data: { ...each, sequence_number: at },
  }));
  return { whole: response, events };
}

/** What a server is signed in to with is never said again. */
function shownTools(tools: Json | undefined): Json {
  return (Array.isArray(tools) ? tools : []).map((tool) =>
    isObject(tool) && tool.type === 'mcp' ? { ...tool, authorization: null, headers: null } : tool,
  );
}

function itemEvents(item: JsonObject, output_index: number): JsonObject[] {
  const place = { item_id: show(item.id), output_index };
  const added = (shown: JsonObject): JsonObject => ({
    type: 'response.output_item.added',
    output_index,
    item: shown,
  });
  const done: JsonObject = { type: 'response.output_item.done', output_index, item };
  switch (item.type) {
    case 'message': {
      const part = (item.content as JsonObject[])[0] as JsonObject;
      const text = show(part.text);
      const where = { ...place, content_index: 0 };
      return [
        added({ ...item, status: 'in_progress', content: [] }),
        { type: 'response.content_part.added', ...where, part: { ...part, text: '' } },
        ...pieces(text, 9).map((delta) => ({
          type: 'response.output_text.delta',
          ...where,
          delta,
          logprobs: [],
        })),
        { type: 'response.output_text.done', ...where, text, logprobs: [] },
        { type: 'response.content_part.done', ...where, part },
        done,
      ];
    }
    case 'reasoning': {
      const part = (item.summary as JsonObject[])[0] as JsonObject;
      const where = { ...place, summary_index: 0 };
      return [
        // What is encrypted is only whole when the item is done.
        added({ ...item, summary: [], encrypted_content: 'partial' }),
        { type: 'response.reasoning_summary_part.added', ...where, part: { ...part, text: '' } },
        ...pieces(show(part.text), 11).map((delta) => ({
          type: 'response.reasoning_summary_text.delta',
          ...where,
          delta,
        })),
        { type: 'response.reasoning_summary_text.done', ...where, text: part.text },
        { type: 'response.reasoning_summary_part.done', ...where, part },
        done,
      ];
    }
    case 'function_call':
      return [
        added({ ...item, status: 'in_progress', arguments: '' }),
        ...pieces(show(item.arguments), 7).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...place,
          delta,
        })),
        {
          type: 'response.function_call_arguments.done',
          ...place,
          name: item.name,
          arguments: item.arguments,
        },
        done,
      ];
    case 'mcp_list_tools':
      return [added({ ...item, tools: [] }), ...mcpEvents(item, place), done];
    case 'mcp_call': {
      const begun = { ...item, status: 'in_progress', arguments: '', output: null, error: null };
      return [added(begun), ...mcpEvents(item, place), done];
    }
    default:
      return [added(item), done];
  }
}
