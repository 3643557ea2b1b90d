// Tools that ask nothing. A tool is `{ definition, run(call) }`; what a call offers stands in README.md.
import { audio, embedded, image, object, said, text } from './content.mjs';

const tool = (name, description, run, inputSchema = object()) => ({
  definition: { name, description, inputSchema },
  run,
});

export const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const structured = tool(
  'test_structured_content',
  'Returns structured content that its output schema describes.',
  () => ({ ...said('{"answer":42}'), structuredContent: { answer: 42 } }),
);
structured.definition.title = 'Structured content';
structured.definition.annotations = { readOnlyHint: true, openWorldHint: false };
structured.definition.outputSchema = object({ answer: { type: 'integer' } });

export const tools = [
  tool('test_simple_text', 'Returns one text.', () => said('This is a simple text response for testing.')),
  tool('test_image_content', 'Returns an image.', () => ({ content: [image()] })),
  tool('test_audio_content', 'Returns a sound.', () => ({ content: [audio()] })),
  tool('test_embedded_resource', 'Returns an embedded resource.', () => ({
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  })),
  tool('test_multiple_content_types', 'Returns a text, an image and an embedded resource.', () => ({
    content: [
      text('Multiple content types test:'),
      image(),
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  })),
  tool('test_error_handling', 'Always fails.', () => ({
    ...said('This tool intentionally returns an error for testing'),
    isError: true,
  })),
  tool('test_tool_with_progress', 'Reports its progress three times.', async (call) => {
    call.progress(0, 100);
    await call.sleep(50);
    call.progress(50, 100);
    await call.sleep(50);
    call.progress(100, 100);
    return said('Done, with progress.');
  }),
  tool('test_tool_with_logging', 'Logs three messages at info.', async (call) => {
    call.log('info', 'Tool execution started');
    await call.sleep(50);
    call.log('info', 'Tool processing data');
    await call.sleep(50);
    call.log('info', 'Tool execution completed');
    return said('Done, with logging.');
  }),
  tool('test_logging_tool', 'Logs at every level.', (call) => {
    for (const level of ['debug', 'info', 'warning', 'error']) call.log(level, `A message at ${level}`);
    return said('Done, with logging at every level.');
  }),
  tool('test_reconnection', 'Closes its stream before it answers.', async (call) => {
    call.closeStream();
    await call.sleep(100);
    return said('Answered after the stream was closed.');
  }),
  structured,
  tool(
    'json_schema_2020_12_tool',
    'Has a schema of many keywords.',
    () => said('Fits the schema.'),
    SCHEMA_2020_12,
  ),
  tool(
    'test_x_mcp_header',
    'Has an argument that a header repeats.',
    (call) => said(`Region: ${call.arguments.region}`),
    object({ region: { type: 'string', 'x-mcp-header': 'Region' }, note: { type: 'string' } }, ['region']),
  ),
  tool('test_trigger_tool_change', 'Takes one tool out of the list, or puts it back.', (call) => {
    call.features.toggle('tools');
    return said('The list of tools has changed.');
  }),
  tool('test_trigger_prompt_change', 'Takes one prompt out of the list, or puts it back.', (call) => {
    call.features.toggle('prompts');
    return said('The list of prompts has changed.');
  }),
  tool('test_trigger_resource_change', 'Takes one resource out of the list, or puts it back.', (call) => {
    call.features.toggle('resources');
    return said('The list of resources has changed.');
  }),
  tool(
    'test_trigger_resource_update',
    'Says that a resource has new contents.',
    (call) => {
      call.features.changes.emit('updated', call.arguments.uri);
      return said(`Updated ${call.arguments.uri}`);
    },
    object({ uri: { type: 'string' } }),
  ),
];

/** In the list until somebody toggles it. */
export const changing = tool('test_changing_tool', 'Comes and goes.', () => said('Still here.'));
