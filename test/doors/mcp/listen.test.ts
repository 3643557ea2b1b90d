/** `subscriptions/listen` over HTTP (mcp-spec 1.6 and 3.4, 28). */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { FOLLOWED_MAX, listenersOf } from '../../../src/doors/mcp/listen.ts';
import type { JsonObject } from '../../../src/types.ts';
import {
  type Door,
  eventsOf,
  isStream,
  messagesOf,
  META,
  modernClient,
  openDoor,
  openServers,
  type Servers,
} from './support.ts';

let servers: Servers;
let door: Door;
let client: ReturnType<typeof modernClient>;
beforeAll(async () => {
  servers = await openServers({ asker: ['asker'], honest: ['honest'] });
  door = await openDoor(servers.host);
  client = modernClient(door.url);
  // Everything is listed.
  for (const method of ['tools/list', 'resources/list']) await client.answer(method);
});
afterAll(async () => {
  await door.close();
  await servers.close();
});

interface Listening {
  at?: typeof client;
  id?: string | number;
}

async function listen(notifications: JsonObject, { at = client, id = 'L1' }: Listening = {}) {
  const given = new AbortController();
  const response = await at.send('subscriptions/listen', { notifications }, { id, signal: given.signal });
  expect(isStream(response)).toBe(true);
  const events = eventsOf(response);
  const next = async (): Promise<JsonObject> => {
    const { value } = await events.next();
    return (value as { data: JsonObject }).data;
  };
  return { next, leave: () => given.abort(), response };
}

const about = (id: string | number): object => ({ [`${META}/subscriptionId`]: id });

it('acknowledges first what it honors, and nothing else', async () => {
  const { next, leave } = await listen({
    toolsListChanged: true,
    promptsListChanged: false,
    acmeListChanged: true,
    resourceSubscriptions: ['test://nothing', 7, null],
  });
  expect(await next()).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: { toolsListChanged: true, resourceSubscriptions: [] }, _meta: about('L1') },
  });
  leave();
});

it('tells each stream what it asked for, under its own id', async () => {
  const tools = await listen({ toolsListChanged: true }, { id: 1 });
  const same = await listen({ toolsListChanged: true }, { id: '1' });
  const prompts = await listen({ promptsListChanged: true }, { id: 3 });
  for (const stream of [tools, same, prompts]) await stream.next();
  await client.call('honest__grow');
  const method = 'notifications/tools/list_changed';
  expect(await tools.next()).toEqual({ jsonrpc: '2.0', method, params: { _meta: about(1) } });
  expect(await same.next()).toEqual({ jsonrpc: '2.0', method, params: { _meta: about('1') } });
  for (const stream of [tools, same, prompts]) stream.leave();
});

it('tells of resources that it follows, and of no others', async () => {
  const { resources } = (await client.answer('resources/list'))['result'] as { resources: JsonObject[] };
  const { uri } = resources[0] as { uri: string };
  const { next, leave } = await listen({ resourceSubscriptions: [uri] });
  expect(await next()).toMatchObject({ params: { notifications: { resourceSubscriptions: [uri] } } });
  const before = servers.heard('asker', 'notifications/resources/updated').length;
  await vi.waitFor(async () => {
    await client.call('asker__update', { uri: 'test://one' });
    expect(servers.heard('asker', 'notifications/resources/updated').length).toBeGreaterThan(before);
  });
  expect(await next()).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri, _meta: about('L1') },
  });
  leave();
  await vi.waitFor(() => expect(servers.heard('asker', 'resources/unsubscribe')).toHaveLength(1));
});

it('ends with an answer when the gateway does', async () => {
  const own = await openDoor(servers.host);
  const { next, response } = await listen({ toolsListChanged: true }, { at: modernClient(own.url), id: 9 });
  await next();
  own.mcp.drain();
  expect(await next()).toEqual({
    jsonrpc: '2.0',
    id: 9,
    result: {
      resultType: 'complete',
      _meta: { ...about(9), [`${META}/serverInfo`]: expect.anything() as object },
    },
  });
  await response.body?.cancel().catch(() => undefined);
  const late = await modernClient(own.url).send('subscriptions/listen', { notifications: {} });
  expect(late.status).toBe(503);
  await late.text();
  await own.close();
});

it('ends when its client leaves, and leaves nothing', async () => {
  const before = servers.heard('asker', 'resources/unsubscribe').length;
  const { resources } = (await client.answer('resources/list'))['result'] as { resources: JsonObject[] };
  const streams = await Promise.all(
    [1, 2].map((id) => listen({ resourceSubscriptions: [(resources[0] as { uri: string }).uri] }, { id })),
  );
  for (const { next } of streams) await next();
  for (const { leave } of streams) leave();
  await vi.waitFor(() => expect(servers.heard('asker', 'resources/unsubscribe')).toHaveLength(before + 1));
});

it('says nothing before it when nothing is asked for', async () => {
  const response = await client.send('subscriptions/listen', {}, { headers: { 'mcp-method': 'tools/list' } });
  expect((await messagesOf(response))[0]).toMatchObject({ error: { code: -32020 } });
  const { next, leave } = await listen({});
  expect(await next()).toMatchObject({ params: { notifications: {} } });
  leave();
});

it('has bounds: streams of one principal, resources of one stream', async () => {
  const listeners = listenersOf({ most: 1 });
  const followed: string[] = [];
  const stopped: string[] = [];
  const told: JsonObject[] = [];
  const listening = (id: string, signal: AbortSignal) => ({
    endpoint: {
      follow: (_principal: unknown, uri: string) => {
        followed.push(uri);
        return () => void stopped.push(uri);
      },
      on: () => () => undefined,
    } as never,
    client: { principal: { id } } as never,
    request: {
      id: 1,
      params: {
        notifications: {
          resourceSubscriptions: Array.from({ length: 2 * FOLLOWED_MAX }, (_, index) => `test://${index}`),
        },
      },
    } as never,
    notify: (json: string) => void told.push(JSON.parse(json) as JsonObject),
    signal,
  });
  const given = new AbortController();
  const first = listeners.listen(listening('ada', given.signal));
  expect(followed).toHaveLength(FOLLOWED_MAX);
  expect(await listeners.listen(listening('ada', given.signal))).toMatchObject({ kind: 'error' });
  const other = listeners.listen(listening('bob', given.signal));
  given.abort();
  await Promise.all([first, other]);
  expect(stopped).toHaveLength(2 * FOLLOWED_MAX);
  // There is room again.
  listeners.end();
  expect(await listeners.listen(listening('ada', new AbortController().signal))).toMatchObject({
    kind: 'complete',
  });
  expect(told).toHaveLength(3);
});
