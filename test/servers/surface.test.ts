/** Everything that a server lists, as review and comparison see it. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ITEMS_MAX } from '../../src/mcp/protocol-limits.ts';
import { endpoint, legacy, modern } from './http-server.ts';
import { EVERYTHING, fixture, http, open, stdio, until } from './support.ts';
import type { Answering, Received } from './http-server.ts';
import type { JsonObject } from '../../src/types.ts';

const ALL: JsonObject = { tools: {}, prompts: {}, resources: {} };
const LISTS: { [method: string]: JsonObject } = {
  'tools/list': { tools: [{ name: 't', inputSchema: {}, execution: { x: 1 }, icons: [], 'vendor/x': null }] },
  'prompts/list': { prompts: [{ name: 'p', arguments: [{ name: 'a', new: 1 }], later: { y: [2] } }] },
  'resources/list': { resources: [{ uri: 'a://b', name: 'r', size: 3, annotations: { lastModified: 'x' } }] },
  'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'a://{x}', name: 'e', unknown: true }] },
};

/** An endpoint with these lists; what `lists` answers may change while it runs. */
async function listing(
  era: 'legacy' | 'modern',
  lists: (received: Received, answer: Answering) => JsonObject | undefined,
  capabilities = ALL,
): Promise<{ url: string; received: Received[] }> {
  return endpoint((received, answer) => {
    const { method } = received.message;
    if (method !== undefined && method in LISTS) {
      const result = lists(received, answer);
      return result === undefined ? undefined : answer.json({ result });
    }
    if (era === 'modern' && method === 'server/discover') return modern(received, answer, capabilities);
    if (method !== 'initialize') return (era === 'modern' ? modern : legacy)(received, answer);
    if (era === 'modern') return modern(received, answer);
    return answer.json({
      result: {
        protocolVersion: received.message.params!.protocolVersion,
        capabilities,
        serverInfo: { name: 'raw', title: 'Raw', unknown: 1 },
        instructions: 'Be kind.',
      },
    });
  });
}
const asListed = ({ message }: Received): JsonObject => LISTS[message.method!]!;

describe.each(['legacy', 'modern'] as const)('the surface of a %s server', (era) => {
  test('is every list that it declares, each item whole', async () => {
    const { url } = await listing(era, asListed);
    const { server, warnings } = open(http('s', url, { era }));
    const { serverInfo, instructions, ...lists } = await server.surface();
    expect(lists).toEqual({
      tools: LISTS['tools/list']!.tools,
      prompts: LISTS['prompts/list']!.prompts,
      resources: LISTS['resources/list']!.resources,
      templates: LISTS['resources/templates/list']!.resourceTemplates,
    });
    expect(serverInfo).toEqual(server.info!.serverInfo);
    expect(instructions).toBe(era === 'legacy' ? 'Be kind.' : undefined);
    expect(warnings()).toEqual([]);
  });

  test('has no list that the server does not declare, and does not ask for it', async () => {
    const { url, received } = await listing(era, asListed, { tools: {} });
    const { server } = open(http('s', url, { era }));
    const surface = await server.surface();
    expect(Object.keys(surface).sort()).toEqual(
      ['serverInfo', 'tools', ...(era === 'legacy' ? ['instructions'] : [])].sort(),
    );
    const asked = received.map(({ message }) => message.method).filter((method) => method?.endsWith('list'));
    expect(asked).toEqual(['tools/list']);
  });

  test('lacks a list that cannot be had, with a warning, and has the others', async () => {
    const { url } = await listing(era, (received, answer) => {
      if (received.message.method !== 'prompts/list') return asListed(received);
      answer.json({ error: { code: -32603, message: 'out of order' } });
      return undefined;
    });
    const { server, warnings } = open(http('s', url, { era }));
    const surface = await server.surface();
    expect(surface).not.toHaveProperty('prompts');
    expect(surface.resources).toHaveLength(1);
    expect(warnings()).toEqual([expect.stringMatching(/list of prompts cannot be had: .*out of order/)]);
  });

  test('is listed anew when that is asked for', async () => {
    let version = 1;
    const { url } = await listing(era, (received) =>
      received.message.method === 'prompts/list'
        ? { prompts: [{ name: `p${version}` }] }
        : asListed(received),
    );
    const { server } = open(http('s', url, { era }));
    expect((await server.surface()).prompts).toEqual([{ name: 'p1' }]);
    version = 2;
    // Legacy lists hold until the server says otherwise; modern ones as long as they say, which is not at all here.
    expect((await server.surface()).prompts).toEqual([{ name: era === 'legacy' ? 'p1' : 'p2' }]);
    expect((await server.surface({ refresh: true })).prompts).toEqual([{ name: 'p2' }]);
  });

  test('is read from all pages, bounded in number, and without what is malformed', async () => {
    const { url } = await listing(era, ({ message }) => {
      if (message.method !== 'resources/list') return LISTS[message.method!];
      const from = Number(message.params!.cursor ?? 0);
      const resources = Array.from({ length: 300 }, (_, index): JsonObject => ({
        uri: `a://${from + index}`,
      }));
      if (from === 0) resources.unshift({ uri: 7 }, { uri: 'a://mime', mimeType: {} });
      return { resources, nextCursor: String(from + 300) };
    });
    const { server, warnings } = open(http('s', url, { era }));
    const { resources } = await server.surface();
    expect(resources).toHaveLength(ITEMS_MAX - 2);
    expect(warnings()).toEqual([
      'left out a resource without a uri',
      'left out the resource "a://mime": its mimeType is not a string',
      `lists more than ${ITEMS_MAX} resources; only the first ${ITEMS_MAX} are kept`,
    ]);
  });
});

