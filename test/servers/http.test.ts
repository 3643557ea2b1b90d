import { describe, expect, test } from 'vitest';
import { endpoint, legacy, methods, modern, TOOL } from './http-server.ts';
import { http, open, until } from './support.ts';
import type { Answering, Received } from './http-server.ts';
import type { JsonObject } from '../../src/types.ts';

const forced = (url: string, era: 'legacy' | 'modern'): ReturnType<typeof http> => http('web', url, { era });

describe('R7: an expired session', () => {
  /** A server whose first session is forgotten as soon as `forget` is called, and which says so in its own way. */
  async function forgetful(
    say: (answer: Answering) => void,
  ): Promise<{ url: string; received: Received[]; forget: () => void }> {
    let session = 0;
    let known = '';
    const { url, received } = await endpoint((each, answer) => {
      if (each.message.method === 'initialize') {
        session += 1;
        known = `s${session}`;
        return legacy(each, answer, { 'mcp-session-id': known });
      }
      return each.headers['mcp-session-id'] === known ? legacy(each, answer) : say(answer);
    });
    return { url, received, forget: () => void (known = '') };
  }

  const ways: [string, (answer: Answering) => void][] = [
    ['404', (answer) => answer.plain(404, 'Session not found')],
    ['404 with -32603', (answer) => answer.json({ error: { code: -32603, message: 'Internal error' } }, 404)],
    [
      '400 in words',
      (answer) =>
        answer.json({ error: { code: -32000, message: 'Bad Request: No valid session ID provided' } }, 400),
    ],
    [
      '-32600 inside a 200',
      (answer) => answer.json({ error: { code: -32600, message: 'Session not found' } }),
    ],
  ];
  test.each(ways)(
    'defect 10: said with %s is opened again exactly once for all calls, without the old id',
    async (_way, say) => {
      const { url, received, forget } = await forgetful(say);
      const { server } = open(forced(url, 'legacy'));
      await server.callTool('echo', { n: 0 });
      forget();
      const results = await Promise.all([1, 2, 3].map((n) => server.callTool('echo', { n })));
      expect(results.map((result) => result.content[0]!.text)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
      const opened = received.filter(({ message }) => message.method === 'initialize');
      expect(opened).toHaveLength(2);
      expect(opened[1]!.headers).not.toHaveProperty('mcp-session-id');
      expect(received.at(-1)!.headers).toMatchObject({ 'mcp-session-id': 's2' });
    },
  );

  test('is not what a 503 says', async () => {
    const { url, received, forget } = await forgetful((answer) => answer.plain(503));
    const { server } = open(forced(url, 'legacy'));
    await server.callTool('echo', {});
    forget();
    await expect(server.callTool('echo', {})).rejects.toMatchObject({ data: { status: 503 } });
    expect(methods(received).filter((method) => method === 'initialize')).toHaveLength(1);
  });

  test('that cannot be opened again is an error that names the server', async () => {
    let alive = true;
    const { url } = await endpoint((each, answer) =>
      alive ? legacy(each, answer, { 'mcp-session-id': 's' }) : answer.plain(404),
    );
    const { server } = open(forced(url, 'legacy'));
    await server.callTool('echo', {});
    alive = false;
    await expect(server.callTool('echo', {})).rejects.toMatchObject({ label: 'web' });
  });
});

test('a call that may have run is not sent twice', async () => {
  const { url, received } = await endpoint((each, answer) => {
    if (each.message.method !== 'tools/call') return legacy(each, answer, { 'mcp-session-id': 's' });
    answer.response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      .write('{"jsonrpc"');
    setImmediate(() => answer.response.destroy());
  });
  const { server } = open(forced(url, 'legacy'));
  await expect(server.callTool('echo', {})).rejects.toMatchObject({ code: 'closed' });
  expect(methods(received).filter((method) => method === 'tools/call')).toHaveLength(1);
});

test.each(['legacy', 'modern'] as const)(
  'defect 9: a response stream that ends without the answer fails the call at once (%s)',
  async (era) => {
    const { url } = await endpoint((each, answer) => {
      if (each.message.method !== 'tools/call')
        return era === 'modern' ? modern(each, answer) : legacy(each, answer);
      const send = answer.stream();
      send({ method: 'notifications/progress', params: { progressToken: each.message.id, progress: 1 } });
      answer.response.end();
    });
    const { server } = open(forced(url, era));
    await expect(server.callTool('echo', {})).rejects.toThrow(/web: .*without an answer/);
  },
);

describe('defect 12: a call that is given up leaves no stream open', () => {
  test.each(['legacy', 'modern'] as const)('%s', async (era) => {
    let closed = 0;
    const { url, received } = await endpoint((each, answer) => {
      if (each.message.method !== 'tools/call')
        return era === 'modern' ? modern(each, answer) : legacy(each, answer);
      answer.stream();
      answer.response.on('close', () => {
        closed += 1;
      });
    });
    const { server } = open(forced(url, era));
    await server.ready();
    const calls = Array.from({ length: 5 }, () => server.callTool('echo', {}, { timeout: 100 }));
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ code: 'timeout' })));
    await until(() => closed === 5, 'closing of the streams');
    const cancelled = (): number =>
      methods(received).filter((method) => method === 'notifications/cancelled').length;
    if (era === 'legacy') await until(() => cancelled() === 5, 'the notices');
    else expect(cancelled()).toBe(0);
  });
});

