/** The door of 2026-07-28 over HTTP: what each request must say, and what comes back (mcp-spec 3.1, 3.2). */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../src/types.ts';
import {
  type Door,
  eventsOf,
  isStream,
  messagesOf,
  META,
  MODERN,
  modernClient,
  openDoor,
  openServers,
  type Servers,
  textOf,
} from './support.ts';

let servers: Servers;
let door: Door;
let client: ReturnType<typeof modernClient>;
beforeAll(async () => {
  servers = await openServers({ asker: ['asker'], honest: ['honest'], modern: ['modern'] });
  door = await openDoor(servers.host);
  client = modernClient(door.url);
});
afterAll(async () => {
  await door.close();
  await servers.close();
});

async function refused(response: Response | Promise<Response>): Promise<[number, JsonObject]> {
  const { status } = await response;
  const [message] = await messagesOf(await response);
  return [status, message as JsonObject];
}

describe('server/discover', () => {
  it('says what we are, without a session', async () => {
    const response = await client.send('server/discover');
    expect(response.headers.get('mcp-session-id')).toBeNull();
    const [message] = await messagesOf(response);
    expect(message).toMatchObject({
      id: 1,
      result: {
        resultType: 'complete',
        supportedVersions: [MODERN],
        capabilities: { tools: { listChanged: true } },
        ttlMs: expect.any(Number) as number,
        cacheScope: 'private',
        _meta: { [`${META}/serverInfo`]: { name: 'midspan' } },
      },
    });
    // Tasks of the older era are for its clients alone.
    expect((message?.['result'] as JsonObject | undefined)?.['capabilities']).not.toHaveProperty('tasks');
  });

  it('says what one server is', async () => {
    const { result } = await client.answer('server/discover', {}, { label: 'honest' });
    expect(result).toMatchObject({ instructions: 'Use echo to hear yourself.' });
  });
});

describe('What a request must say', () => {
  const list = (headers: Record<string, string | undefined>) => client.send('tools/list', {}, { headers });
  const call = (headers: Record<string, string | undefined>) =>
    client.send('tools/call', { name: 'echo', arguments: { text: 'a' } }, { label: 'honest', headers });

  it.each([
    ['no version', () => list({ 'mcp-protocol-version': undefined })],
    ['another version', () => list({ 'mcp-protocol-version': '2026-07-29' })],
    ['no method', () => list({ 'mcp-method': undefined })],
    ['another method', () => list({ 'mcp-method': 'tools/call' })],
    ['a method in other case', () => list({ 'mcp-method': 'Tools/List' })],
    ['no name', () => call({ 'mcp-name': undefined })],
    ['another name', () => call({ 'mcp-name': 'ask' })],
    ['a name in broken Base64', () => call({ 'mcp-name': '=?base64?ZWNobw?=' })],
    ['a name in Base64 of what is no text', () => call({ 'mcp-name': '=?base64?//79?=' })],
  ])('%s in a header: -32020 and 400, with the id of the request', async (_what, send) => {
    const [status, message] = await refused(send());
    expect(status).toBe(400);
    expect(message).toMatchObject({ id: 1, error: { code: -32020 } });
  });

  it('takes a name in Base64', async () => {
    const response = await call({ 'mcp-name': '=?base64?ZWNobw==?=' });
    expect(response.status).toBe(200);
    expect((await messagesOf(response))[0]).toMatchObject({ result: { content: [{ text: 'a' }] } });
  });

  it('asks for the arguments that a tool wants as headers', async () => {
    const at = (value: unknown, headers: Record<string, string | undefined>) =>
      client.send(
        'tools/call',
        { name: 'region', arguments: { region: value } as JsonObject },
        {
          label: 'honest',
          headers,
        },
      );
    await client.answer('tools/list', {}, { label: 'honest' });
    expect((await refused(at('eu', {})))[1]).toMatchObject({ error: { code: -32020 } });
    expect((await refused(at('eu', { 'mcp-param-region': 'us' })))[1]).toMatchObject({
      error: { code: -32020 },
    });
    const good = await messagesOf(await at('München', { 'mcp-param-region': '=?base64?TcO8bmNoZW4=?=' }));
    expect(good[0]).toMatchObject({ result: { content: [{ text: 'in München' }] } });
    // What a header cannot carry needs none: that it is no string, the tool itself says.
    const odd = await messagesOf(await at({ a: 1 }, {}));
    expect(odd[0]).toMatchObject({ result: { isError: true } });
  });

  it.each<[string, JsonObject]>([
    ['no _meta', {}],
    ['a _meta that is no object', { _meta: [] }],
    ['no version', { _meta: { [`${META}/clientCapabilities`]: {} } }],
    ['no capabilities', { _meta: { [`${META}/protocolVersion`]: MODERN } }],
    [
      'a client that is no object',
      {
        _meta: {
          [`${META}/protocolVersion`]: MODERN,
          [`${META}/clientCapabilities`]: {},
          [`${META}/clientInfo`]: 'me',
        },
      },
    ],
  ])('%s: -32602 and 400', async (_what, params) => {
    const body = { jsonrpc: '2.0', id: 'x', method: 'tools/list', params };
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' };
    const [status, message] = await refused(client.post(body, headers));
    expect(status).toBe(400);
    expect(message).toMatchObject({ id: 'x', error: { code: -32602 } });
  });

  it('needs no word of who the client is', async () => {
    const response = await client.send('tools/list', {}, { meta: { [`${META}/clientInfo`]: null as never } });
    expect(response.status).toBe(400);
    const _meta = { [`${META}/protocolVersion`]: MODERN, [`${META}/clientCapabilities`]: {} };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } };
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/list' };
    expect((await client.post(body, headers)).status).toBe(200);
  });

  it.each(['2099-01-01', 'tomorrow'])(
    'A version that we do not speak (%s): -32022 and 400',
    async (version) => {
      const [status, message] = await refused(
        client.send(
          'tools/list',
          {},
          { headers: { 'mcp-protocol-version': version }, meta: { [`${META}/protocolVersion`]: version } },
        ),
      );
      expect(status).toBe(400);
      expect(message).toMatchObject({
        id: 1,
        error: {
          code: -32022,
          data: { supported: [MODERN], requested: version },
        },
      });
    },
  );

  it.each(['nothing/at_all', 'initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'toString'])(
    'The method %s is not one: -32601 and 404',
    async (method) => {
      const [status, message] = await refused(client.send(method, { name: 'x' }));
      expect(status).toBe(404);
      expect(message).toMatchObject({ id: 1, error: { code: -32601 } });
    },
  );
});

