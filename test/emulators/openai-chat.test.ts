/** The emulator is right when OpenAI's own SDK works with it, and gets the errors that it knows. */
import OpenAI, { APIError, AuthenticationError, InternalServerError, RateLimitError } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { startChat } from './openai-chat.ts';
import type { Emulator, EmulatorScript } from './server.ts';

type Params = OpenAI.ChatCompletionCreateParamsNonStreaming;

const tool: OpenAI.ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};
const user = { role: 'user', content: 'Weather in Oslo?' } as const;
const base: Params = { model: 'gpt-5.2', tools: [tool], messages: [user] };

let open: Emulator[] = [];
afterEach(async () => {
  await Promise.all(open.map((emulator) => emulator.close()));
  open = [];
});

async function start(script: EmulatorScript, key?: string) {
  const emulator = await startChat(script);
  open.push(emulator);
  const client = new OpenAI({ apiKey: key ?? emulator.key, baseURL: `${emulator.url}/v1`, maxRetries: 0 });
  return { emulator, client };
}

async function refusal(change: object): Promise<{ status: unknown; message: string }> {
  const { client } = await start([{ text: 'accepted' }]);
  const error = await client.chat.completions.create({ ...base, ...change }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw new Error(`it was accepted: ${JSON.stringify(change)}`);
  return { status: error.status, message: error.message };
}

const made = (id: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name: 'get_weather', arguments: args },
});
const assistant = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls });
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'cold' });

describe('the emulated Chat Completions', () => {
  it('answers the official SDK whole', async () => {
    const { client } = await start([{ text: 'Hello.', usage: { input: 3, output: 2 } }]);
    const answer = await client.chat.completions.create(base);
    expect(answer.choices[0]).toMatchObject({ message: { content: 'Hello.' }, finish_reason: 'stop' });
    expect(answer.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 });
  });

  it('streams to the official SDK, with a round trip of parallel calls and their results', async () => {
    const { client, emulator } = await start([
      {
        text: 'I look.',
        calls: [
          { id: 'a', name: 'get_weather', arguments: { city: 'Óslo – "north"' } },
          { id: 'b', name: 'get_weather' },
        ],
      },
      { text: 'Cold in both.' },
    ]);
    const stream = client.chat.completions.stream({
      ...base,
      stream: true,
      stream_options: { include_usage: true },
    });
    const first = (await stream.finalChatCompletion()).choices[0];
    expect(first?.finish_reason).toBe('tool_calls');
    const calls = first?.message.tool_calls ?? [];
    expect(calls).toMatchObject([made('a', '{"city":"Óslo – \\"north\\""}'), made('b')]);
    const messages = [user, assistant(made('a'), made('b')), result('a'), result('b')] as Params['messages'];
    const second = await client.chat.completions.create({ ...base, messages });
    expect(second.choices[0]?.message.content).toBe('Cold in both.');
    expect(emulator.requests.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('gives the SDK the error classes that it knows', async () => {
    const wrong = await start([{ text: 'x' }], 'sk-wrong');
    await expect(wrong.client.chat.completions.create(base)).rejects.toBeInstanceOf(AuthenticationError);
    const { client } = await start([
      { fault: { kind: 'status', status: 429 } },
      { fault: { kind: 'status', status: 500 } },
      {
        text: 'never whole',
        fault: { kind: 'error-event', after: 2, type: 'server_error', message: 'Broken' },
      },
    ]);
    await expect(client.chat.completions.create(base)).rejects.toBeInstanceOf(RateLimitError);
    await expect(client.chat.completions.create(base)).rejects.toBeInstanceOf(InternalServerError);
    await expect(client.chat.completions.stream({ ...base, stream: true }).finalContent()).rejects.toThrow(
      'Broken',
    );
  });

  const named = (change: object) => ({ tools: [{ ...tool, function: { ...tool.function, ...change } }] });
  const talk = (...messages: object[]) => ({ messages: [user, ...messages] });
  it.each([
    ['a name with a dot', named({ name: 'get.weather' }), 'does not match pattern'],
    ['129 tools', { tools: Array.from({ length: 129 }, () => tool) }, 'maximum length 128'],
    ['no tools at all in a list', { tools: [] }, 'empty array'],
    [
      'a union at the root',
      named({ parameters: { type: 'object', properties: {}, anyOf: [] } }),
      'at the top level',
    ],
    ['a schema without properties', named({ parameters: { type: 'object' } }), 'missing properties'],
    ['a description that is too long', named({ description: 'x'.repeat(1025) }), 'string too long'],
    [
      'a choice without tools',
      { tools: undefined, tool_choice: 'auto' },
      "only allowed when 'tools' are specified",
    ],
    [
      'a choice of a tool that is not there',
      { tool_choice: { type: 'function', function: { name: 'x' } } },
      "not in 'tools'",
    ],
    ['the old limit on a new model', { max_tokens: 10 }, "Use 'max_completion_tokens' instead"],
    ['options of a stream without one', { stream_options: {} }, "only allowed when 'stream' is enabled"],
    ['an unknown member', { input: 'x' }, "Unknown parameter: 'input'."],
    [
      'an unknown member of a message',
      talk({ ...user, reasoning_content: 'x' }),
      "Unknown parameter: 'messages[1].reasoning_content'",
    ],
    ['no messages', { messages: [] }, 'empty array'],
    ['a call without a result', talk(assistant(made('a')), user), 'did not have response messages: a'],
    ['a call at the end', talk(assistant(made('a'))), 'did not have response messages: a'],
    [
      'one missing of two results',
      talk(assistant(made('a'), made('b')), result('b')),
      'response messages: a',
    ],
    ['a result of nothing', talk(result('a')), 'must be a response to a preceeding message'],
    ['a result of another call', talk(assistant(made('a')), result('b')), "'tool_call_id' of 'b' not found"],
    [
      'two results of one call',
      talk(assistant(made('a')), result('a'), result('a')),
      "'tool_call_id' of 'a' not found",
    ],
    ['one call id twice', talk(assistant(made('a'), made('a')), result('a')), 'Duplicate value'],
    ['arguments that are no object', talk(assistant(made('a', '')), result('a')), 'JSON text of an object'],
    [
      'an image in a result',
      talk(assistant(made('a')), {
        ...result('a'),
        content: [{ type: 'image_url', image_url: { url: 'x' } }],
      }),
      "Invalid value: 'image_url'",
    ],
    ['nothing as content', talk({ role: 'user', content: null }), 'expected a string, got null'],
  ])('refuses %s', async (_title, change, words) => {
    const refused = await refusal(change);
    expect(refused.message).toContain(words);
    expect(refused.status).toBe(400);
  });
});
