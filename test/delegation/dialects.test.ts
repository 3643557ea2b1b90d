import { describe, expect, it } from 'vitest';
import {
  type Dialect,
  dialectOf,
  type Message,
  type RemoteServer,
  type TurnDelta,
} from '../../src/dialects/index.ts';
import type { JsonObject } from '../../src/types.ts';

const server: RemoteServer = {
  name: 'far',
  transport: 'http',
  url: 'https://mcp.example.com/mcp',
  headers: { Authorization: 'Bearer abc', 'X-Team': 'blue' },
  approval: 'never',
};
const question: Message = { role: 'user', content: 'Go.' };

function request(dialect: Dialect, servers: RemoteServer[], more: object = {}) {
  const tools = dialect.definitions([
    { name: 'own', definition: { name: 'own', inputSchema: { type: 'object' } } },
  ]);
  return dialect.request({ model: 'some-model', messages: [question], tools, servers, ...more });
}

const toolsOf = ({ body }: { body: JsonObject }): JsonObject[] => body['tools'] as JsonObject[];

describe('the entry of a server', () => {
  it('is a tool of its own beside the functions at OpenAI', () => {
    const openai = dialectOf('openai-responses');
    const made = request(openai, [
      server,
      { ...server, name: 'other', headers: {}, allowed: ['a'], approval: 'always' },
    ]);
    expect(toolsOf(made).slice(1)).toEqual([
      {
        type: 'mcp',
        server_label: 'far',
        server_url: 'https://mcp.example.com/mcp',
        authorization: 'abc',
        headers: { 'X-Team': 'blue' },
        require_approval: 'never',
      },
      {
        type: 'mcp',
        server_label: 'other',
        server_url: 'https://mcp.example.com/mcp',
        allowed_tools: ['a'],
        require_approval: 'always',
      },
    ]);
    expect(made.headers).toBeUndefined();
    expect(made.losses).toEqual([]);
  });

  it('is a server and one toolset at Anthropic, with its header', () => {
    const anthropic = dialectOf('anthropic');
    const headers = { Authorization: 'Bearer abc' };
    const made = request(anthropic, [
      { ...server, headers, allowed: ['a'] },
      { ...server, name: 'other', headers: {}, denied: ['b'] },
      { ...server, name: 'all', headers: {} },
    ]);
    expect(made.body['mcp_servers']).toEqual([
      { type: 'url', url: server.url, name: 'far', authorization_token: 'abc' },
      { type: 'url', url: server.url, name: 'other' },
      { type: 'url', url: server.url, name: 'all' },
    ]);
    expect(toolsOf(made).slice(1)).toEqual([
      {
        type: 'mcp_toolset',
        mcp_server_name: 'far',
        default_config: { enabled: false },
        configs: { a: { enabled: true } },
      },
      { type: 'mcp_toolset', mcp_server_name: 'other', configs: { b: { enabled: false } } },
      { type: 'mcp_toolset', mcp_server_name: 'all' },
    ]);
    expect(made.headers).toEqual({ 'anthropic-beta': 'mcp-client-2026-09-15' });
    expect(request(anthropic, []).headers).toBeUndefined();
  });

  it('is a tool at Gemini Interactions, without a choice where there are no functions', () => {
    const gemini = dialectOf('gemini-interactions');
    const made = request(gemini, [{ ...server, allowed: ['a'] }], {
      tools: gemini.definitions([]),
      choice: 'required',
    });
    expect(toolsOf(made)).toEqual([
      {
        type: 'mcp_server',
        name: 'far',
        url: 'https://mcp.example.com/mcp',
        headers: { Authorization: 'Bearer abc', 'X-Team': 'blue' },
        allowed_tools: [{ mode: 'auto', tools: ['a'] }],
      },
    ]);
    expect(made.body['generation_config']).toBeUndefined();
  });

  it('counts as a tool for the choice', () => {
    for (const [id, choice] of [
      ['openai-responses', 'required'],
      ['anthropic', { type: 'any' }],
    ] as const) {
      const dialect = dialectOf(id);
      const tools = dialect.definitions([]);
      expect(request(dialect, [server], { tools, choice: 'required' }).body['tool_choice']).toEqual(choice);
    }
  });
});

