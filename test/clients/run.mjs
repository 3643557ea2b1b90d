// Clients that people use, at their ordinary work through the gateway: over HTTP with its token, and over its pipe.
// `node run.mjs [client]`; prints a table and ends with 1 where something did not work.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('./', import.meta.url));
const MIDSPAN = join(HERE, '../../bin/midspan.js');
const SERVER = join(HERE, '../conformance/server/main.mjs');
const NEWER_NODE = join(HERE, 'node_modules/node/bin/node');
/** Milliseconds after which a client counts as hanging. */
const GUARD = 60_000;

function install() {
  const mark = join(HERE, 'node_modules/.package-lock.json');
  if (existsSync(mark) && statSync(mark).mtimeMs >= statSync(join(HERE, 'package-lock.json')).mtimeMs) return;
  console.error('Installing the clients ...');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: HERE,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) process.exit(1);
}

/** A gateway before a legacy and a modern server; resolves to its address, its token and the words that start it on a pipe. */
async function startGateway() {
  const folder = mkdtempSync(join(tmpdir(), 'midspan-clients-'));
  const config = join(folder, 'midspan.json');
  const server = (era) => ({
    command: process.execPath,
    args: [SERVER, '--era', era, '--transport', 'stdio'],
  });
  writeFileSync(
    config,
    JSON.stringify({
      policy: 'allow',
      trust: { mode: 'off' },
      mcpServers: { old: server('legacy'), new: server('modern') },
    }),
  );
  const child = spawn(process.execPath, [MIDSPAN, 'serve', '--config', config, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(child.stdout, 'data');
  const { url, token } = JSON.parse(String(line));
  return {
    url,
    token,
    pipe: [process.execPath, MIDSPAN, 'serve', '--stdio', '--config', config],
    async stop() {
      child.kill();
      await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a program to its end; resolves to what it printed. */
async function printed(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const guard = setTimeout(() => child.kill('SIGKILL'), GUARD);
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  const [code] = await once(child, 'close');
  clearTimeout(guard);
  if (code !== 0) throw new Error(`ended with ${code}: ${(err || out).slice(0, 500)}`);
  return out;
}

function expect(text, wanted) {
  if (!String(text).includes(wanted))
    throw new Error(`${JSON.stringify(wanted)} is not in ${String(text).slice(0, 300)}`);
}

/** The work of a client of the official SDKs, of either version. */
async function sdkWork(client) {
  const { tools } = await client.listTools();
  expect(
    tools.map(({ name }) => name),
    'new__test_simple_text',
  );
  for (const label of ['old', 'new']) {
    const result = await client.callTool({ name: `${label}__test_simple_text`, arguments: {} });
    expect(JSON.stringify(result), 'simple text response');
    const read = await client.readResource({ uri: `midspan://${label}/test://static-text` });
    expect(JSON.stringify(read), 'static text resource');
    expect(JSON.stringify(await client.getPrompt({ name: `${label}__test_simple_prompt` })), 'simple prompt');
  }
}

const inspector = (era) => async (gateway) => {
  const cli = [join(HERE, 'node_modules/.bin/mcp-inspector'), '--cli'];
  const more = ['--protocol-era', era];
  const over = {
    http: [
      '--transport',
      'http',
      '--server-url',
      gateway.url,
      '--header',
      `Authorization: Bearer ${gateway.token}`,
    ],
  };
  const run = (wire, ...words) => printed(NEWER_NODE, [...cli, ...over[wire], ...more, ...words]);
  expect(await run('http', '--method', 'tools/list'), 'old__test_simple_text');
  for (const label of ['old', 'new']) {
    expect(
      await run('http', '--method', 'tools/call', '--tool-name', `${label}__test_simple_text`),
      'simple text response',
    );
  }
  expect(await run('http', '--method', 'prompts/list'), 'new__test_simple_prompt');
  expect(
    await run('http', '--method', 'prompts/get', '--prompt-name', 'old__test_simple_prompt'),
    'simple prompt',
  );
  expect(await run('http', '--method', 'resources/list'), 'midspan://new/test://static-text');
  expect(
    await run('http', '--method', 'resources/read', '--uri', 'midspan://old/test://static-text'),
    'static text resource',
  );
};

const bearer = ({ token }) => ({ authorization: `Bearer ${token}` });

const CLIENTS = {
  'Inspector, legacy, HTTP': inspector('legacy'),
  'Inspector, modern, HTTP': inspector('modern'),
  async 'SDK v1, HTTP'(gateway) {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } =
      await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const client = new Client({ name: 'v1', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(gateway.url), { requestInit: { headers: bearer(gateway) } }),
    );
    await sdkWork(client).finally(() => client.close());
  },
  async 'SDK v1, pipe'({ pipe: [command, ...args] }) {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const client = new Client({ name: 'v1', version: '1' });
    await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
    await sdkWork(client).finally(() => client.close());
  },
  ...Object.fromEntries(
    ['legacy', 'auto'].flatMap((mode) => [
      [
        `SDK v2, ${mode}, HTTP`,
        async (gateway) => {
          const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
          const client = new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode } });
          await client.connect(
            new StreamableHTTPClientTransport(new URL(gateway.url), {
              requestInit: { headers: bearer(gateway) },
            }),
          );
          await sdkWork(client).finally(() => client.close());
        },
      ],
      [
        `SDK v2, ${mode}, pipe`,
        async ({ pipe: [command, ...args] }) => {
          const { Client } = await import('@modelcontextprotocol/client');
          const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
          const client = new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode } });
          await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
          await sdkWork(client).finally(() => client.close());
        },
      ],
    ]),
  ),
  async '@ai-sdk/mcp, HTTP'(gateway) {
    const { createMCPClient } = await import('@ai-sdk/mcp');
    const client = await createMCPClient({
      transport: { type: 'http', url: gateway.url, headers: bearer(gateway) },
    });
    try {
      const tools = await client.tools();
      for (const label of ['old', 'new']) {
        const tool = tools[`${label}__test_simple_text`];
        expect(
          JSON.stringify(await tool.execute({}, { toolCallId: '1', messages: [] })),
          'simple text response',
        );
      }
    } finally {
      await client.close();
    }
  },
  async '@openai/agents, HTTP'(gateway) {
    const { MCPServerStreamableHttp } = await import('@openai/agents');
    const server = new MCPServerStreamableHttp({
      url: gateway.url,
      requestInit: { headers: bearer(gateway) },
    });
    await agentsWork(server);
  },
  async '@openai/agents, pipe'({ pipe: [command, ...args] }) {
    const { MCPServerStdio } = await import('@openai/agents');
    await agentsWork(new MCPServerStdio({ command, args }));
  },
  async 'mcp-remote, then SDK v1'(gateway) {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const client = new Client({ name: 'v1', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: NEWER_NODE,
        args: [
          join(HERE, 'node_modules/.bin/mcp-remote'),
          gateway.url,
          '--allow-http',
          '--header',
          `Authorization: Bearer ${gateway.token}`,
          '--transport',
          'http-only',
        ],
        stderr: 'ignore',
      }),
    );
    await sdkWork(client).finally(() => client.close());
  },
};

async function agentsWork(server) {
  await server.connect();
  try {
    const tools = await server.listTools();
    expect(
      tools.map(({ name }) => name),
      'old__test_simple_text',
    );
    for (const label of ['old', 'new'])
      expect(JSON.stringify(await server.callTool(`${label}__test_simple_text`, {})), 'simple text response');
  } finally {
    await server.close();
  }
}

/** One client in a process of its own, by the newer Node that some of them need. */
async function work(name) {
  await CLIENTS[name](JSON.parse(process.env.GATEWAY));
  process.exit(0);
}

if (process.env.GATEWAY !== undefined) await work(process.argv[2]);
install();
const gateway = await startGateway();
const failed = [];
try {
  for (const name of Object.keys(CLIENTS)) {
    if (process.argv[2] !== undefined && !name.includes(process.argv[2])) continue;
    process.env.GATEWAY = JSON.stringify(gateway);
    try {
      await printed(NEWER_NODE, [fileURLToPath(import.meta.url), name]);
      console.log(`  works   ${name}`);
    } catch (error) {
      failed.push(name);
      console.log(`  FAILS   ${name}: ${error.message}`);
    }
  }
} finally {
  await gateway.stop();
}
process.exit(failed.length === 0 ? 0 : 1);
