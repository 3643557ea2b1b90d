// `npm run bench:trust`: what looking at 1,000 tools costs before they are shown: the scan of each server and of all together, and
// the comparison with a lock. Each measurement has a process of its own, for nothing may be warm. Writes its part of docs/performance.md.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { generateTools } from '../lowering/tools.mjs';

const TOOLS = 1_000;
const SERVERS = 20;
const PROCESSES = 7;
/** Milliseconds that a start may take longer, and a refresh without changes. */
const GOALS = { cold: 100, warm: 10 };
const TASKS = { scan: scanning, compare: comparing, together };
const [task] = process.argv.slice(2);

if (task === undefined) main();
else process.stdout.write(JSON.stringify(await measure(task)));

/** As servers list them: one text each. */
function listings() {
  const tools = generateTools(TOOLS).map(({ definition }) => definition);
  const each = TOOLS / SERVERS;
  return Array.from({ length: SERVERS }, (_, at) => ({
    label: `server-${at}`,
    text: JSON.stringify({
      serverInfo: { name: `server-${at}`, version: '1.0.0' },
      tools: tools.slice(at * each, (at + 1) * each),
    }),
  }));
}

function parsed(texts) {
  return texts.map(({ label, text }) => ({ label, surface: JSON.parse(text) }));
}

async function measure(name) {
  const texts = listings();
  const time = (work) => {
    const [start, used] = [performance.now(), process.cpuUsage()];
    work();
    const { user, system } = process.cpuUsage(used);
    return [performance.now() - start, (user + system) / 1000];
  };
  const [parsing] = time(() => parsed(texts));
  const work = await TASKS[name]();
  const prepared = work.prepare?.(parsed(texts));
  const servers = parsed(texts);
  const [cold, processor] = time(() => work.run(servers, prepared));
  const [same] = time(() => work.run(servers, prepared));
  // Other objects of the same content, as after a server has listed its tools again.
  const copies = parsed(texts);
  const [copy] = time(() => work.run(copies, prepared));
  return { parsing, cold, processor, same, copy };
}

async function scanning() {
  const { scanServer, scanAcross } = await import('../../dist/trust/scan/scan.js');
  return {
    run(servers) {
      for (const server of servers) scanServer(server);
      scanAcross(servers);
    },
  };
}

async function comparing() {
  const { compare, pinServer } = await import('../../dist/trust/lock/index.js');
  const spec = (label) => ({ label, transport: { type: 'stdio', command: label, args: [], env: {} } });
  return {
    prepare: (servers) =>
      servers.map(({ label, surface }) =>
        pinServer(spec(label), undefined, surface, { at: '2026-01-01', how: 'yes' }),
      ),
    run(servers, pins) {
      for (const [at, { surface }] of servers.entries()) compare(pins[at], { surface });
    },
  };
}

async function together() {
  const [scan, comparison] = await Promise.all([scanning(), comparing()]);
  return {
    prepare: comparison.prepare,
    run(servers, pins) {
      scan.run(servers);
      comparison.run(servers, pins);
    },
  };
}

function main() {
  const rows = Object.keys(TASKS).map((name) => {
    const runs = Array.from({ length: PROCESSES }, () => child(name));
    const median = (member) =>
      runs.map((run) => run[member]).sort((a, b) => a - b)[Math.floor(PROCESSES / 2)];
    const row = { name };
    for (const member of ['parsing', 'cold', 'processor', 'same', 'copy']) row[member] = median(member);
    row.best = Math.min(...runs.map(({ cold }) => cold));
    console.log(
      `${name}: ${row.cold.toFixed(0)} ms cold (${row.best.toFixed(0)} at best, ${row.processor.toFixed(0)} of processor time), ${row.same.toFixed(1)} ms for the same, ${row.copy.toFixed(1)} ms for a copy; parsing takes ${row.parsing.toFixed(1)} ms`,
    );
    return row;
  });
  const verdict = verdictOf(rows.find(({ name }) => name === 'together'));
  console.log(verdict);
  write(rows, verdict);
}

function verdictOf({ cold, same, copy }) {
  const holds = (value, goal) => (value < goal ? 'holds' : 'does not hold');
  return `Cold it ${holds(cold, GOALS.cold)}; warm it ${holds(same, GOALS.warm)} for the same lists and ${holds(copy, GOALS.warm)} for copies of them.`;
}

function child(name) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), name], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

function write(rows, verdict) {
  const bytes = listings().reduce((sum, { text }) => sum + text.length, 0);
  const [load] = loadavg();
  const cores = cpus().length;
  const ratio = (value, { parsing }) => `${value.toFixed(1)} (${(value / parsing).toFixed(1)})`;
  const section = `## Trust

\`npm run bench:trust\` scans and compares ${TOOLS.toLocaleString('en')} generated tools of ${SERVERS} servers (${(bytes / 1e6).toFixed(1)} MB of definitions), each run in a process of its
own, so that nothing is warm; the median of ${PROCESSES}. In brackets: as a multiple of parsing the same bytes. "Same" is the same
objects again, "copy" other objects of the same content, as after a list was asked for anew. Loading the rules comes on top of "cold" and is not measured here. Node ${process.versions.node}, ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cores} cores; load
average at the end ${load.toFixed(1)}${load > cores ? ', so the machine was busy with other work' : ''}.

Goal: under ${GOALS.cold} ms once and under ${GOALS.warm} ms after that, for both together. ${verdict}

| | cold, ms | best, ms | processor, ms | same, ms | copy, ms |
|---|---:|---:|---:|---:|---:|
${rows.map((row) => `| ${row.name} | ${ratio(row.cold, row)} | ${row.best.toFixed(0)} | ${row.processor.toFixed(0)} | ${ratio(row.same, row)} | ${ratio(row.copy, row)} |`).join('\n')}
`;
  const file = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '# Performance\n';
  const others = text.replace(/\n## Trust\n[\s\S]*?(?=\n## |$)/, '\n');
  writeFileSync(file, `${others.trimEnd()}\n\n${section}`);
}
