import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ELICITATIONS_PER_CALL,
  ELICITATIONS_PER_HOUR,
  IN_FLIGHT_MAX,
  INPUT_ROUNDS_MAX,
  INSTRUCTIONS_MAX,
  LIST_CHANGED_PER_MINUTE,
  NOTIFICATIONS_PER_SECOND,
  NOTIFICATION_TEXT_MAX,
  PAGES_MAX,
  QUEUE_MAX,
  REQUEST_STATE_MAX,
  SERVER_REQUESTS_MAX,
  ITEMS_MAX,
} from '../../src/mcp/protocol-limits.ts';
import { fixture, open, stdio, until } from './support.ts';
import type { Opened } from './support.ts';
import type { ServerDeps } from '../../src/servers/index.ts';
import type { JsonObject, Progress, ServerSpec, ToolResult } from '../../src/types.ts';

const legacy = (
  behavior: string,
  rest: string[] = [],
  deps: Partial<ServerDeps> = {},
  more: Partial<ServerSpec> = {},
): Opened => open(stdio('raw', [fixture('raw'), behavior, ...rest], { era: 'legacy', ...more }), deps);
const modern = (behavior: string, deps: Partial<ServerDeps> = {}): Opened =>
  open(stdio('raw', [fixture('raw'), behavior], { era: 'modern' }), deps);
const textOf = (result: ToolResult): string => result.content[0]!.text as string;

describe('frames', () => {
  test.each(['result null', 'result array', 'result missing'])(
    'defect 20: a malformed frame with a valid id fails that request at once (%s)',
    async (behavior) => {
      const { server } = legacy(behavior);
      await expect(server.callTool('echo', {})).rejects.toMatchObject({ code: 'protocol', label: 'raw' });
    },
  );

  test('defect 20: an extra member beside the result is tolerated', async () => {
    expect(textOf(await legacy('extra member').server.callTool('echo', {}))).toBe('fine');
  });

  test('an error without an id fails the only request in flight', async () => {
    await expect(legacy('error without id').server.callTool('echo', {})).rejects.toMatchObject({
      code: 'rpc',
      data: { code: -32700 },
    });
  });

  test('an error of the server keeps its code, and its message is bounded and cannot steer a terminal', async () => {
    const error = await legacy('error with controls')
      .server.callTool('echo', {})
      .catch((each: unknown) => each as Error & { data: JsonObject });
    expect(error).toMatchObject({ code: 'rpc', data: { code: -32000, data: { hint: 1 } } });
    expect((error as Error).message).toContain('bad \\u{1b}[31mred\\u{202e}');
    expect((error as Error).message.length).toBeLessThan(1200);
  });

  test('noise on stdout is a warning', async () => {
    const { server, warnings } = legacy('noise');
    await server.ready();
    expect(warnings()).toEqual(['wrote something that is not a message: starting up...']);
  });

  test('an answer to a request that never was is a warning', async () => {
    const { server, warnings } = legacy('unknown answer');
    await server.callTool('echo', {});
    expect(warnings()).toEqual([
      'answered a request that was never made (id 987654)',
      'answered a request that was never made (id "x")',
    ]);
  });

  test('defect 27: a result type that we did not ask for is an error that names it', async () => {
    await expect(modern('unknown resultType').server.callTool('echo', {})).rejects.toThrow(/"task"/);
  });

  test('input_required to a list is no result', async () => {
    await expect(modern('input on list').server.listTools()).rejects.toMatchObject({ code: 'protocol' });
  });
});

