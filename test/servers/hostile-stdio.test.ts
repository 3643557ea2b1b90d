/** Servers that say anything at any time: each costs itself at most, and the host says what it did about it. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MESSAGE_DEPTH, MESSAGE_VALUES } from '../../src/mcp/limits.ts';
import { NOTES_PER_CALL, SERVER_INFO_MAX, WARNINGS_PER_SECOND } from '../../src/mcp/protocol-limits.ts';
import { RESTARTS_MAX } from '../../src/servers/timing.ts';
import { fixture, open, stdio, until } from './support.ts';
import type { Opened } from './support.ts';
import type { ServerDeps } from '../../src/servers/index.ts';
import type { Progress, ServerSpec, ToolResult } from '../../src/types.ts';

const says = (
  script: object,
  deps: Partial<ServerDeps> = {},
  more: Partial<ServerSpec> = {},
  rest: string[] = [],
): Opened =>
  open(stdio('sick', [fixture('says'), JSON.stringify(script), ...rest], { era: 'legacy', ...more }), deps);
const textOf = (result: ToolResult): string => result.content[0]!.text as string;
const done = { id: '$id', result: { content: [{ type: 'text', text: 'done' }] } };

describe('JSON that costs too much', () => {
  const wrap = (before: string, open: string, close: string, times: number): object => ({
    repeat: [
      [`{"jsonrpc":"2.0","id":"$id","result":{"content":[],"_meta":{"x":${before}`, 1],
      [open, times],
      ['1', 1],
      [close, times],
      ['}}}', 1],
    ],
  });

  test.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ])(
    'is not parsed when its %s are nested too deeply: the server is stopped, and started again',
    async (_kind, open, close) => {
      const { server } = says({ 'tools/call': [wrap('', open, close, 200_000)] });
      await expect(server.callTool('echo', {})).rejects.toThrow(`nested deeper than ${MESSAGE_DEPTH} levels`);
      expect(textOf(await server.callTool('seen', {}))).toContain('initialize');
    },
  );

  test('is not parsed when it has too many values', async () => {
    const { server } = says({
      'tools/call': [
        {
          repeat: [
            ['{"jsonrpc":"2.0","id":"$id","result":{"content":[],"x":[[]', 1],
            [',{}', MESSAGE_VALUES],
            [']}}', 1],
          ],
        },
      ],
    });
    await expect(server.callTool('echo', {})).rejects.toThrow(
      `more than ${MESSAGE_VALUES} arrays and objects`,
    );
  });

  test('is read up to the limit, whatever brackets and escapes its texts hold', async () => {
    const { server } = says({
      'tools/call': [wrap(`["${'[{\\\\\\"'.repeat(2000)}"],"y":`, '[', ']', MESSAGE_DEPTH - 3)],
    });
    const result = await server.callTool('echo', {});
    expect(result._meta).toMatchObject({ x: ['[{\\"'.repeat(2000)] });
  });
});

describe('frames of the wrong shape', () => {
  const progress = (members: string): string =>
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"$token",${members}}}\n`;

  test('in any notification are passed over, and the call ends', async () => {
    const values = [
      'null',
      '[]',
      '"text"',
      '7',
      'true',
      '{}',
      '{"requestId":{}}',
      '{"level":[],"data":{"a":1}}',
    ];
    const methods = [
      'progress',
      'cancelled',
      'message',
      'tools/list_changed',
      'subscriptions/acknowledged',
      'unknown',
    ];
    const { server, events } = says({
      'tools/call': [
        ...methods.flatMap((method) =>
          values.map((params) => `{"jsonrpc":"2.0","method":"notifications/${method}","params":${params}}\n`),
        ),
        ...['"1"', 'null', '1e999', '-1e999', '[1]', '{}', 'true'].map((value) =>
          progress(`"progress":${value}`),
        ),
        progress('"progress":1,"total":1e999,"message":{"a":1}'),
        '{"jsonrpc":"2.0","method":7}\n{"jsonrpc":"1.0","method":"x"}\n{}\n[]\n7\n"text"\nnull\n{"jsonrpc":"2.0"}\n',
        done,
      ],
    });
    const seen: Progress[] = [];
    expect(textOf(await server.callTool('echo', {}, { onProgress: (each) => seen.push(each) }))).toBe('done');
    expect(seen).toEqual([{ progress: 1 }]);
    await until(
      () => events.some((event) => event.type === 'tools-changed'),
      'a change whose params are null',
    );
    expect(server.state).toBe('ready');
  });

  test('in a request are refused, so that the server does not wait', async () => {
    const { server } = says({
      'tools/call': [
        '{"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":[]}\n',
        '{"jsonrpc":"2.0","id":"b","method":"ping","params":null}\n',
      ],
    });
    const call = server.callTool('echo', {}).catch(() => undefined);
    let seen = '';
    while (!seen.includes('{}')) seen = textOf(await server.callTool('seen', {}));
    await server.close();
    await call;
    expect(seen).toContain('"code":-32602');
  });

  test.each([
    ['without jsonrpc, under an id of ours', '{"id":"$id","method":"roots/list"}\n'],
    ['answers to nobody', '{"jsonrpc":"2.0","id":99,"result":{}}\n{"jsonrpc":"2.0","id":{},"result":{}}\n'],
    ['an error to nobody', '{"jsonrpc":"2.0","id":null,"error":{"code":1}}\n'],
  ])('%s do not end a call', async (_what, frames) => {
    const { server } = says({ 'tools/call': [frames, done] });
    expect(textOf(await server.callTool('echo', {}))).toBe('done');
  });

  test('answers twice, before and after: each call gets its own', async () => {
    const answer = (id: string, text: string): string =>
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${text}"}]}}\n`;
    const { server } = says({
      'tools/call': [
        answer('1000', 'early'),
        answer('"$id"', 'right'),
        answer('"$id"', 'again'),
        answer('1', 'old'),
      ],
    });
    const results = await Promise.all([1, 2, 3].map(() => server.callTool('echo', {})));
    expect(results.map(textOf)).toEqual(['right', 'right', 'right']);
  });

  test('members named __proto__ are members like others', async () => {
    const { server } = says({
      'tools/call': [
        '{"jsonrpc":"2.0","id":"$id","__proto__":{"polluted":1},"result":{"content":[null],"__proto__":{"isError":true},"_meta":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}}\n',
      ],
    });
    const result = await server.callTool('echo', {});
    expect(Object.hasOwn(result, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('an opening of the wrong shape', () => {
  const opening = (members: object): object => ({
    initialize: [
      { id: '$id', result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {}, ...members } },
    ],
  });

  test.each([7, null, {}])('is refused when its revision is %j', async (protocolVersion) => {
    const { server } = says(opening({ protocolVersion }));
    await expect(server.ready()).rejects.toMatchObject({ code: 'protocol', label: 'sick' });
  });

  test('is taken when only what nobody depends on is wrong', async () => {
    const { server } = says(opening({ capabilities: [1], serverInfo: null, instructions: { a: 1 } }));
    await server.ready();
    expect(server.info).toEqual({
      era: 'legacy',
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: {},
      transport: 'stdio',
    });
  });

  test('is cut down when it says too much of itself', async () => {
    const { server, warnings } = says({
      initialize: [
        {
          repeat: [
            ['{"jsonrpc":"2.0","id":"$id","result":{"protocolVersion":"2025-11-25","capabilities":{"x":"', 1],
            ['x', SERVER_INFO_MAX],
            ['"},"serverInfo":{"name":"', 1],
            ['n', SERVER_INFO_MAX],
            ['"}}}', 1],
          ],
        },
      ],
    });
    await server.ready();
    expect(server.info).toMatchObject({ capabilities: {}, serverInfo: {} });
    expect(warnings()).toHaveLength(2);
  });
});

describe('too much', () => {
  test('to warn of is cut to a rate', async () => {
    const { server, warnings } = says({
      'tools/call': [{ times: 5000, frame: { id: 77777, result: {} } }, done],
    });
    await server.ready();
    const since = performance.now();
    await server.callTool('echo', {});
    const seconds = Math.ceil((performance.now() - since) / 1000) + 1;
    expect(warnings().length).toBeLessThanOrEqual(seconds * WARNINGS_PER_SECOND + 1);
    expect(warnings()).toContain(
      `gives cause for more than ${WARNINGS_PER_SECOND} warnings a second; the rest is dropped`,
    );
  });

  test('to note about one call is cut, and said to be', async () => {
    const { server } = says({
      'tools/call': [
        {
          repeat: [
            ['{"jsonrpc":"2.0","id":"$id","result":{"content":[null', 1],
            [',null', 5000],
            [']}}', 1],
          ],
        },
      ],
    });
    const notes: string[] = [];
    await server.callTool('echo', {}, { onNote: (note) => notes.push(note) });
    expect(notes).toHaveLength(NOTES_PER_CALL);
    expect(notes.at(-1)).toMatch(/more to note/);
  });

  test('said in one description leaves that tool out, not the others', async () => {
    const { server, warnings } = says({
      'tools/list': [
        {
          repeat: [
            [
              '{"jsonrpc":"2.0","id":"$id","result":{"tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"big","inputSchema":{},"description":"',
              1,
            ],
            ['x', 10_000_000],
            ['"}]}}', 1],
          ],
        },
      ],
    });
    expect((await server.listTools()).map(({ name }) => name)).toEqual(['good']);
    expect(warnings()).toHaveLength(1);
  });
});

test('a server without tools has an empty list, also when it knows no such method', async () => {
  const { server } = says({
    initialize: [
      { id: '$id', result: { protocolVersion: '2025-11-25', capabilities: { prompts: {} }, serverInfo: {} } },
    ],
    'tools/list': [{ id: '$id', error: { code: -32601, message: 'unknown method' } }],
  });
  expect(await server.listTools()).toEqual([]);
});

test('a server that ends whenever it is ready is started a bounded number of times', async () => {
  const counter = join(mkdtempSync(join(tmpdir(), 'midspan-')), 'starts');
  const { server } = says(
    { 'notifications/initialized': [{ exit: 1 }] },
    { timing: { restart: 1, restartMax: 2 } },
    {},
    [counter],
  );
  await until(() => server.state === 'failed', 'giving up');
  expect(readFileSync(counter, 'utf8').length).toBeLessThanOrEqual(RESTARTS_MAX + 1);
});

test('a configured text without a canonical form breaks no other server', async () => {
  const { server } = says(
    {},
    {},
    {
      transport: {
        type: 'stdio',
        command: process.execPath,
        args: [fixture('says'), '{}', devNull, '\ud800'],
        env: {},
      },
    },
  );
  await server.ready().catch(() => undefined);
  expect(['ready', 'failed']).toContain(server.state);
});

test('time limits beyond what a timer can hold are long, not over at once', async () => {
  const { server } = says({}, {}, { timeouts: { call: 1e12, callMax: 1e12 } });
  await server.ready();
  expect(textOf(await server.callTool('echo', { a: 1 }))).toBe('{"a":1}');
});
