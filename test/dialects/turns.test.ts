import { describe, expect, it } from 'vitest';
import {
  anthropic,
  gemini,
  geminiInteractions,
  MidspanError,
  openaiChat,
  openaiResponses,
  type Dialect,
  type JsonObject,
  type Stop,
} from '../../src/dialects/index.ts';
import { bodyOf, dialects, type PerDialect } from './support.ts';

describe('a turn', () => {
  it.each(dialects)('of $id holds text, calls, stop, usage and the model', (dialect) => {
    const body = bodyOf(dialect.id, {
      text: 'Hello',
      calls: [{ id: 'c1', name: 'a', arguments: '{"x":1}' }],
    });
    expect(dialect.turn(body, 'asked')).toMatchObject({
      message: { role: 'assistant', text: 'Hello', calls: [{ id: 'c1', name: 'a', arguments: { x: 1 } }] },
      stop: 'calls',
      usage: { input: 10, output: 5 },
      model: expect.stringMatching(/\w/),
    });
    expect(dialect.turn(bodyOf(dialect.id, { text: 'Hello' }), 'asked').stop).toBe('complete');
  });

  const stops: [Dialect, string, Stop, string?][] = [
    [anthropic, 'end_turn', 'complete'],
    [anthropic, 'tool_use', 'pause'],
    [anthropic, 'max_tokens', 'max-tokens'],
    [anthropic, 'stop_sequence', 'stop-sequence', ''],
    [anthropic, 'pause_turn', 'pause'],
    [anthropic, 'refusal', 'refusal'],
    [anthropic, 'model_context_window_exceeded', 'context-window'],
    [anthropic, 'compaction', 'compaction'],
    [anthropic, 'of_the_future', 'failed', 'unknown stop reason of_the_future'],
    [openaiResponses, 'completed', 'complete'],
    [openaiResponses, 'cancelled', 'failed', 'the response is cancelled'],
    [openaiResponses, 'in_progress', 'failed', 'the response is in_progress'],
    [openaiChat, 'stop', 'complete'],
    [openaiChat, 'length', 'max-tokens'],
    [openaiChat, 'content_filter', 'content-filter'],
    [openaiChat, 'tool_calls', 'failed', 'the answer announces calls and has none'],
    [openaiChat, 'error', 'failed', 'unknown finish reason error'],
    [gemini, 'STOP', 'complete'],
    [gemini, 'MAX_TOKENS', 'max-tokens'],
    [gemini, 'CONTINUATION', 'pause', 'CONTINUATION'],
    ...[
      'SAFETY',
      'RECITATION',
      'LANGUAGE',
      'BLOCKLIST',
      'PROHIBITED_CONTENT',
      'SPII',
      'IMAGE_SAFETY',
      'MODEL_ARMOR',
    ].map((reason): [Dialect, string, Stop, string] => [gemini, reason, 'content-filter', reason]),
    ...[
      'MALFORMED_FUNCTION_CALL',
      'UNEXPECTED_TOOL_CALL',
      'TOO_MANY_TOOL_CALLS',
      'MISSING_THOUGHT_SIGNATURE',
      'MALFORMED_RESPONSE',
      'OTHER',
      'NO_IMAGE',
      'OF_THE_FUTURE',
    ].map((reason): [Dialect, string, Stop, string] => [gemini, reason, 'failed', reason]),
    [geminiInteractions, 'completed', 'complete'],
    [geminiInteractions, 'requires_action', 'complete'],
    [geminiInteractions, 'incomplete', 'max-tokens', 'incomplete'],
    [geminiInteractions, 'budget_exceeded', 'max-tokens', 'budget_exceeded'],
    [geminiInteractions, 'requires_continuation', 'pause', 'requires_continuation'],
    [geminiInteractions, 'failed', 'failed', 'the interaction is failed'],
    [geminiInteractions, 'cancelled', 'failed', 'the interaction is cancelled'],
  ];

  it.each(stops.map(([dialect, ...rest]) => [dialect.id, ...rest, dialect] as const))(
    'of %s that ends with %s stops as %s',
    (...row) => {
      const dialect = row.at(-1) as Dialect;
      const [id, stop, expected, detail] = row as unknown as [Dialect['id'], string, Stop, string | Dialect];
      const turn = dialect.turn(bodyOf(id, { stop }), 'm');
      expect(turn.stop).toBe(expected);
      expect(turn.detail).toBe(typeof detail === 'string' ? detail : undefined);
    },
  );

  it.each([
    ['max_output_tokens', 'max-tokens', undefined],
    ['content_filter', 'content-filter', undefined],
    ['steered', 'pause', 'steered'],
    ['max_messages', 'failed', 'the answer is incomplete: max_messages'],
  ])('of Responses that is incomplete by %s stops as %s', (reason, stop, detail) => {
    const turn = openaiResponses.turn(
      { status: 'incomplete', incomplete_details: { reason }, output: [] },
      'm',
    );
    expect([turn.stop, turn.detail]).toEqual([stop, detail]);
  });

  it('tells why a model refused', () => {
    const details = { type: 'refusal', category: 'cyber', explanation: 'No.' };
    expect(anthropic.turn({ content: [], stop_reason: 'refusal', stop_details: details }, 'm')).toMatchObject(
      {
        stop: 'refusal',
        detail: 'cyber: No.',
      },
    );
    const message = { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] };
    expect(openaiResponses.turn({ status: 'completed', output: [message] }, 'm')).toMatchObject({
      stop: 'refusal',
      detail: 'No.',
    });
    const choice = { message: { content: null, refusal: 'No.' }, finish_reason: 'stop' };
    expect(openaiChat.turn({ choices: [choice] }, 'm')).toMatchObject({ stop: 'refusal', detail: 'No.' });
    expect(gemini.turn({ promptFeedback: { blockReason: 'SAFETY' } }, 'm')).toMatchObject({
      stop: 'content-filter',
      detail: 'the prompt was blocked: SAFETY',
    });
  });

  it('tells why a response failed', () => {
    const error = { code: 'server_error', message: 'Sorry' };
    expect(openaiResponses.turn({ status: 'failed', error, output: [] }, 'm').detail).toBe(
      'the response is failed: server_error Sorry',
    );
    expect(
      geminiInteractions.turn(
        { status: 'failed', steps: [{ type: 'model_output', error: { message: 'Sorry' } }] },
        'm',
      ).detail,
    ).toBe('the interaction is failed: Sorry');
    const candidate = { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(x)' };
    expect(gemini.turn({ candidates: [candidate] }, 'm').detail).toBe('MALFORMED_FUNCTION_CALL: print(x)');
  });

  it('is known by its calls, whatever reason the server gives', () => {
    const calls = [{ id: 'c', name: 'a', arguments: '{}' }];
    expect(openaiChat.turn(bodyOf('openai-chat', { calls, stop: 'stop' }), 'm').stop).toBe('calls');
    expect(openaiChat.turn(bodyOf('openai-chat', { calls, stop: 'length' }), 'm').stop).toBe('max-tokens');
    expect(
      geminiInteractions.turn(bodyOf('gemini-interactions', { calls, stop: 'completed' }), 'm').stop,
    ).toBe('calls');
    expect(anthropic.turn(bodyOf('anthropic', { calls, stop: 'max_tokens' }), 'm').stop).toBe('max-tokens');
  });
});

