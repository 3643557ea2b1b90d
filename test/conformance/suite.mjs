// The official conformance suite as a program: installed on demand, run for one revision, and read from its files.
// It needs a newer Node than ours: that comes with it (package.json here).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const HERE = fileURLToPath(new URL('./', import.meta.url));
const PACKAGE = join(HERE, 'node_modules/@modelcontextprotocol/conformance');
const SUITE = join(PACKAGE, 'dist/index.js');
const NEWER_NODE = join(HERE, 'node_modules/node/bin/node');

/** Scenarios that each revision requires of a client and of a server; the suite runs some more that it does not score. */
export const REVISIONS = {
  '2025-11-25': { era: 'legacy', client: 18, server: 30 },
  '2026-07-28': { era: 'modern', client: 32, server: 37 },
};

/** Characters of what the suite says of one check; it may quote every message of a scenario. */
const LONGEST = 600;
/** Milliseconds after which a run of the suite counts as hanging. */
const GUARD = 300_000;

export function install() {
  const mark = join(HERE, 'node_modules/.package-lock.json');
  const isThere =
    existsSync(mark) && statSync(mark).mtimeMs >= statSync(join(HERE, 'package-lock.json')).mtimeMs;
  if (isThere) return;
  console.error('Installing the conformance suite ...');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: HERE,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) process.exit(1);
}

/** Whether the suite runs `scenario` for a revision, scored or not. */
export function isOf(scenario, revision) {
  const lines = readFileSync(join(PACKAGE, `requirements/${revision}.yaml`), 'utf8').split('\n');
  return lines.some((line) => line.trim() === `- ${scenario}` || line.trim() === `- scenario: ${scenario}`);
}

/**
 * Runs `suite <side> ...args`, and resolves to one `{ scenario, checks }` each, in the order of their names. A check is
 * `{ id, name, status, errorMessage, description, details }`.
 */
export async function runSuite(side, args) {
  const output = mkdtempSync(join(tmpdir(), 'midspan-conformance-'));
  try {
    const run = spawn(NEWER_NODE, [SUITE, side, ...args, '--output-dir', output], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, FORCE_COLOR: '0' },
    });
    const guard = setTimeout(() => run.kill('SIGKILL'), GUARD);
    let log = '';
    for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk) => (log += chunk));
    await new Promise((resolve) => run.on('close', resolve));
    clearTimeout(guard);
    const results = readResults(output, side);
    if (results.length === 0 || process.env.MIDSPAN_DEBUG !== undefined) console.log(log);
    return results;
  } finally {
    rmSync(output, { recursive: true });
  }
}

/** One folder per scenario, named after it and the time; `checks.json` lists what was checked. */
function readResults(folder, side) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('checks.json'))
    .sort()
    .map((file) => ({
      scenario: file.replace(/-\d{4}-\d{2}-\d{2}T.*$/s, '').replace(side === 'server' ? /^server-/ : '', ''),
      checks: JSON.parse(readFileSync(join(folder, file), 'utf8')),
    }));
}

/** What went wrong in a scenario. A scenario without checks has failed. */
export function failuresOf({ checks }) {
  if (checks.length === 0) return ['no checks'];
  return checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, errorMessage, description }) => `${id}: ${errorMessage ?? description}`.slice(0, LONGEST));
}
