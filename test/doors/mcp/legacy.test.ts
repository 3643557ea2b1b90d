/** The door of 2025-11-25 and older over HTTP: the handshake, sessions, and what each revision has (mcp-spec 3.3). */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { McpDoorOptions } from '../../../src/doors/mcp/http.ts';
import { RUNNING_MAX } from '../../../src/doors/mcp/sessions.ts';
import type { JsonObject } from '../../../src/types.ts';
import {
  type Door,
  eventsOf,
  FORMS,
  legacyClient,
  messagesOf,
  META,
  nextOf,
  openDoor,
  type Opening,
  openServers,
  type Servers,
  textOf,
} from './support.ts';

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

let servers: Servers;
beforeAll(async () => {
  servers = await openServers({
    asker: ['asker'],
    asks: ['raw', 'asks'],
    honest: ['honest'],
    legacy: ['legacy'],
  });
});
afterAll(() => servers.close());

const doors: Door[] = [];
afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.close()));
});

async function open(opening: Opening = {}, options: Partial<McpDoorOptions> = {}) {
  const door = await openDoor(servers.host, options);
  doors.push(door);
  return { door, client: await legacyClient(door.url, opening) };
}

describe('initialize', () => {
  it.each(VERSIONS)('agrees on %s', async (version) => {
    const { client } = await open({ version });
    expect(client.initialized).toMatchObject({
      protocolVersion: version,
      serverInfo: { name: 'midspan' },
      capabilities: { tools: { listChanged: true } },
    });
    expect(client.initialized).not.toHaveProperty('resultType');
    expect(client.initialized).not.toHaveProperty('_meta');
    expect((await client.notify('notifications/initialized')).status).toBe(202);
    expect(((await client.answer('tools/list'))['result'] as JsonObject)['tools']).not.toHaveLength(0);
  });

  it.each(['2026-07-28', '2099-01-01', 'tomorrow', '', null, 7])(
    'answers %j with the newest that it has',
    async (version) => {
      const door = await openDoor(servers.host);
      doors.push(door);
      const { post } = await legacyClient(door.url);
      const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: version } };
      expect(await messagesOf(await post(body, { headers: { 'mcp-session-id': '' } }))).toMatchObject([
        { id: 1, result: { protocolVersion: '2025-11-25' } },
      ]);
    },
  );

  it('opens a session that nobody can guess, visible ASCII', async () => {
    const { door, client } = await open();
    const other = await legacyClient(door.url);
    expect(other.session).not.toBe(client.session);
    expect(client.session).toMatch(/^[\x21-\x7e]{32,}$/);
  });

  it('says of one server what that one says', async () => {
    const { client } = await open({ label: 'honest' });
    expect(client.initialized).toMatchObject({ instructions: 'Use echo to hear yourself.' });
  });
});