describe('progress, time and cancelling', () => {
  test('defect 19: progress in the same chunk as the answer is delivered; stale and unknown tokens are dropped', async () => {
    const { server, warnings } = legacy('batch of chunks');
    const progress: Progress[] = [];
    const result = await server.callTool('echo', {}, { onProgress: (seen) => progress.push(seen) });
    expect(textOf(result)).toBe('done');
    expect(progress).toEqual([{ progress: 1, total: 3, message: 'one' }, { progress: 2 }]);
    expect(warnings()).toEqual([]);
  });

  test('defect 24: progress extends the time of a call, with nobody listening to it', async () => {
    const { server } = legacy('slow progress', ['100']);
    await server.ready();
    expect(textOf(await server.callTool('echo', {}, { timeout: 1500 }))).toBe('done');
  });

  test('progress does not extend it beyond the cap', async () => {
    const { server } = legacy('slow progress', ['10000'], {}, { timeouts: { callMax: 300 } });
    await server.ready();
    await expect(server.callTool('echo', {}, { timeout: 300 })).rejects.toThrow(/not answered within 300 ms/);
  });

  test('defect 23: a time-out and an abort can be told apart, and both cancel', async () => {
    const { server } = legacy('hangs on call');
    await server.ready();
    await expect(server.callTool('hang', {}, { timeout: 50 })).rejects.toMatchObject({ code: 'timeout' });
    const abort = new AbortController();
    const call = server.callTool('hang', {}, { signal: abort.signal });
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    await expect(server.callTool('hang', {}, { signal: abort.signal })).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(textOf(await server.callTool('seen', {}))).toBe(
      'initialize,notifications/initialized,tools/call,notifications/cancelled,tools/call,notifications/cancelled,tools/call',
    );
  });

  test('a late answer to a cancelled call is swallowed', async () => {
    const { server, warnings } = legacy('late answer');
    await server.ready();
    await expect(server.callTool('hang', {}, { timeout: 30 })).rejects.toMatchObject({ code: 'timeout' });
    expect(textOf(await server.callTool('echo', { a: 1 }))).toBe('{"a":1}');
    expect(warnings()).toEqual([]);
  });

  test('defect 13: fifty calls share one signal without a warning of Node', async () => {
    const { server } = legacy('legacy');
    const warned: Error[] = [];
    const listen = (warning: Error): void => void warned.push(warning);
    process.on('warning', listen);
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 50 }, () => server.callTool('echo', {}, { signal })));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    process.off('warning', listen);
    expect(warned).toEqual([]);
  });

  test('no more than 64 requests are in flight; the rest waits its turn', async () => {
    const { server } = legacy('counts in flight');
    const results = await Promise.all(Array.from({ length: 150 }, () => server.callTool('echo', {})));
    expect(Math.max(...results.map((result) => Number(textOf(result))))).toBe(IN_FLIGHT_MAX);
  });

  test('no more than 1,024 requests wait; the next is refused at once', async () => {
    const { server } = legacy('hangs on call');
    await server.ready();
    const calls = Array.from({ length: IN_FLIGHT_MAX + QUEUE_MAX }, () => server.callTool('hang', {}));
    const ended = Promise.allSettled(calls);
    await expect(server.callTool('one too many', {})).rejects.toMatchObject({
      code: 'limit',
      data: { sent: false },
    });
    await server.close();
    expect((await ended).every((each) => each.status === 'rejected')).toBe(true);
  });

  test('a flood of notifications is cut to its rate and length, and the call still ends', async () => {
    const { server, events, warnings } = legacy('flood');
    await server.ready();
    const since = performance.now();
    const progress: Progress[] = [];
    await server.callTool('echo', {}, { onProgress: (seen) => progress.push(seen) });
    const logs = events.filter((event) => event.type === 'log');
    expect(logs.length + progress.length).toBeGreaterThan(0);
    // The rate counts in seconds of the clock, of which a slow machine may need several.
    const seconds = Math.ceil((performance.now() - since) / 1000) + 1;
    expect(logs.length + progress.length).toBeLessThanOrEqual(seconds * NOTIFICATIONS_PER_SECOND);
    expect(logs.every((log) => (log.data as string).length === NOTIFICATION_TEXT_MAX)).toBe(true);
    expect(progress.every((each) => each.message!.length === NOTIFICATION_TEXT_MAX)).toBe(true);
    expect(warnings()).toEqual([
      'sends more than 50 log and progress messages a second; the rest is dropped',
    ]);
  });
});

