import type { Anthropic } from '@anthropic-ai/sdk';
import type { CallToolResult, ListToolsResult } from '@modelcontextprotocol/client';
import type OpenAI from 'openai';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  anthropic,
  callParams,
  callResult,
  dialectOf,
  openaiResponses,
  ownNames,
} from '../../src/dialects/index.ts';
import { ids, png } from './support.ts';

/** As a server lists it. */
const listed = {
  tools: [
    {
      name: 'get_weather',
      description: 'The weather of a city.',
      inputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      },
    },
  ],
} satisfies ListToolsResult;
const schema = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };

describe('the dialects alone, with a loop and an MCP client of somebody else', () => {
  it('make Anthropic tools of tools/list, tools/call of a tool_use, and a tool_result of its result', () => {
    const tools = anthropic.definitions(ownNames(listed.tools));
    expect(tools.tools).toEqual([
      { name: 'get_weather', description: 'The weather of a city.', input_schema: schema },
    ] satisfies Anthropic.Tool[]);

    const used = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Bern' } };
    const message = { content: [used] } as Anthropic.Message;
    const [call] = anthropic.calls(message);
    if (call === undefined) throw new Error('no call');
    expect(callParams(call, tools)).toEqual({ name: 'get_weather', arguments: { city: 'Bern' } });

    const result: CallToolResult = { content: [{ type: 'text', text: 'Sunny' }] };
    expect(anthropic.results([callResult(call, result)]).messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'Sunny' }] },
        ],
      },
    ] satisfies Anthropic.MessageParam[]);
  });

  it('do the same for OpenAI with arguments as text, an image and an error', () => {
    const tools = openaiResponses.definitions(ownNames(listed.tools));
    expect(tools.tools).toEqual([
      {
        type: 'function',
        name: 'get_weather',
        description: 'The weather of a city.',
        parameters: schema,
        strict: false,
      },
    ] satisfies OpenAI.Responses.FunctionTool[]);

    const item = (call_id: string) => ({
      type: 'function_call',
      call_id,
      name: 'get_weather',
      arguments: '{"city":"Bern"}',
    });
    const calls = openaiResponses.calls({ output: [item('call_1'), item('call_2')] });
    expect(calls.map((call) => callParams(call, tools))).toEqual([
      { name: 'get_weather', arguments: { city: 'Bern' } },
      { name: 'get_weather', arguments: { city: 'Bern' } },
    ]);

    const answers: CallToolResult[] = [
      { content: [{ type: 'image', data: png, mimeType: 'image/png' }] },
      { content: [{ type: 'text', text: 'No such city' }], isError: true },
    ];
    const results = calls.flatMap((call, at) =>
      answers.slice(at, at + 1).map((result) => callResult(call, result)),
    );
    expect(openaiResponses.results(results).messages).toEqual([
      {
        type: 'function_call_output',
        call_id: 'call_1',
        output: [{ type: 'input_image', image_url: `data:image/png;base64,${png}` }],
      },
      { type: 'function_call_output', call_id: 'call_2', output: '[tool error] No such city' },
    ] satisfies OpenAI.Responses.ResponseInputItem.FunctionCallOutput[]);
  });

  it('are found by their ids, and by no other name', () => {
    expect(ids.map((id) => dialectOf(id).id)).toEqual(ids);
    for (const id of ['openai', 'constructor', '__proto__']) {
      expect(() => dialectOf(id as never)).toThrow('Use one of anthropic, openai-responses');
    }
  });

  it('need nothing from Node, from a package or from other rooms', () => {
    const src = fileURLToPath(new URL('../../src/', import.meta.url));
    const room = readdirSync(join(src, 'dialects')).map((file) => join(src, 'dialects', file));
    expect(room.length).toBeGreaterThan(10);
    const seen = new Set<string>();
    const outside: string[] = [];
    for (const queue = [...room]; queue.length > 0;) {
      const file = queue.pop() ?? '';
      if (seen.has(file)) continue;
      seen.add(file);
      for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(
        /(?:from|import)\s*\(?\s*'([^']+)'/g,
      )) {
        const path = resolve(dirname(file), target);
        if (!target.startsWith('.')) outside.push(`${relative(src, file)}: ${target}`);
        else if (!/^(?:dialects|schema)\/|^(?:errors|types)\.ts$/.test(relative(src, path)))
          outside.push(relative(src, path));
        else queue.push(path);
      }
    }
    expect(outside).toEqual([]);
  });
});
