import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { openStore, type Store } from '../../src/store/store.ts';
import { sqlite } from '../../src/store/sqlite.ts';

const open: Store[] = [];
afterEach(() => {
  for (const store of open.splice(0)) store.close();
});

const place = (): string => join(mkdtempSync(join(tmpdir(), 'midspan-store-')), '.midspan');
const storeOf = (folder: string): Store => {
  const store = openStore(folder);
  open.push(store);
  return store;
};

it('makes nothing before the first use, and then a folder and files for their owner alone', () => {
  const folder = place();
  const store = storeOf(folder);
  expect(() => statSync(folder)).toThrow('ENOENT');
  store.audit.append({ what: 'call' });
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder).sort()).toEqual([
    '.gitignore',
    'midspan.db',
    'midspan.db-shm',
    'midspan.db-wal',
  ]);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
});

it('takes a folder and a file that others could read back from them', () => {
  const folder = place();
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'midspan.db'), '', { mode: 0o644 });
  storeOf(folder).audit.append({ what: 'call' });
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'midspan.db')).mode & 0o777).toBe(0o600);
});

it('is migrated once when several processes open it first at once', async () => {
  const folder = place();
  const sqlitePath = JSON.stringify(new URL('../../dist/store/store.js', import.meta.url).href);
  const program = `const { openStore } = await import(${sqlitePath});
    const store = openStore(${JSON.stringify(folder)});
    store.audit.append({ what: 'call' });
    store.close();`;
  await Promise.all(
    Array.from({ length: 4 }, () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]),
    ),
  );
  expect(storeOf(folder).audit.verify()).toMatchObject({ intact: true, rows: 4 });
});

it('says that a store was written by a newer version, and leaves it alone', () => {
  const folder = place();
  const newer = sqlite(join(folder, 'midspan.db'), (db) => void db.run('PRAGMA user_version = 99'));
  newer.all('SELECT 1');
  newer.close();
  expect(() => storeOf(folder).remembered.list()).toThrow(/written by a newer Midspan \(version 99/);
  expect(() => storeOf(folder).audit.append({})).toThrow('Use that version, or move the file away');
});

it('says that a file is no store and what to do', () => {
  const folder = place();
  mkdirSync(folder);
  writeFileSync(join(folder, 'midspan.db'), 'This is a text and no database at all. '.repeat(200));
  const store = storeOf(folder);
  for (const attempt of [() => store.remembered.list(), () => store.audit.append({})])
    expect(attempt).toThrow(/midspan\.db is damaged or is no store: .*\. Move it away/);
});

it('says that a folder cannot be made', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'midspan-store-')), 'file');
  writeFileSync(file, '');
  expect(() => storeOf(join(file, '.midspan')).audit.head()).toThrow(
    /cannot be written.*See whether its folder/,
  );
});

it('settles an ask once, for every process, and only by the digest that was shown', () => {
  const folder = place();
  const [first, second] = [storeOf(folder), storeOf(folder)];
  first.asks.insert({ id: 'a', digest: 'd', ask: '{}', created: 1, deadline: 100 });
  first.asks.insert({ id: 'b', digest: 'd', ask: '{}', created: 2, deadline: 50, run: 'r' });
  expect(second.asks.pending(49).map(({ id }) => id)).toEqual(['a', 'b']);
  expect(second.asks.pending(50).map(({ id }) => id)).toEqual(['a']);
  expect(second.asks.answer('a', 'other', '1', 'me', 5)).toBe(false);
  expect(second.asks.answer('a', 'd', '1', 'me', 5)).toBe(true);
  expect(first.asks.answer('a', 'd', '2', 'you', 6)).toBe(false);
  expect(first.asks.read('a')).toEqual({
    id: 'a',
    digest: 'd',
    ask: '{}',
    created: 1,
    deadline: 100,
    answer: '1',
    answeredBy: 'me',
    answeredAt: 5,
  });
  expect(first.asks.read('c')).toBeUndefined();
});

it('does not show asks that nobody waits for any more', () => {
  const folder = place();
  const asker = openStore(folder);
  asker.asks.insert({ id: 'a', digest: 'd', ask: '{}', created: 1, deadline: 100 });
  expect(storeOf(folder).asks.pending(2)).toHaveLength(1);
  asker.close();
  expect(storeOf(folder).asks.pending(2)).toHaveLength(0);
});

it('remembers a word for one digest until it is taken back', () => {
  const store = storeOf(place());
  const word = { label: 'files', tool: 'read', digest: 'd1', by: 'terminal' } as const;
  store.remembered.set({ ...word, action: 'allow' });
  expect(store.remembered.get(word)).toMatchObject({ ...word, action: 'allow' });
  expect(store.remembered.get({ ...word, digest: 'd2' })).toBeUndefined();
  store.remembered.set({ ...word, action: 'deny', by: undefined });
  expect(store.remembered.list()).toMatchObject([{ action: 'deny', by: undefined }]);
  expect(store.remembered.forget('files', 'write')).toBe(0);
  expect(store.remembered.forget('files')).toBe(1);
  expect(store.remembered.list()).toEqual([]);
});

it('writes all of a piece of work or nothing of it', () => {
  const store = storeOf(place());
  expect(() =>
    store.write(() => {
      store.audit.append({ what: 'call' });
      store.write(() => store.audit.append({ what: 'call' }));
      throw new Error('no');
    }),
  ).toThrow(/^no$/);
  expect(store.audit.head()).toEqual({ seq: 0, hash: '' });
  expect([...store.audit.rows()]).toEqual([]);
});

it('is closed once and for all', () => {
  const store = openStore(place());
  store.audit.append({});
  store.close();
  store.close();
  expect(() => store.audit.append({})).toThrow('is closed');
});