describe('lists', () => {
  test('defects 21 and 22: one bad tool is left out and named, the others stay with every member', async () => {
    const { server, warnings } = legacy('odd tools');
    const tools = await server.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(['good', 'no type', 'null description', 'bad header']);
    expect(tools[0]).toEqual({
      name: 'good',
      inputSchema: { type: 'object' },
      vendor: { a: 1 },
      annotations: { readOnlyHint: 'yes', 'x-own': 1 },
      icons: [{ src: 'x', own: 1 }],
      execution: { taskSupport: 'optional' },
    });
    expect(tools[2]).toEqual({ name: 'null description', inputSchema: { type: 'object' } });
    expect(warnings()).toEqual([
      'left out the tool "no schema": its inputSchema is not an object',
      'left out the tool "number description": its description is not a string',
      'left out a tool that is not an object',
      'left out a tool without a name',
      'left out the tool "deep": it has more than 64 levels',
      'left out the tool "long": its description is longer than 65536 characters',
      'left out the tool "big": its definition is longer than 262144 characters',
      'left out the tool "twice": 2 tools have this name',
    ]);
  });

  test('of more than 1,024 tools the first 1,024 are kept', async () => {
    const { server, warnings } = legacy('many tools');
    const tools = await server.listTools();
    expect(tools.length).toBe(ITEMS_MAX);
    expect(tools.at(-1)!.name).toBe('t1023');
    expect(warnings()).toEqual(['lists more than 1024 tools; only the first 1024 are kept']);
  });

  test('every list of distinct cursors, the empty one too, is read to its end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.string({ maxLength: 8 }), { maxLength: 12 }), async (cursors) => {
        const { server } = legacy('pages', [JSON.stringify(cursors)]);
        const tools = await server.listTools();
        expect(tools.map((tool) => tool.name)).toEqual(
          Array.from({ length: cursors.length + 1 }, (_, page) => `t${page}`),
        );
        await server.close();
      }),
      { numRuns: 6, examples: [[['']]] },
    );
  });

  test.each([
    ['endless pages', `more than ${PAGES_MAX} pages`],
    ['repeated cursor', 'never ends'],
    ['huge list', 'longer than 8388608 characters'],
    ['list is no list', 'not a list of tools'],
  ])('a list with %s is an error', async (behavior, message) => {
    await expect(legacy(behavior).server.listTools()).rejects.toThrow(message);
  });

  test('R7: concurrent listings share one request, and cancelling one does not spoil it for the others', async () => {
    const { server } = legacy('slow list');
    await server.ready();
    const cancel = new AbortController();
    const cancelled = server.listTools({ signal: cancel.signal });
    const others = Promise.all([server.listTools(), server.listTools({ refresh: true })]);
    cancel.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
    expect((await others).map((tools) => tools.length)).toEqual([2, 2]);
    expect((await server.listTools()).length).toBe(2);
    expect(textOf(await server.callTool('seen', {}))).toBe(
      'initialize,notifications/initialized,tools/list,tools/call',
    );
  });

  test('R8: a change is heard although the capability was not declared', async () => {
    const { server, events } = legacy('unlock');
    expect((await server.listTools()).map((tool) => tool.name)).toEqual(['unlock', 'seen']);
    await server.callTool('unlock', {});
    expect((await server.listTools()).map((tool) => tool.name)).toContain('secret_number');
    await until(() => events.some((event) => event.type === 'tools-changed'));
  });

  test('a storm of changes is passed on as one, and no more than six times a minute', async () => {
    let time = 0;
    const { server, events } = legacy('unlock', ['50'], { now: () => time });
    const told = (): number => events.filter((event) => event.type === 'tools-changed').length;
    await server.ready();
    for (let storm = 1; storm <= LIST_CHANGED_PER_MINUTE; storm += 1) {
      await server.callTool('unlock', {});
      await until(() => told() === storm, `change ${storm}`);
    }
    await server.callTool('unlock', {});
    await server.callTool('echo', {});
    expect(told()).toBe(LIST_CHANGED_PER_MINUTE);
  });
});

