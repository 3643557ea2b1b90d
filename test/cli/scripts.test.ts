import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

const COMPILER = `
const fs = require('node:fs');
const out = process.argv[process.argv.indexOf('--outDir') + 1];
if (fs.readFileSync('src/a.ts', 'utf8').includes('broken')) process.exit(2);
fs.mkdirSync(out, { recursive: true });
fs.copyFileSync('src/a.ts', out + '/a.js');`;
const NPM = `
const fs = require('node:fs');
fs.mkdirSync('node_modules', { recursive: true });
fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json');`;

/** A clone in small: our scripts, a lock, one source, and a compiler and an npm that only copy. */
async function clone() {
  const folder = await mkdtemp(path.join(tmpdir(), 'midspan-setup-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const write = async (name: string, text: string) => {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  };
  const lock = (version: string) =>
    write(
      'package-lock.json',
      JSON.stringify({
        packages: {
          '': {},
          'node_modules/x': { version },
          'node_modules/y': { version: '1', optional: true },
        },
      }),
    );
  await cp(path.join(root, 'scripts'), path.join(folder, 'scripts'), { recursive: true });
  await cp(path.join(root, 'bin'), path.join(folder, 'bin'), { recursive: true });
  await write('package.json', '{"type":"module"}');
  await write('tsconfig.json', '{}');
  await write('tsconfig.build.json', '{}');
  await write('src/a.ts', 'first');
  await write('npm.cjs', NPM);
  await write('node_modules/typescript/package.json', '{}');
  await write('node_modules/typescript/bin/tsc', COMPILER);
  await lock('1.0.0');
  const run = (script: string) =>
    spawnSync(process.execPath, [path.join(folder, script)], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, npm_execpath: path.join(folder, 'npm.cjs') },
    });
  /** What it said. */
  const setUp = () => {
    const { status, stdout, stderr } = run('scripts/setup.mjs');
    expect(stdout).toBe('');
    return { status, said: stderr };
  };
  const built = () => readFile(path.join(folder, 'dist/a.js'), 'utf8');
  return { folder, write, lock, run, setUp, built };
}

describe('npm run setup', () => {
  it('installs and builds a fresh clone, and then has nothing to do or say', async () => {
    const { setUp, built } = await clone();
    expect(setUp()).toEqual({ status: 0, said: 'Installing packages…\nBuilding…\n' });
    expect(await built()).toBe('first');
    expect(setUp()).toEqual({ status: 0, said: '' });
  });

  it('installs again when the lock names another version', async () => {
    const { setUp, lock } = await clone();
    setUp();
    await lock('1.0.1');
    expect(setUp().said).toBe('Installing packages…\n');
  });

  it('builds again when a source is newer', async () => {
    const { setUp, built, write, folder } = await clone();
    setUp();
    await write('src/a.ts', 'second');
    const later = new Date(Date.now() + 5000);
    await utimes(path.join(folder, 'src/a.ts'), later, later);
    expect(setUp().said).toBe('Building…\n');
    expect(await built()).toBe('second');
  });

  it('keeps what was built when the sources do not compile', async () => {
    const { setUp, built, write, folder } = await clone();
    setUp();
    await write('src/a.ts', 'broken');
    const later = new Date(Date.now() + 5000);
    await utimes(path.join(folder, 'src/a.ts'), later, later);
    expect(setUp()).toEqual({ status: 2, said: 'Building…\nBuilding failed.\n' });
    expect(await built()).toBe('first');
  });
});

describe('bin/midspan.js', () => {
  it('says what to run when nothing is built', async () => {
    const { run } = await clone();
    const { status, stdout, stderr } = run('bin/midspan.js');
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toBe('midspan is not built yet. Run `npm run setup` in its folder.\n');
  });
});