describe('calls of a provider', () => {
  const call = { id: 'mcp_1', server_label: 'far', name: 'echo', arguments: '{"text":"hi"}' };
  const openai = (item: JsonObject) =>
    dialectOf('openai-responses').turn(
      { id: 'r', status: 'completed', output: [{ type: 'mcp_call', ...call, ...item }] },
      'm',
    ).message.served;

  it.each<[string, JsonObject, JsonObject]>([
    [
      'an output',
      { output: 'hi', error: null, status: 'completed' },
      { result: { content: [{ type: 'text', text: 'hi' }] } },
    ],
    ['no output', { output: null, error: null, status: 'completed' }, { result: { content: [] } }],
    [
      "a tool's error",
      { error: { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: 'no' }] } },
      { result: { content: [{ type: 'text', text: 'no' }], isError: true } },
    ],
    [
      'an error of the connection',
      { error: { type: 'http_error', code: 502, message: 'bad gateway' } },
      { result: { content: [{ type: 'text', text: 'bad gateway' }], isError: true }, failed: true },
    ],
    [
      'a plain error',
      { error: 'broken' },
      { result: { content: [{ type: 'text', text: 'broken' }], isError: true }, failed: true },
    ],
    ['a call that runs', { status: 'in_progress' }, {}],
  ])('at OpenAI with %s', (_, item, expected) => {
    expect(openai(item)).toEqual([
      { id: 'mcp_1', server: 'far', tool: 'echo', arguments: { text: 'hi' }, ...expected },
    ]);
  });

  it('at Anthropic may be answered in the turn after a pause', () => {
    const anthropic = dialectOf('anthropic');
    const use = {
      type: 'mcp_tool_use',
      id: 'mcptoolu_1',
      name: 'echo',
      server_name: 'far',
      input: { text: 'hi' },
    };
    const first = anthropic.turn({ content: [use], stop_reason: 'pause_turn', usage: {} }, 'm');
    expect(first.stop).toBe('pause');
    expect(first.message.served).toEqual([
      { id: 'mcptoolu_1', server: 'far', tool: 'echo', arguments: { text: 'hi' } },
    ]);
    const result = { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: true, content: 'no' };
    const second = anthropic.turn({ content: [result], stop_reason: 'end_turn', usage: {} }, 'm');
    expect(second.message.served).toEqual([
      {
        id: 'mcptoolu_1',
        server: '',
        tool: '',
        arguments: {},
        result: { content: [{ type: 'text', text: 'no' }], isError: true },
      },
    ]);
    const { body } = dialectOf('openai-responses').request({
      model: 'gpt-6-astra',
      messages: [question, first.message, second.message, question],
      tools: dialectOf('openai-responses').definitions([]),
    });
    expect((body['input'] as JsonObject[]).map(({ type, role }) => type ?? role)).toEqual([
      'user',
      'function_call',
      'function_call_output',
      'user',
    ]);
    expect(JSON.stringify(body)).toContain('[tool error] no');
  });

  const steps: JsonObject[] = [
    { type: 'mcp_server_tool_call', id: 'c1', name: 'echo', server_name: 'far', arguments: { text: 'hi' } },
    {
      type: 'mcp_server_tool_result',
      call_id: 'c1',
      name: 'echo',
      server_name: 'far',
      result: [
        { type: 'text', text: 'hi' },
        { type: 'image', data: 'AAAA', mime_type: 'image/png' },
      ],
    },
    { type: 'model_output', content: [{ type: 'text', text: 'Said.' }] },
  ];
  const served = {
    id: 'c1',
    server: 'far',
    tool: 'echo',
    arguments: { text: 'hi' },
    result: {
      content: [
        { type: 'text', text: 'hi' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      ],
    },
  };

  it('at Gemini Interactions keep images and data, whole and streamed, and go back as they came', () => {
    const gemini = dialectOf('gemini-interactions');
    const whole = gemini.turn({ id: 'i', status: 'completed', steps }, 'm');
    expect(whole).toMatchObject({
      stop: 'complete',
      message: { text: 'Said.', calls: [], served: [served] },
    });
    const reader = gemini.reader('m');
    const deltas: TurnDelta[] = [];
    const [first, second, third] = steps as [JsonObject, JsonObject, JsonObject];
    for (const event of [
      { event_type: 'interaction.created', interaction: { id: 'i' } },
      { event_type: 'step.start', index: 0, step: { ...first, arguments: {} } },
      { event_type: 'step.delta', index: 0, delta: { type: 'arguments_delta', arguments: '{"text":' } },
      { event_type: 'step.delta', index: 0, delta: { type: 'arguments_delta', arguments: '"hi"}' } },
      { event_type: 'step.stop', index: 0 },
      { event_type: 'step.start', index: 1, step: { type: second['type'], call_id: 'c1' } },
      { event_type: 'step.delta', index: 1, delta: { ...second } },
      { event_type: 'step.stop', index: 1 },
      { event_type: 'step.start', index: 2, step: third },
      { event_type: 'step.stop', index: 2 },
      { event_type: 'interaction.completed', interaction: { status: 'completed' } },
    ]) {
      deltas.push(...reader.push(event));
    }
    const { result: _, ...running } = served;
    expect(deltas.filter(({ type }) => type === 'served')).toEqual([
      { type: 'served', call: running },
      { type: 'served', call: served },
    ]);
    expect(reader.end().message.served).toEqual([served]);
    const { body } = gemini.request({
      model: 'm',
      messages: [question, whole.message, question],
      tools: gemini.definitions([]),
    });
    expect((body['input'] as JsonObject[]).slice(1, 4)).toEqual(steps);
  });

  it.each<[string, unknown, object]>([
    ['text', 'hi', { content: [{ type: 'text', text: 'hi' }] }],
    ['data', { a: 1 }, { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }],
    ['nothing', undefined, { content: [] }],
  ])('at Gemini Interactions with %s', (_, result, expected) => {
    const body = { id: 'i', status: 'completed', steps: [steps[0], { ...steps[1], result }] };
    expect(dialectOf('gemini-interactions').turn(body, 'm').message.served?.[0]?.result).toEqual(expected);
  });

  it('read as empty, whatever a hostile answer holds', () => {
    const odd = [
      null,
      1,
      [],
      {},
      { type: 'mcp_call' },
      { type: 'mcp_approval_request', arguments: 7 },
      { type: 'mcp_list_tools', error: {} },
    ];
    const turn = dialectOf('openai-responses').turn({ status: 'completed', output: odd }, 'm');
    expect(turn.message.served).toHaveLength(1);
    expect(turn.message.approvals?.[0]?.problem).toContain('must be a JSON object');
    expect(turn.notices).toHaveLength(1);
    for (const type of ['mcp_tool_use', 'mcp_tool_result'])
      expect(() =>
        dialectOf('anthropic').turn({ content: [{ type }], stop_reason: 'end_turn' }, 'm'),
      ).not.toThrow();
    for (const type of ['mcp_server_tool_call', 'mcp_server_tool_result'])
      expect(() =>
        dialectOf('gemini-interactions').turn({ status: 'completed', steps: [{ type, result: [1] }] }, 'm'),
      ).not.toThrow();
  });
});

