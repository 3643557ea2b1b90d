/** Hearing of changes: of a resource, for those who follow it, and of every list. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { FOLLOWED_MAX } from '../../src/servers/followed.ts';
import type { RelayOptions, Server, ServerEvent } from '../../src/servers/index.ts';
import type { JsonObject, ServerSpec } from '../../src/types.ts';
import { endpoint, legacy, methods, modern } from './http-server.ts';
import type { Answering, Received } from './http-server.ts';
import { fixture, http, open, stdio, until } from './support.ts';

const REFERENCE = fileURLToPath(new URL('../conformance/server/main.mjs', import.meta.url));
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const WATCHED = 'test://watched-resource';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill();
});

async function reference(era: string, transport: string): Promise<ServerSpec> {
  const args = [REFERENCE, '--era', era, '--transport', transport];
  if (transport === 'stdio') return stdio('reference', args);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return http('reference', String(chunk).split('\n')[0] ?? '');
}

const updatedIn = (events: ServerEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'resource-updated' ? [event.uri] : []));
const othersIn = (events: ServerEvent[]): number =>
  events.filter(({ type }) => type === 'others-changed').length;

async function call(server: Server, tool: string, args: JsonObject = {}, options: RelayOptions = {}) {
  const relayed = await server.relay('tools/call', { name: tool, arguments: args }, options);
  const [block] = (relayed as unknown as { result: { content: { text: string }[] } }).result.content;
  return block?.text ?? '';
}

describe.each([
  ['legacy', 'stdio'],
  ['legacy', 'http'],
  ['modern', 'stdio'],
  ['modern', 'http'],
])('A %s server over %s', (era, transport) => {
  const update = async (server: Server, uri: string): Promise<string> =>
    call(server, 'test_trigger_resource_update', { uri });

  test('tells of what is followed, from the next call on, and of nothing else', async () => {
    const { server, events } = open(await reference(era, transport));
    await server.ready();
    const stop = server.follow(WATCHED);
    await update(server, WATCHED);
    await until(() => updatedIn(events).length === 1, 'the first change');
    // Another joins.
    const stopOther = server.follow('test://static-text');
    await update(server, 'test://static-text');
    await update(server, WATCHED);
    await update(server, 'test://example-resource');
    await until(() => updatedIn(events).length === 3, 'both changes');
    expect(new Set(updatedIn(events))).toEqual(new Set([WATCHED, 'test://static-text']));
    stop();
    await update(server, WATCHED);
    await update(server, 'test://static-text');
    await until(() => updatedIn(events).length === 4, 'the change of what is left');
    expect(updatedIn(events).at(-1)).toBe('test://static-text');
    stopOther();
  });

  test('may be told before it is reached', async () => {
    const { server, events } = open(await reference(era, transport));
    server.follow(WATCHED);
    await update(server, WATCHED);
    await until(() => updatedIn(events).length === 1, 'the change');
  });

  test.each(['prompt', 'resource'] as const)('says that its list of %ss is another', async (list) => {
    const { server, events } = open(await reference(era, transport));
    await server.surface();
    const others = `${list}s` as const;
    // The stream of changes may not be open yet.
    for (let triggers = 0; othersIn(events) === 0; triggers += 1) {
      expect(triggers).toBeLessThan(20);
      await call(server, `test_trigger_${list}_change`);
      await vi.waitFor(() => expect(othersIn(events)).toBeGreaterThan(0), 1_000).catch(() => undefined);
    }
    const toggled = JSON.stringify((await server.surface())[others]);
    await call(server, `test_trigger_${list}_change`);
    await until(() => othersIn(events) === 2, 'the second news');
    expect(JSON.stringify((await server.surface())[others])).not.toBe(toggled);
  });
});

describe('a legacy server', () => {
  const asker = (...args: string[]): ReturnType<typeof open> =>
    open(stdio('shared', [fixture('asker'), ...args], { era: 'legacy' }));
  const subscribed = async (server: Server): Promise<unknown> =>
    JSON.parse(await call(server, 'update', { uri: 'test://nothing' }));
  const seen = async (server: Server): Promise<string[]> =>
    (JSON.parse(await call(server, 'methods')) as string[]).filter((method) =>
      method.startsWith('resources/'),
    );

  test('trap 63: is asked once for many followers, and no more when the last has gone', async () => {
    const { server, events } = asker();
    const stops = Array.from({ length: 10 }, () => server.follow('test://one'));
    expect(await subscribed(server)).toEqual(['test://one']);
    for (const stop of stops.slice(1)) stop();
    // Twice counts once.
    stops[1]?.();
    await call(server, 'update', { uri: 'test://one' });
    await until(() => updatedIn(events).length === 1, 'the change');
    stops[0]?.();
    expect(await subscribed(server)).toEqual([]);
    expect(await seen(server)).toEqual(['resources/subscribe', 'resources/unsubscribe']);
  });

  test('is asked again when it comes back; what happened meanwhile counts as a change', async () => {
    const { server, events } = asker();
    server.follow('test://one');
    server.follow('test://two');
    expect(await subscribed(server)).toEqual(['test://one', 'test://two']);
    await expect(call(server, 'exit')).rejects.toMatchObject({ code: 'closed' });
    expect(await subscribed(server)).toEqual(['test://one', 'test://two']);
    await until(() => updatedIn(events).length === 2, 'both');
    await until(() => othersIn(events) === 1, 'the news of the lists');
  });

  test('that serves no subscriptions is one warning, and is not asked', async () => {
    const { server, warnings } = asker('--mute');
    server.follow('test://one');
    server.follow('test://two');
    expect(await seen(server)).toEqual([]);
    server.follow('test://three');
    expect(await seen(server)).toEqual([]);
    expect(warnings()).toEqual(['its resources cannot be followed: it does not serve subscriptions']);
  });

  test('storms of changes are passed on as one, and those of a part are those of what is followed', async () => {
    const { server, events } = asker();
    server.follow('test://folder');
    await subscribed(server);
    const frames = JSON.stringify({
      'tools/call': [
        {
          times: 500,
          frame: { method: 'notifications/resources/updated', params: { uri: 'test://folder/a/b' } },
        },
        { method: 'notifications/resources/updated', params: { uri: 'test://folders' } },
        { method: 'notifications/resources/updated', params: {} },
        { id: '$id', result: { content: [] } },
      ],
    });
    const says = open(stdio('says', [fixture('says'), frames], { era: 'legacy' }));
    says.server.follow('test://folder');
    await says.server.callTool('echo', {});
    await until(() => updatedIn(says.events).length > 0, 'the change');
    expect(updatedIn(says.events)).toEqual(['test://folder']);
    expect(updatedIn(events)).toEqual([]);
  });

  test(`is asked for ${FOLLOWED_MAX} resources at most, without keeping calls waiting`, async () => {
    const { server, warnings } = asker();
    await server.ready();
    for (let index = 0; index < FOLLOWED_MAX + 5; index += 1) server.follow(`test://${index}`);
    const pids = await Promise.all(Array.from({ length: 10 }, () => call(server, 'pid')));
    expect(new Set(pids).size).toBe(1);
    await until(() => warnings().length > 0, 'a warning');
    expect(warnings()[0]).toContain(`more than ${FOLLOWED_MAX} of its resources`);
    let all: unknown[] = [];
    while (all.length < FOLLOWED_MAX) all = (await subscribed(server)) as unknown[];
    expect(all).toHaveLength(FOLLOWED_MAX);
  });

  test('prompts and resources that change together are told of once each, whatever the server announced', async () => {
    const { server, events } = asker();
    await server.ready();
    for (let count = 0; count < 20; count += 1) await call(server, 'others');
    await until(() => othersIn(events) > 0, 'the news');
    expect(othersIn(events)).toBeLessThanOrEqual(2);
    expect(events.some(({ type }) => type === 'tools-changed')).toBe(false);
  });

  test("follows on the process of clients of another kind, too, unless it is somebody's own", async () => {
    const { server, events } = asker();
    server.follow('test://one');
    await call(server, 'count');
    const other = { capabilities: {} };
    expect(JSON.parse(await call(server, 'update', { uri: 'test://one' }, other))).toEqual(['test://one']);
    await until(() => updatedIn(events).length === 1, 'the change');
    const apart = open(stdio('apart', [fixture('asker')], { era: 'legacy', isolation: 'client' }));
    apart.server.follow('test://one');
    const own = { owner: { principal: 'ada', client: 'ada' } };
    expect(JSON.parse(await call(apart.server, 'update', { uri: 'test://one' }, own))).toEqual([]);
  });
});

describe('over HTTP', () => {
  test('R7: a session that is opened anew is asked again', async () => {
    let session = 0;
    let isGone = false;
    const { url, received } = await endpoint((each, answer) => {
      const { message, verb } = each;
      if (message.method === 'initialize') {
        session += 1;
        isGone = false;
        return answer.json(
          {
            result: {
              protocolVersion: message.params!.protocolVersion,
              capabilities: { tools: {}, resources: { subscribe: true } },
              serverInfo: { name: 'raw' },
            },
          },
          200,
          { 'mcp-session-id': `s${session}` },
        );
      }
      if (isGone && verb === 'POST') return answer.plain(404);
      if (message.method === 'resources/subscribe') return answer.json({ result: {} });
      return legacy(each, answer);
    });
    const { server, events } = open(http('web', url, { era: 'legacy' }));
    server.follow('test://one');
    await server.callTool('echo', {});
    isGone = true;
    await server.callTool('echo', {});
    await until(() => methods(received).filter((method) => method === 'resources/subscribe').length === 2);
    const asked = received.filter(({ message }) => message.method === 'resources/subscribe');
    expect(asked.map(({ headers }) => headers['mcp-session-id'])).toEqual(['s1', 's2']);
    await until(() => updatedIn(events).length === 1, 'the gap');
  });

  /** A modern server that acknowledges as it is told to, and whose streams the test holds. */
  async function listening(honor: (uris: string[]) => JsonObject) {
    const streams: {
      uris: string[];
      send: (message: JsonObject) => void;
      response: Answering['response'];
    }[] = [];
    const { url, received } = await endpoint((each: Received, answer) => {
      const { message } = each;
      if (message.method !== 'subscriptions/listen')
        return modern(each, answer, { tools: {}, resources: { subscribe: true } });
      const { notifications } = message.params as { notifications: { resourceSubscriptions: string[] } };
      const uris = notifications.resourceSubscriptions;
      const _meta = { [SUBSCRIPTION]: message.id };
      const write = answer.stream();
      const send = ({ method, params }: JsonObject): void =>
        write({ method, params: { ...(params as JsonObject), _meta } });
      streams.push({ uris, send, response: answer.response });
      send({ method: ACKNOWLEDGED, params: { notifications: honor(uris) } });
    });
    return { ...open(http('web', url)), streams, received };
  }

  test('trap 63: another stream with all of them takes over before the last one ends, and opens again after a break', async () => {
    const { server, events, streams } = await listening((resourceSubscriptions) => ({
      resourceSubscriptions,
    }));
    server.follow('a');
    server.follow('b');
    await server.callTool('echo', {});
    expect(streams.map(({ uris }) => uris)).toEqual([['a', 'b']]);
    let wasOpen = true;
    streams[0]?.response.on('close', () => (wasOpen = streams.length > 1));
    server.follow('c');
    await server.callTool('echo', {});
    await until(() => streams[0]?.response.closed === true, 'the end of the first stream');
    expect(wasOpen).toBe(true);
    expect(streams.map(({ uris }) => uris)).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c'],
    ]);
    expect(updatedIn(events)).toEqual([]);
    streams[1]?.response.destroy();
    await until(() => updatedIn(events).length === 3, 'the gap');
    streams[2]?.send({ method: 'notifications/resources/updated', params: { uri: 'b' } });
    await until(() => updatedIn(events).length === 4, 'the change');
    expect(updatedIn(events).at(-1)).toBe('b');
  });

  test('the last one that is followed no more ends the stream', async () => {
    const { server, streams } = await listening((resourceSubscriptions) => ({ resourceSubscriptions }));
    const stop = server.follow('a');
    await server.callTool('echo', {});
    stop();
    await until(() => streams[0]?.response.closed === true, 'the end of the stream');
    expect(streams).toHaveLength(1);
  });

  test.each([
    [
      'some',
      (uris: string[]) => ({ resourceSubscriptions: uris.slice(1) }),
      /^1 of its resources cannot be followed/,
    ],
    ['none', () => ({}), /^its resources cannot be followed: it acknowledged none/],
  ])('a server that acknowledges %s of them is a warning', async (_what, honor, text) => {
    const { server, warnings } = await listening(honor);
    server.follow('a');
    server.follow('b');
    await server.callTool('echo', {});
    await until(() => warnings().length > 0, 'the warning');
    expect(warnings()).toEqual([expect.stringMatching(text)]);
  });
});
