// Makes a clone ready to run: installs when node_modules is not what the lock says, builds when src is newer than dist.
// Says nothing when there is nothing to do.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

function packagesOf(lock) {
  try {
    return JSON.parse(readFileSync(path(lock), 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** What is optional may be absent, for it may be for another platform; what is there must be the locked version. */
function isInstalled() {
  const wanted = packagesOf('package-lock.json');
  const found = packagesOf('node_modules/.package-lock.json');
  if (wanted === undefined || found === undefined) return false;
  return Object.entries(wanted).every(([name, { version, integrity, optional, devOptional }]) => {
    if (name === '') return true;
    const there = found[name];
    if (there === undefined) return optional === true || devOptional === true;
    return there.version === version && there.integrity === integrity;
  });
}

function isBuilt() {
  const built = statSync(path('dist/.built'), { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return false;
  // Folders count too: theirs change when a file goes.
  const sources = readdirSync(path('src'), { recursive: true, encoding: 'utf8' }).map(
    (file) => `src/${file}`,
  );
  return ['src', 'tsconfig.json', 'tsconfig.build.json', ...sources].every(
    (file) => statSync(path(file)).mtimeMs <= built,
  );
}

function run(what, command, args, options = {}) {
  process.stderr.write(`${what}…\n`);
  const { status, error } = spawnSync(command, args, { cwd: path(''), stdio: ['ignore', 2, 2], ...options });
  if (status === 0) return;
  process.stderr.write(`${what} failed${error === undefined ? '' : `: ${error.message}`}.\n`);
  process.exit(status ?? 1);
}

const npm = process.env.npm_execpath;
const install = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
if (!isInstalled()) {
  // Under npm its own program is known, which spares the search for npm.cmd.
  if (npm !== undefined) run('Installing packages', process.execPath, [npm, ...install]);
  else run('Installing packages', 'npm', install, { shell: process.platform === 'win32' });
}
if (!isBuilt()) run('Building', process.execPath, [path('scripts/build.mjs')]);
