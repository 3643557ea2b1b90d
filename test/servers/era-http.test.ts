import { describe, expect, test } from 'vitest';
import { endpoint, legacy, methods, modern } from './http-server.ts';
import { http, open } from './support.ts';
import { verdictsInMemory } from './support.ts';
import type { Answering } from './http-server.ts';

describe('R9 over HTTP: a legacy server is found by whatever it says to server/discover', () => {
  const says: [string, (answer: Answering) => void][] = [
    ['400 in plain text', (answer) => answer.plain(400, 'Bad Request: no session')],
    ['404', (answer) => answer.plain(404, '<html>Not found</html>')],
    ['405', (answer) => answer.plain(405)],
    ['406', (answer) => answer.plain(406)],
    ['an empty 400', (answer) => answer.plain(400)],
    [
      '400 with -32000',
      (answer) =>
        answer.json({ error: { code: -32000, message: 'Bad Request: Unsupported protocol version' } }, 400),
    ],
    ['404 with -32601', (answer) => answer.json({ error: { code: -32601, message: 'unknown' } }, 404)],
    [
      '200 with a JSON-RPC error',
      (answer) => answer.json({ error: { code: -32600, message: 'not initialized' } }),
    ],
    ['-32022 without a list', (answer) => answer.json({ error: { code: -32022, message: 'what' } }, 400)],
  ];
  test.each(says)('%s', async (_what, say) => {
    const { url, received } = await endpoint((each, answer) =>
      each.message.method === 'server/discover' ? say(answer) : legacy(each, answer),
    );
    const { server } = open(http('web', url));
    await server.ready();
    expect(server.info).toMatchObject({ era: 'legacy', transport: 'http' });
    expect(methods(received)).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
    expect(received[0]!.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'server/discover',
    });
    expect(received[1]!.headers).not.toHaveProperty('mcp-protocol-version');
    expect(received[2]!.headers).toMatchObject({ 'mcp-protocol-version': '2025-11-25' });
  });
});

test('a modern server is reached by one request, which says who asks', async () => {
  const { url, received } = await endpoint(modern);
  const { server } = open(http('web', url));
  await server.ready();
  expect(server.info).toMatchObject({ era: 'modern', protocolVersion: '2026-07-28', transport: 'http' });
  expect(methods(received)).toEqual(['server/discover']);
  expect(received[0]!.message.params!._meta).toEqual({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'midspan-test', version: '0.0.0' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } },
    progressToken: 1,
  });
});

test.each([401, 403])('%i asks for a sign-in, never falls back, and leaves no verdict', async (status) => {
  const { url, received } = await endpoint((_each, answer) => answer.plain(status));
  const verdicts = verdictsInMemory();
  const { server } = open(http('web', url), { verdicts });
  await expect(server.ready()).rejects.toMatchObject({ code: 'sign-in', label: 'web' });
  expect(methods(received)).toEqual(['server/discover']);
  expect(verdicts.all.size).toBe(0);
});

test.each([500, 502, 503, 429])('%i is an outage: no fallback and no verdict', async (status) => {
  const { url, received } = await endpoint((_each, answer) => answer.plain(status));
  const verdicts = verdictsInMemory();
  const { server } = open(http('web', url), { verdicts });
  await expect(server.ready()).rejects.toMatchObject({ code: 'unreachable', label: 'web' });
  expect(methods(received)).toEqual(['server/discover']);
  expect(verdicts.all.size).toBe(0);
});

test('a port where nobody listens is an outage, and the server is tried again when it is called', async () => {
  const gone = await endpoint(modern);
  gone.stop();
  const { server } = open(http('web', gone.url));
  await expect(server.ready()).rejects.toMatchObject({ code: 'unreachable' });
  expect(server.state).toBe('failed');
});

test('a server that was down is reached by a later call', async () => {
  let up = false;
  const { url } = await endpoint((each, answer) => (up ? modern(each, answer) : answer.plain(503)));
  let time = 0;
  const { server } = open(http('web', url), { now: () => time });
  await expect(server.ready()).rejects.toMatchObject({ code: 'unreachable' });
  await expect(server.callTool('echo', {})).rejects.toMatchObject({ code: 'unreachable' });
  up = true;
  time += 60_000;
  expect(await server.callTool('echo', { a: 1 })).toMatchObject({ content: [{ text: '{"a":1}' }] });
});

test('-32022 to initialize means modern after all', async () => {
  let probes = 0;
  const { url } = await endpoint((each, answer) => {
    if (each.message.method === 'server/discover' && ++probes === 1) return answer.plain(404);
    return modern(each, answer);
  });
  const { server } = open(http('web', url));
  await server.ready();
  expect(server.info).toMatchObject({ era: 'modern' });
});

test('a server that knows neither POST speaks HTTP+SSE', async () => {
  let send: ((text: string) => void) | undefined;
  const { url, received } = await endpoint((each, answer) => {
    if (each.verb === 'GET') {
      answer.response.writeHead(200, { 'content-type': 'text/event-stream' });
      send = (text) => void answer.response.write(text);
      return send('event: endpoint\ndata: /mcp?session=1\n\n');
    }
    if (send === undefined) return answer.plain(405);
    answer.plain(202);
    const reply = (result: object): void =>
      send!(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: each.message.id, result })}\n\n`);
    if (each.message.method === 'initialize')
      reply({ protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'old' } });
    if (each.message.method === 'tools/call') reply({ content: [{ type: 'text', text: 'old but here' }] });
  });
  const verdicts = verdictsInMemory();
  const { server } = open(http('web', url), { verdicts });
  await server.ready();
  expect(server.info).toMatchObject({ era: 'legacy', protocolVersion: '2024-11-05', transport: 'sse' });
  expect(await server.callTool('echo', {})).toMatchObject({ content: [{ text: 'old but here' }] });
  expect(received.map(({ verb, message }) => `${verb} ${message.method ?? ''}`).slice(0, 4)).toEqual([
    'POST server/discover',
    'POST initialize',
    'GET ',
    'POST initialize',
  ]);
  expect([...verdicts.all.values()]).toMatchObject([{ era: 'legacy', transport: 'sse' }]);
});

test('an address where nothing speaks MCP is refused after all three', async () => {
  const { url, received } = await endpoint((_each, answer) => answer.plain(404, 'nothing here'));
  const { server } = open(http('web', url));
  await expect(server.ready()).rejects.toThrow(/web: /);
  expect(received.map(({ verb }) => verb)).toEqual(['POST', 'POST', 'GET']);
});
