import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dialectOf, type Message, type Turn } from '../../src/dialects/index.ts';
import { type Model, openModel } from '../../src/models/index.ts';
import type { ToolResult } from '../../src/types.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'midspan-script-'));
});
afterAll(() => rm(folder, { recursive: true }));

let count = 0;
function open(script: unknown): Model {
  const path = join(folder, `${count++}.json`);
  writeFileSync(path, typeof script === 'string' ? script : JSON.stringify(script));
  return openModel(`script:${path}`);
}

async function take(model: Model, messages: Message[]): Promise<{ turn: Turn; deltas: string[] }> {
  const stream = model.stream(
    { messages, tools: model.dialect.definitions([]) },
    { signal: new AbortController().signal },
  );
  const deltas: string[] = [];
  for (;;) {
    const step = await stream.next();
    if (step.done === true) return { turn: step.value, deltas };
    if (step.value.type === 'text') deltas.push(step.value.delta);
  }
}

const question: Message = { role: 'user', content: 'How is the weather?' };
const called = (result: ToolResult): Message[] => {
  const call = { id: 'w', name: 'demo__weather', arguments: {} };
  return [
    question,
    { role: 'assistant', text: '', calls: [call] },
    { role: 'tool', results: [{ call, result }] },
  ];
};

describe('a scripted model', () => {
  it('streams its text in several deltas and then makes its calls', async () => {
    const model = open({
      turns: [{ text: 'A sentence that is longer than one delta.', calls: [{ name: 'demo__weather' }] }],
    });
    const { turn, deltas } = await take(model, [question]);
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join('')).toBe(turn.message.text);
    expect(turn).toMatchObject({
      stop: 'calls',
      message: { calls: [{ id: 'call_1_1', name: 'demo__weather', arguments: {} }] },
    });
  });

  it('quotes what calls returned, in text and in arguments', async () => {
    const model = open({
      turns: [
        { calls: [{ id: 'w', name: 'demo__weather' }] },
        {
          text: '{{w.city}}: {{ w.days.1 }} of {{w.days}}; {{w}}',
          calls: [{ name: 'demo__plot', arguments: { days: '{{w.days}}', title: 'For {{w.city}}' } }],
        },
      ],
    });
    const { turn } = await take(
      model,
      called({
        content: [{ type: 'text', text: 'cold' }],
        structuredContent: { city: 'Oslo', days: [1, 2] },
      }),
    );
    expect(turn.message.text).toBe('Oslo: 2 of [1,2]; cold');
    expect(turn.message.calls[0]?.arguments).toEqual({ days: [1, 2], title: 'For Oslo' });
  });

  it('reads members out of a text that is JSON', async () => {
    const model = open({ turns: [{ calls: [{ id: 'w', name: 'x' }] }, { text: '{{w.temperature}}' }] });
    const { turn } = await take(model, called({ content: [{ type: 'text', text: '{"temperature":-4}' }] }));
    expect(turn.message.text).toBe('-4');
  });

  it('says what it could not quote, and what there is', async () => {
    const model = open({ turns: [{ calls: [{ id: 'w', name: 'x' }] }, { text: '{{w.temperature}}' }] });
    await expect(
      take(model, called({ content: [{ type: 'text', text: 'no idea' }], isError: true })),
    ).rejects.toMatchObject({
      code: 'model',
      message: expect.stringContaining('{{w.temperature}}') as string,
    });
  });

  it('goes on after the turns that the conversation has, and says when it has no more', async () => {
    const model = open({ turns: [{ text: 'one' }, { text: 'two' }] });
    const first: Message[] = [question, { role: 'assistant', text: 'one', calls: [] }, question];
    expect((await take(model, first)).turn.message.text).toBe('two');
    await expect(
      take(model, [...first, { role: 'assistant', text: 'two', calls: [] }, question]),
    ).rejects.toThrow('the script has 2 turns and turn 3 was asked for');
  });

  it('checks what it is told, where the script asks for it', async () => {
    const model = open({ turns: [{ expect: ['weather'], text: 'yes' }] });
    expect((await take(model, [question])).turn.message.text).toBe('yes');
    await expect(take(model, [{ role: 'user', content: 'Tell me a "joke"' }])).rejects.toThrow(
      'expects "weather"',
    );
  });

  it('uses the dialect of the file, or the one that it is opened with', async () => {
    const path = join(folder, 'dialect.json');
    writeFileSync(path, JSON.stringify({ dialect: 'openai-responses', turns: [{ text: 'x' }] }));
    expect(openModel(`script:${path}`).dialect).toBe(dialectOf('openai-responses'));
    expect(openModel(`script:${path}`, { dialect: 'gemini' }).dialect).toBe(dialectOf('gemini'));
  });

  it.each([
    ['{', 'it is not JSON'],
    [[], 'the file: must be an object'],
    [{}, 'turns: must be a list'],
    [{ turns: [] }, 'turns: must have at least one turn'],
    [{ turns: [{ txt: 'x' }] }, 'turns[0]: unknown member "txt"; known: text, calls'],
    [{ turns: [{ text: 1 }] }, 'turns[0].text: must be a string'],
    [{ turns: [{ calls: [{}] }] }, 'turns[0].calls[0].name: must be a string'],
    [
      { turns: [{ calls: [{ name: 'x', arguments: [] }] }] },
      'turns[0].calls[0].arguments: must be an object',
    ],
    [{ turns: [{ stop: 'end_turn' }] }, 'turns[0].stop: must be one of complete'],
    [{ dialect: 'claude', turns: [{}] }, 'dialect: must be one of anthropic'],
  ])('refuses %j and names the place', async (script, words) => {
    expect(() => open(script)).toThrow(words);
  });

  it('names a file that is not there', async () => {
    expect(() => openModel('script:/nowhere/x.json')).toThrow('the script /nowhere/x.json cannot be read');
  });
});

describe('openModel', () => {
  it('lists the forms of a name when it knows none', async () => {
    expect(() => openModel('claude-opus-5', { env: {} })).toThrow('anthropic:<model>, openai:<model>');
    expect(() => openModel('antropic:x', { env: {} })).toThrow('does not name a model');
  });

  it('says which key is missing, and needs none for an address of its own', async () => {
    expect(() => openModel('anthropic:claude-opus-5', { env: {} })).toThrow('ANTHROPIC_API_KEY is not set');
    expect(() => openModel('openai:gpt-6', { env: {} })).toThrow('OPENAI_API_KEY is not set');
    expect(openModel('openai:gpt-6', { env: {}, baseUrl: 'http://localhost:1/v1' }).name).toBe(
      'openai:gpt-6',
    );
    expect(() => openModel('openai:gpt-6', { env: { OPENAI_BASE_URL: 'nonsense' } })).toThrow(
      'is not an http(s) address',
    );
  });
});