describe('A session', () => {
  it('is named by each request: 400 without one, 404 for one that there is not', async () => {
    const { door, client } = await open();
    const body = client.request('tools/list');
    const without = await fetch(door.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(body),
    });
    expect(without.status).toBe(400);
    for (const id of ['x', client.session.toUpperCase(), `${client.session}x`]) {
      expect((await client.post(body, { headers: { 'mcp-session-id': id } })).status).toBe(404);
      expect((await client.get({ 'mcp-session-id': id })).status).toBe(404);
      expect((await client.end({ 'mcp-session-id': id })).status).toBe(404);
    }
    expect(await client.answer('ping')).toMatchObject({ result: {} });
  });

  it('is of its own principal and endpoint: others do not find it', async () => {
    const { client } = await open({ as: 'ada' });
    const { client: one, door } = await open({ as: 'ada', label: 'asker' });
    const as = { authorization: 'Bearer eve' };
    expect((await client.post(client.request('ping'), { headers: as })).status).toBe(404);
    expect((await client.get(as)).status).toBe(404);
    expect((await client.end(as)).status).toBe(404);
    const elsewhere = await fetch(door.url, {
      method: 'DELETE',
      headers: { authorization: 'Bearer ada', 'mcp-session-id': one.session },
    });
    expect(elsewhere.status).toBe(404);
    expect(await client.answer('ping')).toMatchObject({ result: {} });
    expect(await one.answer('ping')).toMatchObject({ result: {} });
  });

  it('is not found any more by a principal that may see something else now', async () => {
    const { door, client } = await open({ as: 'ada' });
    door.filters.set('ada', 'less');
    expect((await client.send('tools/list')).status).toBe(404);
  });

  it('ends with DELETE: what runs in it is taken back, streams end, its servers are told', async () => {
    const { door, client } = await open();
    const events = eventsOf(await client.get());
    const before = servers.heard('asker', 'notifications/cancelled').length;
    const running = client.call('asker__sleep', { milliseconds: 60_000 });
    await vi.waitFor(() => expect(JSON.stringify(servers.said('asker').at(-1))).toContain('60000'));
    expect((await client.end()).status).toBe(204);
    await vi.waitFor(() =>
      expect(servers.heard('asker', 'notifications/cancelled')).toHaveLength(before + 1),
    );
    expect(await running).toBeUndefined();
    await expect(nextOf(events)).rejects.toThrow('ended');
    expect(door.gone).toEqual([{ principal: 'ada', client: client.session }]);
    expect((await client.send('ping')).status).toBe(404);
    expect((await client.end()).status).toBe(404);
  });

  it('ends when it is quiet for long; one that is listened to or runs is not quiet', async () => {
    const { door, client } = await open({}, { sessions: { holds: 150, lookedAfter: 20 } });
    const listening = await legacyClient(door.url);
    const given = new AbortController();
    const stream = await listening.get({}, given.signal);
    const running = await legacyClient(door.url);
    const ran = running.call('asker__sleep', { milliseconds: 600 });
    await vi.waitFor(() => expect(door.gone.map((owner) => owner.client)).toEqual([client.session]));
    expect((await client.send('ping')).status).toBe(404);
    expect(textOf(await ran)).toBe('600');
    expect(await listening.answer('ping')).toMatchObject({ result: {} });
    given.abort();
    await stream.text().catch(() => undefined);
    await vi.waitFor(() => expect(door.gone).toHaveLength(3));
  });

  it('makes room for another one of its principal when there are too many, the quiet ones first', async () => {
    const { door, client } = await open({ as: 'ada' }, { sessions: { perPrincipal: 2 } });
    const second = await legacyClient(door.url, { as: 'ada' });
    expect(await client.answer('ping')).toMatchObject({ result: {} });
    const bob = await legacyClient(door.url, { as: 'bob' });
    const third = await legacyClient(door.url, { as: 'ada' });
    expect((await second.send('ping')).status).toBe(404);
    for (const each of [client, bob, third]) expect(await each.answer('ping')).toMatchObject({ result: {} });
    // None goes in which something runs.
    const running = [client, third].map((each) => each.call('asker__sleep', { milliseconds: 500 }));
    await vi.waitFor(() =>
      expect(
        servers.said('asker').filter((each) => JSON.stringify(each).includes('"milliseconds":500')),
      ).toHaveLength(2),
    );
    const refused = await third.post(client.request('initialize', { protocolVersion: '2025-11-25' }));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    for (const result of await Promise.all(running)) expect(textOf(result)).toBe('500');
  });

  it('cannot be opened by one principal at the cost of another', async () => {
    const { door, client } = await open({ as: 'ada' }, { sessions: { max: 1 } });
    const response = await fetch(door.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: 'Bearer eve',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }),
    });
    expect(response.status).toBe(429);
    expect(await client.answer('ping')).toMatchObject({ result: {} });
  });

  it.each(['2026-07-28', '2099-01-01', 'x'])('takes no MCP-Protocol-Version %s', async (version) => {
    const { client } = await open();
    const headers = { 'mcp-protocol-version': version };
    expect((await client.post(client.request('ping'), { headers })).status).toBe(400);
    expect((await client.get(headers)).status).toBe(400);
  });

  it('takes none at all', async () => {
    const { door, client } = await open();
    const response = await fetch(door.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': client.session,
      },
      body: JSON.stringify(client.request('ping')),
    });
    expect(await messagesOf(response)).toMatchObject([{ result: {} }]);
  });

  it('has no GET and no DELETE without one', async () => {
    const { door } = await open();
    const headers = { accept: 'text/event-stream' };
    expect((await fetch(door.url, { headers })).status).toBe(405);
    expect((await fetch(door.url, { method: 'DELETE' })).status).toBe(405);
    expect((await fetch(door.url, { headers: { accept: 'text/html' } })).status).toBe(406);
  });

  it('is opened no more once the gateway ends; what runs in others comes to its end', async () => {
    const { door, client } = await open();
    const events = eventsOf(await client.get());
    const running = client.call('asker__sleep', { milliseconds: 300 });
    await vi.waitFor(() => expect(JSON.stringify(servers.said('asker').at(-1))).toContain('300'));
    door.mcp.drain();
    await expect(nextOf(events)).rejects.toThrow('ended');
    const refused = await client.send('initialize', { protocolVersion: '2025-11-25' });
    expect(refused.status).toBe(503);
    expect(textOf(await running)).toBe('300');
  });
});

