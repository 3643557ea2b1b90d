/** `midspan serve` as people and programs start it. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const BIN = fileURLToPath(new URL('../../bin/midspan.js', import.meta.url));
const HONEST = fileURLToPath(new URL('../fixtures/servers/honest.mjs', import.meta.url));
const honest = { command: process.execPath, args: [HONEST] };

let folder: string;
const children: ChildProcess[] = [];
const clients: Client[] = [];

const configure = (config: object): void =>
  writeFileSync(
    join(folder, 'midspan.json'),
    JSON.stringify({ policy: 'allow', trust: { mode: 'off' }, ...config }),
  );

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'midspan-serve-'));
  configure({ mcpServers: { one: honest } });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(
    children.splice(0).map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }),
  );
  rmSync(folder, { recursive: true, force: true });
});

function start(...words: string[]) {
  const child = spawn(process.execPath, [BIN, 'serve', ...words], { cwd: folder });
  children.push(child);
  const lines: string[] = [];
  const told: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => told.push(line));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { child, lines, told, ended };
}

interface Listening {
  type: string;
  url: string;
  servers: Record<string, string>;
  token?: string;
}

async function listening(...words: string[]) {
  const started = start('--port', '0', '--json', ...words);
  await vi.waitFor(() => expect(started.lines.length).toBeGreaterThan(0), { timeout: 10_000 });
  return { ...started, ...(JSON.parse(started.lines[0] ?? '') as Listening) };
}

async function connect(url: string, token?: string, changed?: () => void): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    changed && { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: changed } } },
  );
  clients.push(client);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

const namesOf = async (client: Client): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

describe('midspan serve', () => {
  it('says first where it listens, and the token once', async () => {
    const first = await listening();
    expect(first).toMatchObject({
      type: 'listening',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/) as string,
      servers: { one: `${first.url}/one` },
      token: expect.stringMatching(/^msk_/) as string,
    });
    expect(await namesOf(await connect(first.url, first.token))).toContain('one__echo');
    expect(await namesOf(await connect(`${first.url}/one`, first.token))).toContain('echo');
    await expect(connect(first.url)).rejects.toThrow();
    const again = await listening();
    expect(again).not.toHaveProperty('token');
    expect(await namesOf(await connect(again.url, first.token))).toContain('one__echo');
  });

  it('shows a person the address and the token', async () => {
    const { lines, told } = start('--port', '0');
    await vi.waitFor(() => expect(told.join('\n')).toContain('msk_'), { timeout: 10_000 });
    expect(lines).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)]);
  });

  it('refuses what it cannot do, and says what to do', async () => {
    const open = start('--auth', 'none', '--host', '0.0.0.0', '--port', '0');
    expect([await open.ended, open.told.join('\n')]).toEqual([2, expect.stringContaining('--auth none')]);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const taken = start('--port', String(port));
    expect([await taken.ended, taken.told.join('\n')]).toEqual([2, expect.stringContaining('is taken')]);
    server.close();
    const unknown = start('--stdio', '--server', 'none');
    expect([await unknown.ended, unknown.told.join('\n')]).toEqual([
      2,
      expect.stringContaining('Configured are: one'),
    ]);
  });

  it('ends well on SIGTERM, after what runs, and leaves no server behind', async () => {
    const { child, url, ended } = await listening('--auth', 'none');
    const client = await connect(url);
    const steps: number[] = [];
    const call = client.callTool(
      { name: 'one__slow', arguments: { steps: 5, delay: 60 } },
      {
        onprogress: ({ progress }) => {
          steps.push(progress);
          if (steps.length === 1) child.kill('SIGTERM');
        },
      },
    );
    expect(await call).toMatchObject({ content: expect.anything() as object });
    expect(await ended).toBe(0);
  });

  it('ends at once on a second signal', async () => {
    const { child, url, ended } = await listening('--auth', 'none');
    const client = await connect(url);
    const call = client
      .callTool(
        { name: 'one__slow', arguments: { steps: 600, delay: 100 } },
        {
          onprogress: () => {
            child.kill('SIGTERM');
            child.kill('SIGINT');
          },
        },
      )
      .catch(() => undefined);
    // Whichever of the two came second.
    expect([130, 143]).toContain(await ended);
    await client.close();
    await call;
  });

  it('goes over to another configuration while clients stay connected', async () => {
    const { url, told, child } = await listening('--auth', 'none');
    let changes = 0;
    const client = await connect(url, undefined, () => (changes += 1));
    expect(await namesOf(client)).not.toContain('two__echo');
    configure({ mcpServers: { one: honest, two: honest } });
    await vi.waitFor(() => expect(changes).toBeGreaterThan(0), { timeout: 10_000 });
    await vi.waitFor(async () => expect(await namesOf(client)).toContain('two__echo'), { timeout: 10_000 });
    writeFileSync(join(folder, 'midspan.json'), '{');
    child.kill('SIGHUP');
    await vi.waitFor(() => expect(told.join('\n')).toContain('stays as it was'), { timeout: 10_000 });
    expect(await namesOf(client)).toContain('two__echo');
  });

  it('takes and drops keys while it runs, and writes no secret down', async () => {
    const key = { name: 'ci', key: 'a-key-for-the-tests' };
    configure({ mcpServers: { one: honest }, serve: { keys: [key] } });
    const { url, told, token } = await listening('--log-level', 'debug');
    expect(await namesOf(await connect(url, key.key))).toContain('one__echo');
    configure({ mcpServers: { one: honest } });
    await vi.waitFor(() => expect(told.join('\n')).toContain('read again'), { timeout: 10_000 });
    await expect(connect(url, key.key)).rejects.toThrow();
    expect(await namesOf(await connect(url, token))).toContain('one__echo');
    expect(told.join('\n')).not.toContain(key.key);
    expect(told.join('\n')).not.toContain(token);
    expect(readFileSync(join(folder, '.midspan', 'gateway.json'), 'utf8')).not.toContain(token);
  });

  it('writes nothing but messages to a pipe, and ends with its input', async () => {
    const { child, lines, ended } = start('--stdio');
    const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    say({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    });
    say({ id: 2, method: 'tools/list' });
    child.stdin.write('nonsense\n');
    await vi.waitFor(() => expect(lines.length).toBeGreaterThanOrEqual(3), { timeout: 10_000 });
    const messages = lines.map((line) => JSON.parse(line) as { id: unknown; jsonrpc: string });
    expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
    expect(new Set(messages.map(({ id }) => id))).toEqual(new Set([1, 2, null]));
    child.stdin.end();
    expect(await ended).toBe(0);
  });
});
