import { describe, expect, it } from 'vitest';
import {
  anthropic,
  gemini,
  geminiInteractions,
  openaiChat,
  openaiResponses,
  type Choice,
  type TurnRequest,
} from '../../src/dialects/index.ts';
import { compiled, dialects, modelOf, type PerDialect } from './support.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];

function encoded(dialect: (typeof dialects)[number], more: Partial<TurnRequest> = {}) {
  return dialect.request({
    model: modelOf(dialect),
    messages,
    tools: compiled(dialect, 'a', 'b', 'c'),
    ...more,
  });
}

describe('a request', () => {
  it.each(dialects)('of $id is whole with everything given', (dialect) => {
    const tools = compiled(dialect, 'a');
    const { body, losses } = encoded(dialect, { tools, system: 'Be brief.', maxTokens: 100, choice: 'auto' });
    const bodies: PerDialect<object> = {
      anthropic: {
        model: 'claude-opus-5',
        max_tokens: 100,
        system: 'Be brief.',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
        tools: tools.tools,
        tool_choice: { type: 'auto' },
        stream: true,
      },
      'openai-responses': {
        model: 'gpt-6-astra',
        instructions: 'Be brief.',
        input: [{ role: 'user', content: 'Hi' }],
        tools: tools.tools,
        tool_choice: 'auto',
        max_output_tokens: 100,
        include: ['reasoning.encrypted_content'],
        store: false,
        stream: true,
      },
      'openai-chat': {
        model: 'qwen3',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
        tools: tools.tools,
        tool_choice: 'auto',
        max_tokens: 100,
        stream: true,
        stream_options: { include_usage: true },
      },
      gemini: {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        tools: tools.tools,
        toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
        generationConfig: { maxOutputTokens: 100 },
      },
      'gemini-interactions': {
        model: 'gemini-3.8-flash',
        system_instruction: 'Be brief.',
        input: [{ type: 'user_input', content: [{ type: 'text', text: 'Hi' }] }],
        tools: tools.tools,
        store: false,
        stream: true,
        generation_config: { max_output_tokens: 100, tool_choice: 'auto' },
      },
    };
    expect(body).toEqual(bodies[dialect.id]);
    expect(losses).toEqual([]);
  });

  it.each(dialects)('of $id has neither tools nor a choice when there are no tools (R3)', (dialect) => {
    const { body, losses } = encoded(dialect, {
      tools: dialect.definitions([]),
      choice: 'required',
      parallel: false,
    });
    const bytes = JSON.stringify(body);
    expect(body).not.toHaveProperty('tools');
    expect(bytes).not.toMatch(/tool_choice|toolConfig|parallel/);
    expect(losses).toEqual([]);
  });

  it.each(dialects)('of $id takes extra members last', (dialect) => {
    const { body } = encoded(dialect, { extra: { metadata: { a: 1 }, stream: false } });
    expect(body).toMatchObject({ metadata: { a: 1 }, stream: false });
  });

  it('joins the generation settings of the Gemini APIs', () => {
    const extra = { generationConfig: { temperature: 0 }, generation_config: { seed: 1 } };
    expect(encoded(gemini, { extra, maxTokens: 5 }).body['generationConfig']).toEqual({
      maxOutputTokens: 5,
      temperature: 0,
    });
    expect(encoded(geminiInteractions, { extra, choice: 'none' }).body['generation_config']).toEqual({
      tool_choice: 'none',
      seed: 1,
    });
  });

  it.each(dialects)('of $id has no sampling parameter of its own', (dialect) => {
    expect(JSON.stringify(encoded(dialect).body)).not.toMatch(/temperature|top_?[pk]/i);
  });

  it('always has a limit for Anthropic', () => {
    expect(encoded(anthropic).body['max_tokens']).toBe(32_000);
  });

  it('names the limit of Chat as the model wants it', () => {
    const limit = (model: string) =>
      Object.keys(encoded(openaiChat, { model, maxTokens: 5 }).body).filter((name) =>
        name.startsWith('max_'),
      );
    expect(['gpt-5', 'o3', 'gpt-oss:20b', 'llama3'].map(limit)).toEqual([
      ['max_completion_tokens'],
      ['max_completion_tokens'],
      ['max_tokens'],
      ['max_tokens'],
    ]);
  });

  it('asks models without reasoning for none', () => {
    expect(encoded(openaiResponses, { model: 'gpt-4.1' }).body).not.toHaveProperty('include');
  });
});