describe('Requests of a session', () => {
  it.each(VERSIONS)('ping is answered by us, in %s', async (version) => {
    const { client } = await open({ version });
    const before = servers.said('asker').length;
    expect(await client.answer('ping', {}, { id: 'p' })).toEqual({ jsonrpc: '2.0', id: 'p', result: {} });
    expect(servers.said('asker')).toHaveLength(before);
  });

  it.each(['nothing/at_all', 'server/discover', 'subscriptions/listen', 'tasks/update', 'constructor'])(
    '%s is not one',
    async (method) => {
      const { client } = await open();
      expect(await client.answer(method)).toMatchObject({ error: { code: -32601 } });
    },
  );

  it('need a handshake before them, and no second one', async () => {
    const { client } = await open();
    const again = await client.send('initialize', { protocolVersion: '2025-11-25' });
    // It is another session.
    expect(again.headers.get('mcp-session-id')).not.toBe(client.session);
    await again.text();
  });

  it('are refused when they are none', async () => {
    const { client } = await open();
    const bodies: [unknown, number][] = [
      ['{', -32700],
      ['null', -32600],
      [{ id: 1, method: 'ping' }, -32600],
      [{ jsonrpc: '2.0', id: null, method: 'ping' }, -32600],
      [{ jsonrpc: '2.0', id: 1, method: 7 }, -32600],
      [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, -32600],
    ];
    for (const [body, code] of bodies) {
      const response = await client.post(body);
      expect(response.status).toBe(400);
      expect(await messagesOf(response)).toMatchObject([{ error: { code } }]);
    }
  });

  it('An id that runs already is refused; one of the other type is another', async () => {
    const { client } = await open();
    const first = client.call('asker__sleep', { milliseconds: 300 }, { id: 1 });
    await vi.waitFor(() => expect(JSON.stringify(servers.said('asker').at(-1))).toContain('300'));
    expect((await client.send('ping', {}, { id: 1 })).status).toBe(400);
    expect(await client.answer('ping', {}, { id: '1' })).toEqual({ jsonrpc: '2.0', id: '1', result: {} });
    expect(textOf(await first)).toBe('300');
    expect(await client.answer('ping', {}, { id: 1 })).toMatchObject({ id: 1, result: {} });
  });

  it('are bounded', async () => {
    const { client } = await open();
    const given = new AbortController();
    const sleep = { name: 'asker__sleep', arguments: { milliseconds: 60_000 } };
    const running = Array.from({ length: RUNNING_MAX }, () =>
      client.send('tools/call', sleep, { signal: given.signal }).then((response) => response.body?.cancel()),
    );
    await vi.waitFor(async () =>
      expect(await client.answer('ping')).toMatchObject({
        error: { message: expect.stringContaining('limit') as string },
      }),
    );
    await client.end();
    given.abort();
    await Promise.allSettled(running);
  });

  it('Unknown tools and resources have the codes of their revision', async () => {
    const { client } = await open();
    expect(await client.call('nothing')).toMatchObject({ code: -32602 });
    expect(await client.answer('resources/read', { uri: 'test://nothing' })).toMatchObject({
      error: { code: -32002, data: { uri: 'test://nothing' } },
    });
  });
});

