import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { VERDICT_HOURS, verdictFile } from '../../src/store/verdicts.ts';

const place = (): string => join(mkdtempSync(join(tmpdir(), 'midspan-')), '.midspan', 'eras.json');
const legacy = { era: 'legacy', protocolVersion: '2025-11-25' } as const;
const modern = { era: 'modern', protocolVersion: '2026-07-28' } as const;

it('remembers verdicts between openings, for the owner alone', () => {
  const path = place();
  verdictFile(path).set('a', legacy);
  verdictFile(path).set('b', modern);
  expect([verdictFile(path).get('a'), verdictFile(path).get('b'), verdictFile(path).get('c')]).toEqual([
    legacy,
    modern,
    undefined,
  ]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(path, '..'))).toEqual(['eras.json']);
});

it('forgets what is dropped and what is older than a day', () => {
  const path = place();
  let now = 1_000_000;
  const verdicts = verdictFile(path, () => now);
  verdicts.set('a', legacy);
  verdicts.set('b', modern);
  verdicts.delete('a');
  expect(verdicts.get('a')).toBeUndefined();
  now += VERDICT_HOURS * 3_600_000;
  expect(verdicts.get('b')).toBeUndefined();
});

it('takes a torn or hostile file for an empty one', () => {
  const path = place();
  const verdicts = verdictFile(path);
  verdicts.set('a', legacy);
  for (const text of [
    '',
    '{',
    '[]',
    'null',
    '{"a":1}',
    '{"a":{"era":"odd","protocolVersion":"x","at":9e15}}',
    '{"__proto__":{"a":1}}',
  ]) {
    writeFileSync(path, text);
    expect(verdicts.get('a')).toBeUndefined();
  }
  verdicts.set('b', modern);
  expect(verdicts.get('b')).toEqual(modern);
});

it('does not fail where nothing can be written', () => {
  const blocked = place();
  verdictFile(blocked).set('a', legacy); // a file stands where a folder would have to
  const verdicts = verdictFile(join(blocked, 'eras.json'));
  verdicts.set('a', legacy);
  expect(verdicts.get('a')).toBeUndefined();
});