describe('results', () => {
  test('defects 21 and 22: a malformed block is left out with a note, unknown blocks and members are kept', async () => {
    const { server, warnings } = legacy('odd blocks');
    const notes: string[] = [];
    const result = await server.callTool('echo', {}, { onNote: (note) => notes.push(note) });
    expect(result).toEqual({
      content: [
        { type: 'text', text: 'good', extra: 1 },
        { type: 'hologram', shape: 'cube' },
      ],
      structuredContent: [1, null],
      isError: true,
      _meta: { 'vendor/x': 1 },
      vendor: 'kept',
    });
    expect(notes).toEqual([
      'raw: content block 2 was left out: text: its text is not a string',
      'raw: content block 3 was left out: it is not an object with a type',
      'raw: content block 5 was left out: image: it has no data or no MIME type',
    ]);
    expect(warnings()).toHaveLength(3);
  });

  test('more than 8 MiB of text becomes an error result that says so', async () => {
    const result = await legacy('huge text').server.callTool('echo', {});
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/8388608 characters/);
  });

  test('the result of the first revision is read, and what is no result is an error', async () => {
    expect(await legacy('old result').server.callTool('echo', {})).toEqual({
      content: [],
      structuredContent: { a: 1 },
    });
    await expect(legacy('no content').server.callTool('echo', {})).rejects.toMatchObject({
      code: 'protocol',
    });
  });
});

describe('questions of a legacy server', () => {
  test('reach whoever made the call, with the label and the tool', async () => {
    const { server } = legacy('asks');
    const contexts: JsonObject[] = [];
    const result = await server.callTool(
      'ask',
      {},
      {
        onInput: async (request, { label, tool }) => {
          contexts.push({ label, tool, message: request.params.message });
          return { action: 'accept', content: { name: 'Ada' } };
        },
      },
    );
    expect(textOf(result)).toBe('{"action":"accept","content":{"name":"Ada"}}');
    expect(contexts).toEqual([{ label: 'raw', tool: 'ask', message: 'Name?' }]);
  });

  test('are declined with a note to every call when nobody can tell which call asks', async () => {
    const { server } = legacy('asks');
    const notes: string[] = [];
    const call = (): Promise<ToolResult> =>
      server.callTool(
        'ask',
        {},
        { onNote: (note) => notes.push(note), onInput: async () => ({ action: 'accept' }) },
      );
    await server.ready();
    const results = await Promise.all([call(), call()]);
    expect(results.map(textOf)).toContain('{"action":"decline"}');
    expect(notes[0]).toMatch(/^raw asked for input .* several calls were running/);
  });

  test.each([
    ['a mode that was not declared', { params: { mode: 'hologram' } }, -32602],
    ['a method that was not declared', { method: 'sampling/createMessage', params: {} }, -32601],
    ['a method that does not exist', { method: 'acme/odd', params: {} }, -32601],
  ])('%s is refused', async (_what, args, code) => {
    const { server } = legacy('asks');
    const result = await server.callTool('ask', args, {
      onInput: async () => ({ action: 'accept' }),
    });
    expect(JSON.parse(textOf(result))).toMatchObject({ code });
  });

  test('an answer that cannot be given is an error to the server and a note to the caller', async () => {
    const { server } = legacy('asks');
    const notes: string[] = [];
    const result = await server.callTool(
      'ask',
      {},
      {
        onNote: (note) => notes.push(note),
        onInput: async () => ({ action: 'accept', content: 'not an object' }),
      },
    );
    expect(JSON.parse(textOf(result))).toMatchObject({ code: -32603 });
    expect(notes).toHaveLength(1);
  });

  test('stop the clock of the call while a person thinks', async () => {
    const { server } = legacy('asks');
    await server.ready();
    const result = await server.callTool(
      'ask',
      {},
      {
        timeout: 1500,
        onInput: () =>
          new Promise((resolve) => {
            setTimeout(resolve, 2000, { action: 'accept', content: {} });
          }),
      },
    );
    expect(textOf(result)).toContain('accept');
  });

  test('are put to a person three times per call', async () => {
    const { server } = legacy('asks often');
    const result = await server.callTool(
      'ask',
      {},
      { onInput: async () => ({ action: 'accept', content: {} }) },
    );
    expect(
      textOf(result)
        .split(',')
        .filter((each) => each === 'accept'),
    ).toHaveLength(ELICITATIONS_PER_CALL);
    expect(
      textOf(result)
        .split(',')
        .filter((each) => each === 'decline'),
    ).toHaveLength(5 - ELICITATIONS_PER_CALL);
  });

  test('are put to a person twenty times an hour', async () => {
    let time = 0;
    const { server } = legacy('asks', [], { now: () => time });
    const ask = async (): Promise<string> =>
      textOf(await server.callTool('ask', {}, { onInput: async () => ({ action: 'accept' }) }));
    for (let count = 0; count < ELICITATIONS_PER_HOUR; count += 1) expect(await ask()).toContain('accept');
    expect(await ask()).toContain('decline');
    time += 3_600_001;
    expect(await ask()).toContain('accept');
  });

  test('are taken back when the server says so, and its completion notice is tolerated', async () => {
    const { server } = legacy('asks and withdraws');
    const aborted: boolean[] = [];
    const result = await server.callTool(
      'ask',
      {},
      {
        onInput: (_request, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              aborted.push(true);
              reject(new Error('taken back'));
            });
          }),
      },
    );
    expect(textOf(result)).toBe('never mind');
    expect(aborted).toEqual([true]);
  });

  test('a ping is answered, an unknown method refused', async () => {
    expect(textOf(await legacy('pings').server.callTool('echo', {}))).toBe('ping {}; odd -32601');
  });

  test('no more than eight are worked on at once', async () => {
    const deps = { capabilities: { sampling: {} } };
    const result = await legacy('many requests', [], deps).server.callTool(
      'echo',
      {},
      {
        onInput: (_request, { signal }) =>
          new Promise((resolve) => {
            setImmediate(resolve, { role: 'assistant' });
            signal.addEventListener('abort', () => resolve({}));
          }),
      },
    );
    expect(Number(textOf(result))).toBe(12 - SERVER_REQUESTS_MAX);
  });

  test('-32042 runs the listed addresses and repeats the call once they were opened', async () => {
    const asked: JsonObject[] = [];
    const accepted = await legacy('needs a url').server.callTool(
      'echo',
      { a: 1 },
      {
        onInput: async ({ params }) => {
          asked.push(params);
          return { action: 'accept' };
        },
      },
    );
    expect(textOf(accepted)).toBe('{"a":1}');
    expect(asked).toMatchObject([{ mode: 'url', url: 'https://example.com/connect' }]);
    const notes: string[] = [];
    const declined = legacy('needs a url').server.callTool(
      'echo',
      {},
      { onNote: (note) => notes.push(note) },
    );
    await expect(declined).rejects.toMatchObject({ code: 'rpc', data: { code: -32042 } });
    expect(notes.join()).toMatch(/raw needs an address opened/);
  });
});

