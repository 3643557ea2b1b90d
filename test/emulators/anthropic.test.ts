/** The emulator is right when Anthropic's own SDK works with it, and gets the errors that it knows. */
import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { startAnthropic } from './anthropic.ts';
import type { Emulator, EmulatorScript } from './server.ts';

type Params = Anthropic.MessageCreateParamsNonStreaming;

const model = 'claude-opus-5-5';
const tool: Anthropic.Tool = {
  name: 'get_weather',
  description: 'Weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const base: Params = {
  model,
  max_tokens: 100,
  tools: [tool],
  messages: [{ role: 'user', content: 'Weather in Oslo?' }],
};

let open: Emulator[] = [];
afterEach(async () => {
  await Promise.all(open.map((emulator) => emulator.close()));
  open = [];
});

async function start(script: EmulatorScript, options: { key?: string; maxRetries?: number } = {}) {
  const emulator = await startAnthropic(script);
  open.push(emulator);
  const client = new Anthropic({
    apiKey: options.key ?? emulator.key,
    baseURL: emulator.url,
    maxRetries: options.maxRetries ?? 0,
  });
  return { emulator, client };
}

/** What the emulator answers to one request, as the SDK's error. */
async function refusal(
  change: object,
): Promise<{ status: number | undefined; message: string; type: string | null }> {
  const { client } = await start([{ text: 'accepted' }]);
  const error = await client.messages.create({ ...base, ...change }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw new Error(`it was accepted: ${JSON.stringify(change)}`);
  return { status: error.status, message: error.apiMessage ?? error.message, type: error.type };
}

const use = (id: string): Anthropic.ToolUseBlockParam => ({
  type: 'tool_use',
  id,
  name: 'get_weather',
  input: { city: 'Oslo' },
});
const result = (id: string): Anthropic.ToolResultBlockParam => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'cold',
});
const after = (assistant: unknown, ...rest: unknown[]) => ({
  messages: [
    base.messages[0],
    { role: 'assistant', content: assistant },
    ...rest.map((content) => ({ role: 'user', content })),
  ],
});

