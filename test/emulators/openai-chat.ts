/** OpenAI Chat Completions, emulated: `POST /v1/chat/completions`, streamed and whole, as strict as the real API. */
import type { JsonObject } from '../../src/types.ts';
import { authorizeOpenai, openaiError, openaiTypeOfStatus } from './openai.ts';
import { checkChatMessages } from './openai-chat-messages.ts';
import { checkChatRequest } from './openai-chat-request.ts';
import {
  type ApiRequest,
  type EmulatedApi,
  type Emulator,
  type EmulatorScript,
  type EmulatorTurn,
  pieces,
  startEmulator,
  type StreamEvent,
} from './server.ts';

const KEY = 'sk-emulated-openai-key';

export function startChat(script: EmulatorScript): Promise<Emulator> {
  // A server that gives its reasoning takes it back; OpenAI's own knows no such member.
  const reasons = { given: false };
  const api: EmulatedApi = {
    key: KEY,
    maxBody: 64 * 1024 * 1024,
    headers: { 'x-request-id': 'req_emulated' },
    serves: (method, path) => method === 'POST' && path === '/v1/chat/completions',
    authorize: (headers) => authorizeOpenai(headers, KEY),
    check({ body }) {
      checkChatRequest(body);
      checkChatMessages(body, reasons.given);
    },
    streams: ({ body }) => body.stream === true,
    answer(turn, request, index) {
      reasons.given ||= turn.reasoning !== undefined;
      return answer(turn, request, index);
    },
    errorBody: openaiError,
    errorEvent: (type, message) => ({ data: { error: { message, type, param: null, code: null } } }),
    typeOfStatus: openaiTypeOfStatus,
  };
  return startEmulator(api, script);
}

function answer(turn: EmulatorTurn, { body }: ApiRequest, index: number) {
  const calls = (turn.calls ?? []).map((call, position) => ({
    id: call.id ?? `call_${index}_${position}`,
    type: 'function',
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
    },
  }));
  const finish_reason = turn.stop ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  const input = turn.usage?.input ?? Math.ceil(JSON.stringify(body).length / 4);
  const output = turn.usage?.output ?? 10;
  const usage: JsonObject = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: turn.usage?.cacheRead ?? 0 },
  };
  const head: JsonObject = { id: `chatcmpl_${index}`, created: 1_790_000_000, model: body.model };
  const message: JsonObject = {
    role: 'assistant',
    content: turn.text ?? null,
    refusal: null,
    ...(turn.reasoning !== undefined && { reasoning_content: turn.reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const whole: JsonObject = {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage,
  };
  const chunk = (delta: JsonObject, finish: string | null = null): StreamEvent => ({
    data: {
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      usage: null,
    },
  });
  const withUsage = (body.stream_options as JsonObject | undefined)?.include_usage === true;
  const events: StreamEvent[] = [
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...pieces(turn.reasoning ?? '', 11).map((reasoning_content) => chunk({ reasoning_content })),
    ...pieces(turn.text ?? '', 9).map((content) => chunk({ content })),
    ...calls.flatMap((call, at) => [
      chunk({ tool_calls: [{ index: at, ...call, function: { name: call.function.name, arguments: '' } }] }),
      ...pieces(call.function.arguments, 7).map((text) =>
        chunk({ tool_calls: [{ index: at, function: { arguments: text } }] }),
      ),
    ]),
    chunk({}, finish_reason),
    ...(withUsage ? [{ data: { ...head, object: 'chat.completion.chunk', choices: [], usage } }] : []),
    { data: '[DONE]' },
  ];
  return { whole, events };
}