describe('logging/setLevel', () => {
  it('says from which level on a session hears what is logged, on the stream of the call', async () => {
    const { client } = await open({ label: 'legacy' });
    const log = async (): Promise<unknown[]> => {
      const messages = await messagesOf(await client.send('tools/call', { name: 'test_tool_with_logging' }));
      return messages.filter(({ method }) => method === 'notifications/message');
    };
    expect(await log()).toHaveLength(3);
    expect(await client.answer('logging/setLevel', { level: 'error' })).toMatchObject({ result: {} });
    expect(await log()).toHaveLength(0);
    expect(await client.answer('logging/setLevel', { level: 'debug' })).toMatchObject({ result: {} });
    expect(await log()).toHaveLength(3);
    for (const level of ['loud', 7, undefined, 'constructor'])
      expect(await client.answer('logging/setLevel', { level })).toMatchObject({
        error: { code: -32602 },
      });
  });
});

describe('resources/subscribe', () => {
  it('tells of a resource until it is taken back, on the stream of the session', async () => {
    const { door, client } = await open();
    const other = await legacyClient(door.url);
    const { resources } = (await client.answer('resources/list'))['result'] as { resources: JsonObject[] };
    const { uri } = resources.find(({ name }) => name === 'one') as { uri: string };
    const events = eventsOf(await client.get());
    const none = eventsOf(await other.get());
    for (let times = 0; times < 2; times += 1)
      expect(await client.answer('resources/subscribe', { uri })).toMatchObject({ result: {} });
    await vi.waitFor(() => expect(servers.heard('asker', 'resources/subscribe')).not.toHaveLength(0));
    await client.call('asker__update', { uri: 'test://one' });
    expect(await nextOf(events)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri },
    });
    const before = servers.heard('asker', 'resources/unsubscribe').length;
    expect(await client.answer('resources/unsubscribe', { uri })).toMatchObject({ result: {} });
    await vi.waitFor(() => expect(servers.heard('asker', 'resources/unsubscribe')).toHaveLength(before + 1));
    expect(await client.answer('resources/unsubscribe', { uri })).toMatchObject({ result: {} });
    expect(await client.answer('resources/subscribe', { uri: 'test://nothing' })).toMatchObject({
      error: { code: -32002 },
    });
    expect(await client.answer('resources/subscribe', {})).toMatchObject({ error: { code: -32602 } });
    // Nothing came to the session that follows nothing: its stream ends with it.
    await other.end();
    await expect(nextOf(none)).rejects.toThrow('ended');
  });

  it('ends with its session', async () => {
    const { client } = await open();
    const { resources } = (await client.answer('resources/list'))['result'] as { resources: JsonObject[] };
    const { uri } = resources.find(({ name }) => name === 'one') as { uri: string };
    const before = servers.heard('asker', 'resources/unsubscribe').length;
    const subscribed = servers.heard('asker', 'resources/subscribe').length;
    await client.answer('resources/subscribe', { uri });
    await vi.waitFor(() =>
      expect(servers.heard('asker', 'resources/subscribe')).toHaveLength(subscribed + 1),
    );
    await client.end();
    await vi.waitFor(() => expect(servers.heard('asker', 'resources/unsubscribe')).toHaveLength(before + 1));
  });
});

