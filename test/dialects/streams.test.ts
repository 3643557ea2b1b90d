import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, TurnDelta } from '../../src/dialects/index.ts';
import { anthropic } from '../../src/dialects/index.ts';
import { dialects, modelOf, type PerDialect } from './support.ts';

type Item = { text: string } | { thinking: string } | { name: string; id: string; args: JsonObject };

/** Cuts a text into pieces of the next sizes. */
type Cut = (text: string) => string[];

/** A whole answer and the events that bring it in pieces. */
interface Script {
  body: object;
  events: object[];
}

const usage = { input_tokens: 3, output_tokens: 4 };

const scripts: PerDialect<(items: Item[], cut: Cut) => Script> = {
  anthropic(items, cut) {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-5' };
    const events: object[] = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    ];
    const content = items.map((item, index) => {
      const [block, start, type, member, whole] =
        'text' in item
          ? [{ type: 'text', text: item.text }, { type: 'text', text: '' }, 'text_delta', 'text', item.text]
          : 'thinking' in item
            ? [
                { type: 'thinking', thinking: item.thinking, signature: 'sig' },
                { type: 'thinking', thinking: '', signature: '' },
                'thinking_delta',
                'thinking',
                item.thinking,
              ]
            : [
                { type: 'tool_use', id: item.id, name: item.name, input: item.args },
                { type: 'tool_use', id: item.id, name: item.name, input: {} },
                'input_json_delta',
                'partial_json',
                Object.keys(item.args).length === 0 ? '' : JSON.stringify(item.args),
              ];
      events.push({ type: 'content_block_start', index, content_block: start });
      for (const piece of cut(whole))
        events.push({ type: 'content_block_delta', index, delta: { type, [member]: piece } });
      if ('thinking' in item) {
        events.push({
          type: 'content_block_delta',
          index,
          delta: { type: 'signature_delta', signature: 'sig' },
        });
      }
      events.push({ type: 'content_block_stop', index });
      return block;
    });
    const stop = items.some((item) => 'name' in item) ? 'tool_use' : 'end_turn';
    events.push({
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: 9 },
    });
    events.push({ type: 'message_stop' });
    return {
      body: { ...message, content, stop_reason: stop, usage: { ...usage, output_tokens: 9 } },
      events,
    };
  },

  'openai-responses'(items, cut) {
    const events: object[] = [];
    const output = items.map((item, output_index) => {
      if ('thinking' in item) {
        const summary = [{ type: 'summary_text', text: item.thinking }];
        const whole = { type: 'reasoning', id: `rs_${output_index}`, summary, encrypted_content: 'whole' };
        events.push({
          type: 'response.output_item.added',
          output_index,
          item: { ...whole, summary: [], encrypted_content: 'p' },
        });
        for (const delta of cut(item.thinking)) {
          events.push({
            type: 'response.reasoning_summary_text.delta',
            output_index,
            summary_index: 0,
            delta,
          });
        }
        events.push({ type: 'response.output_item.done', output_index, item: whole });
        return whole;
      }
      if ('text' in item) {
        const part = { type: 'output_text', text: item.text, annotations: [] };
        const whole = { type: 'message', id: `msg_${output_index}`, role: 'assistant', content: [part] };
        events.push({ type: 'response.output_item.added', output_index, item: { ...whole, content: [] } });
        events.push({
          type: 'response.content_part.added',
          output_index,
          content_index: 0,
          part: { ...part, text: '' },
        });
        for (const delta of cut(item.text)) {
          events.push({ type: 'response.output_text.delta', output_index, content_index: 0, delta });
        }
        events.push({ type: 'response.output_text.done', output_index, content_index: 0, text: item.text });
        // Some servers never send the finished item: every other message is such a one.
        if (output_index % 2 === 0)
          events.push({ type: 'response.output_item.done', output_index, item: whole });
        return whole;
      }
      const { name, id: call_id } = item;
      const whole = {
        type: 'function_call',
        id: `fc_${output_index}`,
        call_id,
        name,
        arguments: JSON.stringify(item.args),
      };
      events.push({ type: 'response.output_item.added', output_index, item: { ...whole, arguments: '' } });
      for (const delta of cut(whole.arguments)) {
        events.push({
          type: 'response.function_call_arguments.delta',
          output_index,
          item_id: whole.id,
          delta,
        });
      }
      if (output_index % 2 === 0)
        events.push({ type: 'response.output_item.done', output_index, item: whole });
      return whole;
    });
    const response = { id: 'resp_1', model: 'gpt-6-astra', status: 'completed', output, usage };
    return {
      body: response,
      events: [
        { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
        ...events,
        { type: 'response.completed', response },
      ],
    };
  },

  'openai-chat'(items, cut) {
    const texts = items.flatMap((item) => ('text' in item ? [item.text] : [])).join('');
    const reasoning = items.flatMap((item) => ('thinking' in item ? [item.thinking] : [])).join('');
    const calls = items.flatMap((item) => ('name' in item ? [item] : []));
    const about = { id: 'chatcmpl-1', model: 'qwen3' };
    const chunk = (delta: object, finish_reason: string | null = null): object => ({
      ...about,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason }],
    });
    const toolCalls = calls.map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
    const finish = calls.length > 0 ? 'tool_calls' : 'stop';
    const message = {
      role: 'assistant',
      content: texts || null,
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: toolCalls }),
    };
    const counted = { prompt_tokens: 3, completion_tokens: 4 };
    return {
      body: { ...about, choices: [{ index: 0, message, finish_reason: finish }], usage: counted },
      events: [
        chunk({ role: 'assistant', content: '' }),
        ...cut(reasoning).map((piece) => chunk({ reasoning_content: piece })),
        ...cut(texts).map((content) => chunk({ content })),
        ...toolCalls.flatMap((one, index) => [
          chunk({ tool_calls: [{ ...one, index, function: { ...one.function, arguments: '' } }] }),
          ...cut(one.function.arguments).map((args) =>
            chunk({ tool_calls: [{ index, function: { arguments: args } }] }),
          ),
        ]),
        chunk({}, finish),
        { ...about, choices: [], usage: counted },
      ],
    };
  },

  gemini(items, cut) {
    const about = { responseId: 'r1', modelVersion: 'gemini-3.8-flash' };
    const counted = { promptTokenCount: 3, candidatesTokenCount: 4 };
    const parts = items.map((item): JsonObject => {
      if ('text' in item) return { text: item.text };
      if ('thinking' in item) return { text: item.thinking, thought: true };
      return { functionCall: { id: item.id, name: item.name, args: item.args }, thoughtSignature: 'sig' };
    });
    const pieces = parts.flatMap((part) =>
      typeof part['text'] === 'string'
        ? cut(part['text']).map((text): JsonObject => ({ ...part, text }))
        : [part],
    );
    const chunk = (some: object[], facts: object = {}): object => ({
      ...about,
      candidates: [{ index: 0, content: { role: 'model', parts: some }, ...facts }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 },
    });
    const half = Math.floor(pieces.length / 2);
    return {
      body: {
        ...about,
        candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
        usageMetadata: counted,
      },
      events: [
        ...pieces.slice(0, half).map((piece) => chunk([piece])),
        // Several parts in one event, as they come when they are short.
        { ...chunk(pieces.slice(half)) },
        { ...chunk([{ text: '' }], { finishReason: 'STOP' }), usageMetadata: counted },
      ],
    };
  },

  'gemini-interactions'(items, cut) {
    const about = { id: 'i1', model: 'gemini-3.8-flash' };
    const counted = { total_input_tokens: 3, total_output_tokens: 4 };
    const events: object[] = [];
    const steps = items.map((item, index) => {
      const start = (step: object): void => void events.push({ event_type: 'step.start', index, step });
      const grow = (delta: object): void => void events.push({ event_type: 'step.delta', index, delta });
      const step =
        'text' in item
          ? { type: 'model_output', content: [{ type: 'text', text: item.text }] }
          : 'thinking' in item
            ? { type: 'thought', summary: [{ type: 'text', text: item.thinking }], signature: 'sig' }
            : { type: 'function_call', id: item.id, name: item.name, arguments: item.args };
      if ('text' in item) {
        start({ type: 'model_output' });
        for (const text of cut(item.text)) grow({ type: 'text', text });
      } else if ('thinking' in item) {
        start({ type: 'thought' });
        for (const text of cut(item.thinking))
          grow({ type: 'thought_summary', content: { type: 'text', text } });
        grow({ type: 'thought_signature', signature: 'sig' });
      } else {
        start({ ...step, arguments: {} });
        for (const piece of cut(JSON.stringify(item.args)))
          grow({ type: 'arguments_delta', arguments: piece });
      }
      events.push({ event_type: 'step.stop', index });
      return step;
    });
    const status = items.some((item) => 'name' in item) ? 'requires_action' : 'completed';
    return {
      body: { ...about, status, steps, usage: counted },
      events: [
        { event_type: 'interaction.created', interaction: { ...about, status: 'in_progress' } },
        ...events,
        { event_type: 'interaction.status_update', interaction_id: 'i1', status },
        { event_type: 'interaction.completed', interaction: { ...about, status, usage: counted } },
      ],
    };
  },
};