describe('usage', () => {
  const counted: PerDialect<[JsonObject, object]> = {
    anthropic: [
      {
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 1000,
          output_tokens: 5,
          output_tokens_details: { thinking_tokens: 3 },
        },
      },
      { input: 1110, output: 5, cacheRead: 100, cacheWrite: 1000, reasoning: 3 },
    ],
    'openai-responses': [
      {
        usage: {
          input_tokens: 1110,
          input_tokens_details: { cached_tokens: 100, cache_write_tokens: 1000 },
          output_tokens: 5,
          output_tokens_details: { reasoning_tokens: 3 },
        },
      },
      { input: 1110, output: 5, cacheRead: 100, cacheWrite: 1000, reasoning: 3 },
    ],
    'openai-chat': [
      {
        usage: {
          prompt_tokens: 1110,
          prompt_tokens_details: { cached_tokens: 100 },
          completion_tokens: 5,
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      },
      { input: 1110, output: 5, cacheRead: 100, cacheWrite: 0, reasoning: 3 },
    ],
    gemini: [
      {
        usageMetadata: {
          promptTokenCount: 1100,
          toolUsePromptTokenCount: 10,
          cachedContentTokenCount: 100,
          candidatesTokenCount: 2,
          thoughtsTokenCount: 3,
        },
      },
      { input: 1110, output: 5, cacheRead: 100, reasoning: 3 },
    ],
    'gemini-interactions': [
      {
        usage: {
          total_input_tokens: 1100,
          total_tool_use_tokens: 10,
          total_cached_tokens: 100,
          total_output_tokens: 2,
          total_thought_tokens: 3,
        },
      },
      { input: 1110, output: 5, cacheRead: 100, reasoning: 3 },
    ],
  };

  it.each(dialects)('of $id counts everything in and everything out', (dialect) => {
    const [body, usage] = counted[dialect.id];
    expect(dialect.turn({ ...bodyOf(dialect.id, {}), ...body }, 'm').usage).toEqual(usage);
  });
});

describe('an API error', () => {
  const given: PerDialect<JsonObject> = {
    anthropic: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    'openai-responses': { error: { type: 'x', code: 'overloaded_error', message: 'Overloaded' } },
    'openai-chat': { error: { type: 'overloaded_error', message: 'Overloaded' } },
    gemini: { error: { code: 503, status: 'overloaded_error', message: 'Overloaded' } },
    'gemini-interactions': {
      event_type: 'error',
      error: { code: 'overloaded_error', message: 'Overloaded' },
    },
  };

  it.each(dialects)('of $id is thrown with its own words, whole or in a stream', (dialect) => {
    const event =
      dialect.id === 'openai-responses' ? { type: 'error', ...given[dialect.id] } : given[dialect.id];
    for (const fails of [() => dialect.turn(given[dialect.id], 'm'), () => dialect.reader('m').push(event)]) {
      expect(fails).toThrow(MidspanError);
      expect(fails).toThrow(
        expect.objectContaining({ code: 'model', message: expect.stringContaining('Overloaded') }),
      );
    }
  });

  it('is read from a flat Responses event and from a bare text', () => {
    const event = { type: 'error', code: 'server_error', message: 'Sorry', sequence_number: 1 };
    expect(() => openaiResponses.reader('m').push(event)).toThrow(
      'the model API answered server_error: Sorry',
    );
    expect(() => openaiChat.reader('m').push({ error: 'no model' })).toThrow('no model');
  });

  it.each(dialects)('is thrown when a stream of $id ends before its turn', (dialect) => {
    const reader = dialect.reader('m');
    reader.push({});
    reader.push({ type: 'of.the.future', event_type: 'of.the.future' });
    expect(() => reader.end()).toThrow(
      expect.objectContaining({ code: 'model', message: expect.stringContaining('ended before') }),
    );
  });
});
