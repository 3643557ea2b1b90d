// The smallest use of Midspan: only its dialects, between an MCP client that you have and a model API that you call yourself.
// The model's answers are written by hand here, so that it runs without a key: `node examples/smallest/smallest.mjs`.
import assert from 'node:assert/strict';
import { anthropic, callParams, openaiResponses, ownNames } from 'midspan/dialects';
import { inputSchema, map, weatherClient } from './weather.mjs';

const { $schema: _, ...schema } = inputSchema;

for (const era of ['legacy', 'modern']) {
  const { client, wire } = await weatherClient(era);
  const { tools } = await client.listTools();

  // Definitions: what goes into `tools` of a request.
  const forAnthropic = anthropic.definitions(ownNames(tools));
  const forOpenai = openaiResponses.definitions(ownNames(tools));
  assert.deepEqual(forAnthropic.tools, [
    { name: 'get_weather', description: 'Current weather in a city', input_schema: schema },
  ]);
  const [definition] = forOpenai.tools;
  const { type, name, description, parameters } = definition;
  assert.deepEqual(
    { type, name, description, parameters },
    {
      type: 'function',
      name: 'get_weather',
      description: 'Current weather in a city',
      parameters: schema,
    },
  );

  /** From a model's answer to the messages that carry the results back to it. */
  const answered = async (dialect, compiled, body) => {
    const results = await Promise.all(
      dialect
        .calls(body)
        .map(async (call) => ({ call, result: await client.callTool(callParams(call, compiled)) })),
    );
    return dialect.results(results).messages;
  };

  // Anthropic Messages: a `tool_use` block becomes `tools/call`, its result a `tool_result` block.
  const toolUse = (id, input) => ({ type: 'tool_use', id, name: 'get_weather', input });
  const messages = await answered(anthropic, forAnthropic, {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    stop_reason: 'tool_use',
    content: [
      { type: 'text', text: 'Let me look.' },
      toolUse('toolu_1', { city: 'Paris, France' }),
      toolUse('toolu_2', { city: 'Paris, France', as: 'map' }),
      toolUse('toolu_3', { city: 'Atlantis' }),
    ],
  });
  const [{ role, content: blocks }] = messages;
  assert.equal(messages.length, 1);
  assert.equal(role, 'user');
  assert.deepEqual(
    blocks.map(({ type, tool_use_id: id, is_error: failed = false }) => ({ type, id, failed })),
    [
      { type: 'tool_result', id: 'toolu_1', failed: false },
      { type: 'tool_result', id: 'toolu_2', failed: false },
      { type: 'tool_result', id: 'toolu_3', failed: true },
    ],
  );
  assert.match(JSON.stringify(blocks[0].content), /Paris, France: 21 °C, light rain/);
  const source = { type: 'base64', media_type: 'image/png', data: map };
  assert.deepEqual(blocks[1].content, [{ type: 'image', source }]);
  assert.match(JSON.stringify(blocks[2].content), /No such city/);

  // OpenAI Responses: the arguments are JSON text, and there is no flag for errors.
  const functionCall = (id, args) => ({
    type: 'function_call',
    call_id: id,
    name: 'get_weather',
    arguments: JSON.stringify(args),
  });
  const items = await answered(openaiResponses, forOpenai, {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [
      functionCall('call_1', { city: 'Paris, France' }),
      functionCall('call_2', { city: 'Paris, France', as: 'map' }),
      functionCall('call_3', { city: 'Atlantis' }),
    ],
  });
  assert.deepEqual(items, [
    { type: 'function_call_output', call_id: 'call_1', output: 'Paris, France: 21 °C, light rain' },
    {
      type: 'function_call_output',
      call_id: 'call_2',
      output: [{ type: 'input_image', image_url: `data:image/png;base64,${map}` }],
    },
    { type: 'function_call_output', call_id: 'call_3', output: '[tool error] No such city' },
  ]);

  await client.close();
  const opening = era === 'legacy' ? ['initialize', 'notifications/initialized'] : ['server/discover'];
  assert.deepEqual(wire, [...opening, 'tools/list', ...Array.from({ length: 6 }, () => 'tools/call')]);
  console.log(`${era}: ${wire.join(', ')}`);
  if (era === 'modern') {
    console.log(
      `\nAnthropic Messages\n${JSON.stringify(forAnthropic.tools[0])}\n${JSON.stringify(blocks[0])}`,
    );
    console.log(`\nOpenAI Responses\n${JSON.stringify(definition)}\n${JSON.stringify(items[0])}`);
  }
}