describe('What is no request', () => {
  const headers = { 'mcp-protocol-version': MODERN };

  it('Notifications are taken', async () => {
    const response = await client.post({ jsonrpc: '2.0', method: 'notifications/anything' }, headers);
    expect([response.status, await response.text()]).toEqual([202, '']);
  });

  it.each([
    ['not JSON', '{', -32700],
    ['nested too deeply', '['.repeat(100_000), -32700],
    ['an answer', { jsonrpc: '2.0', id: 1, result: {} }, -32600],
    ['no JSON-RPC', { id: 1, method: 'tools/list' }, -32600],
    ['a text', '"tools/list"', -32600],
    ['nothing', 'null', -32600],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }], -32600],
    ['params that are a list', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: [] }, -32600],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'tools/list' }, -32600],
    ['an id that is null', { jsonrpc: '2.0', id: null, method: 'tools/list' }, -32600],
  ])('%s: 400', async (_what, body, code) => {
    const [status, message] = await refused(client.post(body, headers));
    expect(status).toBe(400);
    expect(message).toMatchObject({ error: { code } });
  });

  it('is refused by what it says it is, and by what it says it takes', async () => {
    expect((await client.post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await client.post('{}', { accept: 'application/json' })).status).toBe(406);
    expect((await fetch(door.url, { method: 'PUT', body: '{}' })).status).toBe(405);
    expect((await fetch(door.url)).status).toBe(405);
    expect((await fetch(door.url, { method: 'DELETE' })).status).toBe(405);
  });
});

describe('Results', () => {
  it('say what they are, whose they are and how long they may be kept', async () => {
    const { result } = await client.answer('tools/list', {}, { label: 'asker' });
    expect(result).toMatchObject({
      resultType: 'complete',
      ttlMs: expect.any(Number) as number,
      cacheScope: 'private',
      _meta: { [`${META}/serverInfo`]: {} },
    });
    expect(await client.call('asker__count')).toMatchObject({
      resultType: 'complete',
      _meta: { [`${META}/serverInfo`]: { name: 'midspan' } },
    });
  });

  it('An unknown tool: -32602; one that fails: a result that says so', async () => {
    const unknown = await client.answer('tools/call', { name: 'nothing' });
    expect(unknown).toMatchObject({ error: { code: -32602 } });
    expect(await client.call('honest__fail')).toMatchObject({ resultType: 'complete', isError: true });
  });

  it.each<[string | number]>([['1'], [1], [0], [''], [-1.5]])('The id %j comes back as it is', async (id) => {
    expect((await client.answer('tools/list', {}, { id })).id).toBe(id);
  });
});

