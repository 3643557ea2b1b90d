import { describe, expect, it } from 'vitest';
import { anthropic, gemini, openaiChat, openaiResponses } from '../../src/dialects/index.ts';
import { compiled, dialects, tool, type PerDialect } from './support.ts';

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

describe('definitions', () => {
  const shapes: PerDialect<object> = {
    anthropic: { name: 'look', description: 'Does look.', input_schema: schema },
    'openai-responses': {
      type: 'function',
      name: 'look',
      description: 'Does look.',
      parameters: schema,
      strict: false,
    },
    'openai-chat': {
      type: 'function',
      function: { name: 'look', description: 'Does look.', parameters: schema },
    },
    gemini: {
      functionDeclarations: [{ name: 'look', description: 'Does look.', parametersJsonSchema: schema }],
    },
    'gemini-interactions': { type: 'function', name: 'look', description: 'Does look.', parameters: schema },
  };

  it.each(dialects)('take the shape of $id and nothing else', (dialect) => {
    const made = compiled(dialect, 'look');
    expect(made.tools).toEqual([shapes[dialect.id]]);
    expect(made.report).toEqual([
      { name: 'look', status: 'exact', changes: [], tokens: expect.any(Number), renamed: {} },
    ]);
    expect(made.report[0]?.tokens).toBeGreaterThan(10);
  });

  it.each(dialects)('leave the schema address aside in $id and call that exact', (dialect) => {
    const inputSchema = { $schema: 'http://json-schema.org/draft-07/schema#', ...schema };
    const made = dialect.definitions([tool('look', { inputSchema })]);
    expect(made.tools).toEqual([shapes[dialect.id]]);
    expect(made.report[0]?.status).toBe('exact');
  });

  it.each(dialects)('give the same bytes for the same input in $id', (dialect) => {
    const bytes = (): string => JSON.stringify(compiled(dialect, 'b', 'a', 'c'));
    expect(bytes()).toBe(bytes());
    expect(compiled(dialect, 'b', 'a', 'c').report.map(({ name }) => name)).toEqual(['b', 'a', 'c']);
  });

  it.each(dialects)('do not share what a caller may change with later compilations in $id', (dialect) => {
    const before = JSON.stringify(compiled(dialect, 'look'));
    const entry = compiled(dialect, 'look').tools[0];
    if (entry !== undefined) entry['cache_control'] = { type: 'ephemeral' };
    expect(JSON.stringify(compiled(dialect, 'look'))).toBe(before);
  });

  it.each(dialects)('make an empty list of no tools in $id', (dialect) => {
    expect(dialect.definitions([])).toMatchObject({ dialect: dialect.id, tools: [], report: [] });
  });

  it.each(dialects)('leave out alone a tool whose name $id refuses, and say why', (dialect) => {
    const made = dialect.definitions([tool('a'), tool('géant tool'), tool('b')]);
    expect(made.report.map(({ status }) => status)).toEqual(['exact', 'left out', 'exact']);
    expect(made.report[1]).toMatchObject({ tokens: 0, changes: [expect.stringContaining('"géant tool"')] });
    expect(JSON.stringify(made.tools)).not.toContain('géant');
  });

  it.each(dialects)('leave out the second tool of a name in $id', (dialect) => {
    const made = dialect.definitions([tool('a'), tool('a', { description: 'Another.' })]);
    expect(made.report.map(({ status }) => status)).toEqual(['exact', 'left out']);
    expect(JSON.stringify(made.tools)).not.toContain('Another');
  });

  it.each(dialects)('survive a schema that cannot be written as JSON in $id', (dialect) => {
    const cyclic: Record<string, unknown> = { type: 'object' };
    cyclic['properties'] = { self: cyclic };
    const made = dialect.definitions([tool('bad', { inputSchema: cyclic as never }), tool('good')]);
    expect(made.report.map(({ status }) => status)).toEqual(['left out', 'exact']);
  });

  it('allow a digit first everywhere but for Gemini', () => {
    const statuses = dialects.map((dialect) => [dialect.id, compiled(dialect, '3d').report[0]?.status]);
    expect(Object.fromEntries(statuses)).toEqual({
      anthropic: 'exact',
      'openai-responses': 'exact',
      'openai-chat': 'exact',
      gemini: 'left out',
      'gemini-interactions': 'left out',
    });
  });

  it.each([
    [openaiChat, 128],
    [gemini, 512],
  ] as const)('count up to the limit of the API and leave out the rest', (dialect, most) => {
    const made = dialect.definitions(Array.from({ length: most + 2 }, (_, at) => tool(`t${at}`)));
    expect(made.report.map(({ status }) => status)).toEqual([
      ...Array.from({ length: most }, () => 'exact'),
      'left out',
      'left out',
    ]);
  });

  it('put a description of more than 1,024 characters into the schema for Chat, and lose no word of it', () => {
    const long = Array.from({ length: 400 }, (_, at) => `word${at}`).join(' ');
    const made = openaiChat.definitions([tool('look', { description: long })]);
    const { description, parameters } = (made.tools[0] ?? {})['function'] as {
      description: string;
      parameters: { description: string };
    };
    expect(description.length).toBeLessThanOrEqual(1024);
    expect(`${description} ${parameters.description}`).toBe(long);
    expect(made.report[0]).toMatchObject({
      status: 'adapted',
      changes: [expect.stringContaining('goes on')],
    });
    expect(anthropic.definitions([tool('look', { description: long })]).tools[0]?.['description']).toBe(long);
  });

  it('fill a missing description from the title, and for Gemini from the name', () => {
    const described = (dialect: typeof anthropic, title?: string): unknown => {
      const made =
        dialect.definitions([tool('look', { description: '', ...(title && { title }) })]).tools[0] ?? {};
      const entry = (made['functionDeclarations'] as object[] | undefined)?.[0] ?? made;
      return (entry as { description?: string }).description;
    };
    expect(described(anthropic, 'Look around')).toBe('Look around');
    expect(described(gemini, 'Look around')).toBe('Look around');
    expect(described(anthropic)).toBeUndefined();
    expect(described(gemini)).toBe('Calls look.');
  });
});