test('defect 11: the GET stream of a legacy server is opened again, people are told, and the tools count as changed', async () => {
  let gets = 0;
  let send: ((message: JsonObject) => void) | undefined;
  const { url } = await endpoint((each, answer) => {
    if (each.verb !== 'GET') return legacy(each, answer, { 'mcp-session-id': 's' });
    gets += 1;
    if (gets <= 5) return answer.plain(500);
    send = answer.stream();
  });
  const { server, events, warnings } = open(forced(url, 'legacy'));
  await server.listTools();
  await until(() => send !== undefined, 'the stream');
  expect(warnings().join()).toMatch(/go unheard/);
  await until(() => events.some((event) => event.type === 'tools-changed'));
  const told = events.filter((event) => event.type === 'tools-changed').length;
  send!({ method: 'notifications/tools/list_changed' });
  await until(() => events.filter((event) => event.type === 'tools-changed').length > told);
});

test('a server without a GET stream is left alone', async () => {
  const { url, received } = await endpoint(legacy);
  const { server } = open(forced(url, 'legacy'));
  await until(() => received.some(({ verb }) => verb === 'GET'));
  await server.callTool('echo', {});
  await server.callTool('echo', {});
  expect(received.filter(({ verb }) => verb === 'GET')).toHaveLength(1);
});

test('defect 15: closing ends the session by DELETE', async () => {
  const { url, received } = await endpoint((each, answer) => legacy(each, answer, { 'mcp-session-id': 's' }));
  const { server } = open(forced(url, 'legacy'));
  await server.ready();
  await server.close();
  const last = received.at(-1)!;
  expect(last.verb).toBe('DELETE');
  expect(last.headers).toMatchObject({ 'mcp-session-id': 's', 'mcp-protocol-version': '2025-11-25' });
});

test('a question on the stream of a call is about that call, whatever else is running', async () => {
  const streams = new Map<number, { send: (message: JsonObject) => void; answer: Answering }>();
  let asked = 0;
  const { url } = await endpoint((each, answer) => {
    const { id, method, result } = each.message;
    if (method === 'tools/call') {
      streams.set(id!, { send: answer.stream(), answer });
      streams.get(id!)!.send({
        id: `q${id}`,
        method: 'elicitation/create',
        params: { message: each.message.params!.name! },
      });
      return;
    }
    if (method !== undefined || each.verb !== 'POST') return legacy(each, answer);
    asked += 1;
    answer.plain(202);
    const call = Number(String(each.message.id).slice(1));
    const { send, answer: open } = streams.get(call)!;
    send({ id: call, result: { content: [{ type: 'text', text: JSON.stringify(result) }] } });
    open.response.end();
  });
  const { server } = open(forced(url, 'legacy'));
  await server.ready();
  const call = async (name: string): Promise<unknown> => {
    const onInput = async ({ params }: { params: JsonObject }): Promise<JsonObject> => ({
      action: 'accept',
      content: { tool: name, message: params.message },
    });
    return (await server.callTool(name, {}, { onInput })).content[0]!.text;
  };
  const answers = await Promise.all(['a', 'b', 'c'].map(call));
  expect(answers.map((text) => (JSON.parse(text as string) as JsonObject).content)).toEqual(
    ['a', 'b', 'c'].map((name) => ({ tool: name, message: name })),
  );
  expect(asked).toBe(3);
});

describe('modern headers', () => {
  const REGION = {
    name: 'query',
    inputSchema: {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        at: { type: 'object', properties: { zone: { type: 'integer', 'x-mcp-header': 'Zone' } } },
      },
    },
  };
  const BAD = {
    name: 'bad',
    inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } },
  };

  test('mirror the name and the marked arguments; a tool with invalid marks is left out', async () => {
    const { url, received } = await endpoint((each, answer) =>
      each.message.method === 'tools/list'
        ? answer.json({ result: { tools: [REGION, BAD, TOOL], ttlMs: 1000, cacheScope: 'private' } })
        : modern(each, answer),
    );
    const { server, warnings } = open(forced(url, 'modern'));
    expect((await server.listTools()).map((tool) => tool.name)).toEqual(['query', 'echo']);
    expect(warnings()).toEqual([
      'left out the tool "bad": x-mcp-header at a, which is not a string, an integer or a boolean',
    ]);
    await server.callTool('query', { region: 'München', at: { zone: 42 } });
    expect(received.at(-1)!.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'query',
      'mcp-param-region': '=?base64?TcO8bmNoZW4=?=',
      'mcp-param-zone': '42',
    });
    await server.callTool('query', { region: null });
    expect(received.at(-1)!.headers).not.toHaveProperty('mcp-param-region');
  });

  test('that the server finds wrong are repaired by listing again, once', async () => {
    const { url, received } = await endpoint((each, answer) => {
      if (each.message.method === 'tools/list')
        return answer.json({ result: { tools: [REGION], ttlMs: 60_000, cacheScope: 'private' } });
      if (each.message.method === 'tools/call' && each.headers['mcp-param-region'] === undefined) {
        return answer.json({ error: { code: -32020, message: 'header mismatch' } }, 400);
      }
      return modern(each, answer);
    });
    const { server } = open(forced(url, 'modern'));
    await server.callTool('query', { region: 'eu' });
    expect(methods(received)).toEqual(['server/discover', 'tools/call', 'tools/list', 'tools/call']);
    // It is about our headers, and nothing that whoever calls could do anything about.
    await expect(server.callTool('query', {})).rejects.toMatchObject({ code: 'protocol', data: {} });
  });
});