describe('input rounds of a modern server', () => {
  test('repeat the call with the answers, the exact state, the same arguments and a new id', async () => {
    const { server } = modern('input rounds');
    const result = JSON.parse(
      textOf(
        await server.callTool(
          'ask',
          { rounds: 2 },
          { onInput: async () => ({ action: 'accept', content: { a: 1 } }) },
        ),
      ),
    ) as JsonObject;
    expect(result).toEqual({
      inputResponses: { q: { action: 'accept', content: { a: 1 } } },
      requestState: 'ä+/=\n 2',
      ids: 3,
      args: { rounds: 2 },
    });
  });

  test('with a state and no questions are retried after a moment', async () => {
    const result = JSON.parse(
      textOf(await modern('input rounds').server.callTool('ask', { rounds: 3, bare: true })),
    ) as JsonObject;
    expect(result).toMatchObject({ requestState: 'ä+/=\n 3', ids: 4 });
    expect(result).not.toHaveProperty('inputResponses');
  });

  test('end after eight', async () => {
    const { server } = modern('input rounds');
    await server.callTool('ask', { rounds: INPUT_ROUNDS_MAX, bare: true });
    await expect(server.callTool('ask', { rounds: INPUT_ROUNDS_MAX + 1, bare: true })).rejects.toMatchObject({
      code: 'limit',
    });
  });

  test('with a state over 64 KiB end the call', async () => {
    await expect(modern('big state').server.callTool('ask', {})).rejects.toThrow(
      `longer than ${REQUEST_STATE_MAX} characters`,
    );
  });

  test('that ask for what was not declared break the call', async () => {
    const { server } = modern('input rounds');
    const request = { method: 'sampling/createMessage', params: {} };
    await expect(server.callTool('ask', { rounds: 1, request })).rejects.toThrow(
      /raw: it asked for input that cannot be given/,
    );
  });

  test('a missing capability is an error that names it', async () => {
    await expect(modern('missing capability').server.callTool('echo', {})).rejects.toThrow(
      /elicitation\.url, sampling/,
    );
  });

  test('a request of its own is not answered, and is a warning', async () => {
    const { server, warnings } = modern('server request in modern');
    await server.callTool('echo', {});
    expect(textOf(await server.callTool('seen', {}))).not.toContain('an answer');
    expect(warnings()[0]).toMatch(/sent the request elicitation\/create/);
  });
});