test('a server that has resources and no templates has an empty list of templates', async () => {
  const { url } = await listing('legacy', (received, answer) => {
    if (received.message.method !== 'resources/templates/list') return asListed(received);
    answer.json({ error: { code: -32601, message: 'unknown method' } });
    return undefined;
  });
  const { server, warnings } = open(http('s', url, { era: 'legacy' }));
  expect((await server.surface()).templates).toEqual([]);
  expect(warnings()).toEqual([]);
});

test('the reference server shows its whole surface without a warning', async () => {
  const { server, warnings } = open(stdio('everything', [EVERYTHING]));
  const surface = await server.surface();
  expect(surface.tools!.length).toBeGreaterThan(5);
  expect(surface.prompts!.length).toBeGreaterThan(1);
  expect(surface.templates!.length).toBeGreaterThan(0);
  expect(surface).toMatchObject({
    instructions: server.info!.instructions,
    serverInfo: server.info!.serverInfo,
  });
  expect(warnings()).toEqual([]);
});

test('a listing that was cancelled says so, and one of a closed server too', async () => {
  const { url } = await listing('modern', () => undefined);
  const { server } = open(http('s', url));
  await server.ready();
  await expect(server.surface({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
  await server.close();
  await expect(server.surface()).rejects.toMatchObject({ code: 'closed' });
});

describe('what a server says of itself', () => {
  const opening = (more: JsonObject): JsonObject => ({
    id: '$id',
    result: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 's' },
      ...more,
    },
  });

  test('is that of the new process as soon as a restarted server is ready', async () => {
    const counter = join(mkdtempSync(join(tmpdir(), 'midspan-')), 'starts');
    const script = {
      initialize: [opening({ instructions: '$starts' })],
      'tools/call': [{ exit: 1 }],
    };
    const { server } = open(
      stdio('s', [fixture('says'), JSON.stringify(script), counter], { era: 'legacy' }),
    );
    const seen: (string | undefined)[] = [];
    server.on((event) => {
      if (event.type === 'state' && event.state === 'ready') seen.push(server.info?.instructions);
    });
    let changes = 0;
    server.on((event) => (changes += event.type === 'tools-changed' ? 1 : 0));
    await server.surface();
    await expect(server.callTool('echo', {})).rejects.toMatchObject({ code: 'closed' });
    await until(() => seen.length === 2 && changes > 0, 'the restart, and the news of it');
    expect(seen).toEqual(['1', '2']);
    expect(await server.surface()).toMatchObject({ instructions: '2' });
  });

  test('is that of the new session once an expired one was opened again, and listeners hear of it', async () => {
    let session = 1;
    const { url } = await endpoint((received, answer) => {
      const { method, params } = received.message;
      if (method === 'initialize')
        return answer.json(
          {
            result: {
              ...(opening({ instructions: `of ${session}` }).result as JsonObject),
              protocolVersion: params!.protocolVersion,
            },
          },
          200,
          { 'mcp-session-id': `s${session}` },
        );
      if (method !== undefined && received.headers['mcp-session-id'] !== `s${session}`)
        return answer.json({ error: { code: -32001, message: 'Session not found' } }, 404);
      legacy(received, answer);
    });
    const { server, events } = open(http('s', url, { era: 'legacy' }));
    expect(await server.surface()).toMatchObject({ instructions: 'of 1' });
    session = 2;
    await server.callTool('echo', {});
    await until(() => events.some(({ type }) => type === 'tools-changed'), 'the news');
    expect(await server.surface()).toMatchObject({ instructions: 'of 2' });
  });

  test('is asked anew with the lists of a modern server, which may be another one by now', async () => {
    let instructions = 'old';
    let up = true;
    const { url } = await endpoint((received, answer) => {
      if (received.message.method !== 'server/discover') return modern(received, answer);
      if (!up) return answer.plain(503);
      answer.json({
        result: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, instructions },
      });
    });
    const { server, warnings } = open(http('s', url));
    expect(await server.surface()).toMatchObject({ instructions: 'old' });
    instructions = 'new';
    expect(await server.surface()).toMatchObject({ instructions: 'old' });
    expect(await server.surface({ refresh: true })).toMatchObject({ instructions: 'new' });
    expect(server.info).toMatchObject({ instructions: 'new' });
    up = false;
    expect(await server.surface({ refresh: true })).toMatchObject({ instructions: 'new' });
    expect(warnings()).toEqual([expect.stringMatching(/^what it says of itself cannot be had: .*503/)]);
  });
});

