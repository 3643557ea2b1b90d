// Servers that die at random under many clients, then input that nobody should send. Seeded; bounded in time and on loopback.
// `node run.mjs [--seconds 60] [--clients 64] [--seed 1]`; prints what happened and ends with 1 where something was wrong.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const MIDSPAN = fileURLToPath(new URL('../../bin/midspan.js', import.meta.url));
const UPSTREAM = fileURLToPath(new URL('../../bench/gateway/upstream.mjs', import.meta.url));
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    clients: { type: 'string', default: '64' },
    seed: { type: 'string', default: '1' },
  },
});
const SECONDS = Number(values.seconds);
const CLIENTS = Number(values.clients);
/** Milliseconds after which a call counts as hanging; the gateway's own deadline is shorter. */
const HANGS = 45_000;
/** Megabytes and descriptors that a gateway may have more after it than before: caches, and sockets that are kept. */
const MARGIN = { megabytes: 120, descriptors: 40 };

let state = Number(values.seed);
/** From 0 to 1, the same for the same seed (mulberry32). */
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
}
const oneOf = (items) => items[Math.floor(random() * items.length)];

const folder = mkdtempSync(join(tmpdir(), 'midspan-faults-'));
const config = join(folder, 'midspan.json');
const LABELS = ['a', 'b', 'c', 'd', 'e'];
const server = (label) => ({
  command: process.execPath,
  args: [UPSTREAM, 'stdio'],
  era: label < 'c' ? 'legacy' : 'modern',
});
writeFileSync(
  config,
  JSON.stringify({
    policy: 'allow',
    trust: { mode: 'off' },
    mcpServers: Object.fromEntries(LABELS.map((label) => [label, server(label)])),
  }),
);
const gateway = spawn(
  process.execPath,
  [MIDSPAN, 'serve', '--config', config, '--port', '0', '--auth', 'none', '--json', '--log-level', 'error'],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const [line] = await once(gateway.stdout, 'data');
const { url } = JSON.parse(String(line));
const problems = [];
const counts = { right: 0, refused: 0, killed: 0, fuzzed: 0 };
gateway.once('exit', (code) => {
  if (!isOver) problems.push(`the gateway ended with ${code}`);
});
let isOver = false;

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

async function post(body, headers = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body,
    signal: AbortSignal.timeout(HANGS),
  });
  const text = await response.text();
  const last = text
    .split('\n')
    .filter((each) => each.startsWith('data: {'))
    .at(-1);
  return { response, message: last === undefined ? text : last.slice(6) };
}

async function legacy() {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'f', version: '1' } };
  const { response } = await post(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }));
  const session = { 'mcp-session-id': response.headers.get('mcp-session-id') };
  return (id, name, args) =>
    post(
      JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }),
      session,
    );
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const modern = () => (id, name, args) =>
  post(
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: args, _meta: META },
    }),
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
  );

/** Calls without end; every answer is its own, or says clearly that there is none. */
async function client(number, until) {
  const call = number % 2 === 0 ? await legacy() : modern();
  for (let id = 1; Date.now() < until; id += 1) {
    const label = oneOf(LABELS);
    const text = `${number}/${id}/${random()}`;
    try {
      // Every client uses the same ids.
      const { message } = await call(id, `${label}__echo`, { text });
      const answer = JSON.parse(message);
      const said = answer.result?.content?.[0]?.text;
      if (answer.id !== id) problems.push(`client ${number} was given the answer to ${answer.id}, not ${id}`);
      else if (said === text) counts.right += 1;
      else if (answer.result?.isError === true && said.startsWith(`${label}: `)) counts.refused += 1;
      else problems.push(`client ${number} was answered ${message.slice(0, 300)}`);
    } catch (error) {
      problems.push(`client ${number}: ${error.message} ${error.cause?.message ?? ''}`);
      return;
    }
  }
}

const childrenOf = (pid) =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1].split(' ')[1] === String(pid);
      } catch {
        return false;
      }
    });

async function killer(until) {
  while (Date.now() < until) {
    await pause(100 + random() * 400);
    const victim = oneOf(childrenOf(gateway.pid));
    if (victim === undefined) continue;
    try {
      process.kill(Number(victim), oneOf(['SIGKILL', 'SIGTERM']));
      counts.killed += 1;
    } catch {
      // It has gone by itself.
    }
  }
}

