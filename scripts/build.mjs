// Builds dist from src beside the old one, then swaps them: a failed build leaves what worked.
import { spawnSync } from 'node:child_process';
import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const started = new Date();
const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const remove = (name) => rmSync(path(name), { recursive: true, force: true });

remove('dist.next');
const { status, error } = spawnSync(
  process.execPath,
  [path('node_modules/typescript/bin/tsc'), '-p', path('tsconfig.build.json'), '--outDir', path('dist.next')],
  { stdio: 'inherit' },
);
if (status === 0) {
  // What setup.mjs compares with: a file changed while the compiler ran is newer than this.
  writeFileSync(path('dist.next/.built'), '');
  utimesSync(path('dist.next/.built'), started, started);
  remove('dist');
  renameSync(path('dist.next'), path('dist'));
} else {
  if (error !== undefined) process.stderr.write(`The compiler could not be started: ${error.message}\n`);
  remove('dist.next');
}
process.exitCode = status ?? 1;
