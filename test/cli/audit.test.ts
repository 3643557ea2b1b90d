import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { migrate } from '../../src/store/schema.ts';
import { sqlite } from '../../src/store/sqlite.ts';
import { project } from './midspan.ts';

const ECHO = ['call', 'test', 'echo', 'text=hello', 'list=1'];

interface Event {
  seq: number;
  what: string;
  label?: string;
  decision: string;
  hash: string;
}
const events = (out: string): Event[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);

it('reads, exports and verifies what was decided and called, and names the row that somebody changed', async () => {
  const { midspan, folder } = await project();
  expect((await midspan(ECHO)).code).toBe(0);

  const plain = await midspan(['audit']);
  expect(plain.code).toBe(0);
  expect(plain.out).toMatch(/call test\/echo started {2}.*"text":"hello"/);
  expect(plain.out).toMatch(/call test\/echo done {2}\d+ ms; \d+ bytes/);

  const all = events((await midspan(['audit', '--json'])).out);
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
  const calls = events((await midspan(['audit', '--json', '--label', 'test', '--since', '1h'])).out);
  expect(calls.map(({ decision }) => decision)).toEqual(expect.arrayContaining(['started', 'done']));
  const none = await midspan(['audit', '--label', 'other']);
  expect([none.code, none.out, none.err]).toEqual([0, '', 'The audit holds no such row.\n']);

  const verified = await midspan(['audit', '--verify']);
  const noted = `${all.length}:${all.at(-1)?.hash}`;
  expect([verified.code, verified.out]).toEqual([0, `intact ${all.length} rows\n${noted}\n`]);

  expect((await midspan(['audit', '--export', 'audit.jsonl'])).code).toBe(0);
  const file = path.join(folder, 'audit.jsonl');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(all.length);

  const db = sqlite(path.join(folder, '.midspan', 'midspan.db'), migrate);
  db.run('DROP TRIGGER audit_no_update');
  db.run("UPDATE audit SET body = replace(body, 'hello', 'other') WHERE body LIKE '%hello%'");
  db.close();
  const broken = await midspan(['audit', '--verify']);
  expect(broken.code).toBe(1);
  expect(broken.out).toMatch(/^broken at row \d+: its content is not what was hashed\n$/);
  const json = await midspan(['audit', '--verify', '--json']);
  expect([json.code, JSON.parse(json.out)]).toMatchObject([1, { intact: false }]);
});

it('notices a whole new audit against a row that was noted elsewhere', async () => {
  const { midspan } = await project();
  const noted = `1:${'0'.repeat(64)}`;
  expect((await midspan(['audit', '--verify', '--noted', noted])).out).toContain('the audit is gone');
  await midspan(ECHO);
  const { code, out } = await midspan(['audit', '--verify', '--noted', noted]);
  expect(code).toBe(1);
  expect(out).toContain('broken at row 1: its hash is not the one that was noted');
});

it('takes no times and no notes that are none', async () => {
  const { midspan } = await project();
  for (const words of [
    ['--since', 'soon'],
    ['--verify', '--noted', '1:x'],
    ['--noted', `1:${'0'.repeat(64)}`],
  ])
    expect((await midspan(['audit', ...words])).code).toBe(2);
});

it('records nothing of a call to a store that is damaged, and does not make it', async () => {
  const { midspan, folder, log } = await project();
  await midspan(ECHO);
  const before = (await log()).filter((line) => line === 'call echo');
  writeFileSync(path.join(folder, '.midspan', 'midspan.db'), 'not a database '.repeat(500));
  const { code, err, out } = await midspan(ECHO);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain('is damaged or is no store');
  expect(err).toContain('Move it away');
  expect((await log()).filter((line) => line === 'call echo')).toEqual(before);
});
