/** Official clients of both generations at the gateway, over HTTP and over a pipe; what people miss with servers on the SDK (sdk.md 29 to 35). */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Served, serve } from '../../../src/doors/index.ts';
import { type LogEntry, logTo } from '../../../src/doors/observe/log.ts';
import type { JsonObject } from '../../../src/types.ts';
import {
  eventsOf,
  legacyClient,
  MODERN,
  modernClient,
  openDoor,
  openServers,
  type Servers,
  textOf,
} from './support.ts';

const MIDSPAN = fileURLToPath(new URL('../../../bin/midspan.js', import.meta.url));
const SERVER = fileURLToPath(new URL('../../conformance/server/main.mjs', import.meta.url));
const ASKER = fileURLToPath(new URL('../../fixtures/servers/asker.mjs', import.meta.url));

let servers: Servers;
let served: Served;
let folder: string;
const log: LogEntry[] = [];
beforeAll(async () => {
  servers = await openServers({
    legacy: ['legacy'],
    modern: ['modern'],
    asker: ['asker'],
    honest: ['honest'],
  });
  served = await serve(servers.host, {
    port: 0,
    auth: 'none',
    log: logTo((entry) => void log.push(entry), 'debug'),
  });
  folder = mkdtempSync(join(tmpdir(), 'midspan-sdk-'));
  writeFileSync(
    join(folder, 'midspan.json'),
    JSON.stringify({
      policy: 'allow',
      trust: { mode: 'off' },
      mcpServers: {
        legacy: { command: process.execPath, args: [SERVER, '--era', 'legacy', '--transport', 'stdio'] },
        modern: { command: process.execPath, args: [SERVER, '--era', 'modern', '--transport', 'stdio'] },
        asker: { command: process.execPath, args: [ASKER] },
      },
    }),
  );
});
afterAll(async () => {
  await served.close();
  await servers.close();
  rmSync(folder, { recursive: true, force: true });
});

const ends: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

type Over = 'HTTP' | 'a pipe';
const program = (label?: string) => ({
  command: process.execPath,
  args: [
    MIDSPAN,
    'serve',
    '--stdio',
    '--config',
    join(folder, 'midspan.json'),
    ...(label === undefined ? [] : ['--server', label]),
  ],
  stderr: 'ignore' as const,
});
const urlOf = (label?: string): URL => new URL(label === undefined ? served.url : `${served.url}/${label}`);

/** A client of SDK 1.x, which answers whatever it is asked. */
async function first(over: Over, label?: string) {
  const client = new ClientV1(
    { name: 'v1', version: '1' },
    { capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} } },
  );
  const heard = { asked: [] as string[], logged: [] as unknown[], changed: 0 };
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    heard.asked.push(params.message);
    return { action: 'accept', content: { username: 'Ada', email: 'ada@example.com' } };
  });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant',
    model: 'none',
    content: { type: 'text', text: 'Paris.' },
  }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///mine' }] }));
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ params }) => void heard.logged.push(params.data),
  );
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (heard.changed += 1));
  const transport = over === 'HTTP' ? new HttpV1(urlOf(label)) : new StdioV1(program(label));
  ends.push(() => client.close());
  await client.connect(transport);
  return { client, heard, transport };
}

