/** Which era a request over HTTP is of: it says so itself, whatever came before it (mcp-spec 3.1). */
import { Agent, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/types.ts';
import {
  type Door,
  legacyClient,
  messagesOf,
  META,
  MODERN,
  modernClient,
  openDoor,
  openServers,
  type Servers,
} from './support.ts';

let servers: Servers;
let door: Door;
beforeAll(async () => {
  servers = await openServers({ honest: ['honest'] });
  door = await openDoor(servers.host);
});
afterAll(async () => {
  await door.close();
  await servers.close();
});

const META_OF_IT = { [`${META}/protocolVersion`]: MODERN, [`${META}/clientCapabilities`]: {} };
const modernHeaders = (method: string) => ({ 'mcp-protocol-version': MODERN, 'mcp-method': method });

it('A request that says who asks is of the newer one, whatever session it names', async () => {
  const session = await legacyClient(door.url);
  const { send } = modernClient(door.url);
  for (const id of [session.session, 'no such session'])
    expect(
      await messagesOf(
        await send('tools/list', {}, { headers: { 'mcp-session-id': id, 'last-event-id': '1_1' } }),
      ),
    ).toMatchObject([{ result: { resultType: 'complete' } }]);
  // It has not ended the session, nor changed it.
  expect(await session.answer('tools/list')).not.toHaveProperty('result.resultType');
});

it('A request with the header alone is of the newer one, too, and told what it lacks', async () => {
  const { post } = modernClient(door.url);
  for (const version of [MODERN, '2099-01-01']) {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const response = await post(body, { ...modernHeaders('tools/list'), 'mcp-protocol-version': version });
    expect(response.status).toBe(400);
    expect(await messagesOf(response)).toMatchObject([{ id: 1, error: { code: -32602 } }]);
  }
});

it('`initialize` opens a session, unless it says that it is of an era without', async () => {
  const { post } = modernClient(door.url);
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize' };
  const params: JsonObject = { protocolVersion: MODERN, capabilities: {} };
  const opened = await post({ ...initialize, params }, { 'mcp-protocol-version': MODERN });
  expect(opened.headers.get('mcp-session-id')).not.toBeNull();
  expect(await messagesOf(opened)).toMatchObject([{ result: { protocolVersion: '2025-11-25' } }]);
  const refused = await post(
    { ...initialize, params: { ...params, _meta: META_OF_IT } },
    modernHeaders('initialize'),
  );
  expect([refused.status, refused.headers.get('mcp-session-id')]).toEqual([404, null]);
  expect(await messagesOf(refused)).toMatchObject([{ error: { code: -32601 } }]);
});

it('Whatever says nothing of itself needs a session', async () => {
  const { post } = modernClient(door.url);
  for (const body of [
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: {} } },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 1, result: {} },
    [{ jsonrpc: '2.0', id: 1, method: 'ping' }],
  ])
    expect((await post(body, {})).status).toBe(400);
});

it('Nothing is concluded from what came over the same connection', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  const post = (body: JsonObject, headers: Record<string, string>): Promise<JsonObject> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(
        door.url,
        {
          method: 'POST',
          agent,
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...headers,
          },
        },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => {
            const data = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}');
            resolve({
              ...(JSON.parse(data) as JsonObject),
              session: response.headers['mcp-session-id'] ?? '',
            });
          });
        },
      );
      sent.on('socket', (socket) => {
        if (socket.localPort !== undefined) ports.add(socket.localPort);
      });
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const young = { ...list, params: { _meta: META_OF_IT } };
  const params = { protocolVersion: '2025-06-18', capabilities: {} };
  const { session } = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, {});
  const own = { 'mcp-session-id': session as string };
  for (let times = 0; times < 2; times += 1) {
    expect(await post(young, modernHeaders('tools/list'))).toHaveProperty('result.resultType', 'complete');
    expect(await post(list, own)).not.toHaveProperty('result.resultType');
    // Neither the version nor the session of the request before holds for this one.
    expect(await post(list, {})).toHaveProperty('error.code', -32600);
    expect(await post({ ...list, params: { _meta: {} } }, modernHeaders('tools/list'))).toHaveProperty(
      'error.code',
      -32602,
    );
  }
  expect(ports.size).toBe(1);
  agent.destroy();
});