describe('a choice', () => {
  const only = ['a', 'b'];
  const fn = (name: string) => ({ type: 'function', name });
  const chat = (name: string) => ({ type: 'function', function: { name } });
  const table: [string, Choice, PerDialect<unknown>][] = [
    [
      'required',
      'required',
      {
        anthropic: { type: 'any' },
        'openai-responses': 'required',
        'openai-chat': 'required',
        gemini: { mode: 'ANY' },
        'gemini-interactions': 'any',
      },
    ],
    [
      'none',
      'none',
      {
        anthropic: { type: 'none' },
        'openai-responses': 'none',
        'openai-chat': 'none',
        gemini: { mode: 'NONE' },
        'gemini-interactions': 'none',
      },
    ],
    [
      'validated',
      'validated',
      {
        anthropic: { type: 'auto' },
        'openai-responses': 'auto',
        'openai-chat': 'auto',
        gemini: { mode: 'VALIDATED' },
        'gemini-interactions': 'validated',
      },
    ],
    [
      'one tool',
      { tool: 'a' },
      {
        anthropic: { type: 'tool', name: 'a' },
        'openai-responses': fn('a'),
        'openai-chat': chat('a'),
        gemini: { mode: 'ANY', allowedFunctionNames: ['a'] },
        'gemini-interactions': { allowed_tools: { mode: 'any', tools: ['a'] } },
      },
    ],
    [
      'a subset',
      { tools: only },
      {
        anthropic: { type: 'auto' },
        'openai-responses': { type: 'allowed_tools', mode: 'auto', tools: only.map(fn) },
        'openai-chat': { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: only.map(chat) } },
        gemini: { mode: 'VALIDATED', allowedFunctionNames: only },
        'gemini-interactions': { allowed_tools: { mode: 'auto', tools: only } },
      },
    ],
    [
      'a call from a subset',
      { tools: only, required: true },
      {
        anthropic: { type: 'any' },
        'openai-responses': { type: 'allowed_tools', mode: 'required', tools: only.map(fn) },
        'openai-chat': { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: only.map(chat) } },
        gemini: { mode: 'ANY', allowedFunctionNames: only },
        'gemini-interactions': { allowed_tools: { mode: 'any', tools: only } },
      },
    ],
    [
      'a tool that is not there',
      { tool: 'x' },
      {
        anthropic: { type: 'none' },
        'openai-responses': 'none',
        'openai-chat': 'none',
        gemini: { mode: 'NONE' },
        'gemini-interactions': 'none',
      },
    ],
  ];
  const chosen = (dialect: (typeof dialects)[number], more: Partial<TurnRequest>) => {
    const { body, losses } = encoded(dialect, more);
    const config = body['toolConfig'] as { functionCallingConfig: unknown } | undefined;
    const settings = body['generation_config'] as { tool_choice: unknown } | undefined;
    return {
      member: body['tool_choice'] ?? config?.functionCallingConfig ?? settings?.tool_choice,
      losses,
      body,
    };
  };

  describe.each(table)('of %s', (_what, choice, members) => {
    it.each(dialects)('becomes the member of $id', (dialect) => {
      expect(chosen(dialect, { choice }).member).toEqual(members[dialect.id]);
    });
  });

  it.each(dialects)('says what $id cannot do', (dialect) => {
    const losses = (choice: Choice) => chosen(dialect, { choice }).losses;
    expect(losses({ tool: 'x' })).toEqual(['choice: the request has no tool x']);
    expect(losses('validated')).toHaveLength(dialect.id.startsWith('gemini') ? 0 : 1);
    expect(losses('required')).toEqual([]);
  });

  it('of a subset leaves the other tools out of an Anthropic request', () => {
    const { body, losses } = chosen(anthropic, { choice: { tools: only } });
    expect((body['tools'] as { name: string }[]).map(({ name }) => name)).toEqual(only);
    expect(losses).toEqual([expect.stringContaining('prompt cache')]);
  });

  it.each([
    'claude-opus-5-5',
    'claude-sonnet-5-5-20261001',
    'anthropic.claude-fable-5-2',
    'claude-mythos-preview',
  ])('that forces a call becomes auto for %s, with a loss', (model) => {
    for (const choice of ['required', { tool: 'a' }] as Choice[]) {
      const { member, losses, body } = chosen(anthropic, { model, choice });
      expect(member).toEqual({ type: 'auto' });
      expect(losses).toEqual([`choice: ${model} cannot be forced to call a tool; it may answer with text`]);
      expect(body['tools']).toHaveLength(3);
    }
  });

  it('that forces a call becomes auto with manual thinking', () => {
    const extra = { thinking: { type: 'enabled', budget_tokens: 2000 } };
    expect(chosen(anthropic, { extra, choice: 'required' })).toMatchObject({
      member: { type: 'auto' },
      losses: [expect.any(String)],
    });
  });

  it('against parallel calls goes where the API has it, and is a loss elsewhere', () => {
    expect(chosen(anthropic, { parallel: false }).member).toEqual({
      type: 'auto',
      disable_parallel_tool_use: true,
    });
    expect(chosen(anthropic, { parallel: false, choice: { tool: 'a' } }).member).toEqual({
      type: 'tool',
      name: 'a',
      disable_parallel_tool_use: true,
    });
    for (const dialect of [openaiResponses, openaiChat]) {
      expect(chosen(dialect, { parallel: false }).body['parallel_tool_calls']).toBe(false);
    }
    for (const dialect of [gemini, geminiInteractions]) {
      expect(chosen(dialect, { parallel: false }).losses).toEqual([expect.stringContaining('parallel')]);
    }
  });
});
