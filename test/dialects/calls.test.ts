import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openaiChat, type Call, type JsonObject } from '../../src/dialects/index.ts';
import { bodyOf, dialects } from './support.ts';

const calls = (dialect: (typeof dialects)[number], ...made: object[]): Call[] =>
  dialect.calls(bodyOf(dialect.id, { calls: made }));

describe.each(dialects)('calls of $id', (dialect) => {
  it('are read in order, arguments as an object or as JSON text', () => {
    expect(
      calls(
        dialect,
        { id: 'c1', name: 'a', arguments: { x: [1, { y: null }] } },
        { id: 'c2', name: 'b', arguments: '{"x":"é"}' },
      ),
    ).toEqual([
      { id: 'c1', name: 'a', arguments: { x: [1, { y: null }] } },
      { id: 'c2', name: 'b', arguments: { x: 'é' } },
    ]);
  });

  it.each([[''], ['  '], ['{}'], [null], [undefined], ['null'], ['"{}"']])(
    'take %j as no arguments',
    (args) => {
      expect(calls(dialect, { id: 'c1', name: 'a', arguments: args })).toEqual([
        { id: 'c1', name: 'a', arguments: {} },
      ]);
    },
  );

  it.each([
    ['{"city": "Ber', 'not valid JSON: {"city": "Ber'],
    ['city=Bern', 'not valid JSON: city=Bern'],
    ['[1]', 'must be a JSON object, not [1]'],
    ['7', 'must be a JSON object, not 7'],
  ])('answer %j with a problem instead of running it', (args, problem) => {
    const [call] = calls(dialect, { id: 'c1', name: 'a', arguments: args });
    expect(call).toEqual({ id: 'c1', name: 'a', arguments: {}, problem: expect.stringContaining(problem) });
    expect(call?.problem).not.toContain('\n');
  });

  it('keep the problem short however long the broken arguments are', () => {
    const [call] = calls(dialect, { id: 'c1', name: 'a', arguments: `{"x":"${'y\n'.repeat(100_000)}` });
    expect(call?.problem?.length).toBeLessThan(300);
  });

  it('get an id when they have none, the same each time and unique in the turn', () => {
    const made = (): Call[] =>
      calls(
        dialect,
        { name: 'a', arguments: {} },
        { id: '', name: 'b', arguments: {} },
        { id: 'c1', name: 'c', arguments: {} },
        { id: 'c1', name: 'd', arguments: {} },
        { id: 377278620, name: 'e', arguments: {} },
      );
    expect(made()).toEqual(made());
    const ids = made().map(({ id }) => id);
    expect(new Set(ids).size).toBe(5);
    expect(ids[2]).toBe('c1');
    expect(ids[4]).toBe('377278620');
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  it('get other ids in another answer', () => {
    const idIn = (answer: string): string | undefined =>
      dialect.calls(bodyOf(dialect.id, { id: answer, calls: [{ name: 'a', arguments: {} }] }))[0]?.id;
    expect(idIn('answer-1')).not.toBe(idIn('answer-2'));
  });

  it('have a problem when they name no tool', () => {
    expect(calls(dialect, { id: 'c1', arguments: {} })).toEqual([
      { id: 'c1', name: '', arguments: {}, problem: 'The call names no tool.' },
    ]);
  });

  it('are none in an answer that is not as it should be', () => {
    for (const content of [null, 'x', [null, 1, 'x', []], {}]) {
      const body = {
        content,
        output: content,
        choices: content,
        candidates: content,
        steps: content,
      } as JsonObject;
      expect(dialect.calls(body)).toEqual([]);
    }
  });
});

describe('streamed Chat calls of compatible servers', () => {
  const turnOf = (...pieces: object[][]) => {
    const reader = openaiChat.reader('m');
    for (const toolCalls of pieces) {
      reader.push({ id: 'x', choices: [{ index: 0, delta: { tool_calls: toolCalls as JsonObject[] } }] });
    }
    reader.push({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    return reader.end();
  };
  const fn = (name?: string, args?: unknown) => ({ function: { name, arguments: args } });
  const both = [
    { id: 'c1', name: 'get_weather', arguments: { a: 1 } },
    { id: 'c2', name: 'get_time', arguments: {} },
  ];

  it.each<[string, object[][]]>([
    [
      'key pieces by index',
      [
        [{ index: 0, id: 'c1', ...fn('get_weather', '') }],
        [{ index: 0, ...fn(undefined, '{"a"') }],
        [{ index: 1, id: 'c2', ...fn('get_time', '') }],
        [{ index: 0, ...fn(undefined, ':1}') }],
      ],
    ],
    [
      'send whole calls that all have index 0',
      [
        [{ index: 0, id: 'c1', ...fn('get_weather', '{"a":1}') }],
        [{ index: 0, id: 'c2', ...fn('get_time', '{}') }],
      ],
    ],
    [
      'send whole calls without an index',
      [
        [
          { id: 'c1', ...fn('get_weather', '{"a":1}') },
          { id: 'c2', ...fn('get_time', '') },
        ],
      ],
    ],
    [
      'send arguments as an object',
      [
        [{ index: 0, id: 'c1', ...fn('get_weather', { a: 1 }) }],
        [{ index: 1, id: 'c2', ...fn('get_time', {}) }],
      ],
    ],
    [
      'split the name',
      [
        [{ index: 0, id: 'c1', ...fn('get_') }],
        [{ index: 0, ...fn('weath') }],
        [{ index: 0, ...fn('er') }],
        [{ index: 0, ...fn(undefined, '{"a":1}') }],
        [{ index: 1, id: 'c2', ...fn('get_time', '') }],
      ],
    ],
    [
      'repeat the whole name and id with every piece',
      [
        [{ index: 0, id: 'c1', ...fn('get_weather', '{"a') }],
        [{ index: 0, id: 'c1', ...fn('get_weather', '":1}') }],
        [{ index: 1, id: 'c2', ...fn('get_time', '') }],
        [{ index: 1, id: 'c2', ...fn('get_time', '') }],
      ],
    ],
    [
      'grow the name',
      [
        [{ index: 0, id: 'c1', ...fn('get_w') }],
        [{ index: 0, ...fn('get_weather', '{"a":1}') }],
        [{ index: 1, id: 'c2', ...fn('get_time', '{}') }],
      ],
    ],
    [
      'send a null index and key by id',
      [
        [{ index: null, id: 'c1', ...fn('get_weather', '{"a"') }],
        [{ index: null, id: 'c2', ...fn('get_time', '') }],
        [{ index: null, id: 'c1', ...fn(undefined, ':1}') }],
      ],
    ],
  ])('are the same when they %s', (_how, pieces) => {
    const turn = turnOf(...pieces);
    expect(turn.message.calls).toEqual(both);
    expect(turn.stop).toBe('calls');
  });

  it('are two when whole calls come without any id', () => {
    const turn = turnOf([{ index: 0, ...fn('a', '{}') }], [{ index: 0, ...fn('a', '{}') }]);
    expect(turn.message.calls.map(({ name }) => name)).toEqual(['a', 'a']);
    expect(new Set(turn.message.calls.map(({ id }) => id)).size).toBe(2);
  });

  it('are announced once, under their full name and final id', () => {
    const reader = openaiChat.reader('m');
    const push = (delta: object, finish?: string) =>
      reader.push({ id: 'x', choices: [{ delta, ...(finish && { finish_reason: finish }) }] });
    expect(push({ tool_calls: [{ index: 0, ...fn('get_') }] })).toEqual([]);
    expect(push({ tool_calls: [{ index: 0, ...fn('time') }] })).toEqual([]);
    const deltas = push({}, 'tool_calls');
    expect(deltas).toEqual([{ type: 'call', id: reader.end().message.calls[0]?.id, name: 'get_time' }]);
  });

  it('keep members that we do not know, such as a signature', () => {
    const turn = turnOf([
      { index: 0, id: 'c1', ...fn('a', '{}'), extra_content: { google: { thought_signature: 's' } } },
    ]);
    expect(turn.message.echo?.items[0]?.['tool_calls']).toEqual([
      {
        extra_content: { google: { thought_signature: 's' } },
        id: 'c1',
        type: 'function',
        function: { name: 'a', arguments: '{}' },
      },
    ]);
  });

  it('never throw, whatever the pieces are', () => {
    const piece = fc.record(
      {
        index: fc.option(fc.nat(3)),
        id: fc.oneof(fc.constantFrom('', 'c1', 'c2', null), fc.nat()),
        function: fc.oneof(
          fc.constant(null),
          fc.record(
            {
              name: fc.constantFrom('a', 'ab', '', null),
              arguments: fc.oneof(fc.string(), fc.dictionary(fc.string(), fc.json())),
            },
            { requiredKeys: [] },
          ),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fc.array(piece, { maxLength: 3 }), { maxLength: 6 }), (pieces) => {
        const { calls: made } = turnOf(...pieces).message;
        expect(new Set(made.map(({ id }) => id)).size).toBe(made.length);
      }),
    );
  });
});
