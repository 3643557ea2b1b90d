// Server scenarios: the suite plays a client of either revision, against our server directly and through the gateway.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXCEPTIONS } from './exceptions.mjs';
import { finish, start, stopAll } from './processes.mjs';
import { HERE, REVISIONS, failuresOf, isOf, runSuite } from './suite.mjs';

const SERVER = join(HERE, 'server/main.mjs');
const MIDSPAN = join(HERE, '../../bin/midspan.js');
const LABELS = ['legacy-stdio', 'legacy-http', 'modern-stdio', 'modern-http'];
/** Each label behind a gateway that trusts everything, and behind one with a lock. */
const CELLS = [...LABELS, ...LABELS.map((label) => `${label}+lock`)];
/** Suites at the same time. Some scenarios wait for a second at most, on however few cores. */
const AT_ONCE = 3;

const startServer = (era) => start([SERVER, '--era', era, '--transport', 'http']);

/** Starts a gateway with a server for each label; resolves to the URL of its endpoints. */
async function startGateway(folder, labels, isLocked) {
  const mcpServers = {};
  for (const label of labels) {
    const [era, transport] = label.split('-');
    mcpServers[label] =
      transport === 'http'
        ? { url: await startServer(era) }
        : { command: process.execPath, args: [SERVER, '--era', era, '--transport', 'stdio'] };
  }
  mkdirSync(folder);
  const config = join(folder, 'midspan.json');
  const trust = isLocked ? {} : { trust: { mode: 'off' } };
  writeFileSync(config, JSON.stringify({ policy: 'allow', ...trust, mcpServers }, null, 2));
  if (isLocked) await finish([MIDSPAN, 'lock', '--yes', '--config', config]);
  const line = await start([MIDSPAN, 'serve', '--config', config, '--port', '0', '--auth', 'none', '--json']);
  return JSON.parse(line).url;
}

/** Starts what `cells` need; resolves to the URL of each cell. */
async function startGateways(folder, cells) {
  const urls = new Map();
  for (const isLocked of [false, true]) {
    const some = cells.filter((cell) => cell.endsWith('+lock') === isLocked);
    if (some.length === 0) continue;
    const labels = some.map((cell) => cell.replace('+lock', ''));
    const gateway = await startGateway(join(folder, isLocked ? 'locked' : 'open'), labels, isLocked);
    some.forEach((cell, index) => urls.set(cell, `${gateway}/${labels[index]}`));
  }
  return urls;
}

/** Runs the scenarios of a revision, or one of them; resolves to a map by scenario. */
async function runScenarios(url, revision, scenario) {
  if (scenario !== undefined && !isOf(scenario, revision)) return new Map();
  const which =
    scenario === undefined
      ? ['--requirements', revision]
      : ['--scenario', scenario, '--spec-version', revision, '--force'];
  const results = await runSuite('server', ['--url', url, ...which]);
  return new Map(results.map((result) => [result.scenario, result]));
}

/** What a scenario lost on the way: its failures, and what succeeded directly and was not even tried. */
function lossesOf(direct, through) {
  if (through === undefined) return ['did not run'];
  const outcome = new Map(through.checks.map(({ id, name, status }) => [`${id} ${name}`, status]));
  const lost = direct.checks
    .filter(({ status }) => status === 'SUCCESS')
    .filter(({ id, name }) => [undefined, 'SKIPPED'].includes(outcome.get(`${id} ${name}`)))
    .map(({ id, description }) => `${id}: was not checked (${description})`);
  return [...failuresOf(through), ...lost];
}

/** The checks of a scenario that cannot pass in a cell. */
const exceptedIn = (scenario, cell) =>
  EXCEPTIONS.filter((exception) => exception.scenario === scenario && exception.cells.includes(cell)).flatMap(
    ({ checks }) => checks,
  );

/** Prints the table of one revision, and what stands behind each hole; returns its counts. */
function report(revision, direct, cells, results) {
  const counts = { passed: 0, holes: 0, exceptions: 0 };
  const notes = [];
  const rows = [...direct.values()].map((result) => {
    const { scenario } = result;
    const failures = failuresOf(result);
    const row = [scenario, failures.length === 0 ? 'pass' : 'FAIL'];
    if (failures.length > 0) counts.holes += 1;
    for (const failure of failures) notes.push(`${scenario}, directly: ${failure}`);
    for (const cell of cells) {
      const all = lossesOf(result, results.get(cell).get(scenario));
      const excepted = exceptedIn(scenario, cell);
      const losses = all.filter((loss) => !excepted.some((check) => loss.startsWith(`${check}:`)));
      const needless = excepted.filter((check) => !all.some((loss) => loss.startsWith(`${check}:`)));
      const ok = losses.length === 0 && needless.length === 0;
      row.push(!ok ? 'HOLE' : excepted.length > 0 ? 'but' : 'pass');
      for (const check of needless)
        notes.push(`${scenario}, ${cell}: ${check} passes: take it off exceptions.mjs`);
      for (const loss of losses) notes.push(`${scenario}, ${cell}: ${loss}`);
      counts[!ok ? 'holes' : excepted.length > 0 ? 'exceptions' : 'passed'] += 1;
    }
    return row;
  });
  console.log(`\nServer scenarios of ${revision}`);
  printTable([['', 'directly', ...cells], ...rows]);
  for (const note of notes) console.log(`  ${note}`);
  return counts;
}

function printTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows)
    console.log(`  ${row.map((text, column) => text.padEnd(widths[column])).join('  ')}`.trimEnd());
}

/**
 * `direct`: only our server, without a gateway. `cell` and `scenario` narrow it down.
 * Fails on a hole: what passes directly, in the revision's own era, and not through the gateway.
 */
export async function runMatrix({ direct: isDirect = false, cell: only, scenario } = {}) {
  const cells = isDirect ? [] : only === undefined ? CELLS : [only];
  const folder = mkdtempSync(join(tmpdir(), 'midspan-matrix-'));
  const direct = new Map();
  const through = new Map(Object.keys(REVISIONS).map((revision) => [revision, new Map()]));
  try {
    const urls = await startGateways(folder, cells);
    const jobs = [
      ...Object.entries(REVISIONS).map(([revision, { era }]) => async () => {
        direct.set(revision, await runScenarios(await startServer(era), revision, scenario));
      }),
      // One revision after the other: the suite changes the lists of the server, which is one for both.
      ...cells.map((cell) => async () => {
        for (const revision of Object.keys(REVISIONS)) {
          through.get(revision).set(cell, await runScenarios(urls.get(cell), revision, scenario));
        }
      }),
    ];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await job();
      }),
    );
  } finally {
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
  }

  const total = { passed: 0, holes: 0, exceptions: 0 };
  for (const [revision, { server: required }] of Object.entries(REVISIONS)) {
    const counts = report(revision, direct.get(revision), cells, through.get(revision));
    for (const name of Object.keys(total)) total[name] += counts[name];
    if (scenario !== undefined || direct.get(revision).size >= required) continue;
    total.holes += 1;
    console.log(`  FAIL: only ${direct.get(revision).size} of ${required} required scenarios ran`);
  }
  console.log(
    `\nServer side, through the gateway: ${total.passed} passed, ${total.holes} holes, ${total.exceptions} pass but for checks that cannot (exceptions.mjs)`,
  );
  return total.holes === 0;
}
