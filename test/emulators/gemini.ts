/** Gemini generateContent, emulated: `models/<model>:generateContent` and `:streamGenerateContent?alt=sse`, as strict as the real API. */
import type { JsonObject } from '../../src/types.ts';
import { checkGemini } from './gemini-request.ts';
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
} from './server.ts';

const KEY = 'emulated-gemini-key';
const PATH = /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;
const STATUS: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

export function startGemini(script: EmulatorScript): Promise<Emulator> {
  const signatures = new Set<string>();
  const api: EmulatedApi = {
    key: KEY,
    maxBody: 20 * 1024 * 1024,
    serves: (method, path) => method === 'POST' && PATH.test(decodeURIComponent(path)),
    authorize(headers, path) {
      const key = headers['x-goog-api-key'] ?? new URL(path, 'http://localhost').searchParams.get('key');
      if (key === null || key === undefined) {
        throw new Refusal(
          403,
          'PERMISSION_DENIED',
          "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
        );
      }
      if (key !== KEY)
        throw new Refusal(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.');
    },
    check: ({ path, body }) => checkGemini(body, modelOf(path), signatures),
    streams: ({ path }) => path.includes(':streamGenerateContent') && path.includes('alt=sse'),
    answer: (turn, request, index) => answer(turn, request, index, signatures),
    errorBody: ({ status, type, message }) => ({ error: { code: status, message, status: type } }),
    errorEvent: (type, message) => ({ data: { error: { code: 503, message, status: type } } }),
    typeOfStatus: (status) => STATUS[status] ?? 'INTERNAL',
  };
  return startEmulator(api, script);
}

function modelOf(path: string): string {
  return PATH.exec(decodeURIComponent(path.split('?')[0] ?? ''))?.[1] ?? '';
}

function answer(turn: EmulatorTurn, { path, body }: ApiRequest, index: number, signatures: Set<string>) {
  const three = !/gemini-[12]/.test(modelOf(path));
  const calls = (turn.calls ?? []).map((call, position): JsonObject => {
    const signature = `signature_${index}_${call.name}`;
    if (position === 0) signatures.add(signature);
    return {
      functionCall: {
        ...(three && { id: call.id ?? `fc_${index}_${position}` }),
        name: call.name,
        args: argumentsOf(call.arguments),
      },
      ...(three && position === 0 && { thoughtSignature: signature }),
    };
  });
  const thoughts = pieces(turn.reasoning ?? '', 11).map((text): JsonObject => ({ text, thought: true }));
  const texts = pieces(turn.text ?? '', 9).map((text): JsonObject => ({ text }));
  const facts: JsonObject = { modelVersion: modelOf(path), responseId: `response_${index}` };
  const usageMetadata: JsonObject = {
    promptTokenCount: turn.usage?.input ?? Math.ceil(JSON.stringify(body).length / 4),
    candidatesTokenCount: turn.usage?.output ?? 10,
    cachedContentTokenCount: turn.usage?.cacheRead ?? 0,
  };
  const finish: JsonObject = {
    finishReason: turn.stop ?? 'STOP',
    ...(calls.length > 0 && { finishMessage: 'Model generated function call(s).' }),
  };
  const candidate = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { role: 'model', ...(parts.length > 0 && { parts }) }, index: 0, ...more }],
    ...facts,
  });
  // A call comes whole, in one piece.
  const events: StreamEvent[] = [
    ...[...thoughts, ...texts, ...calls].map((part) => ({ data: candidate([part]) })),
    { data: { ...candidate([], finish), usageMetadata } },
  ];
  return { whole: { ...candidate([...thoughts, ...texts, ...calls], finish), usageMetadata }, events };
}

function argumentsOf(given: JsonObject | string | undefined): JsonObject {
  if (typeof given !== 'string') return given ?? {};
  try {
    const value = JSON.parse(given) as unknown;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