describe('strict mode', () => {
  const strict = (name: string, inputSchema: object) => ({
    ...tool(name, { inputSchema: inputSchema as never }),
    strict: true,
  });
  const optional = { type: 'object', properties: { due: { type: 'string' } }, additionalProperties: false };
  const open = { type: 'object', properties: { any: { type: 'object', additionalProperties: true } } };

  it('is used where the API has it and gives nulls back as absent arguments', () => {
    const made = openaiResponses.definitions([strict('a', optional)]);
    expect(made.tools[0]).toMatchObject({ strict: true, parameters: { required: ['due'] } });
    expect(made.restore('a', { due: null })).toEqual({});
    expect(openaiChat.definitions([strict('a', optional)]).tools[0]).toMatchObject({
      function: { strict: true },
    });
    expect(anthropic.definitions([strict('a', optional)]).tools[0]).toMatchObject({ strict: true });
  });

  it.each(dialects)('falls back with the reason in $id when the schema does not allow it', (dialect) => {
    const made = dialect.definitions([strict('a', open)]);
    expect(made.report[0]).toMatchObject({ status: 'adapted' });
    expect(made.report[0]?.changes[0]).toMatch(/^strict mode was asked for/);
    expect(JSON.stringify(made.tools)).not.toContain('"strict":true');
  });

  it.each([
    ['20 tools', 25, { type: 'object', properties: {}, additionalProperties: false }, 20],
    [
      '24 optional parameters',
      9,
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } } },
      8,
    ],
    [
      '16 parameters of several types',
      18,
      { type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'] },
      16,
    ],
  ])('keeps to %s of one Anthropic request and falls back after that', (_what, tools, inputSchema, most) => {
    const made = anthropic.definitions(
      Array.from({ length: tools }, (_, at) => strict(`t${at}`, inputSchema)),
    );
    expect(made.tools.filter((entry) => entry['strict'] === true)).toHaveLength(most);
    expect(made.tools).toHaveLength(tools);
    expect(made.report.at(-1)?.changes[0]).toContain('strict');
  });
});

describe('arguments on the way back', () => {
  it('have renamed members under their own names again', () => {
    const inputSchema = { type: 'object', properties: { 'filter[id]': { type: 'string' } } };
    const made = anthropic.definitions([tool('a', { inputSchema })]);
    const [sent] = Object.keys(((made.tools[0] ?? {})['input_schema'] as { properties: object }).properties);
    expect(sent).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
    expect(Object.values(made.report[0]?.renamed ?? {})).toEqual([sent]);
    expect(made.restore('a', { [String(sent)]: 'x' })).toEqual({ 'filter[id]': 'x' });
  });

  it.each(dialects)('pass through $id when nobody knows the tool', (dialect) => {
    expect(compiled(dialect, 'a').restore('unknown', { x: 1 })).toEqual({ x: 1 });
  });
});
