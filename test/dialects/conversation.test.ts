import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anthropic,
  gemini,
  geminiInteractions,
  openaiChat,
  openaiResponses,
  type AssistantMessage,
  type Call,
  type Dialect,
  type JsonObject,
  type Message,
} from '../../src/dialects/index.ts';
import { bodyOf, conversationOf, dialects, modelOf, png, text, type PerDialect } from './support.ts';

const weather: Call = { id: 'call_1', name: 'weather', arguments: { city: 'Bern' } };
const time: Call = { id: 'call_2', name: 'time', arguments: {} };

const history: Message[] = [
  { role: 'user', content: 'Weather?' },
  { role: 'assistant', text: 'I look.', calls: [weather, time] },
  {
    role: 'tool',
    results: [
      { call: time, result: { content: [text('noon')] } },
      { call: weather, result: { content: [text('sunny')] } },
    ],
  },
  { role: 'user', content: 'Thanks' },
];

describe('a conversation', () => {
  const expected: PerDialect<object[]> = {
    anthropic: [
      { role: 'user', content: [text('Weather?')] },
      {
        role: 'assistant',
        content: [
          text('I look.'),
          { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Bern' } },
          { type: 'tool_use', id: 'call_2', name: 'time', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: [text('sunny')] },
          { type: 'tool_result', tool_use_id: 'call_2', content: [text('noon')] },
          text('Thanks'),
        ],
      },
    ],
    'openai-responses': [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Bern"}' },
      { type: 'function_call', call_id: 'call_2', name: 'time', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
      { type: 'function_call_output', call_id: 'call_2', output: 'noon' },
      { role: 'user', content: 'Thanks' },
    ],
    'openai-chat': [
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } },
          { id: 'call_2', type: 'function', function: { name: 'time', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      { role: 'tool', tool_call_id: 'call_2', content: 'noon' },
      { role: 'user', content: 'Thanks' },
    ],
    gemini: [
      { role: 'user', parts: [{ text: 'Weather?' }] },
      {
        role: 'model',
        parts: [
          { text: 'I look.' },
          {
            functionCall: { id: 'call_1', name: 'weather', args: { city: 'Bern' } },
            thoughtSignature: 'skip_thought_signature_validator',
          },
          { functionCall: { id: 'call_2', name: 'time', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'call_1', name: 'weather', response: { output: 'sunny' } } },
          { functionResponse: { id: 'call_2', name: 'time', response: { output: 'noon' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'Thanks' }] },
    ],
    'gemini-interactions': [
      { type: 'user_input', content: [text('Weather?')] },
      { type: 'model_output', content: [text('I look.')] },
      { type: 'function_call', id: 'call_1', name: 'weather', arguments: { city: 'Bern' } },
      { type: 'function_call', id: 'call_2', name: 'time', arguments: {} },
      { type: 'function_result', call_id: 'call_1', name: 'weather', result: 'sunny' },
      { type: 'function_result', call_id: 'call_2', name: 'time', result: 'noon' },
      { type: 'user_input', content: [text('Thanks')] },
    ],
  };

  it.each(dialects)('takes the shape of $id, results in call order', (dialect) => {
    expect(conversationOf(dialect, history)).toEqual(expected[dialect.id]);
  });

  it.each(dialects)('answers for $id every call that no result came for', (dialect) => {
    const open = [history[0], history[1]] as Message[];
    const closed = conversationOf(dialect, open);
    expect(JSON.stringify(closed).match(/The call was not run/g)).toHaveLength(2);
    const broken = { ...weather, arguments: {}, problem: 'The arguments are not valid JSON: {' };
    const asked: Message[] = [{ role: 'assistant', text: '', calls: [broken] }];
    expect(JSON.stringify(conversationOf(dialect, asked))).toContain('not valid JSON');
  });

  it.each(dialects)('leaves aside for $id a result that answers no call, and says so', (dialect) => {
    const stray: Message[] = [
      { role: 'user', content: 'Hi' },
      { role: 'tool', results: [{ call: weather, result: { content: [text('stray')] } }] },
    ];
    const tools = dialect.definitions([]);
    const { body, losses } = dialect.request({ model: modelOf(dialect), messages: stray, tools });
    expect(JSON.stringify(body)).not.toContain('stray');
    expect(losses).toEqual([expect.stringMatching(/^weather \(call_1\): the result answers no call/)]);
  });

  it.each(dialects)('gives foreign ids characters, length and uniqueness that $id accepts', (dialect) => {
    const odd = { ...weather, id: `functions.weather:0/${'x'.repeat(100)}` };
    const turns = [0, 1].flatMap((): Message[] => [
      { role: 'assistant', text: '', calls: [odd] },
      { role: 'tool', results: [{ call: odd, result: { content: [text('ok')] } }] },
    ]);
    const made = JSON.stringify(conversationOf(dialect, turns));
    const ids = [...made.matchAll(/functions_[\w-]*/g)].map(([id]) => id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(made).not.toContain('The call was not run');
  });

  it.each(dialects)(
    'gives foreign calls a name that $id accepts, however a model misspelled it',
    (dialect) => {
      for (const [name, sent] of [
        ['get weather!', 'get_weather_'],
        ['', 'unnamed'],
        ['x'.repeat(200), 'x'.repeat(64)],
      ] as const) {
        const made = JSON.stringify(
          conversationOf(dialect, [{ role: 'assistant', text: '', calls: [{ ...weather, name }] }]),
        );
        expect(made).toContain(`"name":"${sent}"`);
      }
    },
  );

  it.each(dialects)('holds no empty message for $id', (dialect) => {
    const empty: Message[] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', text: '', calls: [] },
      dialect.turn(bodyOf(dialect.id, {}), 'm').message,
      { role: 'user', content: 'Go on' },
    ];
    const without = [empty[0], empty[3]] as Message[];
    expect(conversationOf(dialect, empty)).toEqual(conversationOf(dialect, without));
  });

  it.each(dialects)('grows at its end only, so that caches of $id hold', (dialect) => {
    const longer = [
      ...history.slice(0, 3),
      { role: 'assistant', text: 'Sunny.', calls: [] } as Message,
      ...history.slice(3),
    ];
    const short = conversationOf(dialect, history.slice(0, 3));
    expect(conversationOf(dialect, longer).slice(0, short.length)).toEqual(short);
  });

  it.each(dialects)('pairs every call once in $id, whatever results are there', (dialect) => {
    const id = fc.constantFrom('a', 'b', 'c', 'a.b', '');
    const called = id.map((one): Call => ({ id: one, name: 'f', arguments: {} }));
    const message: fc.Arbitrary<Message> = fc.oneof(
      fc.constant<Message>({ role: 'user', content: 'Hi' }),
      fc
        .uniqueArray(called, { maxLength: 3, selector: (one) => one.id })
        .map((calls): Message => ({ role: 'assistant', text: 'x', calls })),
      fc.array(called, { maxLength: 3 }).map((calls): Message => ({
        role: 'tool',
        results: calls.map((call) => ({ call, result: { content: [] } })),
      })),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        const made = JSON.stringify(conversationOf(dialect, messages));
        const all = (pattern: RegExp): (string | undefined)[] =>
          [...made.matchAll(pattern)].map(([, one]) => one);
        const [calls, answers] = {
          anthropic: [all(/"tool_use","id":"([^"]*)"/g), all(/"tool_use_id":"([^"]*)"/g)],
          'openai-responses': [
            all(/"function_call","call_id":"([^"]*)"/g),
            all(/"function_call_output","call_id":"([^"]*)"/g),
          ],
          'openai-chat': [all(/\{"id":"([^"]*)","type":"function"/g), all(/"tool_call_id":"([^"]*)"/g)],
          gemini: [all(/"functionCall":\{"id":"([^"]*)"/g), all(/"functionResponse":\{"id":"([^"]*)"/g)],
          'gemini-interactions': [all(/"function_call","id":"([^"]*)"/g), all(/"call_id":"([^"]*)"/g)],
        }[dialect.id];
        expect(answers).toEqual(calls);
        expect(new Set(calls).size).toBe(calls?.length);
      }),
    );
  });
});

describe('user messages', () => {
  const content = [text('What is this?'), { type: 'image', data: png, mimeType: 'image/png' }];
  const address = `data:image/png;base64,${png}`;
  const expected: PerDialect<object> = {
    anthropic: {
      role: 'user',
      content: [
        text('What is this?'),
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
      ],
    },
    'openai-responses': {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: address },
      ],
    },
    'openai-chat': {
      role: 'user',
      content: [text('What is this?'), { type: 'image_url', image_url: { url: address } }],
    },
    gemini: {
      role: 'user',
      parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: png } }],
    },
    'gemini-interactions': {
      type: 'user_input',
      content: [text('What is this?'), { type: 'image', data: png, mime_type: 'image/png' }],
    },
  };

  it.each(dialects)('may hold MCP content in $id', (dialect) => {
    expect(conversationOf(dialect, [{ role: 'user', content }])).toEqual([expected[dialect.id]]);
  });

  it('carry audio and documents where only user messages may', () => {
    const audio: Message = {
      role: 'user',
      content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/mpeg' }],
    };
    expect(conversationOf(openaiChat, [audio])).toEqual([
      { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }] },
    ]);
    expect(conversationOf(geminiInteractions, [audio])).toEqual([
      { type: 'user_input', content: [{ type: 'audio', data: 'AAAA', mime_type: 'audio/mpeg' }] },
    ]);
    const { losses } = anthropic.request({ model: 'm', messages: [audio], tools: anthropic.definitions([]) });
    expect(losses).toEqual(['user message: audio audio/mpeg 3 B became a placeholder']);
  });

  it('follow Chat images of results in one message, because some templates refuse two in a row', () => {
    const image = { type: 'image', data: png, mimeType: 'image/png' };
    const messages: Message[] = [
      { role: 'assistant', text: '', calls: [weather] },
      { role: 'tool', results: [{ call: weather, result: { content: [image] } }] },
      { role: 'user', content: 'Well?' },
    ];
    const made = conversationOf(openaiChat, messages);
    expect(made.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
    expect(made.at(-1)?.['content']).toMatchObject([{ type: 'text' }, { type: 'image_url' }, text('Well?')]);
  });
});

