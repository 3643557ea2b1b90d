import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  files: string[];
  scripts: Record<string, string>;
};

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'midspan-package-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

describe('the package', () => {
  it('is built before it is packed, so that a fresh clone gives a whole one', async () => {
    const clone = await folder();
    const { files, scripts } = manifest;
    const own = { name: 'small', version: '1.0.0', type: 'module', files, scripts };
    await writeFile(path.join(clone, 'package.json'), JSON.stringify(own));
    await mkdir(path.join(clone, 'scripts'));
    // What a set-up leaves, in small.
    const setup =
      "import fs from 'node:fs'; fs.mkdirSync('dist', { recursive: true }); fs.writeFileSync('dist/index.js', '');";
    await writeFile(path.join(clone, 'scripts/setup.mjs'), setup);
    const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--offline'], {
      cwd: clone,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      shell: process.platform === 'win32',
    });
    expect(packed).toContain('"dist/index.js"');
  });

  it('has types that hold in a strict program which knows neither Node nor the newest library', async () => {
    const program = await folder();
    const installed = path.join(program, 'node_modules/midspan');
    await cp(path.join(root, 'package.json'), path.join(installed, 'package.json'));
    await cp(path.join(root, 'dist'), path.join(installed, 'dist'), { recursive: true });
    await writeFile(
      path.join(program, 'a.mts'),
      `import { openHost, type Host } from 'midspan';
import { anthropic, ownNames } from 'midspan/dialects';
export const host: Host = await openHost({ mcpServers: {} });
export const { tools } = anthropic.definitions(ownNames([{ name: 'a', inputSchema: { type: 'object' } }]));
await host.close();
// @ts-expect-error: the types are there, and not any
host.nothing();
`,
    );
    const options = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false };
    const target = { module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom'], types: [] };
    await writeFile(
      path.join(program, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...options, ...target }, files: ['a.mts'] }),
    );
    const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', program], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  });
});
