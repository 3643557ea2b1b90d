import { describe, expect, it } from 'vitest';
import type { Choice, ExposedTool } from '../../src/dialects/index.ts';
import { openaiResponses } from '../../src/dialects/index.ts';
import type { JsonObject } from '../../src/types.ts';
import { run } from '../../src/run/run.ts';
import { openModel } from '../../src/models/index.ts';
import { startResponses } from '../emulators/openai-responses.ts';
import { done, fakeHost } from '../run/support.ts';

const tool = (name: string): ExposedTool => ({
  name,
  definition: { name, inputSchema: { type: 'object', properties: {} } },
});
const tools = (label: string, count: number): ExposedTool[] =>
  Array.from({ length: count }, (_, at) => tool(`${label}__t${at}`));

const request = (list: readonly ExposedTool[], choice?: Choice) =>
  openaiResponses.request({
    model: 'gpt-6-astra',
    messages: [{ role: 'user', content: 'Go.' }],
    tools: openaiResponses.definitions(list),
    ...(choice !== undefined && { choice }),
  });

describe('more tools than OpenAI Responses lists at the top', () => {
  it('up to 128 stay flat functions', () => {
    const { tools: list } = openaiResponses.definitions(tools('a', 128));
    expect(list).toHaveLength(128);
    expect(new Set(list.map(({ type }) => type))).toEqual(new Set(['function']));
  });

  it('stand in one namespace per server, whole and in order, and the report says so', () => {
    const given = [...tools('a', 100), tool('plain'), ...tools('b', 100)];
    const { tools: list, report } = openaiResponses.definitions(given);
    expect(list.map(({ type, name, tools: inner }) => [type, name, (inner as unknown[]).length])).toEqual([
      ['namespace', 'a', 100],
      ['namespace', 'others', 1],
      ['namespace', 'b', 100],
    ]);
    expect(report.map(({ name }) => name)).toEqual(given.map(({ name }) => name));
    expect(report[0]).toMatchObject({
      status: 'adapted',
      changes: ['stands in the namespace a, since there are more than 128 tools'],
    });
  });

  it('of more servers than that share the last namespace', () => {
    const given = Array.from({ length: 200 }, (_, at) => tool(`s${at}__t`));
    const { tools: list } = openaiResponses.definitions(given);
    expect(list).toHaveLength(128);
    expect(list.at(-1)).toMatchObject({ name: 'others', tools: { length: 73 } });
  });

  it('a choice of single tools leaves the others out, since it cannot name them in a namespace', () => {
    const given = tools('a', 130);
    expect(request(given, { tool: 'a__t7' })).toMatchObject({
      body: {
        tools: [{ type: 'function', name: 'a__t7' }],
        tool_choice: { type: 'function', name: 'a__t7' },
      },
      losses: ['choice: the tools that were not chosen are left out of the request'],
    });
    expect(request(given, { tools: ['a__t1', 'a__t2'] }).body['tools']).toHaveLength(2);
    const many = given.slice(0, 129).map(({ name }) => name);
    expect(request(given, { tools: many })).toMatchObject({
      body: { tool_choice: 'auto', tools: [{ type: 'namespace' }] },
      losses: ['choice: so many tools cannot be chosen from; all of them are offered'],
    });
  });

  it('are called through the loop, with the namespace echoed, and the strict emulator takes it', async () => {
    const emulator = await startResponses([
      { calls: [{ name: 'a__t129', arguments: {} }] },
      { text: 'Done.' },
    ]);
    try {
      const given = tools('a', 130);
      const host = { ...fakeHost({ a__t129: () => done('yes') }), catalog: () => ({ tools: given }) };
      const model = openModel('openai:gpt-6-astra', {
        env: { OPENAI_API_KEY: emulator.key },
        baseUrl: `${emulator.url}/v1`,
      });
      const result = await run(host, { model, messages: [{ role: 'user', content: 'Go.' }] }).result;
      expect(result).toMatchObject({ reason: 'complete', text: 'Done.', calls: 1 });
      expect(JSON.stringify(result.messages)).toContain('"namespace":"a"');
    } finally {
      await emulator.close();
    }
  });

  it('calls that other APIs made, and those from when the list was shorter, come back with the namespace of now', () => {
    const call = { id: 'call_1', name: 'a__t1', arguments: {} };
    const item = { type: 'function_call', id: 'fc_1', call_id: 'call_2', name: 'a__t2', arguments: '{}' };
    const sent = (count: number, more: JsonObject = {}) =>
      openaiResponses.request({
        model: 'gpt-6-astra',
        messages: [
          { role: 'user', content: 'Go.' },
          { role: 'assistant', text: '', calls: [call] },
          { role: 'tool', results: [{ call, result: { content: [] } }] },
          {
            role: 'assistant',
            text: '',
            calls: [{ ...call, id: 'call_2', name: 'a__t2' }],
            echo: { dialect: 'openai-responses', model: 'gpt-6-astra', items: [{ ...item, ...more }] },
          },
        ],
        tools: openaiResponses.definitions(tools('a', count)),
      }).body['input'] as JsonObject[];
    const homes = (input: JsonObject[]) =>
      input.filter(({ type }) => type === 'function_call').map(({ namespace }) => namespace);
    expect(homes(sent(130))).toEqual(['a', 'a']);
    expect(homes(sent(10, { namespace: 'a' }))).toEqual([undefined, undefined]);
  });

  it('leave room at the top for servers that are left to the provider', () => {
    const { body } = openaiResponses.request({
      model: 'gpt-6-astra',
      messages: [{ role: 'user', content: 'Go.' }],
      tools: openaiResponses.definitions(tools('a', 128)),
      servers: [
        { name: 'far', transport: 'http', url: 'https://far.example/mcp', headers: {}, approval: 'never' },
      ],
    });
    const list = body['tools'] as JsonObject[];
    expect(list.map(({ type }) => type)).toEqual(['namespace', 'mcp']);
  });
});