test('news of its prompts makes the prompts stale, and nothing else', async () => {
  const script = {
    initialize: [
      {
        id: '$id',
        result: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, prompts: {} },
          serverInfo: { name: 's' },
        },
      },
    ],
    'prompts/list': [{ id: '$id', result: { prompts: [{ name: 'p' }] } }],
    'tools/call': [{ method: 'notifications/prompts/list_changed' }, { id: '$id', result: { content: [] } }],
  };
  const { server } = open(stdio('s', [fixture('says'), JSON.stringify(script)], { era: 'legacy' }));
  await server.surface();
  await server.callTool('echo', {});
  await server.surface();
  const seen = (await server.callTool('seen', {})).content[0]!.text as string;
  expect(seen.split(',').filter((method) => method.endsWith('/list'))).toEqual([
    'tools/list',
    'prompts/list',
    'prompts/list',
  ]);
});

test('a list whose pages each come in time, but never all of them, is given up', async () => {
  const { url } = await listing('legacy', ({ message }) => {
    const page = Number(message.params!.cursor ?? 0);
    return message.method === 'tools/list' ? { tools: [], nextCursor: String(page + 1) } : {};
  });
  const { server } = open(http('s', url, { era: 'legacy' }), { timing: { listing: 1 } });
  await expect(server.listTools()).rejects.toMatchObject({
    code: 'timeout',
    what: 'its list of tools was not complete within 1 ms',
  });
});

test('two items of one name are both left out and named, also when one of them is malformed', async () => {
  const { url } = await listing('legacy', ({ message }) => {
    const twice = [{ name: 'x', inputSchema: {} }, { name: 'y', inputSchema: {} }, { name: 'x' }];
    const uris = [{ uri: 'a://1' }, { uri: 'a://2' }, { uri: 'a://1' }];
    if (message.method === 'tools/list') return { tools: twice };
    return message.method === 'resources/list' ? { resources: uris } : LISTS[message.method!];
  });
  const { server, warnings } = open(http('s', url, { era: 'legacy' }));
  expect(await server.surface()).toMatchObject({
    tools: [{ name: 'y', inputSchema: {} }],
    resources: [{ uri: 'a://2' }],
  });
  expect(warnings()).toEqual(
    expect.arrayContaining([
      'left out the tool "x": 2 tools have this name',
      'left out the resource "a://1": 2 resources have this uri',
    ]),
  );
});

test('a list that is the same when it is listed anew is the same object', async () => {
  let description = 'one';
  const { url } = await listing('modern', ({ message }) =>
    message.method === 'tools/list'
      ? { tools: [{ name: 't', description, inputSchema: {} }] }
      : LISTS[message.method!],
  );
  const { server } = open(http('s', url));
  const first = await server.listTools();
  expect(await server.listTools({ refresh: true })).toBe(first);
  expect((await server.surface({ refresh: true })).tools).toBe(first);
  description = 'two';
  expect(await server.listTools({ refresh: true })).toMatchObject([{ description: 'two' }]);
});