const words = fc.string({ minLength: 1, maxLength: 30, unit: 'binary' });
const args = fc.dictionary(
  fc.string({ maxLength: 5 }).filter((name) => name !== '__proto__'),
  fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null)),
  { maxKeys: 3 },
);
const items: fc.Arbitrary<Item[]> = fc
  .array(
    fc.oneof(
      words.map((text) => ({ text })),
      words.map((thinking) => ({ thinking })),
      fc.record({ name: fc.constantFrom('a', 'b_c', 'get_weather'), id: fc.constant(''), args }),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((all) => all.map((item, at) => ('name' in item ? { ...item, id: `call_${at}` } : item)));
const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 });
const strange = fc.constantFrom(
  { type: 'ping' },
  { type: 'of.the.future', event_type: 'of.the.future', delta: 'x' },
);

function cutter(pieces: readonly number[]): Cut {
  let next = 0;
  return (text) => {
    const made: string[] = [];
    for (let at = 0; at < text.length;) {
      const size = pieces[next++ % pieces.length] ?? 1;
      made.push(text.slice(at, at + size));
      at += size;
    }
    return made;
  };
}

describe.each(dialects)('a stream of $id', (dialect) => {
  it('gives the same turn as the whole answer, wherever it is cut and whatever stands between', () => {
    fc.assert(
      fc.property(items, sizes, fc.array(fc.tuple(fc.nat(40), strange)), (said, pieces, between) => {
        const { body, events } = scripts[dialect.id](said, cutter(pieces));
        const sent = JSON.parse(JSON.stringify(events)) as JsonObject[];
        for (const [at, event] of between) sent.splice(at % (sent.length + 1), 0, event);
        const reader = dialect.reader(modelOf(dialect));
        const deltas: TurnDelta[] = sent.flatMap((event) => reader.push(event));
        const turn = reader.end();

        expect(turn).toEqual(dialect.turn(JSON.parse(JSON.stringify(body)) as JsonObject, modelOf(dialect)));
        const joined = (type: 'text' | 'reasoning'): string =>
          deltas.map((delta) => (delta.type === type ? delta.delta : '')).join('');
        expect(joined('text')).toBe(turn.message.text);
        expect(joined('reasoning')).toBe(
          said.map((item) => ('thinking' in item ? item.thinking : '')).join(''),
        );
        expect(deltas.filter(({ type }) => type === 'call')).toEqual(
          turn.message.calls.map(({ id, name }) => ({ type: 'call', id, name })),
        );
      }),
    );
  });
});

