/** One vocabulary of choice in host.run, in the words of each API; what an API refuses degrades and is told. */
import { afterEach, describe, expect, it } from 'vitest';
import { type Choice, type Host, openHost, openModel } from '../../src/index.ts';
import type { Emulator } from '../emulators/server.ts';
import { type Api, apis } from '../emulators/apis.ts';
import { collect, ofType } from './support.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function hostOfThree(): Promise<Host> {
  const natives = ['find', 'read', 'write'].map((name) => ({
    name,
    description: `Can ${name}`,
    run: () => 'done',
  }));
  const host = await openHost({ mcpServers: {} }, { natives, readResult: false, env: {} });
  closing.push(() => host.close());
  return host;
}

/** A Claude model that may be forced to call. */
const olderClaude = ({ url, key }: Emulator) =>
  openModel('anthropic:claude-opus-5', { env: { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url } });

interface Options {
  choice?: Choice;
  parallel?: boolean;
  newest?: boolean;
}

/** One call and an answer: what the API was asked in both turns, and what the run warned of. */
async function choosing(api: Api, { choice, parallel, newest = false }: Options) {
  const emulator = await api.start([{ calls: [{ id: 'c1', name: 'read' }] }, { text: 'Done.' }]);
  closing.push(() => emulator.close());
  const host = await hostOfThree();
  const started = host.run({
    model: api.name === 'anthropic' && !newest ? olderClaude(emulator) : api.model(emulator),
    messages: 'Go.',
    ...(choice !== undefined && { choice }),
    ...(parallel !== undefined && { parallel }),
  });
  const { events, result } = await collect(started);
  expect([result.reason, emulator.requests.map(({ refusal }) => refusal)]).toEqual([
    'complete',
    [undefined, undefined],
  ]);
  const asked = emulator.requests.map(({ body }) => ({
    choice:
      body.tool_choice ??
      (body.toolConfig as { functionCallingConfig?: unknown } | undefined)?.functionCallingConfig ??
      (body.generation_config as { tool_choice?: unknown } | undefined)?.tool_choice,
    parallel: body.parallel_tool_calls,
    tools: JSON.stringify(body.tools).match(/"(?:find|read|write)"/g)?.length,
  }));
  return { asked, warnings: ofType(events, 'warning').map(({ message }) => message) };
}

type Row = Record<Api['name'], unknown>;
const functions = (...names: string[]) => names.map((name) => ({ type: 'function', name }));
const nested = (...names: string[]) => names.map((name) => ({ type: 'function', function: { name } }));

/** What each API is asked while the choice holds. */
const rows: { words: string; choice: Choice; asked: Row }[] = [
  {
    words: 'auto',
    choice: 'auto',
    asked: {
      anthropic: { type: 'auto' },
      openai: 'auto',
      'openai-chat': 'auto',
      gemini: { mode: 'AUTO' },
      'gemini-interactions': 'auto',
    },
  },
  {
    words: 'a call that must be made',
    choice: 'required',
    asked: {
      anthropic: { type: 'any' },
      openai: 'required',
      'openai-chat': 'required',
      gemini: { mode: 'ANY' },
      'gemini-interactions': 'any',
    },
  },
  {
    words: 'one tool',
    choice: { tool: 'read' },
    asked: {
      anthropic: { type: 'tool', name: 'read' },
      openai: { type: 'function', name: 'read' },
      'openai-chat': { type: 'function', function: { name: 'read' } },
      gemini: { mode: 'ANY', allowedFunctionNames: ['read'] },
      'gemini-interactions': { allowed_tools: { mode: 'any', tools: ['read'] } },
    },
  },
  {
    words: 'a subset',
    choice: { tools: ['find', 'read'] },
    asked: {
      anthropic: { type: 'auto' },
      openai: { type: 'allowed_tools', mode: 'auto', tools: functions('find', 'read') },
      'openai-chat': {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: nested('find', 'read') },
      },
      gemini: { mode: 'VALIDATED', allowedFunctionNames: ['find', 'read'] },
      'gemini-interactions': { allowed_tools: { mode: 'auto', tools: ['find', 'read'] } },
    },
  },
  {
    words: 'a subset that must be called',
    choice: { tools: ['find', 'read'], required: true },
    asked: {
      anthropic: { type: 'any' },
      openai: { type: 'allowed_tools', mode: 'required', tools: functions('find', 'read') },
      'openai-chat': {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: nested('find', 'read') },
      },
      gemini: { mode: 'ANY', allowedFunctionNames: ['find', 'read'] },
      'gemini-interactions': { allowed_tools: { mode: 'any', tools: ['find', 'read'] } },
    },
  },
  {
    words: 'text or a call that fits its schema',
    choice: 'validated',
    asked: {
      anthropic: { type: 'auto' },
      openai: 'auto',
      'openai-chat': 'auto',
      gemini: { mode: 'VALIDATED' },
      'gemini-interactions': 'validated',
    },
  },
];

