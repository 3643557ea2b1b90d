// What a call costs through `midspan serve`, beside a floor that does nothing but hand bytes on, and beside other gateways. All
// are measured in turns within one run; what counts are the ratios within a round.
//   node bench/gateway/gateway.mjs [--quick] [--rounds 5] [--milliseconds 300] [--warm-up 2000] [--wires http,stdio]
//     [--eras legacy,modern] [--targets floor,midspan,...] [--no-start]
import { cpus, loadavg } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { echo, list, load, openClients } from './client.mjs';
import { canMeasure } from './processes.mjs';
import { measureStart } from './startup.mjs';
import { httpServer, installPeers, stdioServer, TARGETS } from './targets.mjs';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    milliseconds: { type: 'string' },
    'warm-up': { type: 'string' },
    wires: { type: 'string', default: 'http,stdio' },
    eras: { type: 'string', default: 'legacy,modern' },
    targets: { type: 'string', default: Object.keys(TARGETS).join(',') },
    'no-start': { type: 'boolean', default: false },
  },
});
const { quick } = options;
const rounds = Number(options.rounds ?? (quick ? 3 : 5));
const milliseconds = Number(options.milliseconds ?? (quick ? 150 : 300));
const warmUp = Number(options['warm-up'] ?? (quick ? 600 : 2_000));

/** With peers where they are told apart best; the others would only take time. */
const CELLS = [
  { name: 'echo 100 B', inFlight: 1, make: (tool, era) => echo(100, tool, era) },
  { name: 'echo 100 B', inFlight: 16, make: (tool, era) => echo(100, tool, era), peers: true },
  { name: 'echo 100 B', inFlight: 64, make: (tool, era) => echo(100, tool, era) },
  { name: 'echo 10 kB', inFlight: 16, make: (tool, era) => echo(10_000, tool, era), peers: true },
  { name: 'echo 1 MiB', inFlight: 1, make: (tool, era) => echo(1_048_576, tool, era) },
  { name: 'tools/list', inFlight: 16, make: (_, era) => list(era, 10), peers: true },
];

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const row = (cells) => console.log(`| ${cells.join(' | ')} |`);
const header = (cells) => {
  row(cells);
  row(cells.map(() => '---'));
};
const goals = [];
const judge = (name, holds, figure) => goals.push(`${holds ? 'holds ' : 'MISSED'}  ${name}: ${figure}`);

const isInstalled = installPeers();
if (!isInstalled) console.log('mcp-proxy and supergateway could not be installed and are left out.\n');
const chosen = options.targets.split(',').filter((name) => isInstalled || !TARGETS[name].isInstalled);

/** All of one server's wire and one client's era. Returns the figures of each round, by cell and target. */
async function measure(wire, era) {
  const server = wire === 'http' ? await httpServer() : stdioServer();
  const opened = new Map();
  for (const name of chosen) {
    const { eras, wires, open } = TARGETS[name];
    if (eras.includes(era) && wires.includes(wire)) opened.set(name, await open(server, era));
  }
  const measured = [];
  for (const target of opened.values()) {
    const clients = await openClients(target.url, era, 16);
    await load(clients, echo(100, target.tool, era), warmUp);
    await load(clients, list(era, 10), warmUp / 4);
    for (const client of clients) client.close();
  }
  for (const cell of CELLS) {
    const names = [...opened.keys()].filter((name) => cell.peers || !TARGETS[name].isPeer);
    const loads = new Map();
    for (const name of names) {
      const target = opened.get(name);
      const clients = await openClients(target.url, era, cell.inFlight);
      loads.set(name, { target, clients, made: cell.make(target.tool, era) });
      await load(clients, loads.get(name).made, milliseconds / 2);
    }
    const figures = [];
    for (let round = 0; round < rounds; round += 1) {
      const figure = {};
      for (let turn = 0; turn < names.length; turn += 1) {
        const name = names[(round + turn) % names.length];
        const { target, clients, made } = loads.get(name);
        const before = target.cpu();
        const result = await load(clients, made, milliseconds);
        figure[name] = { ...result, cpu: ((target.cpu() - before) / result.calls) * 1000 };
      }
      figures.push(figure);
    }
    for (const { clients } of loads.values()) for (const client of clients) client.close();
    measured.push({ cell, names, figures });
  }
  for (const target of opened.values()) await target.stop();
  await server.stop?.();
  return measured;
}