describe('a stream of Anthropic', () => {
  const start = { type: 'message_start', message: { id: 'm', content: [], usage: {} } };
  const end = { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } };

  it('answers a call whose input was cut off, and sends it back as an object', () => {
    const reader = anthropic.reader('m');
    reader.push(start);
    reader.push({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 't', name: 'a', input: {} },
    });
    reader.push({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"x": "y' },
    });
    reader.push({ ...end, delta: { stop_reason: 'max_tokens' } });
    const { message, stop } = reader.end();
    expect(stop).toBe('max-tokens');
    expect(message.calls).toEqual([
      { id: 't', name: 'a', arguments: {}, problem: expect.stringContaining('{"x": "y') },
    ]);
    expect(message.echo?.items).toEqual([{ type: 'tool_use', id: 't', name: 'a', input: {} }]);
  });

  it('collects citations, compactions and pieces of blocks that we do not know', () => {
    const reader = anthropic.reader('m');
    const piece = (index: number, delta: object) =>
      reader.push({ type: 'content_block_delta', index, delta });
    reader.push(start);
    reader.push({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } });
    piece(0, { type: 'citations_delta', citation: { cited_text: 'x' } });
    piece(0, { type: 'citations_delta', citation: { cited_text: 'y' } });
    reader.push({
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'compaction', content: null },
    });
    piece(1, { type: 'compaction_delta', content: 'short', encrypted_content: 'e' });
    reader.push({ type: 'content_block_start', index: 2, content_block: { type: 'hologram', beam: '' } });
    piece(2, { type: 'beam_delta', beam: 'z' });
    reader.push(end);
    expect(reader.end().message.echo?.items).toEqual([
      { type: 'text', text: 'a', citations: [{ cited_text: 'x' }, { cited_text: 'y' }] },
      { type: 'compaction', content: 'short', encrypted_content: 'e' },
      { type: 'hologram', beam: 'z' },
    ]);
  });
});
