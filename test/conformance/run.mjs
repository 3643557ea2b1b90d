// Runs the official conformance suite, client side, at both revisions, and prints one line per scenario.
// It needs a newer Node than ours: that comes with the suite (package.json here). Exits 1 when a scenario fails that is
// not expected to, when an expected failure passes, or when fewer scenarios ran than the revision requires.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('./', import.meta.url));
const suite = join(here, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const newerNode = join(here, 'node_modules/node/bin/node');

/** Every scenario of signing in: it is not built yet, and each says so below as an expected failure. */
const expectedToFail = (scenario) => scenario.startsWith('auth/');
/** Milliseconds per scenario. The suite starts them all at once, on however few cores. */
const TIMEOUT = '120000';
const REVISIONS = { '2025-11-25': 18, '2026-07-28': 32 };

if (!isInstalled()) {
  console.error('Installing the conformance suite ...');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) process.exit(1);
}

function isInstalled() {
  const mark = join(here, 'node_modules/.package-lock.json');
  return existsSync(mark) && statSync(mark).mtimeMs >= statSync(join(here, 'package-lock.json')).mtimeMs;
}

let failed = 0;
let passed = 0;
for (const [revision, required] of Object.entries(REVISIONS)) {
  const results = await runRevision(revision);
  console.log(`\nClient scenarios of ${revision}`);
  for (const { scenario, failures } of results) {
    const isExpected = expectedToFail(scenario);
    const ok = failures.length === 0;
    console.log(`  ${ok ? 'pass' : isExpected ? 'expected failure' : 'FAIL'}  ${scenario}`);
    if (!ok && !isExpected) for (const failure of failures) console.log(`        ${failure}`);
    if (ok === isExpected) failed += 1;
    else passed += 1;
    if (ok && isExpected) console.log('        is expected to fail: take it off the list');
  }
  if (results.length < required) {
    failed += 1;
    console.log(`  FAIL  only ${results.length} of ${required} required scenarios ran`);
  }
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function runRevision(revision) {
  const output = mkdtempSync(join(tmpdir(), 'midspan-conformance-'));
  // The client runs on the Node that runs this file, not on the one of the suite.
  const command = `${process.execPath} ${join(here, 'client.mjs')}`;
  const run = spawn(
    newerNode,
    [
      suite,
      'client',
      '--command',
      command,
      '--requirements',
      revision,
      '--timeout',
      TIMEOUT,
      '--output-dir',
      output,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, FORCE_COLOR: '0' },
    },
  );
  let log = '';
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk) => (log += chunk));
  await new Promise((resolve) => run.on('close', resolve));
  const results = readResults(output);
  if (results.length === 0 || process.env.MIDSPAN_DEBUG !== undefined) console.log(log);
  rmSync(output, { recursive: true });
  return results;
}

/** One folder per scenario; `checks.json` lists what was checked. A scenario without checks has failed. */
function readResults(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('checks.json'))
    .sort()
    .map((file) => {
      const checks = JSON.parse(readFileSync(join(folder, file), 'utf8'));
      const failures = checks
        .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
        .map(({ id, errorMessage, description }) => `${id}: ${errorMessage ?? description}`);
      const scenario = file.replace(/-\d{4}-\d{2}-\d{2}T.*$/s, '');
      return { scenario, failures: checks.length === 0 ? ['no checks'] : failures };
    });
}
