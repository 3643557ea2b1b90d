// `npm run bench:fidelity`: the same tools and results through Midspan and through other libraries, to emulated model APIs
// that refuse what the real ones refuse. Writes docs/fidelity.md; exits 1 when Midspan loses what an API can carry.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { features } from './features.mjs';
import { measure } from './measure.mjs';
import { page } from './page.mjs';
import { startUpstream } from './upstream.mjs';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const [only] = process.argv.slice(2);
// The API leaves out the citations of a text that has none; the emulator's null is what its own SDK makes of that.
const FINAL = { anthropic: { items: [{ type: 'text', text: 'Finished.' }] } };

installPeers();
const { module: emulated } = await runnerImport(path('../../test/corpus/requests.ts'), {
  root: path('../..'),
  configFile: false,
  logLevel: 'error',
});
const columns = [];
for (const peer of ['midspan', 'anthropic-sdk', 'openai-agents', 'ai-sdk', 'google-genai']) {
  columns.push(...(await import(`./peers/${peer}.mjs`)).columns);
}

// Libraries print warnings about what they do; the table says it.
for (const name of ['log', 'warn', 'info', 'debug']) console[name] = () => undefined;
const say = (text) => process.stdout.write(`${text}\n`);

const upstream = await startUpstream();
const rows = [];
const losses = [];
try {
  for (const feature of features.filter(({ id }) => only === undefined || id === only)) {
    const cells = new Map();
    for (const column of columns) {
      if (feature.apis !== undefined && !feature.apis.includes(column.api)) continue;
      const api = emulated.APIS[column.api];
      const cell = await measure(column, feature, upstream, {
        ...api,
        idPrefix: 'call_',
        final: FINAL[column.api] ?? { text: 'Finished.' },
      });
      cells.set(column, cell);
      if (column.peer !== 'Midspan') continue;
      const carried = feature.carried === undefined || feature.carried.includes(column.api);
      if (cell.verdict !== 'kept' && (carried || cell.verdict !== 'told'))
        losses.push(`${feature.title}, ${column.api}: ${cell.verdict}: ${cell.words ?? ''}`);
    }
    rows.push({ feature, cells });
    say(
      `${feature.id}: ${[...cells].map(([{ peer, api }, { verdict }]) => `${peer}/${api} ${verdict}`).join(', ')}`,
    );
  }
} finally {
  await upstream.close();
}
if (only === undefined) writeFileSync(path('../../docs/fidelity.md'), page(rows, columns));
else
  for (const [{ peer, api }, cell] of rows.flatMap(({ cells }) => [...cells]))
    say(`${peer} ${api}: ${cell.verdict} ${cell.words ?? ''}`);
say(
  losses.length === 0
    ? 'Midspan keeps all that the APIs can carry.'
    : `Midspan loses:\n  ${losses.join('\n  ')}`,
);
// Clients of some libraries keep connections open.
process.exit(losses.length === 0 ? 0 : 1);

function installPeers() {
  const wanted = JSON.parse(readFileSync(path('package-lock.json'), 'utf8')).packages;
  const found = existsSync(path('node_modules/.package-lock.json'))
    ? JSON.parse(readFileSync(path('node_modules/.package-lock.json'), 'utf8')).packages
    : {};
  const missing = Object.entries(wanted).some(
    ([name, { version, optional }]) => name !== '' && !optional && found[name]?.version !== version,
  );
  if (!missing) return;
  console.error('Installing the libraries to compare with ...');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: path('.'),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) process.exit(1);
}