describe('what a provider wants back', () => {
  /** Answers with reasoning and things we do not know, in each API's shape. */
  const items: PerDialect<JsonObject[]> = {
    anthropic: [
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      { type: 'redacted_thinking', data: 'xyz' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { q: 'a' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      { type: 'hologram', anything: [1] },
      {
        type: 'tool_use',
        id: 'toolu_1',
        name: 'weather',
        input: { city: 'Bern' },
        caller: { type: 'direct' },
      },
    ],
    'openai-responses': [
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'abc' },
      { type: 'hologram', anything: [1] },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name: 'weather',
        arguments: '{ "city":"Bern"}',
      },
    ],
    'openai-chat': [
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'Hm',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } },
        ],
      },
    ],
    gemini: [
      {
        role: 'model',
        parts: [
          { text: 'Hm', thought: true },
          { functionCall: { id: 'f1', name: 'weather', args: { city: 'Bern' } }, thoughtSignature: 'sig' },
          { hologram: [1] },
          { text: '', thoughtSignature: 'last' },
        ],
      },
    ],
    'gemini-interactions': [
      { type: 'thought', signature: 'sig', summary: [{ type: 'text', text: 'Hm' }] },
      { type: 'hologram', anything: [1] },
      { type: 'function_call', id: 'f1', name: 'weather', arguments: { city: 'Bern' } },
    ],
  };
  const answers: PerDialect<JsonObject> = {
    anthropic: { id: 'm', content: items.anthropic, stop_reason: 'tool_use' },
    'openai-responses': { id: 'r', output: items['openai-responses'], status: 'completed' },
    'openai-chat': {
      id: 'c',
      choices: [{ message: items['openai-chat'][0] as JsonObject, finish_reason: 'tool_calls' }],
    },
    gemini: {
      responseId: 'g',
      candidates: [{ content: items.gemini[0] as JsonObject, finishReason: 'STOP' }],
    },
    'gemini-interactions': { id: 'i', steps: items['gemini-interactions'], status: 'requires_action' },
  };
  const answered = (dialect: Dialect): AssistantMessage => dialect.turn(answers[dialect.id], 'm').message;

  it.each(dialects)('is kept and sent back to $id as it came, in order', (dialect) => {
    const message = answered(dialect);
    expect(message).toMatchObject({ text: '', calls: [{ name: 'weather', arguments: { city: 'Bern' } }] });
    expect(message.echo).toEqual({ dialect: dialect.id, model: 'm', items: items[dialect.id] });
    const sent = conversationOf(dialect, [message]);
    const back = dialect.id === 'anthropic' ? sent[0]?.['content'] : sent.slice(0, items[dialect.id].length);
    expect(back).toEqual(items[dialect.id]);
  });

  it.each(dialects)('never reaches $id from another API', (dialect) => {
    for (const from of dialects.filter((one) => one !== dialect)) {
      const { body, losses } = dialect.request({
        model: modelOf(dialect),
        messages: [answered(from)],
        tools: dialect.definitions([]),
      });
      const sent = JSON.stringify(body);
      for (const secret of ['"sig"', 'xyz', 'abc', 'Hm', 'hologram']) expect(sent).not.toContain(secret);
      expect(sent).toContain('weather');
      expect(losses).toEqual([
        `reasoning and provider items of ${from.id} turns are not sent to ${dialect.id}`,
      ]);
    }
  });

  it.each(dialects)(
    'is repaired in $id where the model broke it, so that the API takes it back',
    (dialect) => {
      const calls = [
        { id: 'c1', name: 'a', arguments: '{"broken' },
        { id: 'c1', name: 'b', arguments: '' },
      ];
      const { message } = dialect.turn(bodyOf(dialect.id, { calls }), 'm');
      const sent = JSON.stringify(conversationOf(dialect, [message]));
      expect(JSON.stringify(message.echo)).not.toContain('broken');
      for (const { id } of message.calls) {
        // Gemini matches by order the calls that it gave no usable id.
        if (dialect.id !== 'gemini' || id === 'c1') expect(sent.split(`"${id}"`)).toHaveLength(3);
      }
      expect(message.calls[0]?.problem).toBeDefined();
      expect(message.calls[1]?.problem).toBeUndefined();
    },
  );

  it('holds no text block of Anthropic that the API refuses to take back', () => {
    const { message } = anthropic.turn(
      { content: [{ type: 'text', text: '' }, text('a')], stop_reason: 'end_turn' },
      'm',
    );
    expect(message.echo?.items).toEqual([text('a')]);
  });

  it('leaves out Chat reasoning of finished turns, which some servers refuse', () => {
    const message = { role: 'assistant', content: 'Done', reasoning_content: 'Hm' };
    const turn = openaiChat.turn({ choices: [{ message, finish_reason: 'stop' }] }, 'm');
    expect(turn.message.echo?.items).toEqual([message]);
    expect(conversationOf(openaiChat, [turn.message])).toEqual([{ role: 'assistant', content: 'Done' }]);
  });

  it('matches by order the calls that old Gemini models give no id', () => {
    const parts = [{ functionCall: { name: 'a', args: {} } }, { functionCall: { name: 'a', args: {} } }];
    const { message } = gemini.turn(
      { responseId: 'g', candidates: [{ content: { parts }, finishReason: 'STOP' }] },
      'gemini-2.5-flash',
    );
    expect(message.calls.map(({ id }) => id)).toEqual(['midspan_g_0', 'midspan_g_1']);
    const results = message.calls.map((call, at) => ({ call, result: { content: [text(String(at))] } }));
    const messages: Message[] = [message, { role: 'tool', results }];
    const request = { model: 'gemini-2.5-flash', messages, tools: gemini.definitions([]) };
    expect(gemini.request(request).body['contents']).toEqual([
      { role: 'model', parts },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'a', response: { output: '0' } } },
          { functionResponse: { name: 'a', response: { output: '1' } } },
        ],
      },
    ]);
  });

  it('does not make our calls of those that Google answered itself', () => {
    const parts = [
      { functionCall: { name: 'server_a', args: {} } },
      { functionResponse: { name: 'server_a', response: { result: 'x' } } },
      { functionCall: { name: 'mine', args: {} } },
    ];
    const { message } = gemini.turn(
      { responseId: 'g', candidates: [{ content: { parts }, finishReason: 'STOP' }] },
      'm',
    );
    expect(message.calls.map(({ name }) => name)).toEqual(['mine']);
    expect(message.echo?.items[0]?.['parts']).toEqual(parts);
  });

  it('gives no sentinel signature to Gemini before 3', () => {
    const made = gemini.request({
      model: 'gemini-2.5-pro',
      messages: history,
      tools: gemini.definitions([]),
    });
    expect(JSON.stringify(made.body)).not.toContain('thoughtSignature');
  });

  it('gives reasoning items of Responses back with the encrypted content of the finished item', () => {
    const reader = openaiResponses.reader('m');
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };
    reader.push({ type: 'response.created', response: { id: 'r' } });
    reader.push({
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...reasoning, encrypted_content: 'part' },
    });
    reader.push({
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...reasoning, encrypted_content: 'whole' },
    });
    reader.push({ type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } });
    expect(reader.end().message.echo?.items).toEqual([{ ...reasoning, encrypted_content: 'whole' }]);
  });
});