describe('health', () => {
  test('long instructions are cut with a warning', async () => {
    const { server, warnings } = legacy('long instructions');
    await server.ready();
    expect(server.info!.instructions).toHaveLength(INSTRUCTIONS_MAX);
    expect(warnings()).toEqual([`its instructions were cut to ${INSTRUCTIONS_MAX} characters`]);
  });

  test('R10: a server that dies at import fails at once, with the end of its stderr', async () => {
    const { server } = legacy('dies at import');
    await expect(server.ready()).rejects.toThrow(/^raw: it could not be started: .* exit code 1.*left-pad/s);
    expect(server.state).toBe('failed');
    expect(server.error).toMatchObject({ code: 'unreachable' });
  });

  test('a start is bounded', async () => {
    const { server } = legacy('never answers', [], {}, { timeouts: { start: 200 } });
    await expect(server.ready()).rejects.toThrow('raw: it was not ready within 200 ms');
  });

  test('defect 3: a crash is noticed at once; the call says that its outcome is unknown, and the server comes back', async () => {
    const { server, events } = legacy('crashes on call');
    await expect(server.callTool('crash', {})).rejects.toMatchObject({
      code: 'closed',
      message: expect.stringMatching(/outcome is unknown.*exit code 7/) as string,
    });
    expect(server.state).toBe('restarting');
    expect(server.error!.message).toContain('the reactor melted');
    expect(textOf(await server.callTool('echo', { a: 1 }))).toBe('{"a":1}');
    const states = events.flatMap((event) => (event.type === 'state' ? [event.state] : []));
    expect(states).toEqual(['starting', 'ready', 'restarting', 'ready'].slice(-states.length));
    await until(() => events.some((event) => event.type === 'tools-changed'));
  });

  test('a server that keeps dying is given up, and tried again when it is called', async () => {
    const marker = join(mkdtempSync(join(tmpdir(), 'midspan-')), 'marker');
    const { server } = legacy('crashes on start after the first', [marker], {
      timing: { restart: 1, restartMax: 2 },
    });
    await expect(server.callTool('crash', {})).rejects.toMatchObject({ code: 'closed' });
    expect(existsSync(marker)).toBe(true);
    await until(() => server.state === 'failed', 'giving up');
    await until(() => server.error !== undefined);
    await expect(server.callTool('echo', {})).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('R16: a call to a server that is still starting waits for it, up to its time', async () => {
    const { server } = legacy('never answers');
    await expect(server.callTool('echo', {}, { timeout: 50 })).rejects.toThrow(
      'raw: it is still starting after 50 ms',
    );
  });

  test('a server that hangs delays no other', async () => {
    const hanging = legacy('never answers');
    const { server } = legacy('legacy');
    await server.callTool('echo', {});
    expect(hanging.server.state).toBe('starting');
  });

  test('closing rejects what is pending and is final', async () => {
    const { server } = legacy('hangs on call');
    await server.ready();
    const call = server.callTool('hang', {});
    await Promise.all([expect(call).rejects.toMatchObject({ code: 'closed' }), server.close()]);
    expect(server.state).toBe('closed');
    await expect(server.callTool('echo', {})).rejects.toMatchObject({ code: 'closed' });
    await expect(server.listTools()).rejects.toMatchObject({ code: 'closed' });
    await server.close();
  });
});
