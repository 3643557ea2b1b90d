import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import { sqlite } from '../../src/store/sqlite.ts';
import type { JsonObject } from '../../src/types.ts';

const place = (): string => join(mkdtempSync(join(tmpdir(), 'midspan-audit-')), '.midspan');

/** Three rows, and then what somebody with the file in hands does to them. */
function tampered(...statements: string[]) {
  const folder = place();
  const store = openStore(folder, () => 1_000);
  for (const item of ['a', 'b', 'c']) store.audit.append({ what: 'call', item });
  const noted = store.audit.head();
  store.close();
  const db = sqlite(join(folder, 'midspan.db'), () => undefined);
  for (const sql of statements) db.run(sql);
  db.close();
  const opened = openStore(folder);
  const verified = opened.audit.verify();
  const against = opened.audit.verify(noted);
  opened.close();
  return { verified, against };
}

const DISARMED = ['audit_no_update', 'audit_no_delete', 'audit_head_forward', 'audit_head_stays'].map(
  (trigger) => `DROP TRIGGER ${trigger}`,
);

it('verifies what nobody touched', () => {
  expect(tampered().verified).toMatchObject({ intact: true, rows: 3 });
});

it.each([
  "UPDATE audit SET body = '{}'",
  'DELETE FROM audit',
  'UPDATE audit_head SET seq = 2',
  'DELETE FROM audit_head',
])('refuses %s', (sql) => {
  expect(() => tampered(sql)).toThrow('the audit is append-only');
});

it.each([
  [
    'UPDATE audit SET body = replace(body, \'"b"\', \'"x"\') WHERE seq = 2',
    2,
    'its content is not what was hashed',
  ],
  ['DELETE FROM audit WHERE seq = 2', 2, 'row 2 is gone'],
  ['DELETE FROM audit WHERE seq = 1', 1, 'row 1 is gone'],
  ['DELETE FROM audit WHERE seq = 3', 3, 'the rows from 3 to 3 are gone'],
  ['DELETE FROM audit', 1, 'the rows from 1 to 3 are gone'],
  ['UPDATE audit SET seq = 9 WHERE seq = 3', 3, 'row 3 is gone'],
  [
    'INSERT INTO audit (seq, body, hash) SELECT 4, body, hash FROM audit WHERE seq = 3',
    4,
    'it was written as another row',
  ],
  ["INSERT INTO audit (seq, body, hash) SELECT 4, 'no', hash FROM audit WHERE seq = 3", 4, 'malformed JSON'],
])('names the first wrong row after %s', (sql, seq, problem) => {
  if (problem === 'malformed JSON') return expect(() => tampered(...DISARMED, sql)).toThrow(problem);
  expect(tampered(...DISARMED, sql).verified).toMatchObject({ intact: false, seq, problem });
});

it('notices a shortened chain whose head was moved with it only against a hash that was noted elsewhere', () => {
  const { verified, against } = tampered(
    ...DISARMED,
    'UPDATE audit_head SET seq = 2, hash = (SELECT hash FROM audit WHERE seq = 2)',
    'DELETE FROM audit WHERE seq = 3',
  );
  expect(verified).toMatchObject({ intact: true, rows: 2 });
  expect(against).toMatchObject({ intact: false, seq: 3, problem: 'the rows from 3 to 3 are gone' });
});

it('keeps any event as it is, but for halves of characters', () => {
  const store = openStore(place());
  fc.assert(
    fc.property(fc.object({ withNullPrototype: false }), fc.string({ unit: 'binary' }), (detail, text) => {
      const plain = JSON.parse(JSON.stringify({ detail, text })) as JsonObject;
      const { body } = store.audit.append(plain);
      expect(JSON.parse(body)).toMatchObject(JSON.parse(wellFormed(JSON.stringify(plain))) as object);
    }),
    { numRuns: 50 },
  );
  store.audit.append({ text: '\uD800' });
  expect(store.audit.verify()).toMatchObject({ intact: true, rows: 51 });
  store.close();
});

const wellFormed = (json: string): string => json.replaceAll(/\\ud[89a-f][0-9a-f]{2}/gi, '\uFFFD');

it('gives out rows by time and label', () => {
  let now = 0;
  const store = openStore(place(), () => now);
  for (now = 1; now <= 1_203; now += 1)
    store.audit.append({ what: 'call', label: now % 2 === 0 ? 'odd' : 'even' });
  expect([...store.audit.rows()]).toHaveLength(1_203);
  expect([...store.audit.rows({ label: 'odd' })]).toHaveLength(601);
  expect([...store.audit.rows({ since: 1_201 })].map(({ seq }) => seq)).toEqual([1_201, 1_202, 1_203]);
  store.close();
});