function report(wire, era, { cell, names, figures }) {
  const of = (name, figure) => median(figures.map((each) => each[name][figure]));
  // Ticks of the processor's clock are long: sums over all rounds are what they can tell.
  const cpu = (name) =>
    figures.reduce((sum, each) => sum + each[name].cpu * each[name].calls, 0) /
    figures.reduce((sum, each) => sum + each[name].calls, 0);
  const ratio = (name, against, figure) =>
    median(figures.map((each) => each[name][figure] / each[against][figure]));
  for (const name of names) {
    const against = names.includes('floor')
      ? [
          ratio(name, 'floor', 'perSecond').toFixed(2),
          ratio(name, 'floor', 'p50').toFixed(2),
          (cpu(name) / cpu('floor')).toFixed(2),
        ]
      : ['', '', ''];
    row([
      wire,
      era,
      cell.name,
      cell.inFlight,
      name,
      of(name, 'perSecond').toFixed(0),
      of(name, 'p50').toFixed(2),
      of(name, 'p99').toFixed(1),
      cpu(name).toFixed(3),
      ...against,
    ]);
  }
  if (!names.includes('midspan') || !names.includes('floor')) return;
  const where = `${wire}, ${era}, ${cell.name}, ${cell.inFlight} in flight`;
  const speed = ratio('midspan', 'floor', 'perSecond');
  const work = cpu('midspan') / cpu('floor');
  const peers = names.filter((name) => TARGETS[name].isPeer);
  const best = peers.toSorted((a, b) => of(b, 'perSecond') - of(a, 'perSecond'))[0];
  const ahead = best === undefined ? Number.NaN : ratio('midspan', best, 'perSecond');
  if (cell.name === 'tools/list')
    judge(`${where}: no slower than the floor`, speed >= 1, `x ${speed.toFixed(2)}`);
  if (cell.name === 'echo 100 B' && cell.inFlight === 64) {
    const spread = of('midspan', 'p99') / of('midspan', 'p50');
    judge(`${where}: p99 within three times p50`, spread <= 3, `x ${spread.toFixed(1)}`);
  }
  if (cell.name === 'echo 100 B' && cell.inFlight === 16) {
    const [least, times] = wire === 'http' ? [0.9, 4] : [0.5, 3];
    judge(`${where}: ${least} of the floor's requests per second`, speed >= least, `x ${speed.toFixed(2)}`);
    if (best !== undefined)
      judge(`${where}: ${times} times the best peer (${best})`, ahead >= times, `x ${ahead.toFixed(1)}`);
  }
  if (wire !== 'http') return;
  if (cell.inFlight === 1 && cell.name === 'echo 100 B') {
    const p50 = ratio('midspan', 'floor', 'p50');
    judge(`${where}: p50 within 1.3 of the floor`, p50 <= 1.3, `x ${p50.toFixed(2)}`);
  }
  const most = { 'echo 100 B': cell.inFlight === 16 ? 1.2 : undefined, 'echo 10 kB': 1.3, 'echo 1 MiB': 1.3 }[
    cell.name
  ];
  if (most !== undefined && canMeasure)
    judge(`${where}: CPU within ${most} of the floor`, work <= most, `x ${work.toFixed(2)}`);
}

console.log(
  `${cpus().length} cores (${cpus()[0].model.trim()}), Node ${process.versions.node}, ${rounds} rounds of ${milliseconds} ms, medians, load ${loadavg()[0].toFixed(1)}\n`,
);
header([
  'server',
  'client',
  'cell',
  'in flight',
  'through',
  'calls/s',
  'p50, ms',
  'p99, ms',
  'CPU ms a call',
  'calls/s against floor',
  'p50',
  'CPU',
]);
const speeds = new Map();
for (const wire of options.wires.split(',')) {
  for (const era of options.eras.split(',')) {
    for (const measured of await measure(wire, era)) {
      report(wire, era, measured);
      const { cell, figures } = measured;
      if (cell.inFlight === 16 && cell.name === 'echo 100 B' && figures[0].midspan !== undefined)
        speeds.set(
          `${wire} ${era}`,
          median(figures.map(({ midspan, floor }) => midspan.perSecond / (floor?.perSecond ?? 1))),
        );
    }
  }
  const [legacy, modern] = ['legacy', 'modern'].map((era) => speeds.get(`${wire} ${era}`));
  if (legacy !== undefined && modern !== undefined)
    judge(
      `${wire}: modern and legacy within 15 %`,
      Math.abs(modern / legacy - 1) <= 0.15,
      `x ${(modern / legacy).toFixed(2)}`,
    );
}
if (!options['no-start'] && chosen.includes('midspan'))
  await measureStart({ quick, median, header, row, judge });
console.log(`\nGoals\n\n${goals.join('\n')}`);