const used = () => ({
  megabytes: Math.round(
    (Number(readFileSync(`/proc/${gateway.pid}/statm`, 'utf8').split(' ')[1]) * 4096) / 2 ** 20,
  ),
  descriptors: readdirSync(`/proc/${gateway.pid}/fd`).length,
});

/** Bytes that are no HTTP, or not whole; resolves when the gateway lets go, or has answered. */
function raw(bytes) {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const guard = setTimeout(() => socket.destroy(), 2_000);
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.on('close', () => {
      clearTimeout(guard);
      resolve();
    });
    socket.end(bytes);
  });
}

const VALID = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'a__echo', arguments: { text: 'x' } },
};
const ODD = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  'x'.repeat(100_000),
  [],
  {},
  [[[[]]]],
  '\u0000',
  '__proto__',
  JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`),
];

function mutated(value, depth = 0) {
  if (depth > 4 || random() < 0.25) return oneOf(ODD);
  if (Array.isArray(value)) return value.map((each) => (random() < 0.5 ? mutated(each, depth + 1) : each));
  if (typeof value !== 'object' || value === null) return oneOf(ODD);
  const entries = Object.entries(value).filter(() => random() < 0.9);
  const next = Object.fromEntries(
    entries.map(([name, each]) => [
      random() < 0.1 ? oneOf(['x', '__proto__', 'id']) : name,
      random() < 0.4 ? mutated(each, depth + 1) : each,
    ]),
  );
  if (random() < 0.2) next[oneOf(['method', 'id', 'params', '_meta', 'result'])] = oneOf(ODD);
  return next;
}

async function fuzz(until) {
  while (Date.now() < until) {
    counts.fuzzed += 1;
    if (random() < 0.2) {
      const text = Array.from({ length: 1 + random() * 400 }, () => String.fromCharCode(random() * 256)).join(
        '',
      );
      await raw(
        random() < 0.5
          ? text
          : `POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n${text}`,
      );
      continue;
    }
    const isModern = random() < 0.5;
    const base = isModern ? { ...VALID, params: { ...VALID.params, _meta: META } } : VALID;
    const message = mutated(base);
    let body = JSON.stringify(random() < 0.1 ? [message, message] : message);
    if (random() < 0.1) body = body.slice(0, body.length / 2);
    const headers =
      isModern && random() < 0.8
        ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'a__echo' }
        : random() < 0.3
          ? { 'mcp-session-id': 'nonsense' }
          : {};
    try {
      const { response, message: text } = await post(body, headers);
      if (response.status >= 500) problems.push(`${response.status} for ${body.slice(0, 300)}`);
      else if (text !== '' && JSON.parse(text).jsonrpc !== '2.0')
        problems.push(`no JSON-RPC for ${body.slice(0, 300)}`);
    } catch (error) {
      problems.push(`${error.message} ${error.cause?.message ?? ''} for ${body.slice(0, 300)}`);
    }
  }
}

async function phase(milliseconds, jobs) {
  const until = Date.now() + milliseconds;
  await Promise.all(jobs(until));
}

const everybody = (until) => Array.from({ length: CLIENTS }, (_, number) => client(number, until));
await phase(2_000, everybody);
await pause(500);
const before = used();
await phase(SECONDS * 1_000, (until) => [...everybody(until), killer(until - 1_000)]);
await phase(SECONDS * 250, (until) => [fuzz(until), fuzz(until), client(0, until), client(1, until)]);
// Connections that were kept come to their end, and servers that died come back.
await pause(6_000);
const after = used();
for (const [what, margin] of Object.entries(MARGIN))
  if (after[what] > before[what] + margin)
    problems.push(`${before[what]} ${what} before, ${after[what]} after`);
isOver = true;
gateway.kill('SIGTERM');
await once(gateway, 'exit');
rmSync(folder, { recursive: true, force: true });
console.log(`seed ${values.seed}: ${JSON.stringify(counts)}`);
console.log(`before ${JSON.stringify(before)}, after ${JSON.stringify(after)}`);
for (const problem of [...new Set(problems)].slice(0, 20)) console.log(`  WRONG  ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);
