/** What the emulated Gemini answers and refuses, by requests as its documentation writes them. */
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/types.ts';
import { startGemini } from './gemini.ts';
import type { Emulator, EmulatorScript } from './server.ts';

const declaration = {
  name: 'get_weather',
  description: 'Weather of a city',
  parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
};
const user = { role: 'user', parts: [{ text: 'Weather in Oslo?' }] };
const base = { contents: [user], tools: [{ functionDeclarations: [declaration] }] };

let open: Emulator[] = [];
afterEach(async () => {
  await Promise.all(open.map((emulator) => emulator.close()));
  open = [];
});

async function start(script: EmulatorScript, model = 'gemini-3.8-flash') {
  const emulator = await startGemini(script);
  open.push(emulator);
  const post = (body: object, method = 'generateContent', key = emulator.key) =>
    fetch(`${emulator.url}/v1beta/models/${model}:${method}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { emulator, post };
}

interface Answer extends JsonObject {
  candidates: { content: { parts: JsonObject[] }; finishReason: string }[];
}

const call = (more: object = { thoughtSignature: 'signature_0_get_weather' }, id = 'fc_0_0') => ({
  functionCall: { id, name: 'get_weather', args: {} },
  ...more,
});
const response = (id?: string, more: object = {}) => ({
  functionResponse: {
    ...(id !== undefined && { id }),
    name: 'get_weather',
    response: { output: 'cold' },
    ...more,
  },
});
const talk = (...contents: object[]) => ({ contents: [user, ...contents] });
const model = (...parts: object[]) => ({ role: 'model', parts });
const answered = (...parts: object[]) => ({ role: 'user', parts });

describe('the emulated Gemini generateContent', () => {
  it('answers whole, and takes its own calls back with their results', async () => {
    const { post } = await start([
      {
        text: 'I look.',
        calls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }, { name: 'get_weather' }],
      },
      { text: 'Cold.' },
    ]);
    const first = (await (await post(base)).json()) as Answer;
    const { parts } = first.candidates[0]?.content ?? { parts: [] };
    expect(parts.filter(({ functionCall }) => functionCall !== undefined)).toEqual([
      {
        functionCall: { id: 'fc_0_0', name: 'get_weather', args: { city: 'Oslo' } },
        thoughtSignature: 'signature_0_get_weather',
      },
      { functionCall: { id: 'fc_0_1', name: 'get_weather', args: {} } },
    ]);
    const second = await post({
      ...base,
      ...talk(model(...parts), answered(response('fc_0_0'), response('fc_0_1'))),
    });
    expect(second.status).toBe(200);
  });

  it('streams events, a call whole in one of them', async () => {
    const { post } = await start([
      { reasoning: 'Hm.', text: 'A longer text.', calls: [{ name: 'get_weather' }] },
    ]);
    const text = await (await post(base, 'streamGenerateContent?alt=sse')).text();
    const events = text
      .split('\n\n')
      .filter((event) => event !== '')
      .map((event) => JSON.parse(event.replace(/^data: /, '')) as Answer);
    expect(events.at(-1)?.candidates[0]?.finishReason).toBe('STOP');
    expect(
      events
        .flatMap(({ candidates }) => candidates[0]?.content.parts ?? [])
        .filter(({ functionCall }) => functionCall !== undefined),
    ).toHaveLength(1);
  });

  it('knows keys and models', async () => {
    const { post } = await start([{ text: 'x' }]);
    const wrong = await post(base, 'generateContent', 'wrong');
    expect([wrong.status, await wrong.json()]).toMatchObject([
      400,
      { error: { message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } },
    ]);
    const other = await start([{ text: 'x' }], 'claude');
    expect((await other.post(base)).status).toBe(404);
  });

  const tools = (change: object) => ({ tools: [{ functionDeclarations: [{ ...declaration, ...change }] }] });
  it.each([
    ['a name that starts with a digit', tools({ name: '1st' }), 'Invalid function name'],
    [
      'two functions of one name',
      { tools: [{ functionDeclarations: [declaration, declaration] }] },
      'Duplicate function declaration',
    ],
    [
      '513 functions',
      {
        tools: [
          {
            functionDeclarations: Array.from({ length: 513 }, (_, at) => ({
              ...declaration,
              name: `f${at}`,
            })),
          },
        ],
      },
      'at most 512',
    ],
    ['both kinds of parameters', tools({ parameters: { type: 'OBJECT' } }), 'mutually exclusive'],
    [
      'a keyword that OpenAPI does not have',
      tools({
        parametersJsonSchema: undefined,
        parameters: { type: 'OBJECT', properties: { a: { type: 'STRING', const: 'x' } } },
      }),
      'Invalid JSON payload',
    ],
    ['an unknown member', { messages: [] }, 'Unknown name "messages": Cannot find field.'],
    [
      'a mode without functions',
      { tools: undefined, toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
      'without function_declarations',
    ],
    [
      'a subset in mode AUTO',
      { toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['get_weather'] } } },
      'ANY or VALIDATED',
    ],
    ['a role that is not one', { contents: [{ ...user, role: 'assistant' }] }, 'Please use a valid role'],
    ['a part of nothing', { contents: [{ role: 'user', parts: [{}] }] }, "required oneof field 'data'"],
    ['no parts', { contents: [{ role: 'user', parts: [] }] }, 'must not be empty'],
    ['an answer at the end', talk(model({ text: 'I am' })), 'end with a user role'],
    [
      'a call without a result',
      talk(model(call({ thoughtSignature: 'skip_thought_signature_validator' })), user),
      'number of function response parts',
    ],
    [
      'fewer results than calls',
      talk(
        model(call({ thoughtSignature: 'skip_thought_signature_validator' }), call({}, 'x')),
        answered(response('x')),
      ),
      'number of function response parts',
    ],
    ['a result of nothing', talk(answered(response())), 'immediately after a function call turn'],
    ['a call after a call', talk(model({ text: 'x' }), model(call())), 'immediately after a user turn'],
    [
      'a call without a signature',
      talk(model(call({})), answered(response())),
      'missing a thought_signature',
    ],
    [
      'a signature that is not its own',
      talk(model(call({ thoughtSignature: 'other' })), answered(response())),
      'Corrupted thought signature',
    ],
    [
      'a result of another id',
      talk(
        model(call({ thoughtSignature: 'skip_thought_signature_validator' })),
        answered(response('other')),
      ),
      'matches no function call',
    ],
  ])('refuses %s', async (_title, change, words) => {
    const { post } = await start([{ text: 'accepted' }]);
    const answer = await post({ ...base, ...change });
    const body = (await answer.json()) as { error: { message: string } };
    expect(body.error?.message).toContain(words);
    expect(answer.status).toBe(400);
  });

  it('refuses media in results on models before the third generation', async () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
    const body = { ...base, ...talk(model(call({})), answered(response(undefined, { parts }))) };
    const { post } = await start([{ text: 'x' }], 'gemini-2.5-flash');
    expect(await (await post(body)).json()).toMatchObject({
      error: { message: 'Multimodal function responses are not supported for this model.' },
    });
  });
});