describe('Batches', () => {
  const batch = (client: Awaited<ReturnType<typeof legacyClient>>) => [
    client.request('ping', {}, { id: 'a' }),
    client.request('tools/call', { name: 'asker__count' }, { id: 'b' }),
    { jsonrpc: '2.0', method: 'notifications/anything' },
    client.request('nothing', {}, { id: 'c' }),
  ];

  it('are answered in 2025-03-26, each request by a message of its own', async () => {
    const { client } = await open({ version: '2025-03-26' });
    const messages = await messagesOf(await client.post(batch(client)));
    expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining(['a', 'b', 'c']));
    const notified = await client.post([{ jsonrpc: '2.0', method: 'notifications/anything' }]);
    expect(notified.status).toBe(202);
  });

  it.each(VERSIONS.filter((version) => version !== '2025-03-26'))('are refused in %s', async (version) => {
    const { client } = await open({ version });
    expect((await client.post(batch(client))).status).toBe(400);
  });

  it('have bounds and clear ids, and no broken message', async () => {
    const { client } = await open({ version: '2025-03-26' });
    const ping = (id: string | number) => client.request('ping', {}, { id });
    for (const body of [
      [],
      Array.from({ length: 65 }, (_, index) => ping(index)),
      [ping(1), ping(1)],
      [client.request('initialize')],
      [ping(1), 7],
      [ping(1), { id: 2, method: 'ping' }],
    ])
      expect((await client.post(body)).status).toBe(400);
    expect(await messagesOf(await client.post([ping(1), ping('1')]))).toHaveLength(2);
  });

  it('take back what is canceled in them, and end', async () => {
    const { client } = await open({ version: '2025-03-26' });
    const body = [
      client.request(
        'tools/call',
        { name: 'asker__sleep', arguments: { milliseconds: 60_000 } },
        { id: 'x' },
      ),
      client.request('ping', {}, { id: 'y' }),
    ];
    const answered = client.post(body).then(messagesOf);
    await vi.waitFor(() => expect(JSON.stringify(servers.said('asker').at(-1))).toContain('60000'));
    await client.notify('notifications/cancelled', { requestId: 'x' });
    expect((await answered).map(({ id }) => id)).toEqual(['y']);
  });
});