describe('the emulated Anthropic Messages', () => {
  it('answers the official SDK whole', async () => {
    const { client } = await start([{ text: 'Hello.', usage: { input: 3, output: 2 } }]);
    const message = await client.messages.create(base);
    expect(message.content).toMatchObject([{ type: 'text', text: 'Hello.' }]);
    expect(message.stop_reason).toBe('end_turn');
    expect(message.usage).toMatchObject({ input_tokens: 3, output_tokens: 2 });
  });

  it('streams to the official SDK, with a round trip of thinking, parallel calls and their results', async () => {
    const { client, emulator } = await start([
      {
        reasoning: 'Two cities, two calls.',
        text: 'I look.',
        calls: [
          { id: 'toolu_a', name: 'get_weather', arguments: { city: 'Óslo – "north"' } },
          { id: 'toolu_b', name: 'get_weather' },
        ],
      },
      { text: 'Cold in both.' },
    ]);
    const first = await client.messages.stream(base).finalMessage();
    expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use', 'tool_use']);
    expect(first.content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : []))).toEqual([
      { city: 'Óslo – "north"' },
      {},
    ]);
    expect(first.stop_reason).toBe('tool_use');
    const second = await client.messages
      .stream({
        ...base,
        messages: [
          ...base.messages,
          { role: 'assistant', content: first.content },
          { role: 'user', content: [result('toolu_a'), result('toolu_b')] },
        ],
      })
      .finalText();
    expect(second).toBe('Cold in both.');
    expect(emulator.requests.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('refuses thinking that was altered, left out, or moved behind another prefix', async () => {
    const script: EmulatorScript = [
      { reasoning: 'Hm.', calls: [{ id: 'toolu_a', name: 'get_weather', arguments: { city: 'Oslo' } }] },
      { text: 'ok' },
    ];
    const { client } = await start(script);
    const first = await client.messages.create(base);
    const resume = (content: unknown, change: object = {}) =>
      client.messages.create({
        ...base,
        messages: [
          ...base.messages,
          { role: 'assistant', content },
          { role: 'user', content: [result('toolu_a')] },
        ],
        ...change,
      } as Params);
    await expect(resume([{ ...first.content[0], thinking: 'Hm!' }, first.content[1]])).rejects.toThrow(
      'Invalid `signature` in `thinking` block',
    );
    await expect(resume([first.content[1]])).rejects.toThrow('must be sent back unmodified');
    await expect(resume(first.content, { tools: [{ ...tool, description: 'Changed' }] })).rejects.toThrow(
      'Invalid `signature`',
    );
    await expect(resume(first.content, { system: 'New' })).rejects.toThrow('Invalid `signature`');
    await expect(resume(first.content)).resolves.toMatchObject({ stop_reason: 'end_turn' });
  });

  it('gives the SDK the error classes that it knows', async () => {
    const wrong = await start([{ text: 'x' }], { key: 'sk-wrong' });
    await expect(wrong.client.messages.create(base)).rejects.toBeInstanceOf(AuthenticationError);
    const { client } = await start([
      { fault: { kind: 'status', status: 429, headers: { 'retry-after': '1' } } },
      { fault: { kind: 'status', status: 529, message: 'Overloaded' } },
      {
        text: 'never whole',
        fault: { kind: 'error-event', after: 3, type: 'overloaded_error', message: 'Overloaded' },
      },
    ]);
    await expect(client.messages.create(base)).rejects.toBeInstanceOf(RateLimitError);
    await expect(client.messages.create(base)).rejects.toMatchObject({
      status: 529,
      type: 'overloaded_error',
    });
    await expect(client.messages.stream(base).finalMessage()).rejects.toMatchObject({
      type: 'overloaded_error',
    });
    await expect(client.messages.create({ ...base, max_tokens: 0 })).rejects.toBeInstanceOf(BadRequestError);
    await expect(client.messages.create({ ...base, model: 'gpt-6' })).rejects.toBeInstanceOf(NotFoundError);
  });

  it('is retried by the SDK where that is asked for', async () => {
    const { client, emulator } = await start(
      [{ fault: { kind: 'status', status: 500, headers: { 'retry-after-ms': '1' } } }, { text: 'at last' }],
      { maxRetries: 1 },
    );
    expect((await client.messages.create(base)).content).toMatchObject([{ text: 'at last' }]);
    expect(emulator.requests).toHaveLength(2);
  });

  const schema = (input_schema: unknown) => ({ tools: [{ ...tool, input_schema }] });
  it.each([
    ['a name with a dot', { tools: [{ ...tool, name: 'get.weather' }] }, 'should match pattern'],
    ['a name that is too long', { tools: [{ ...tool, name: 'x'.repeat(129) }] }, 'at most 128 characters'],
    ['two tools of one name', { tools: [tool, tool] }, 'Tool names must be unique.'],
    ['a schema without a type', schema({}), 'input_schema.type: Field required'],
    ['a schema of another type', schema({ type: 'array' }), "Input should be 'object'"],
    [
      'a union at the root',
      schema({ type: 'object', anyOf: [{}] }),
      'does not support oneOf, allOf, or anyOf',
    ],
    [
      'an odd property key',
      schema({ type: 'object', properties: { 'a[b]': {} } }),
      'Property keys should match',
    ],
    [
      'an idiom of draft-04',
      schema({ type: 'object', properties: { a: { exclusiveMinimum: true } } }),
      'draft 2020-12',
    ],
    ['an unknown member', { top: 1 }, 'top: Extra inputs are not permitted'],
    [
      'an unknown member of a tool',
      { tools: [{ ...tool, title: 'T' }] },
      'tools.0.custom.title: Extra inputs',
    ],
    ['a missing limit', { max_tokens: undefined }, 'max_tokens: Field required'],
    ['a sampling parameter', { temperature: 1 }, 'temperature'],
    ['a forced call on a newest model', { tool_choice: { type: 'any' } }, 'are not supported for this model'],
    [
      'a choice of a tool that is not there',
      { model: 'claude-haiku-4-5', tool_choice: { type: 'tool', name: 'x' } },
      'not found in provided tools',
    ],
    ['a choice without tools', { tools: undefined, tool_choice: { type: 'auto' } }, 'while providing tools'],
    ['no messages', { messages: [] }, 'at least one message'],
    [
      'empty text',
      { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] },
      'must be non-empty',
    ],
    ['blank text', { messages: [{ role: 'user', content: ' \n' }] }, 'non-whitespace text'],
    [
      'a call without a result',
      after([use('a')], 'and?'),
      'without `tool_result` blocks immediately after: a',
    ],
    ['a call at the end', after([use('a')]), 'without `tool_result`'],
    ['a result of nothing', after('hi', [result('a')]), 'unexpected `tool_use_id`'],
    ['two results of one call', after([use('a')], [result('a'), result('a')]), 'must have a single result'],
    [
      'text before a result',
      after([use('a')], [{ type: 'text', text: 'here:' }, result('a')]),
      'without `tool_result`',
    ],
    ['one call id twice', after([use('a'), use('a')], [result('a')]), 'ids must be unique'],
    ['an answer at the end', after('I am'), 'does not support assistant message prefill'],
    [
      'a role that is not one',
      { messages: [{ role: 'tool', content: 'x' }] },
      "Input should be 'user' or 'assistant'",
    ],
    [
      'an image of another type',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: 'AAAA' } }],
          },
        ],
      },
      'media_type',
    ],
    [
      'an image in an error',
      after(
        [use('a')],
        [
          {
            ...result('a'),
            is_error: true,
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
          },
        ],
      ),
      'if "is_error" is true',
    ],
  ])('refuses %s', async (_title, change, words) => {
    const { status, message, type } = await refusal(change);
    expect(message).toContain(words);
    expect({ status, type }).toEqual({ status: 400, type: 'invalid_request_error' });
  });

  it('refuses a body that is too large, and one without a version', async () => {
    const emulator = await startAnthropic([{ text: 'x' }], { maxBody: 1000 });
    open.push(emulator);
    const post = (headers: Record<string, string>, body: string) =>
      fetch(`${emulator.url}/v1/messages`, {
        method: 'POST',
        body,
        headers: { 'x-api-key': emulator.key, ...headers },
      });
    expect(
      (
        await post(
          { 'anthropic-version': '2023-06-01' },
          JSON.stringify({ ...base, system: 'x'.repeat(2000) }),
        )
      ).status,
    ).toBe(413);
    expect(await (await post({}, JSON.stringify(base))).json()).toMatchObject({
      error: { message: 'anthropic-version: header is required' },
    });
    expect((await post({ 'anthropic-version': '2023-06-01' }, '{')).status).toBe(400);
  });
});