describe('an approval', () => {
  const openai = dialectOf('openai-responses');
  const asked = openai.turn(
    {
      status: 'completed',
      output: [
        { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 'far', name: 'remove', arguments: '{}' },
      ],
    },
    'm',
  );
  const inputOf = (...messages: Message[]): JsonObject[] =>
    openai.request({ model: 'm', messages: [question, ...messages], tools: openai.definitions([]) }).body[
      'input'
    ] as JsonObject[];

  it('stops the turn, and its answer follows its request', () => {
    expect(asked.stop).toBe('calls');
    expect(asked.message.approvals).toEqual([{ id: 'mcpr_1', server: 'far', tool: 'remove', arguments: {} }]);
    const answer: Message = { role: 'tool', results: [], approvals: [{ id: 'mcpr_1', approve: true }] };
    expect(inputOf(asked.message, answer).slice(2)).toEqual([
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
    ]);
  });

  it('that nobody gave is declined, and one for nothing is left aside', () => {
    expect(inputOf(asked.message, question).at(2)).toMatchObject({
      approve: false,
      reason: 'nobody approved it',
    });
    const stray: Message = { role: 'tool', results: [], approvals: [{ id: 'other', approve: true }] };
    expect(JSON.stringify(inputOf(asked.message, stray))).not.toContain('other');
  });
});
