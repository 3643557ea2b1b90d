/** Everything that a server lists, as review and comparison see it. */
import { describe, expect, test } from 'vitest';
import { ITEMS_MAX } from '../../src/mcp/protocol-limits.ts';
import { endpoint, legacy, modern } from './http-server.ts';
import { EVERYTHING, http, open, stdio } from './support.ts';
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