/** A client of SDK 2.x, which finds out itself what we speak. */
async function second(over: Over, label?: string) {
  const client = new ClientV2(
    { name: 'v2', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  const heard = { asked: [] as string[] };
  client.setRequestHandler('elicitation/create', ({ params }) => {
    heard.asked.push(params.message);
    return { action: 'accept', content: { username: 'Ada', email: 'ada@example.com' } };
  });
  ends.push(() => client.close());
  await client.connect(over === 'HTTP' ? new HttpV2(urlOf(label)) : new StdioV2(program(label)));
  return { client, heard };
}

const text = (result: unknown): string => textOf(result as JsonObject);

describe.each<Over>(['HTTP', 'a pipe'])('Over %s', (over) => {
  describe.each(['legacy', 'modern'])('before a %s server', (label) => {
    it('a client of SDK 1.x has everything of its era', async () => {
      const { client, heard } = await first(over, label);
      expect(client.getServerVersion()).toMatchObject({ name: expect.any(String) as string });
      await client.ping();
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('test_simple_text');
      expect(text(await client.callTool({ name: 'test_simple_text' }))).toContain('simple text');
      const steps: number[] = [];
      const slow = await client.callTool({ name: 'test_tool_with_progress' }, undefined, {
        onprogress: ({ progress }) => void steps.push(progress),
      });
      expect(text(slow)).toBe('Done, with progress.');
      expect(steps.slice(0, 2)).toEqual([0, 50]);
      const asked = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } });
      expect(text(asked)).toContain('Ada');
      expect(heard.asked).toEqual(['Who?']);
      expect(
        text(await client.callTool({ name: 'test_sampling', arguments: { prompt: 'Where?' } })),
      ).toContain('Paris.');
      await client.setLoggingLevel('info');
      await client.callTool({ name: 'test_tool_with_logging' });
      await vi.waitFor(() => expect(heard.logged).toHaveLength(3));
      expect((await client.listResources()).resources).not.toHaveLength(0);
      expect((await client.listPrompts()).prompts).not.toHaveLength(0);
      await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 });
    });

    it('a client of SDK 2.x in `auto` speaks the newer era with us', async () => {
      const { client, heard } = await second(over, label);
      expect(client.getNegotiatedProtocolVersion()).toBe(MODERN);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('test_simple_text');
      const asked = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } });
      expect(text(asked)).toContain('Ada');
      expect(heard.asked).toEqual(['Who?']);
      const steps: number[] = [];
      await client.callTool(
        { name: 'test_tool_with_progress' },
        { onprogress: ({ progress }) => void steps.push(progress) },
      );
      // What comes in one chunk with the answer is lost by this SDK (sdk.md, 19).
      expect(steps.slice(0, 2)).toEqual([0, 50]);
      await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 });
    });
  });
});

