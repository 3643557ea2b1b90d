import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../src/version.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const src = join(root, 'src');

/** Rows of the table in docs/architecture.md: room to row number. */
function readRows(): Map<string, number> {
  const rows = new Map<string, number>();
  for (const [, row, rooms] of readFileSync(join(root, 'docs/architecture.md'), 'utf8').matchAll(
    /^\| (\d) \| ([\w, ]+) \|/gm,
  )) {
    for (const room of (rooms ?? '').split(', ')) rows.set(room, Number(row));
  }
  return rows;
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join(src, file));

const roomOf = (file: string): string => (relative(src, file).split(sep)[0] ?? '').replace(/\.ts$/, '');

/** Everything a file imports or re-exports, static and dynamic, types too. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  const statements = text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^']+)'|^import '([^']+)'/gm);
  const dynamic = text.matchAll(/\bimport\('([^']+)'\)/g);
  return [...statements, ...dynamic].map(([, from, bare]) => from ?? bare ?? '');
}

describe('the table of docs/architecture.md', () => {
  const rows = readRows();

  it('names every room of src and no other', () => {
    expect([...rows.keys()].sort()).toEqual([...new Set(files.map(roomOf))].sort());
  });

  it('is kept by every import', () => {
    const broken: string[] = [];
    for (const file of files) {
      for (const target of importsOf(file).filter((name) => name.startsWith('.'))) {
        const [from, to] = [roomOf(file), roomOf(resolve(dirname(file), target))];
        if (from !== to && (rows.get(from) ?? -1) <= (rows.get(to) ?? 99))
          broken.push(`${relative(root, file)} imports ${target}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it('keeps node: modules and packages out of dialects, and node: modules out of schema', () => {
    const outside = files.flatMap((file) =>
      importsOf(file)
        .filter((name) => !name.startsWith('.'))
        .map((name) => `${roomOf(file)} ${name}`),
    );
    expect(outside.filter((line) => line.startsWith('dialects '))).toEqual([]);
    expect(outside.filter((line) => /^(schema|errors|types) node:/.test(line))).toEqual([]);
  });

  it('starts a command without the library: that is loaded by the commands that use it, when they run', () => {
    const loaded = new Set<string>();
    const load = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      const text = readFileSync(file, 'utf8');
      // Types are gone when a file is loaded, and so is an import of nothing else.
      for (const [, names, from] of text.matchAll(/^(?:import|export) ([^;]*?) from '(\.[^']+)'/gm)) {
        const isOfTypes = /^type\b/.test(names ?? '') || /^\{(?:\s*type \w+,?)+\s*\}$/.test(names ?? '');
        if (!isOfTypes) load(resolve(dirname(file), from ?? ''));
      }
    };
    load(join(src, 'cli/main.ts'));
    const rooms = [...loaded].map((file) => relative(src, file).split(sep).join('/'));
    expect(rooms).toContain('cli/lock.ts');
    expect(
      rooms.filter((file) => /^(?:index|host|servers|run|dialects|schema|asks|trust\/scan)\b/.test(file)),
    ).toEqual([]);
  });

  it('finds imports at all', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(files.flatMap(importsOf).length).toBeGreaterThan(files.length);
  });
});

describe('packages', () => {
  it('the version in the sources is that of the package', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(VERSION).toBe(manifest.version);
  });

  it('src imports only declared dependencies and node: modules', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
      peerDependencies: Record<string, string>;
    };
    const declared = { ...manifest.dependencies, ...manifest.peerDependencies };
    const foreign = files
      .flatMap(importsOf)
      .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
      .map((name) =>
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      );
    expect([...new Set(foreign)].filter((name) => !Object.hasOwn(declared, name))).toEqual([]);
  });

  it('every dependency is used', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const used = files.flatMap(importsOf).join('\n');
    expect(Object.keys(manifest.dependencies).filter((name) => !used.includes(name))).toEqual([]);
  });
});
