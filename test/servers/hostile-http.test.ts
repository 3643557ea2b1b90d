/** Sick and hostile servers over HTTP: what they say, when they say nothing, and streams that do not behave. */
import { describe, expect, test } from 'vitest';
import { INSTRUCTIONS_MAX, LIST_MAX, REPLIES_MAX } from '../../src/mcp/protocol-limits.ts';
import { endpoint, legacy, methods, modern, TOOL } from './http-server.ts';
import { http, open, until } from './support.ts';
import type { Answering, Received } from './http-server.ts';
import type { JsonObject } from '../../src/types.ts';

const forced = (url: string, era: 'legacy' | 'modern'): ReturnType<typeof http> => http('web', url, { era });
const gets = (received: Received[]): Received[] => received.filter(({ verb }) => verb === 'GET');

/** What a server writes on a GET stream. */
function opened(answer: Answering): void {
  answer.response.writeHead(200, { 'content-type': 'text/event-stream' });
  answer.response.flushHeaders();
}

describe('silence', () => {
  test('after the server was closed in the turn that opened it keeps nobody waiting', async () => {
    const { url } = await endpoint(() => {});
    const { server } = open(http('web', url));
    await server.close();
    expect(server.state).toBe('closed');
  });

  test('in answer to notifications/initialized ends with the time of the start', async () => {
    const { url } = await endpoint((each, answer) =>
      each.message.method === 'notifications/initialized' ? undefined : legacy(each, answer),
    );
    const { server } = open({ ...forced(url, 'legacy'), timeouts: { start: 150 } });
    await expect(server.ready()).rejects.toThrow('web: it was not ready within 150 ms');
  });

  test('in answer to notifications/initialized does not outlast closing', async () => {
    let stalled = false;
    const { url } = await endpoint((each, answer) => {
      if (each.message.method === 'notifications/initialized') stalled = true;
      else legacy(each, answer);
    });
    const { server } = open(forced(url, 'legacy'));
    await until(() => stalled);
    await server.close();
    await expect(server.ready()).rejects.toMatchObject({ code: 'closed' });
  });

  test('in answer to the end of a session keeps no call waiting, and closing not for long', async () => {
    let deleted = false;
    const { url } = await endpoint((each, answer) => {
      if (each.verb === 'DELETE') deleted = true;
      else if (each.message.method !== 'tools/call') legacy(each, answer, { 'mcp-session-id': 's' });
    });
    const { server } = open(forced(url, 'legacy'));
    await server.ready();
    let closed = false;
    const call = expect(server.callTool('echo', {})).rejects.toMatchObject({ code: 'closed' });
    const closing = server.close().then(() => (closed = true));
    await call;
    expect(closed).toBe(false);
    await closing;
    expect(deleted).toBe(true);
  });

  test('while a session is opened again does not hold a call that was cancelled', async () => {
    let initialized = 0;
    const { url } = await endpoint((each, answer) => {
      if (each.message.method === 'initialize' && ++initialized > 1) return;
      if (each.message.method === 'tools/call') return answer.plain(404);
      legacy(each, answer, { 'mcp-session-id': 's' });
    });
    const { server } = open(forced(url, 'legacy'));
    await server.ready();
    const abort = new AbortController();
    const call = server.callTool('echo', {}, { signal: abort.signal });
    await until(() => initialized === 2);
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('the GET stream', () => {
  test.each([404, 400, 406])('that is refused with %i leaves the session alone', async (status) => {
    const { url, received } = await endpoint((each, answer) =>
      each.verb === 'GET' ? answer.plain(status) : legacy(each, answer, { 'mcp-session-id': 's' }),
    );
    const { server } = open(forced(url, 'legacy'), { timing: { relisten: 1, relistenMax: 1 } });
    await until(() => gets(received).length === 1);
    for (let count = 0; count < 5; count += 1) await server.callTool('echo', {});
    expect(gets(received)).toHaveLength(1);
    expect(methods(received).filter((method) => method === 'initialize')).toHaveLength(1);
  });

  test('that is answered with a page is left alone', async () => {
    const { url, received } = await endpoint((each, answer) =>
      each.verb === 'GET' ? answer.plain(200, '<html>Hello</html>') : legacy(each, answer),
    );
    const { server } = open(forced(url, 'legacy'), { timing: { relisten: 1, relistenMax: 1 } });
    await until(() => gets(received).length === 1);
    for (let count = 0; count < 5; count += 1) await server.callTool('echo', {});
    expect(gets(received)).toHaveLength(1);
  });

  test('is opened again in the session that took the place of an expired one', async () => {
    let session = 0;
    let forgotten = false;
    const sends: ((message: JsonObject) => void)[] = [];
    const { url, received } = await endpoint((each, answer) => {
      if (each.verb === 'GET') return void sends.push(answer.stream());
      if (each.message.method === 'initialize') {
        session += 1;
        forgotten = false;
      }
      if (forgotten) return answer.plain(404);
      legacy(each, answer, { 'mcp-session-id': `s${session}` });
    });
    const { server, events } = open(forced(url, 'legacy'));
    await until(() => sends.length === 1);
    forgotten = true;
    await server.callTool('echo', {});
    await until(() => sends.length === 2);
    expect(gets(received)[1]!.headers).toMatchObject({ 'mcp-session-id': 's2' });
    await until(() => events.some((event) => event.type === 'tools-changed'));
    const told = events.filter((event) => event.type === 'tools-changed').length;
    sends[1]!({ method: 'notifications/tools/list_changed' });
    await until(() => events.filter((event) => event.type === 'tools-changed').length > told);
  });

  test('goes on where it ended, after the time that the server asked for', async () => {
    const at: number[] = [];
    const { url, received } = await endpoint((each, answer) => {
      if (each.verb !== 'GET') return legacy(each, answer, { 'mcp-session-id': 's' });
      at.push(performance.now());
      opened(answer);
      if (at.length === 1) answer.response.end('id: 7\nretry: 300\ndata:\n\n');
    });
    open(forced(url, 'legacy'), { timing: { relisten: 1, relistenMax: 1 } });
    await until(() => at.length === 2);
    expect(gets(received)[1]!.headers).toMatchObject({ 'last-event-id': '7' });
    expect(at[1]! - at[0]!).toBeGreaterThan(290);
  });

  test.each(['legacy', 'modern'] as const)(
    'that ends as soon as it is open is opened again more and more slowly (%s)',
    async (era) => {
      const at: number[] = [];
      const { url } = await endpoint((each, answer) => {
        const isStream = each.verb === 'GET' || each.message.method === 'subscriptions/listen';
        if (!isStream)
          return era === 'legacy'
            ? legacy(each, answer)
            : modern(each, answer, { tools: { listChanged: true } });
        at.push(performance.now());
        opened(answer);
        answer.response.end();
      });
      open(forced(url, era), { timing: { relisten: 200, relistenMax: 10_000 }, random: () => 0 });
      await until(() => at.length === 4);
      // Half of 200, 200, 400.
      expect(at[3]! - at[2]!).toBeGreaterThan(190);
      expect(at[3]! - at[0]!).toBeGreaterThan(390);
    },
  );
});

describe('answers on the wrong stream', () => {
  test('end the stream of their own request too', async () => {
    let first: { send: (message: JsonObject) => void; id: number } | undefined;
    let closed = 0;
    const { url } = await endpoint((each, answer) => {
      if (each.message.method !== 'tools/call') return modern(each, answer);
      answer.response.on('close', () => (closed += 1));
      const send = answer.stream();
      const id = each.message.id!;
      if (first === undefined) first = { send, id };
      else send({ id: first.id, result: { content: [] } });
    });
    const { server } = open(forced(url, 'modern'));
    await server.ready();
    const call = server.callTool('echo', {});
    await until(() => first !== undefined);
    const other = server.callTool('echo', {}, { timeout: 5000 });
    await call;
    await until(() => closed === 1, 'closing of the stream');
    first!.send({ method: 'notifications/unknown' });
    await server.close();
    await expect(other).rejects.toMatchObject({ code: 'closed' });
  });

  test('and frames that name no request end the stream that they came on', async () => {
    let closed = false;
    const { url } = await endpoint((each, answer) => {
      if (each.message.method !== 'tools/call') return modern(each, answer);
      answer.response.on('close', () => (closed = true));
      answer.stream()({ result: {} });
    });
    const { server } = open(forced(url, 'modern'));
    await expect(server.callTool('echo', {})).rejects.toMatchObject({ code: 'protocol' });
    await until(() => closed, 'closing of the stream');
  });
});

test('a flood of requests whose answers are not taken gathers nothing here', async () => {
  let answers = 0;
  const { url } = await endpoint((each, answer) => {
    const { method, id } = each.message;
    if (method === 'tools/call') {
      const send = answer.stream();
      for (let count = 0; count < 5 * REPLIES_MAX; count += 1) send({ id: `p${count}`, method: 'ping' });
      send({ id, result: { content: [] } });
      answer.response.end();
      return;
    }
    // A ping's answer: never answered.
    if (method === undefined && each.verb === 'POST') answers += 1;
    else legacy(each, answer);
  });
  const { server, warnings } = open(forced(url, 'legacy'));
  await server.callTool('echo', {});
  await until(() => answers === REPLIES_MAX);
  await server.listTools();
  expect(answers).toBe(REPLIES_MAX);
  expect(warnings()[0]).toMatch(/asks without taking our answers/);
});

test('a list is read no further than it is kept', async () => {
  let page = 0;
  const tools = Array.from({ length: 20 }, (_, index) => ({
    ...TOOL,
    name: `t${index}`,
    _meta: { x: 'x'.repeat(200_000) },
  }));
  const { url } = await endpoint((each, answer) => {
    if (each.message.method !== 'tools/list') return legacy(each, answer);
    page += 1;
    answer.json({ result: { tools, nextCursor: String(page) } });
  });
  const { server } = open(forced(url, 'legacy'));
  await expect(server.listTools()).rejects.toThrow(`longer than ${LIST_MAX} characters`);
  expect(page).toBe(3);
});

test('a list whose cursor is not valid any more is read anew, once', async () => {
  const cursors: unknown[] = [];
  let valid = false;
  const { url } = await endpoint((each, answer) => {
    if (each.message.method !== 'tools/list') return legacy(each, answer);
    const cursor = each.message.params!.cursor;
    cursors.push(cursor);
    if (cursor === undefined) return answer.json({ result: { tools: [TOOL], nextCursor: 'c' } });
    if (valid) return answer.json({ result: { tools: [{ ...TOOL, name: 'second' }] } });
    valid = cursors.length > 1;
    answer.json({ error: { code: -32602, message: 'invalid cursor' } });
  });
  const { server } = open(forced(url, 'legacy'));
  expect((await server.listTools()).map(({ name }) => name)).toEqual(['echo', 'second']);
  expect(cursors).toEqual([undefined, 'c', undefined, 'c']);
  const stuck = await endpoint((each, answer) => {
    if (each.message.method !== 'tools/list') return legacy(each, answer);
    if (each.message.params!.cursor === undefined)
      return answer.json({ result: { tools: [TOOL], nextCursor: 'c' } });
    answer.json({ error: { code: -32602, message: 'invalid cursor' } });
  });
  await expect(open(forced(stuck.url, 'legacy')).server.listTools()).rejects.toMatchObject({
    data: { code: -32602 },
  });
  expect(stuck.received.filter(({ message }) => message.method === 'tools/list')).toHaveLength(4);
});

test('what a server says of itself in a new session is bounded as in the first', async () => {
  let openings = 0;
  const { url } = await endpoint((each, answer) => {
    if (each.message.method === 'initialize') {
      openings += 1;
      return answer.json(
        {
          result: {
            protocolVersion: '2025-11-25',
            capabilities: {},
            serverInfo: {},
            instructions: 'i'.repeat(20_000),
          },
        },
        200,
        { 'mcp-session-id': `s${openings}` },
      );
    }
    if (each.message.method === 'tools/call' && openings === 1) return answer.plain(404);
    legacy(each, answer);
  });
  const { server } = open(forced(url, 'legacy'));
  await server.callTool('echo', {});
  expect(openings).toBe(2);
  expect(server.info!.instructions).toHaveLength(INSTRUCTIONS_MAX);
});

test('a modern server that logs is asked to log, and what it says becomes events', async () => {
  const { url, received } = await endpoint((each, answer) => {
    if (each.message.method !== 'tools/call') return modern(each, answer, { tools: {}, logging: {} });
    const send = answer.stream();
    send({
      method: 'notifications/message',
      params: { level: 'warning', logger: 'db', data: { slow: true } },
    });
    send({ id: each.message.id!, result: { content: [] } });
    answer.response.end();
  });
  const { server, events } = open(forced(url, 'modern'));
  await server.callTool('echo', {});
  expect(received.at(-1)!.message.params!._meta).toMatchObject({
    'io.modelcontextprotocol/logLevel': 'info',
  });
  expect(events).toContainEqual({ type: 'log', level: 'warning', logger: 'db', data: { slow: true } });
  const silent = await endpoint(modern);
  await open(forced(silent.url, 'modern')).server.callTool('echo', {});
  expect(silent.received.at(-1)!.message.params!._meta).not.toHaveProperty(
    'io.modelcontextprotocol/logLevel',
  );
});

test('two hosts use one server, each in its own session and with its own answers', async () => {
  let sessions = 0;
  const { url, received } = await endpoint((each, answer) =>
    each.message.method === 'initialize'
      ? legacy(each, answer, { 'mcp-session-id': `s${++sessions}` })
      : legacy(each, answer),
  );
  const hosts = [open(forced(url, 'legacy')), open(forced(url, 'legacy'))];
  const calls = hosts.flatMap(({ server }, host) =>
    Array.from({ length: 40 }, async (_, n) => {
      const { content } = await server.callTool('echo', { host, n });
      expect(content[0]!.text).toBe(JSON.stringify({ host, n }));
    }),
  );
  await Promise.all(calls);
  await hosts[0]!.server.close();
  await hosts[1]!.server.callTool('echo', {});
  const bySession = new Map<unknown, Set<unknown>>();
  for (const { headers, message } of received) {
    const args = message.params?.arguments as JsonObject | undefined;
    if (args?.host === undefined) continue;
    const id = headers['mcp-session-id'];
    bySession.set(id, (bySession.get(id) ?? new Set()).add(args.host));
  }
  expect([...bySession.values()].map((seen) => seen.size)).toEqual([1, 1]);
});
