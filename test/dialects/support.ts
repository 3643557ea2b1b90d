import {
  anthropic,
  gemini,
  geminiInteractions,
  openaiChat,
  openaiResponses,
  type Call,
  type CallResult,
  type Compiled,
  type ContentBlock,
  type Dialect,
  type DialectId,
  type ExposedTool,
  type JsonObject,
  type Message,
  type ToolResult,
} from '../../src/dialects/index.ts';

export const dialects: readonly Dialect[] = [
  anthropic,
  openaiResponses,
  openaiChat,
  gemini,
  geminiInteractions,
];
export const ids = dialects.map(({ id }) => id);

/** One expectation per dialect: none can be forgotten. */
export type PerDialect<T> = Record<DialectId, T>;

export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEA';
export const pdf = 'JVBERi0xLjQKJSVFT0YK';
export const svg = 'PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=';

export function tool(name: string, more: Partial<ExposedTool['definition']> = {}): ExposedTool {
  return {
    name,
    definition: {
      name,
      description: `Does ${name}.`,
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      ...more,
    },
  };
}

export function compiled(dialect: Dialect, ...names: string[]): Compiled {
  return dialect.definitions(names.map((name) => tool(name)));
}

export const call: Call = { id: 'call_1', name: 'look', arguments: { city: 'Bern' } };

export function resultOf(
  content: ContentBlock[],
  more: Partial<ToolResult> = {},
  of: Call = call,
): CallResult {
  return { call: of, result: { content, ...more } };
}

export function text(value: string): ContentBlock {
  return { type: 'text', text: value };
}

/** The member of a request that holds the conversation. */
export function conversationOf(dialect: Dialect, messages: readonly Message[]): JsonObject[] {
  const body = dialect.request({ model: modelOf(dialect), messages, tools: dialect.definitions([]) }).body;
  return (body['messages'] ?? body['input'] ?? body['contents']) as JsonObject[];
}

export function modelOf(dialect: Dialect): string {
  const models: PerDialect<string> = {
    anthropic: 'claude-opus-5',
    'openai-responses': 'gpt-6-astra',
    'openai-chat': 'qwen3',
    gemini: 'gemini-3.8-flash',
    'gemini-interactions': 'gemini-3.8-flash',
  };
  return models[dialect.id];
}

export interface Said {
  id?: string;
  text?: string;
  calls?: { id?: unknown; name?: unknown; arguments?: unknown }[];
  /** The API's own word for the end. */
  stop?: string;
}

/** A whole answer in each API's shape. */
export function bodyOf(id: DialectId, said: Said): JsonObject {
  const calls = said.calls ?? [];
  const body: PerDialect<() => object> = {
    anthropic: () => ({
      id: said.id ?? 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-5',
      content: [
        ...(said.text === undefined ? [] : [{ type: 'text', text: said.text }]),
        ...calls.map((one) => ({ type: 'tool_use', id: one.id, name: one.name, input: one.arguments })),
      ],
      stop_reason: said.stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn'),
      usage: { input_tokens: 10, output_tokens: 5 },
    }),
    'openai-responses': () => ({
      id: said.id ?? 'resp_1',
      object: 'response',
      model: 'gpt-6-astra',
      status: said.stop ?? 'completed',
      output: [
        ...(said.text === undefined
          ? []
          : [
              {
                type: 'message',
                id: 'msg_1',
                role: 'assistant',
                status: 'completed',
                content: [{ type: 'output_text', text: said.text, annotations: [] }],
              },
            ]),
        ...calls.map((one, at) => ({
          type: 'function_call',
          id: `fc_${at}`,
          call_id: one.id,
          name: one.name,
          arguments: one.arguments,
          status: 'completed',
        })),
      ],
      usage: { input_tokens: 10, output_tokens: 5 },
    }),
    'openai-chat': () => ({
      id: said.id ?? 'chatcmpl-1',
      model: 'qwen3',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: said.text ?? null,
            ...(calls.length === 0
              ? {}
              : {
                  tool_calls: calls.map((one) => ({
                    id: one.id,
                    type: 'function',
                    function: { name: one.name, arguments: one.arguments },
                  })),
                }),
          },
          finish_reason: said.stop ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    }),
    gemini: () => ({
      responseId: said.id ?? 'r1',
      modelVersion: 'gemini-3.8-flash',
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              ...(said.text === undefined ? [] : [{ text: said.text }]),
              ...calls.map((one) => ({
                functionCall: {
                  ...(one.id === undefined ? {} : { id: one.id }),
                  name: one.name,
                  args: one.arguments,
                },
              })),
            ],
          },
          finishReason: said.stop ?? 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 },
    }),
    'gemini-interactions': () => ({
      id: said.id ?? 'i1',
      model: 'gemini-3.8-flash',
      status: said.stop ?? (calls.length > 0 ? 'requires_action' : 'completed'),
      steps: [
        ...(said.text === undefined
          ? []
          : [{ type: 'model_output', content: [{ type: 'text', text: said.text }] }]),
        ...calls.map((one) => ({
          type: 'function_call',
          id: one.id,
          name: one.name,
          arguments: one.arguments,
        })),
      ],
      usage: { total_input_tokens: 10, total_output_tokens: 5 },
    }),
  };
  return JSON.parse(JSON.stringify(body[id]())) as JsonObject;
}