describe('What is told of a request while it runs', () => {
  const token = (progressToken: string | number) => ({ meta: { progressToken } });

  it('Progress comes on its own stream, under its own token', async () => {
    const calls = await Promise.all(
      ['a', 'b', 7].map(async (each) => {
        const params = { name: 'asker__steps', arguments: { count: 3 } };
        return messagesOf(await client.send('tools/call', params, token(each)));
      }),
    );
    for (const [index, messages] of calls.entries()) {
      expect(messages.slice(0, -1)).toMatchObject(
        [1, 2, 3].map((progress) => ({
          method: 'notifications/progress',
          params: { progress, progressToken: ['a', 'b', 7][index] },
        })),
      );
      expect(messages.at(-1)).toMatchObject({ id: 1, result: {} });
    }
  });

  it('Without a token nothing is told: the answer is plain JSON', async () => {
    const response = await client.send('tools/call', { name: 'asker__steps', arguments: { count: 3 } });
    expect(isStream(response)).toBe(false);
  });

  it('Logs come from the level on that was asked for, and never unasked', async () => {
    const log = (level?: string) =>
      client
        .send(
          'tools/call',
          { name: 'test_tool_with_logging' },
          { label: 'modern', ...(level !== undefined && { meta: { [`${META}/logLevel`]: level } }) },
        )
        .then(messagesOf);
    expect((await log('info')).map(({ method }) => method)).toEqual([
      ...Array.from({ length: 3 }, () => 'notifications/message'),
      undefined,
    ]);
    expect(await log('error')).toHaveLength(1);
    expect(await log()).toHaveLength(1);
  });

  it('A stream keeps proxies from holding it back', async () => {
    const params = { name: 'asker__steps', arguments: { count: 1 } };
    const response = await client.send('tools/call', params, token('t'));
    expect(isStream(response)).toBe(true);
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    await response.text();
  });
});

describe('A client that leaves', () => {
  it('takes its call back, on the server as well, and no other', async () => {
    const given = new AbortController();
    const before = servers.heard('asker', 'notifications/cancelled').length;
    const other = client.call('asker__sleep', { milliseconds: 400 });
    const sent = client.send(
      'tools/call',
      { name: 'asker__sleep', arguments: { milliseconds: 60_000 } },
      { signal: given.signal },
    );
    await vi.waitFor(() =>
      expect(JSON.stringify(servers.heard('asker', 'tools/call').at(-1))).toContain('60000'),
    );
    given.abort();
    await expect(sent).rejects.toThrow();
    await vi.waitFor(() =>
      expect(servers.heard('asker', 'notifications/cancelled')).toHaveLength(before + 1),
    );
    const { params } = servers.heard('asker', 'notifications/cancelled').at(-1) as { params: JsonObject };
    const call = servers.heard('asker', 'tools/call').find(({ id }) => id === params['requestId']);
    expect(JSON.stringify(call)).toContain('60000');
    expect(textOf(await other)).toBe('400');
  });

  it('takes it back in the middle of a stream', async () => {
    const given = new AbortController();
    const response = await client.send(
      'tools/call',
      { name: 'slow', arguments: { steps: 1_000, delay: 10 } },
      { label: 'honest', signal: given.signal, meta: { progressToken: 1 } },
    );
    const first = await eventsOf(response).next();
    expect(first.value).toMatchObject({ data: { params: { progress: 1 } } });
    given.abort();
    await vi.waitFor(() => expect(servers.heard('honest', 'notifications/cancelled')).toHaveLength(1));
  });
});

it('Requests with what has no canonical form are answered like any other', async () => {
  const body = (value: string): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asker__count","arguments":{"x":${value}},"_meta":{"${META}/protocolVersion":"${MODERN}","${META}/clientCapabilities":{}}}}`;
  const headers = {
    'mcp-protocol-version': MODERN,
    'mcp-method': 'tools/call',
    'mcp-name': 'asker__count',
  };
  for (const value of ['"\\ud800"', '1e999', '{"__proto__":{"a":1}}', '{"toJSON":1}']) {
    const [message] = await messagesOf(await client.post(body(value), headers));
    expect(message).toHaveProperty('id', 1);
  }
});
