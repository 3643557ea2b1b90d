import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identityOf } from '../../../src/trust/lock/index.ts';
import type { ServerSpec } from '../../../src/types.ts';

const stdio = (command: string, args: string[], more: object = {}): ServerSpec => ({
  label: 'a',
  transport: { type: 'stdio', command, args, env: {}, ...more },
});
const http = (url: string, headers: Record<string, string> = {}): ServerSpec => ({
  label: 'a',
  transport: { type: 'http', url, headers },
});

describe('the identity of a server', () => {
  it('is the same wherever the repository lies', () => {
    const [first, second] = ['/home/one/repo', '/srv/two'].map((base) =>
      identityOf(stdio('node', [`${base}/server.mjs`, '--root', `${base}/data`], { cwd: base }), base),
    );
    expect(first).toEqual(second);
    expect(first?.argv).toEqual(['node', '$CONFIG/server.mjs', '--root', '$CONFIG/data']);
    expect(first?.cwd).toBe('$CONFIG');
    expect(identityOf(stdio('node', [`${homedir()}/x.mjs`]), '/project').argv).toEqual([
      'node',
      '$HOME/x.mjs',
    ]);
  });

  it('changes with every word of the command, names of variables, the address and names of headers', () => {
    const all = [
      stdio('node', ['a.mjs']),
      stdio('node', ['b.mjs']),
      stdio('node', ['a.mjs', '']),
      stdio('node', ['a.mjs'], { env: { A: '1' } }),
      stdio('node', ['a.mjs'], { cwd: '/project/x' }),
      http('https://a.example/mcp'),
      http('https://a.example/mcp2'),
      http('https://a.example/mcp', { Authorization: 'x' }),
    ].map((spec) => identityOf(spec, '/project').digest);
    expect(new Set(all).size).toBe(all.length);
    const value = (text: string): string => identityOf(stdio('node', [], { env: { A: text } }), '/p').digest;
    expect(value('1')).toBe(value('2'));
  });

  it('is the same at every depth for what has only the root in common with the configuration', () => {
    for (const word of ['/usr/bin/node', '/usr']) {
      const at = (base: string): string => identityOf(stdio(word, [`--with=${word}`]), base).digest;
      expect(new Set(['/a', '/a/b', '/a/b/c', '/a/b/c/d'].map(at)).size).toBe(1);
    }
    const beside = identityOf(stdio('/srv/project/tools/run', []), '/srv/project/host');
    expect(beside.argv).toEqual(['$CONFIG/../tools/run']);
  });

  it('shows no secret, and yet changes with it', () => {
    const key = 'sk-abcdefghijklmnopqrstuvwxyz0123';
    const specs = [
      stdio('server', ['--api-key', 'hunter2']),
      stdio('server', ['--token=hunter2']),
      stdio('server', ['API_KEY=hunter2']),
      stdio('server', [key]),
      stdio('server', ['postgres://user:hunter2@db.example/x?password=hunter2']),
      http('https://user:hunter2@a.example/mcp?token=hunter2#hunter2', { Authorization: 'Bearer hunter2' }),
    ];
    for (const spec of specs) {
      const identity = identityOf(spec, '/project');
      expect(JSON.stringify(identity)).not.toContain('hunter2');
      expect(JSON.stringify(identity)).not.toContain(key);
    }
    const digest = (secret: string): string =>
      identityOf(stdio('server', ['--api-key', secret]), '/project').digest;
    expect(digest('one')).not.toBe(digest('two'));
  });

  it('names the package, its version and what it is made of, where it is installed', () => {
    const base = mkdtempSync(join(tmpdir(), 'midspan-identity-'));
    const folder = join(base, 'node_modules', '@acme', 'server');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@acme/server', version: '1.2.3' }));
    writeFileSync(
      join(base, 'node_modules', '.package-lock.json'),
      JSON.stringify({ packages: { 'node_modules/@acme/server': { integrity: 'sha512-abc' } } }),
    );
    const expected = { ecosystem: 'npm', name: '@acme/server', version: '1.2.3', integrity: 'sha512-abc' };
    expect(identityOf(stdio('npx', ['-y', '@acme/server', '.']), base).package).toEqual(expected);
    expect(identityOf(stdio('node', [join(folder, 'dist/index.js')]), base).package).toEqual(expected);
    expect(identityOf(stdio('npx', ['-y', 'other@4.5.6']), base).package).toEqual({
      ecosystem: 'npm',
      name: 'other',
      version: '4.5.6',
    });
    const before = identityOf(stdio('npx', ['-y', '@acme/server']), base).digest;
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@acme/server', version: '1.2.4' }));
    expect(identityOf(stdio('npx', ['-y', '@acme/server']), base).digest).not.toBe(before);
  });
});
