/** Anthropic Messages, emulated: `POST /v1/messages`, streamed and whole, as strict as the real API. */
import { checkConnector, connectorBlocks } from './anthropic-mcp.ts';
import { checkMessages } from './anthropic-messages.ts';
import { type Ledger, newLedger, sign } from './anthropic-thinking.ts';
import { checkRequest } from './anthropic-request.ts';
import {
  type ApiRequest,
  type EmulatedApi,
  type Emulator,
  type EmulatorScript,
  type EmulatorTurn,
  isObject,
  pieces,
  Refusal,
  startEmulator,
  type StreamEvent,
  show,
} from './server.ts';
import type { JsonObject } from '../../src/types.ts';

const KEY = 'sk-ant-emulated-key';
const VERSIONS = ['2023-06-01', '2026-10-21'];

export function startAnthropic(
  script: EmulatorScript,
  options: { maxBody?: number } = {},
): Promise<Emulator> {
  return startEmulator(anthropicApi(options.maxBody ?? 32 * 1024 * 1024), script);
}

function anthropicApi(maxBody: number): EmulatedApi {
  const ledger = newLedger();
  return {
    key: KEY,
    maxBody,
    headers: { 'request-id': 'req_emulated' },
    serves: (method, path) => method === 'POST' && path === '/v1/messages',
    authorize(headers) {
      const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
      const key = headers['x-api-key'];
      if (bearer === undefined && key === undefined) {
        throw new Refusal(401, 'authentication_error', 'x-api-key header is required');
      }
      if (bearer !== undefined && bearer !== KEY)
        throw new Refusal(401, 'authentication_error', 'Invalid bearer token');
      if (key !== undefined && key !== KEY)
        throw new Refusal(401, 'authentication_error', 'invalid x-api-key');
      const version = headers['anthropic-version'];
      if (version === undefined)
        throw new Refusal(400, 'invalid_request_error', 'anthropic-version: header is required');
      if (!VERSIONS.includes(show(version))) {
        throw new Refusal(
          400,
          'invalid_request_error',
          `anthropic-version: ${JSON.stringify(version)} is not a valid version`,
        );
      }
    },
    check({ headers, body }) {
      checkRequest(body, show(headers['anthropic-version']));
      checkConnector(body, headers);
      checkMessages(body, ledger);
    },
    streams: ({ body }) => body['stream'] === true,
    async connect(turn, { body }, index) {
      const { listings, calls } = await connectorBlocks(turn, body, index);
      return { ...turn, opening: [...listings, ...calls] };
    },
    answer: (turn, request, index) => answer(turn, request, index, ledger),
    errorBody: ({ type, message }) => ({
      type: 'error',
      error: { type, message },
      request_id: 'req_emulated',
    }),
    errorEvent: (type, message) => ({
      event: 'error',
      data: { type: 'error', error: { type, message }, request_id: 'req_emulated' },
    }),
    typeOfStatus: (status) => TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error'),
  };
}

const TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function answer(turn: EmulatorTurn, { body }: ApiRequest, index: number, ledger: Ledger) {
  const calls = turn.calls ?? [];
  const content: JsonObject[] = [...(turn.opening ?? [])];
  const raw = new Map<JsonObject, string>();
  if (turn.reasoning !== undefined) {
    const block = { type: 'thinking', thinking: turn.reasoning };
    content.push({ ...block, signature: sign(turn.reasoning, body, content) });
  }
  if (turn.text !== undefined) content.push({ type: 'text', text: turn.text, citations: null });
  content.push(...(turn.items ?? []));
  for (const [position, call] of calls.entries()) {
    const written =
      typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {});
    const block: JsonObject = {
      type: 'tool_use',
      id: call.id ?? `toolu_${index}_${position}`,
      name: call.name,
      input: parsed(written),
      caller: { type: 'direct' },
    };
    raw.set(block, written === '{}' ? '' : written);
    content.push(block);
    if (turn.reasoning !== undefined) ledger.thoughtBefore.add(show(block['id']));
  }
  const usage = usageOf(turn, body);
  const end = {
    stop_reason: turn.stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    stop_details: turn.stopDetails ?? null,
  };
  const message: JsonObject = {
    id: `msg_${index}`,
    type: 'message',
    role: 'assistant',
    model: show(body['model']),
    content,
    container: null,
    diagnostics: null,
    ...end,
    usage,
  };
  const started = {
    ...message,
    content: [],
    stop_reason: null,
    stop_details: null,
    usage: { ...usage, output_tokens: 1 },
  };
  const events: StreamEvent[] = [
    event({ type: 'message_start', message: started }),
    event({ type: 'ping' }),
    ...content.flatMap((block, at) => blockEvents(block, at, raw.get(block))),
    event({
      type: 'message_delta',
      delta: { ...end, container: null },
      usage: { output_tokens: usage['output_tokens'] },
    }),
    event({ type: 'message_stop' }),
  ];
  return { whole: message, events };
}

const event = (data: JsonObject): StreamEvent => ({ event: show(data['type']), data });

function blockEvents(block: JsonObject, index: number, raw: string | undefined): StreamEvent[] {
  const delta = (change: JsonObject): StreamEvent =>
    event({ type: 'content_block_delta', index, delta: change });
  const start = (shown: JsonObject): StreamEvent =>
    event({ type: 'content_block_start', index, content_block: shown });
  const stop = event({ type: 'content_block_stop', index });
  switch (block['type']) {
    case 'text':
      return [
        start({ ...block, text: '' }),
        ...pieces(show(block['text']), 9).map((text) => delta({ type: 'text_delta', text })),
        stop,
      ];
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...pieces(show(block['thinking']), 11).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: show(block['signature']) }),
        stop,
      ];
    case 'mcp_tool_use':
      return [
        start({ ...block, input: {} }),
        ...pieces(JSON.stringify(block['input']), 7).map((partial_json) =>
          delta({ type: 'input_json_delta', partial_json }),
        ),
        stop,
      ];
    case 'tool_use':
      // A call without arguments comes without a delta or with an empty one.
      return [
        start({ ...block, input: {} }),
        ...(raw === '' && index % 2 === 0 ? [] : ['', ...pieces(raw ?? '', 7)]).map((partial_json) =>
          delta({ type: 'input_json_delta', partial_json }),
        ),
        stop,
      ];
    default:
      return [start(block), stop];
  }
}

function usageOf(turn: EmulatorTurn, body: JsonObject): JsonObject {
  return {
    input_tokens: turn.usage?.input ?? Math.ceil(JSON.stringify(body).length / 4),
    output_tokens: turn.usage?.output ?? 10,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: turn.usage?.cacheRead ?? 0,
    cache_creation: null,
    inference_geo: null,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
  };
}

function parsed(text: string): JsonObject {
  try {
    const value = JSON.parse(text) as unknown;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