describe('Questions of servers', () => {
  it('come on the stream of the call that they are about, and nowhere else', async () => {
    const { client } = await open({ capabilities: FORMS });
    const own = eventsOf(await client.get());
    const other = client.call('asker__sleep', { milliseconds: 200 });
    const response = await client.send('tools/call', { name: 'asks__echo', arguments: {} });
    const events = eventsOf(response);
    const question = await nextOf(events);
    expect(question).toMatchObject({
      id: expect.any(String) as string,
      method: 'elicitation/create',
      params: { message: expect.stringContaining('Name?') as string },
    });
    expect((await client.reply(question['id'], { action: 'accept', content: { a: 1 } })).status).toBe(202);
    const answer = await nextOf(events);
    expect(JSON.parse(textOf(answer['result'] as JsonObject))).toEqual({
      action: 'accept',
      content: { a: 1 },
    });
    await other;
    await client.end();
    await expect(nextOf(own)).rejects.toThrow('ended');
  });

  it('may be answered with an error, or with what is no answer: the call goes on', async () => {
    const { client } = await open({ capabilities: FORMS });
    for (const body of [
      { error: { code: -32000, message: 'no' } },
      { error: { code: 'no' } },
      { result: null },
      { result: 'yes' },
      { result: {}, error: { code: 1, message: 'both' } },
    ]) {
      const events = eventsOf(await client.send('tools/call', { name: 'asks__echo', arguments: {} }));
      const { id } = await nextOf(events);
      await (await client.post({ jsonrpc: '2.0', id, ...body })).text();
      expect(textOf((await nextOf(events))['result'] as JsonObject)).toContain('code');
    }
  });

  it('that nobody answers are taken back after a while', async () => {
    const { client } = await open({ capabilities: FORMS }, { sessions: { answerWithin: 50 } });
    const events = eventsOf(await client.send('tools/call', { name: 'asks__echo', arguments: {} }));
    const { id } = await nextOf(events);
    expect(await nextOf(events)).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: id },
    });
    expect(await nextOf(events)).toMatchObject({ result: {} });
    // A late answer is heard by nobody.
    expect((await client.reply(id, { action: 'accept' })).status).toBe(202);
  });

  it('are taken back with the call', async () => {
    const { client } = await open({ capabilities: FORMS });
    const before = servers.heard('asks', 'notifications/cancelled').length;
    const events = eventsOf(
      await client.send('tools/call', { name: 'asks__echo', arguments: {} }, { id: 'call' }),
    );
    const { id } = await nextOf(events);
    await client.notify('notifications/cancelled', { requestId: 'call' });
    expect(await nextOf(events)).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: id },
    });
    await expect(nextOf(events)).rejects.toThrow('ended');
    await vi.waitFor(() => expect(servers.heard('asks', 'notifications/cancelled')).toHaveLength(before + 1));
  });

  it('are put to no client that did not declare that it answers them', async () => {
    const { client } = await open();
    expect(textOf(await client.call('asks__echo'))).toContain('not declared');
  });
});