/** What the run warns of, where an API cannot do it. */
const degradations: Record<string, Partial<Record<Api['name'], RegExp>>> = {
  'a subset': { anthropic: /the API has no subset; the other tools are left out/ },
  'a subset that must be called': { anthropic: /the API has no subset; the other tools are left out/ },
  'text or a call that fits its schema': {
    anthropic: /enforces schemas per tool \(strict\)/,
    openai: /enforces schemas per tool \(strict\)/,
    'openai-chat': /enforces schemas per tool \(strict\)/,
  },
};

describe.each(apis)('the choice of a run on $name', (api) => {
  it.each(rows)('is $words', async ({ words, choice, asked: expected }) => {
    const { asked, warnings } = await choosing(api, { choice });
    expect(asked[0]?.choice).toEqual(expected[api.name]);
    const subset = typeof choice === 'object' && 'tools' in choice;
    expect(asked[0]?.tools).toBe(api.name === 'anthropic' && subset ? 2 : 3);
    const warning = degradations[words]?.[api.name];
    expect(warnings).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)]);
  });

  it('falls back to what leaves the model free once the forced call is made', async () => {
    const auto = rows[0]?.asked[api.name];
    expect((await choosing(api, { choice: 'required' })).asked[1]?.choice).toEqual(auto);
    expect((await choosing(api, { choice: { tool: 'read' } })).asked[1]?.choice).toEqual(auto);
    const subset = await choosing(api, { choice: { tools: ['find', 'read'], required: true } });
    expect(subset.asked[1]?.choice).toEqual(rows[3]?.asked[api.name]);
    expect(subset.asked[1]?.tools).toBe(subset.asked[0]?.tools);
  });

  it('is none: nothing that the model calls is run', async () => {
    const { asked } = await choosing(api, { choice: 'none' });
    const none: Row = {
      anthropic: { type: 'none' },
      openai: 'none',
      'openai-chat': 'none',
      gemini: { mode: 'NONE' },
      'gemini-interactions': 'none',
    };
    expect(asked.map(({ choice }) => choice)).toEqual([none[api.name], none[api.name]]);
  });

  it('refuses a call outside of a subset that the API did not keep to', async () => {
    const emulator = await api.start([{ calls: [{ id: 'c1', name: 'write' }] }, { text: 'I may not.' }]);
    closing.push(() => emulator.close());
    const started = (await hostOfThree()).run({
      model: api.model(emulator),
      messages: 'Go.',
      choice: { tools: ['find'] },
    });
    const { events, result } = await collect(started);
    expect(result.reason).toBe('complete');
    expect(ofType(events, 'call.finished')).toMatchObject([
      { name: 'write', status: 'refused', isError: true },
    ]);
  });

  it('is one call at a time', async () => {
    const { asked, warnings } = await choosing(api, { parallel: false });
    const [first] = asked;
    if (api.name === 'anthropic')
      expect(first?.choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    else if (api.name.startsWith('openai')) expect(first?.parallel).toBe(false);
    else expect(warnings).toEqual(['parallel: the API cannot be kept from several calls at once']);
    if (!api.name.startsWith('gemini')) expect(warnings).toEqual([]);
  });

  it('names a tool that is not there: none is called, and that is told', async () => {
    const emulator = await api.start([{ text: 'Nothing to call.' }]);
    closing.push(() => emulator.close());
    const started = (await hostOfThree()).run({
      model: api.model(emulator),
      messages: 'Go.',
      choice: { tool: 'reed' },
    });
    const { events, result } = await collect(started);
    expect(result.reason).toBe('complete');
    expect(ofType(events, 'warning').map(({ message }) => message)).toContain(
      'choice: the request has no tool reed',
    );
  });
});

describe('a Claude model that takes no forced calls', () => {
  const api = apis.find(({ name }) => name === 'anthropic') as Api;

  it.each<Choice>(['required', { tool: 'read' }])('is left free, with one warning (%j)', async (choice) => {
    const { asked, warnings } = await choosing(api, { choice, newest: true });
    expect(asked.map((each) => [each.choice, each.tools])).toEqual([
      [{ type: 'auto' }, 3],
      [{ type: 'auto' }, 3],
    ]);
    expect(warnings).toEqual([
      'choice: claude-opus-5-5 cannot be forced to call a tool; it may answer with text',
    ]);
  });
});