describe('What people miss with servers on the SDK', () => {
  it('29: a client of the older era is asked, hears of changes and can cancel, with nothing to turn on', async () => {
    const { client, heard } = await first('HTTP');
    await client.listTools();
    expect(text(await client.callTool({ name: 'asker__ask', arguments: { message: 'Well?' } }))).toContain(
      'accept',
    );
    expect(heard.asked).toHaveLength(1);
    await client.callTool({ name: 'honest__grow' });
    await vi.waitFor(() => expect(heard.changed).toBeGreaterThan(0), 5_000);
    const before = servers.heard('asker', 'notifications/cancelled').length;
    const given = new AbortController();
    const called = client.callTool({ name: 'asker__sleep', arguments: { milliseconds: 60_000 } }, undefined, {
      signal: given.signal,
    });
    await vi.waitFor(() => expect(JSON.stringify(servers.said('asker').at(-1))).toContain('60000'));
    given.abort();
    await expect(called).rejects.toThrow();
    await vi.waitFor(() =>
      expect(servers.heard('asker', 'notifications/cancelled')).toHaveLength(before + 1),
    );
  });

  it('30: a list is written once for all: no request asks a server for it, and its bytes stay', async () => {
    const clients = [modernClient(served.url), modernClient(served.url)];
    const list = async (at: (typeof clients)[number]): Promise<string> =>
      (await at.send('tools/list', {}, { label: 'honest' })).text();
    const once_ = await list(clients[0] as (typeof clients)[number]);
    const before = servers.heard('honest', 'tools/list').length;
    for (let times = 0; times < 20; times += 1)
      for (const each of await Promise.all(clients.map(list))) expect(each).toBe(once_);
    expect(servers.heard('honest', 'tools/list')).toHaveLength(before);
  });

  it('31: what is too large is refused with 413, how large that is is configured, and the session lives on', async () => {
    const call = (length: number) => ({ name: 'honest__echo', arguments: { text: 'x'.repeat(length) } });
    const tight = await serve(servers.host, { port: 0, auth: 'none', limits: { body: 16_384 } });
    ends.push(() => tight.close());
    for (const [url, length] of [
      [served.url, 5 * 1024 * 1024],
      [tight.url, 20_000],
    ] as const) {
      const client = await legacyClient(url);
      const refused = await client.send('tools/call', call(length));
      expect(refused.status).toBe(413);
      await refused.text();
      expect((await modernClient(url).send('tools/call', call(length))).status).toBe(413);
      expect(textOf(await client.call('honest__echo', { text: 'a' }))).toBe('a');
    }
    const { result } = await (await legacyClient(served.url)).answer('tools/call', call(20_000));
    expect(textOf(result as JsonObject)).toHaveLength(20_000);
  });

  it('32: sessions end with DELETE and when they are quiet, are counted, and leave nothing with servers', async () => {
    const isolated = await openServers({ asker: ['asker'] }, { asker: { isolation: 'client' } });
    ends.push(() => isolated.close());
    const door = await openDoor(isolated.host, { sessions: { holds: 300, lookedAfter: 20 } });
    ends.push(() => door.close());
    const pidOf = async (client: ClientV1): Promise<number> =>
      Number(text(await client.callTool({ name: 'asker__pid' })));
    const open = async () => {
      const client = new ClientV1({ name: 'v1', version: '1' });
      ends.push(() => client.close());
      const transport = new HttpV1(new URL(door.url));
      await client.connect(transport);
      return { client, transport };
    };
    const runs = (pid: number): boolean => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    const [one, two] = [await open(), await open()];
    const [mine, other] = [await pidOf(one.client), await pidOf(two.client)];
    expect(mine).not.toBe(other);
    await one.transport.terminateSession();
    await vi.waitFor(() => expect(runs(mine)).toBe(false), 10_000);
    expect(runs(other)).toBe(true);
    // The other one closes without a word, as clients of SDK 1.x do.
    await two.client.close();
    await vi.waitFor(() => expect(runs(other)).toBe(false), 10_000);
    expect(door.gone).toHaveLength(2);
  });

  it('33: what a client missed is sent again to its own session alone', async () => {
    const one = await legacyClient(served.url);
    const two = await legacyClient(served.url);
    const given = new AbortController();
    const sent = await one.send(
      'tools/call',
      { name: 'honest__slow', arguments: { steps: 3, delay: 60 } },
      { meta: { progressToken: 1 }, signal: given.signal },
    );
    const { value } = await eventsOf(sent).next();
    given.abort();
    const last = { 'last-event-id': (value as { id: string }).id };
    const refused = await two.get(last);
    expect(refused.status).toBe(400);
    await refused.text();
    const events = [];
    for await (const { data } of eventsOf(await one.get(last))) if (data !== undefined) events.push(data);
    expect(events).toHaveLength(4);
  });

  it('34: `echo … | midspan serve --stdio` cancels what runs at the end, and the process ends', async () => {
    const child = spawn(process.execPath, program().args, { stdio: ['pipe', 'pipe', 'ignore'] });
    ends.push(() => child.kill());
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    };
    child.stdin.write(`${JSON.stringify(initialize)}\n`);
    await once(child.stdout, 'data');
    const sleep = { name: 'asker__sleep', arguments: { milliseconds: 600_000 } };
    child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: sleep })}\n`);
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
  });

  it('35: what goes wrong is in one log, whoever raised it', async () => {
    const client = modernClient(served.url);
    await client.call('nothing_at_all');
    await client.call('honest__fail');
    await vi.waitFor(() => {
      const problems = log.filter(
        ({ message, facts }) => message === 'tools/call' && facts['problem'] !== undefined,
      );
      expect(problems.map(({ facts }) => facts['name'])).toEqual(
        expect.arrayContaining(['nothing_at_all', 'honest__fail']),
      );
    });
  });
});

describe('A stream that breaks under an SDK client', () => {
  it('is taken up by SDK 1.x, and the call is answered', async () => {
    let broken = 0;
    const cut: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const body = init?.body;
      if (typeof body !== 'string' || !body.includes('honest__slow') || response.body === null)
        return response;
      // Only its first events come through.
      broken += 1;
      const reader = response.body.getReader();
      const stream = new ReadableStream({
        async start(controller) {
          for (let chunks = 0; chunks < 2; chunks += 1) {
            const { value } = await reader.read();
            if (value !== undefined) controller.enqueue(value);
          }
          await reader.cancel();
          controller.close();
        },
      });
      return new Response(stream, { status: response.status, headers: response.headers });
    };
    const client = new ClientV1({ name: 'v1', version: '1' });
    ends.push(() => client.close());
    await client.connect(new HttpV1(urlOf(), { fetch: cut }));
    const result = await client.callTool(
      { name: 'honest__slow', arguments: { steps: 5, delay: 80 } },
      undefined,
      { onprogress: () => undefined },
    );
    expect(text(result)).toBe('done after 5 steps');
    expect(broken).toBe(1);
  });
});