describe('Relay traps (mcp-spec 3.7)', () => {
  const pair = async (capabilities: JsonObject = {}) => {
    const { door, client } = await open({ capabilities });
    return [client, await legacyClient(door.url, { capabilities })] as const;
  };

  it('52, ids: two clients with the same ids each get their own answers', async () => {
    const [one, two] = await pair();
    const answers = await Promise.all(
      [one, two].flatMap((client, who) =>
        [1, '1', 2].map(async (id, index) => {
          const args = { text: `${who} ${index}` };
          return client.answer('tools/call', { name: 'honest__echo', arguments: args }, { id });
        }),
      ),
    );
    expect(answers.map(({ id, result }) => [id, textOf(result as JsonObject)])).toEqual([
      [1, '0 0'],
      ['1', '0 1'],
      [2, '0 2'],
      [1, '1 0'],
      ['1', '1 1'],
      [2, '1 2'],
    ]);
    const upstream = servers.heard('honest', 'tools/call').map(({ id }) => id);
    expect(new Set(upstream).size).toBe(upstream.length);
  });

  it('53, progress tokens: two clients with the same token each hear of their own call', async () => {
    const [one, two] = await pair();
    const heard = await Promise.all(
      [one, two].map(async (client, who) => {
        const params = { name: 'asker__steps', arguments: { count: who + 2 } };
        return messagesOf(await client.send('tools/call', params, { id: 7, meta: { progressToken: 't' } }));
      }),
    );
    expect(heard.map((messages) => messages.length)).toEqual([3, 4]);
    for (const messages of heard)
      for (const { params } of messages.slice(0, -1)) expect(params).toMatchObject({ progressToken: 't' });
  });

  it('55, cancels: the one of a client reaches no call of another, nor one of an id of the other type', async () => {
    const [one, two] = await pair();
    const before = servers.heard('asker', 'notifications/cancelled').length;
    const running = two.call('asker__sleep', { milliseconds: 333 }, { id: 1 });
    await vi.waitFor(() => expect(JSON.stringify(servers.said('asker').at(-1))).toContain('333'));
    await one.notify('notifications/cancelled', { requestId: 1 });
    await two.notify('notifications/cancelled', { requestId: '1' });
    await two.notify('notifications/cancelled', { requestId: null });
    await two.notify('notifications/cancelled', {});
    expect(textOf(await running)).toBe('333');
    expect(servers.heard('asker', 'notifications/cancelled')).toHaveLength(before);
  });

  it('55, cancels: a call that was taken back is not answered, and the server hears of it', async () => {
    const { client } = await open();
    const before = servers.heard('asker', 'notifications/cancelled').length;
    const sent = client.send(
      'tools/call',
      { name: 'asker__sleep', arguments: { milliseconds: 60_001 } },
      { id: 3 },
    );
    await vi.waitFor(() => expect(JSON.stringify(servers.said('asker').at(-1))).toContain('60001'));
    await client.notify('notifications/cancelled', { requestId: 3, reason: 'enough' });
    expect(await messagesOf(await sent)).toEqual([]);
    await vi.waitFor(() =>
      expect(servers.heard('asker', 'notifications/cancelled')).toHaveLength(before + 1),
    );
    // It can be used again.
    expect(await client.answer('ping', {}, { id: 3 })).toMatchObject({ id: 3, result: {} });
  });

  it('answers of one client reach no question of another', async () => {
    const { door, client: one } = await open({ capabilities: FORMS, as: 'ada' });
    const two = await legacyClient(door.url, { capabilities: FORMS, as: 'bob' });
    const events = eventsOf(await one.send('tools/call', { name: 'asks__echo', arguments: {} }));
    const { id } = await nextOf(events);
    expect((await two.reply(id, { action: 'accept', content: { who: 'bob' } })).status).toBe(202);
    await one.reply(id, { action: 'accept', content: { who: 'ada' } });
    expect(textOf((await nextOf(events))['result'] as JsonObject)).toContain('ada');
  });

  it('57, _meta: what is of the protocol is written anew on each hop, what is of others passes', async () => {
    const { client } = await open();
    const meta = {
      progressToken: 'mine',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'acme.example/key': { a: 1 },
      [`${META}/clientInfo`]: { name: 'me', version: '1' },
    };
    await client.call('asker__count', {}, { meta });
    const { params } = servers.heard('asker', 'tools/call').at(-1) as { params: { _meta: JsonObject } };
    expect(params['_meta']).toMatchObject({ traceparent: meta.traceparent, 'acme.example/key': { a: 1 } });
    expect(params['_meta']['progressToken']).not.toBe('mine');
    expect(params['_meta']).not.toHaveProperty([`${META}/clientInfo`]);
  });

  it('58, clientInfo: servers know us, not our clients', async () => {
    await open();
    const { params } = servers.heard('asker', 'initialize')[0] as { params: JsonObject };
    expect(params['clientInfo']).toMatchObject({ name: 'midspan' });
  });

  it('62, list_changed: each session hears of it once, on the stream of its own', async () => {
    const [one, two] = await pair();
    const streams = await Promise.all([one, two].map(async (client) => eventsOf(await client.get())));
    await one.answer('tools/list');
    await one.call('honest__grow');
    for (const events of streams)
      expect(await nextOf(events)).toEqual({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    const { tools } = (await two.answer('tools/list'))['result'] as { tools: JsonObject[] };
    expect(tools.map(({ name }) => name)).toContain('honest__grown_1');
    for (const client of [one, two]) await client.end();
    for (const events of streams) await expect(nextOf(events)).rejects.toThrow('ended');
  });

  it('65, results: nothing of the newer era is in them', async () => {
    const { client } = await open();
    for (const [method, params] of [
      ['tools/list', {}],
      ['resources/list', {}],
      ['tools/call', { name: 'asker__count' }],
      ['tools/call', { name: 'honest__echo', arguments: { text: 'of a modern server' } }],
    ] as const) {
      const { result } = (await client.answer(method, params)) as { result: JsonObject };
      for (const member of ['resultType', 'ttlMs', 'cacheScope']) expect(result).not.toHaveProperty(member);
      expect(JSON.stringify(result['_meta'] ?? {})).not.toContain(META);
    }
  });
});
