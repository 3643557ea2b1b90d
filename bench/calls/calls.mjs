// What a call costs through Midspan, next to the official SDK's client and to JSON-RPC by hand, over the same pipes and
// sockets. Everything is measured in turns within one run, each contender in a process of its own; what counts are the ratios.
//   node bench/calls/calls.mjs [--rounds 9] [--milliseconds 200] [--warm-up 8000] [--only stdio] [--profile folder]
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    milliseconds: { type: 'string', default: '200' },
    'warm-up': { type: 'string', default: '8000' },
    only: { type: 'string', default: '' },
    profile: { type: 'string' },
  },
});
const rounds = Number(options.rounds);
const milliseconds = Number(options.milliseconds);
const warmUp = Number(options['warm-up']);
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const UPSTREAM = path('upstream.mjs');
const WHO = ['raw', 'sdk', 'server', 'host'];
const IN_FLIGHT = [1, 50];
const WIRES = ['stdio', 'HTTP, JSON', 'HTTP, SSE'].filter((wire) => wire.startsWith(options.only));
const SHOWN = { server: 'server.callTool', host: 'host.call' };

async function openHttp() {
  const child = spawn(process.execPath, [UPSTREAM, 'http'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { child, port: port.trim() };
}

/** Runs `work` with all contenders open: `run(who, job)` gives what the job took. */
async function withContenders(who, wire, era, work) {
  const http = wire === 'stdio' ? undefined : await openHttp();
  const target =
    http === undefined
      ? { command: process.execPath, args: [UPSTREAM, 'stdio'] }
      : { url: `http://127.0.0.1:${http.port}/${wire === 'HTTP, SSE' ? 'sse' : 'json'}` };
  const opened = new Map();
  for (const each of who) {
    // The SDK's client sets off a warning about its abort listeners at every call.
    const execArgv = ['--no-warnings'];
    if (options.profile !== undefined)
      execArgv.push('--cpu-prof', `--cpu-prof-dir=${options.profile}/${each}`);
    const child = fork(path('contender.mjs'), [JSON.stringify({ who: each, era, ...target })], {
      execArgv,
    });
    await next(child);
    opened.set(each, child);
  }
  const run = async (each, job) => {
    const child = opened.get(each);
    child.send(job);
    return next(child);
  };
  await work(run);
  for (const child of opened.values()) {
    child.send('close');
    if (child.exitCode === null) await once(child, 'exit');
  }
  http?.child.stdin.end();
}

function next(child) {
  return new Promise((resolve, reject) => {
    const failed = (code) => reject(new Error(`a contender ended with exit code ${code}`));
    child.once('exit', failed);
    child.once('message', (message) => {
      child.removeListener('exit', failed);
      resolve(message);
    });
  });
}

/** The rounds of one cell: in each, every contender once, and not always in the same order. */
async function measure(wire, era) {
  const measured = new Map(IN_FLIGHT.map((inFlight) => [inFlight, []]));
  await withContenders(WHO, wire, era, async (run) => {
    // Code that has not run some thousand times is several times slower, most of all the SDK's.
    for (const who of WHO) {
      await run(who, { inFlight: 50, milliseconds, least: warmUp });
      await run(who, { inFlight: 1, milliseconds, least: warmUp / 10 });
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const inFlight of IN_FLIGHT) {
        const figures = {};
        for (let turn = 0; turn < WHO.length; turn += 1) {
          const who = WHO[(round + turn) % WHO.length];
          figures[who] = await run(who, { inFlight, milliseconds });
        }
        measured.get(inFlight).push(figures);
      }
    }
  });
  return measured;
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/** The median over the rounds of a figure of one contender against that of another in the same round. */
const ratio = (measured, who, against, figure) =>
  median(measured.map((figures) => figures[who][figure] / figures[against][figure]));

const added = (measured, who, against) =>
  1000 * median(measured.map((figures) => figures[who].p50 - figures[against].p50));

const columns = [
  'wire',
  'era',
  'in flight',
  'through',
  'calls/s against SDK',
  'against raw',
  'p50 against SDK',
  'added to raw, µs',
  'CPU against SDK',
  'against raw',
];
const row = (cells) => console.log(`| ${cells.join(' | ')} |`);
const header = (cells) => {
  row(cells);
  row(cells.map(() => '---'));
};

const goals = [];
const judge = (name, holds, figure) => goals.push(`${holds ? 'holds ' : 'MISSED'}  ${name}: ${figure}`);

console.log(
  `${cpus().length} cores (${cpus()[0].model.trim()}), Node ${process.versions.node}, ${rounds} rounds of ${milliseconds} ms, medians\n`,
);
header(columns);
for (const wire of WIRES) {
  for (const era of ['legacy', 'modern']) {
    const cell = await measure(wire, era);
    for (const [inFlight, measured] of cell) {
      for (const who of ['server', 'host']) {
        const speed = ratio(measured, who, 'sdk', 'perSecond');
        const p50 = ratio(measured, who, 'sdk', 'p50');
        row([
          wire,
          era,
          inFlight,
          SHOWN[who],
          speed.toFixed(2),
          ratio(measured, who, 'raw', 'perSecond').toFixed(2),
          p50.toFixed(2),
          added(measured, who, 'raw').toFixed(0),
          ratio(measured, who, 'sdk', 'cpu').toFixed(2),
          ratio(measured, who, 'raw', 'cpu').toFixed(2),
        ]);
        const where = `${wire}, ${era}, ${SHOWN[who]}`;
        if (inFlight === 1)
          judge(
            `${where}: one at a time no slower than the SDK's client`,
            p50 <= 1,
            `p50 x ${p50.toFixed(2)}`,
          );
        else
          judge(
            `${where}: ${inFlight} in flight at least twice its calls per second`,
            speed >= 2,
            `x ${speed.toFixed(2)}`,
          );
      }
    }
  }
}

console.log('\nA message of 9 MB, from the call to its result, against parsing the same bytes\n');
header(['wire', 'content', 'parsing, ms', ...WHO.map((who) => SHOWN[who] ?? who)]);
for (const wire of WIRES) {
  for (const kind of ['log', 'image']) {
    await withContenders(WHO, wire, 'legacy', async (run) => {
      const figures = {};
      for (const who of WHO) await run(who, { large: kind, times: 3 });
      for (const who of WHO) figures[who] = [];
      for (let round = 0; round < rounds; round += 1)
        for (const who of WHO) figures[who].push(await run(who, { large: kind, times: 3 }));
      const times = (who) => median(figures[who].map(({ whole, parsing }) => whole / parsing));
      const parsing = median(Object.values(figures).flatMap((list) => list.map((figure) => figure.parsing)));
      row([wire, kind, parsing.toFixed(1), ...WHO.map((who) => times(who).toFixed(2))]);
      for (const who of ['server', 'host'])
        judge(
          `${wire}, ${SHOWN[who]}: 9 MB (${kind}) within three times its parsing`,
          times(who) <= 3,
          `x ${times(who).toFixed(2)}`,
        );
    });
  }
}

console.log(`\nGoals\n\n${goals.join('\n')}`);