describe('the modern list', () => {
  test('is kept for its ttlMs, and asked for again after it', async () => {
    let time = 0;
    const { url, received } = await endpoint((each, answer) =>
      each.message.method === 'tools/list'
        ? answer.json({ result: { tools: [TOOL], ttlMs: 5000, cacheScope: 'public' } })
        : modern(each, answer),
    );
    const { server } = open(forced(url, 'modern'), { now: () => time });
    await server.listTools();
    await server.listTools();
    expect(methods(received)).toEqual(['server/discover', 'tools/list']);
    time = 5001;
    await server.listTools();
    expect(methods(received)).toEqual(['server/discover', 'tools/list', 'tools/list']);
  });

  test('without a hint is stale at once, and a hint counts for a day at most', async () => {
    let time = 0;
    const hints: JsonObject[] = [{}, { ttlMs: -5 }, { ttlMs: 1e15 }, {}];
    let lists = 0;
    const { url } = await endpoint((each, answer) => {
      if (each.message.method !== 'tools/list') return modern(each, answer);
      answer.json({ result: { tools: [], ...hints[lists] } });
      lists += 1;
    });
    const { server } = open(forced(url, 'modern'), { now: () => time });
    await server.listTools();
    await server.listTools();
    await server.listTools();
    expect(lists).toBe(3);
    time = 24 * 3600 * 1000 - 1;
    await server.listTools();
    expect(lists).toBe(3);
    time += 2;
    await server.listTools();
    expect(lists).toBe(4);
  });
});

describe('defects 17 and 28: a modern change stream', () => {
  const announcing = { tools: { listChanged: true } };
  const ack = (id: number, notifications: JsonObject): JsonObject => ({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications, _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
  });

  test('is opened again when it ends, and the tools count as changed', async () => {
    let listens = 0;
    const { url } = await endpoint((each, answer) => {
      if (each.message.method !== 'subscriptions/listen') return modern(each, answer, announcing);
      listens += 1;
      const send = answer.stream();
      send(ack(each.message.id!, { toolsListChanged: true }));
      if (listens === 1) setImmediate(() => answer.response.destroy());
    });
    const { events } = open(forced(url, 'modern'));
    await until(() => listens === 2, 'a second stream');
    await until(() => events.some((event) => event.type === 'tools-changed'), 'a change');
  });

  test('that does not honor what was asked for is given up with a warning', async () => {
    let listens = 0;
    const { url } = await endpoint((each, answer) => {
      if (each.message.method !== 'subscriptions/listen') return modern(each, answer, announcing);
      listens += 1;
      answer.stream()(ack(each.message.id!, {}));
    });
    const { warnings } = open(forced(url, 'modern'));
    await until(() => warnings().length > 0);
    expect(warnings()).toEqual(['does not tell when its lists change, although it says so']);
    expect(listens).toBe(1);
  });

  test('that is never acknowledged is tried again, and people are told', async () => {
    const { url, received } = await endpoint((each, answer) => {
      if (each.message.method !== 'subscriptions/listen') return modern(each, answer, announcing);
      answer.stream();
    });
    const { server, warnings } = open(forced(url, 'modern'), { timing: { acknowledge: 20 } });
    await until(() => warnings().some((warning) => warning.includes('go unheard')));
    expect(
      methods(received).filter((method) => method === 'subscriptions/listen').length,
    ).toBeGreaterThanOrEqual(3);
    await server.callTool('echo', {});
  });

  test('is not asked for when the server announces nothing', async () => {
    const { url, received } = await endpoint(modern);
    const { server } = open(forced(url, 'modern'));
    await server.callTool('echo', {});
    expect(methods(received)).toEqual(['server/discover', 'tools/call']);
  });
});

test('a server that drops our revision and has no other in common is an error that names both sides', async () => {
  let discovered = false;
  const { url, received } = await endpoint((each, answer) => {
    if (each.message.method === 'server/discover') discovered = true;
    if (each.message.method === 'tools/call' && discovered) {
      return answer.json(
        { error: { code: -32022, message: 'gone', data: { supported: ['2099-01-01'] } } },
        400,
      );
    }
    return modern(each, answer);
  });
  const { server } = open(forced(url, 'modern'));
  await expect(server.callTool('echo', {})).rejects.toThrow(/It speaks 2099-01-01; we speak 2026-07-28/);
  expect(methods(received)).toEqual(['server/discover', 'tools/call']);
});
