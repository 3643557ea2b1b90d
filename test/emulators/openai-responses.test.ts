/** The emulator is right when OpenAI's own SDK works with it, and gets the errors that it knows. */
import OpenAI, {
  APIError,
  AuthenticationError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { startResponses } from './openai-responses.ts';
import type { Emulator, EmulatorScript } from './server.ts';

type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming;

const tool: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
};
const base: Params = { model: 'gpt-6-astra', store: false, tools: [tool], input: 'Weather in Oslo?' };
const user = { role: 'user', content: 'Weather in Oslo?' } as const;

let open: Emulator[] = [];
afterEach(async () => {
  await Promise.all(open.map((emulator) => emulator.close()));
  open = [];
});

async function start(script: EmulatorScript, options: { key?: string; maxRetries?: number } = {}) {
  const emulator = await startResponses(script);
  open.push(emulator);
  const client = new OpenAI({
    apiKey: options.key ?? emulator.key,
    baseURL: `${emulator.url}/v1`,
    maxRetries: options.maxRetries ?? 0,
  });
  return { emulator, client };
}

async function refusal(change: object) {
  const { client } = await start([{ text: 'accepted' }]);
  const error = await client.responses.create({ ...base, ...change }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw new Error(`it was accepted: ${JSON.stringify(change)}`);
  return { status: error.status as number, message: error.message, code: error.code };
}

/** The SDK's stream helper adds a member that the API does not know. */
function withoutParsed(item: object): object {
  return Object.fromEntries(Object.entries(item).filter(([name]) => name !== 'parsed_arguments'));
}

const call = { type: 'function_call', call_id: 'call_a', name: 'get_weather', arguments: '{}' };
const output = { type: 'function_call_output', call_id: 'call_a', output: 'cold' };

describe('the emulated OpenAI Responses', () => {
  it('answers the official SDK whole', async () => {
    const { client } = await start([{ text: 'Hello.', usage: { input: 3, output: 2 } }]);
    const response = await client.responses.create(base);
    expect(response.output_text).toBe('Hello.');
    expect(response.usage).toMatchObject({ input_tokens: 3, output_tokens: 2, total_tokens: 5 });
  });

  it('streams to the official SDK, with a round trip of reasoning, parallel calls and their outputs', async () => {
    const { client, emulator } = await start([
      {
        reasoning: 'Two cities, two calls.',
        text: 'I look.',
        calls: [
          { id: 'call_a', name: 'get_weather', arguments: { city: 'Óslo – "north"' } },
          { id: 'call_b', name: 'get_weather' },
        ],
      },
      { text: 'Cold in both.' },
    ]);
    const first = await client.responses.stream({ ...base, stream: true }).finalResponse();
    expect(first.output.map(({ type }) => type)).toEqual([
      'reasoning',
      'message',
      'function_call',
      'function_call',
    ]);
    expect(first.output_text).toBe('I look.');
    const events: string[] = [];
    const stream = await client.responses.create({
      ...base,
      stream: true,
      input: [
        user,
        ...first.output.map(withoutParsed),
        { type: 'function_call_output', call_id: 'call_a', output: 'cold' },
        { type: 'function_call_output', call_id: 'call_b', output: [{ type: 'input_text', text: 'cold' }] },
      ] as OpenAI.Responses.ResponseInput,
    });
    for await (const event of stream) events.push(event.type);
    expect(events.at(0)).toBe('response.created');
    expect(events.at(-1)).toBe('response.completed');
    expect(emulator.requests.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('refuses reasoning that is altered, stripped, or apart from the call it belongs to', async () => {
    const { client } = await start([
      { reasoning: 'Hm.', calls: [{ id: 'call_a', name: 'get_weather', arguments: { city: 'Oslo' } }] },
      { text: 'ok' },
    ]);
    const [reasoning, made] = (await client.responses.create(base)).output;
    const resume = (...items: unknown[]) =>
      client.responses.create({ ...base, input: [user, ...items, output] } as Params);
    await expect(resume(made)).rejects.toThrow("without its required 'reasoning' item: 'rs_0'");
    await expect(resume(reasoning, call)).rejects.toThrow('without its required following item');
    await expect(resume({ ...reasoning, encrypted_content: 'x' }, made)).rejects.toThrow(
      'could not be verified',
    );
    await expect(resume({ ...reasoning, encrypted_content: undefined }, made)).rejects.toBeInstanceOf(
      NotFoundError,
    );
    await expect(resume(reasoning, made)).resolves.toMatchObject({ status: 'completed' });
  });

  it('gives the SDK the error classes that it knows', async () => {
    const wrong = await start([{ text: 'x' }], { key: 'sk-wrong' });
    await expect(wrong.client.responses.create(base)).rejects.toBeInstanceOf(AuthenticationError);
    const { client } = await start([
      { fault: { kind: 'status', status: 429 } },
      { fault: { kind: 'status', status: 500 } },
      {
        text: 'never whole',
        fault: { kind: 'error-event', after: 3, type: 'server_error', message: 'Broken' },
      },
    ]);
    await expect(client.responses.create(base)).rejects.toBeInstanceOf(RateLimitError);
    await expect(client.responses.create(base)).rejects.toBeInstanceOf(InternalServerError);
    const seen: unknown[] = [];
    for await (const event of await client.responses.create({ ...base, stream: true })) seen.push(event);
    expect(seen.at(-1)).toMatchObject({ type: 'error', code: 'server_error', message: 'Broken' });
    await expect(client.responses.create({ ...base, model: 'claude' })).rejects.toBeInstanceOf(NotFoundError);
  });

  const parameters = (schema: unknown) => ({ tools: [{ ...tool, parameters: schema }] });
  const input = (...items: unknown[]) => ({ input: [user, ...items] });
  it.each([
    [
      'a name with a dot',
      { tools: [{ ...tool, name: 'get.weather' }] },
      'does not match pattern',
      'invalid_value',
    ],
    [
      'a name that is too long',
      { tools: [{ ...tool, name: 'x'.repeat(65) }] },
      'maximum length 64',
      'string_above_max_length',
    ],
    ['two tools of one name', { tools: [tool, tool] }, 'Duplicate function name', 'invalid_value'],
    [
      '129 tools',
      { tools: Array.from({ length: 129 }, (_, at) => ({ ...tool, name: `t${at}` })) },
      'maximum length 128',
      'array_above_max_length',
    ],
    [
      'a schema without a type',
      parameters({ properties: {} }),
      'got \'type: "None"\'',
      'invalid_function_parameters',
    ],
    [
      'a union at the root',
      parameters({ type: 'object', properties: {}, oneOf: [] }),
      'at the top level',
      'invalid_function_parameters',
    ],
    [
      'a schema without properties',
      parameters({ type: 'object' }),
      'missing properties',
      'invalid_function_parameters',
    ],
    [
      'an array without items',
      parameters({ type: 'object', properties: { a: { type: 'array' } } }),
      'items',
      'invalid_function_parameters',
    ],
    [
      'a loose schema in strict mode',
      { tools: [{ ...tool, strict: true }] },
      'Invalid schema for function',
      'invalid_function_parameters',
    ],
    ['an unknown member', { messages: [] }, "Unknown parameter: 'messages'.", 'unknown_parameter'],
    [
      'an unknown member of a tool',
      { tools: [{ ...tool, input_schema: {} }] },
      "Unknown parameter: 'tools[0].input_schema'.",
      'unknown_parameter',
    ],
    [
      'a missing model',
      { model: undefined },
      "Missing required parameter: 'model'.",
      'missing_required_parameter',
    ],
    ['a sampling parameter', { temperature: 1 }, 'is not supported with this model', 'unsupported_parameter'],
    ['a limit that is too low', { max_output_tokens: 1 }, '>= 16', 'integer_below_min_value'],
    [
      'a choice of a tool that is not there',
      { tool_choice: { type: 'function', name: 'x' } },
      "not found in 'tools'",
      null,
    ],
    [
      'a forced call without tools',
      { tools: [], tool_choice: 'required' },
      "'required' must be specified with 'tools'",
      null,
    ],
    ['a call without an output', input(call), 'No tool output found for function call call_a.', null],
    [
      'an output of nothing',
      input(output),
      'No tool call found for function call output with call_id call_a.',
      null,
    ],
    ['an output before its call', input(output, call), 'No tool call found', null],
    ['two outputs of one call', input(call, output, output), 'No tool call found', null],
    ['one call id twice', input(call, call, output), 'Duplicate function call', null],
    [
      'one item id twice',
      input({ ...call, id: 'fc_1' }, { ...call, call_id: 'b', id: 'fc_1' }, output, {
        ...output,
        call_id: 'b',
      }),
      'Duplicate item found with id fc_1',
      null,
    ],
    [
      'an item id of another kind',
      input({ ...call, id: 'call_1' }, output),
      "begins with 'fc'",
      'invalid_value',
    ],
    [
      'a call id that is too long',
      input({ ...call, call_id: 'x'.repeat(65) }, output),
      'maximum length 64',
      'string_above_max_length',
    ],
    [
      'arguments that are not text',
      input({ ...call, arguments: {} }, output),
      'expected a string',
      'invalid_type',
    ],
    [
      'an output that is an object',
      input(call, { ...output, output: {} }),
      'expected one of an array of objects or string',
      'invalid_type',
    ],
    [
      'text of a user as an answer',
      input({ role: 'user', content: [{ type: 'output_text', text: 'x' }] }),
      "Invalid value: 'output_text'",
      'invalid_value',
    ],
    [
      'an image of another type',
      input({ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/tiff;base64,AAAA' }] }),
      'unsupported MIME type',
      'invalid_value',
    ],
  ])('refuses %s', async (_title, change, words, code) => {
    const refused = await refusal(change);
    expect(refused.message).toContain(words);
    expect({ status: refused.status, code: refused.code }).toEqual({ status: 400, code });
  });
});
