// What is measured, and how each is started in front of a server: `{ url }` or `{ command, args }`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { list, openClients } from './client.mjs';
import { start } from './processes.mjs';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const node = process.execPath;
const MIDSPAN = path('../../bin/midspan.js');

export const stdioServer = (tools = 10) => ({
  command: node,
  args: [path('upstream.mjs'), 'stdio', '--tools', String(tools)],
});

export async function httpServer() {
  const server = start(node, [path('upstream.mjs'), 'http']);
  return { url: `http://127.0.0.1:${await server.firstLine}/mcp`, stop: () => server.stop() };
}

const wordsOf = ({ url, command, args }) => (url === undefined ? [command, ...args] : [url]);

/** Programs of ours that print their port. */
async function printing(args) {
  const program = start(node, args);
  return { ...program, url: `http://127.0.0.1:${await program.firstLine}/mcp`, tool: 'echo' };
}

/** Programs of others: on a port that is free just now, and ready when a client can list the tools. */
async function listening(era, argsOf) {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  const program = start(node, argsOf(port));
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const [client] = await openClients(url, era, 1);
      await client.call(list(era, 10));
      client.close();
      return { ...program, url, tool: 'echo' };
    } catch (error) {
      if (attempt === 100) throw error;
      await pause(100);
    }
  }
}

/** Midspan with a lock, a policy and its store. `servers` by label; `warm` starts it once before, so that it knows its lists. */
export async function gateway(servers, era) {
  const folder = mkdtempSync(join(tmpdir(), 'midspan-bench-'));
  const config = join(folder, 'midspan.json');
  const policy = {
    rules: [
      { tools: ['*/never'], action: 'deny' },
      { tools: ['*/*'], action: 'allow' },
    ],
    default: 'deny',
  };
  const entries = Object.entries(servers).map(([label, server]) => [
    label,
    { ...server, ...(era && { era }) },
  ]);
  writeFileSync(config, JSON.stringify({ policy, mcpServers: Object.fromEntries(entries) }));
  const locked = spawnSync(node, [MIDSPAN, 'lock', '--yes', '--config', config], { encoding: 'utf8' });
  if (locked.status !== 0) throw new Error(`midspan lock failed: ${locked.stderr}`);
  const [label] = Object.keys(servers);
  const open = async () => {
    const program = start(
      node,
      [MIDSPAN, 'serve', '--config', config, '--port', '0', '--auth', 'none', '--json'],
      {
        cwd: folder,
      },
    );
    const { url } = JSON.parse(await program.firstLine);
    return { ...program, url, tool: `${label}__echo` };
  };
  return { open, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

async function midspan(server) {
  const { open, remove } = await gateway({
    up: server.url === undefined ? server : { type: 'http', url: server.url },
  });
  const opened = await open();
  return {
    ...opened,
    async stop() {
      await opened.stop();
      remove();
    },
  };
}

/** `eras` and `wires` (of servers) that it serves; a `peer` comes from others. */
export const TARGETS = {
  floor: {
    eras: ['legacy', 'modern'],
    wires: ['http', 'stdio'],
    open: (server) =>
      printing([path('floor.mjs'), server.url === undefined ? 'stdio' : 'http', ...wordsOf(server)]),
  },
  midspan: { eras: ['legacy', 'modern'], wires: ['http', 'stdio'], open: midspan },
  'SDK v1': {
    isPeer: true,
    eras: ['legacy'],
    wires: ['http', 'stdio'],
    open: (server) => printing([path('sdk-v1.mjs'), ...wordsOf(server)]),
  },
  'SDK v2': {
    isPeer: true,
    eras: ['legacy', 'modern'],
    wires: ['http', 'stdio'],
    open: (server) => printing([path('sdk-v2.mjs'), ...wordsOf(server)]),
  },
  'mcp-proxy': {
    isPeer: true,
    isInstalled: true,
    eras: ['legacy', 'modern'],
    wires: ['stdio'],
    open: (server, era) =>
      listening(era, (port) => [
        path('peers/node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs'),
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        '--server',
        'stream',
        '--',
        ...wordsOf(server),
      ]),
  },
  supergateway: {
    isPeer: true,
    isInstalled: true,
    eras: ['legacy'],
    wires: ['stdio'],
    open: (server, era) =>
      listening(era, (port) => [
        path('peers/node_modules/supergateway/dist/index.js'),
        '--stdio',
        wordsOf(server).join(' '),
        '--outputTransport',
        'streamableHttp',
        '--stateful',
        '--port',
        String(port),
        '--logLevel',
        'none',
      ]),
  },
};

/** Whether the published peers are there, as the lock file has them; they are installed where they are not. */
export function installPeers() {
  const read = (name) =>
    existsSync(path(name)) ? JSON.parse(readFileSync(path(name), 'utf8')).packages : {};
  const wanted = read('peers/package-lock.json');
  const isThere = () => {
    const found = read('peers/node_modules/.package-lock.json');
    return Object.entries(wanted).every(
      ([name, { version, optional }]) => name === '' || optional || found[name]?.version === version,
    );
  };
  if (isThere()) return true;
  console.error('Installing the gateways to compare with ...');
  spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: path('peers'),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return isThere();
}
