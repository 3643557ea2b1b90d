// From nothing to the first list, and what stands in memory while nothing happens.
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, echo, list, load, openClients } from './client.mjs';
import { start } from './processes.mjs';
import { gateway, httpServer, stdioServer } from './targets.mjs';

const TOOLS = 10;
const servers = (count) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, stdioServer(TOOLS)]));

export async function measureStart(how) {
  const { quick, header, row, judge } = how;
  console.log('\nFrom the start of the program to the first list of five stdio servers, and at rest\n');
  header(['what', 'handshake, ms', 'all tools, ms', 'against an empty node', 'against the servers alone']);
  await coldStart(how, quick ? 2 : 5);
  console.log('');
  header(['what', 'figure']);
  await twentyServers(row, judge);
  await manyClients(row, judge, quick ? 200 : 500);
}

async function coldStart({ median, row, judge }, rounds) {
  const empty = [];
  const alone = [];
  const first = [];
  const again = [];
  const { open, remove } = await gateway(servers(5));
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    empty.push(performance.now() - began);
    alone.push(await serversAlone());
    again.push(await timed(open));
    const fresh = await gateway(servers(5));
    first.push(await timed(fresh.open));
    fresh.remove();
  }
  remove();
  const node = median(empty);
  const bare = median(alone);
  const line = (what, handshake, all) =>
    row([what, handshake.toFixed(0), all.toFixed(0), (handshake / node).toFixed(1), (all / bare).toFixed(2)]);
  line('an empty node', node, node);
  line('five servers, listed by hand', bare, bare);
  const served = (what, times) => {
    const handshake = median(times.map((each) => each.handshake));
    const all = median(times.map((each) => each.all));
    line(what, handshake, all);
    const [early, late] = [handshake / node, all / bare];
    judge(`${what}: handshake within 2.5 of an empty node`, early <= 2.5, `x ${early.toFixed(1)}`);
    judge(`${what}: all tools within 1.3 of the servers alone`, late <= 1.3, `x ${late.toFixed(2)}`);
  };
  served('midspan serve, first time', first);
  served('midspan serve, its lists known', again);
}

/** How long five servers take that nobody stands in front of. */
async function serversAlone() {
  const began = performance.now();
  const { command, args } = stdioServer(TOOLS);
  const started = Array.from({ length: 5 }, () => start(command, args));
  await Promise.all(
    started.map(({ write, firstLine }) => {
      write('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}\n');
      return firstLine;
    }),
  );
  const took = performance.now() - began;
  for (const server of started) await server.stop();
  return took;
}

async function timed(open) {
  const began = performance.now();
  const opened = await open();
  const client = new Client(opened.url, 'legacy');
  await client.open();
  const handshake = performance.now() - began;
  const wanted = list('legacy', 5 * TOOLS);
  while ((await client.result(wanted)).tools.length < 5 * TOOLS) await pause(2);
  const all = performance.now() - began;
  client.close();
  await opened.stop();
  return { handshake, all };
}

async function twentyServers(row, judge) {
  const { open, remove } = await gateway(servers(20));
  const opened = await open();
  const clients = await openClients(opened.url, 'legacy', 16);
  const wanted = list('legacy', 20 * TOOLS);
  while ((await clients[0].result(wanted)).tools.length < 20 * TOOLS) await pause(20);
  const memory = opened.memory();
  row(['memory with 20 idle stdio servers, MB', memory.toFixed(0)]);
  judge('20 idle servers: at most 90 MB', memory <= 90, `${memory.toFixed(0)} MB`);
  await load(clients, wanted, 300);
  const one = await load(clients.slice(0, 1), wanted, 300);
  const many = await load(clients, wanted, 500);
  row(['their list of 200 tools, one at a time, p50 in ms', one.p50.toFixed(2)]);
  row(['the same, 16 in flight, lists a second', many.perSecond.toFixed(0)]);
  judge('list over 20 servers: at most 1 ms', one.p50 <= 1, `${one.p50.toFixed(2)} ms`);
  for (const client of clients) client.close();
  await opened.stop();
  remove();
}

async function manyClients(row, judge, count) {
  const server = await httpServer();
  const { open, remove } = await gateway({ up: { type: 'http', url: server.url } });
  const opened = await open();
  const made = echo(100, opened.tool, 'legacy');
  const few = await openClients(opened.url, 'legacy', 16);
  await load(few, made, 2_000);
  const before = opened.memory();
  const clients = await openClients(opened.url, 'legacy', count);
  for (const client of clients) await client.call(made);
  const each = ((opened.memory() - before) * 1024) / count;
  row([`memory for each of ${count} clients, kB`, each.toFixed(0)]);
  judge(`${count} clients: at most 100 kB each`, each <= 100, `${each.toFixed(0)} kB`);
  for (const client of [...few, ...clients]) client.close();
  await opened.stop();
  await server.stop();
  remove();
}
