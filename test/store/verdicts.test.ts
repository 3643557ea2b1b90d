import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MAX_VERDICTS, verdictFile } from '../../src/store/verdicts.ts';

const place = (): string => join(mkdtempSync(join(tmpdir(), 'midspan-')), '.midspan', 'eras.json');
const legacy = { era: 'legacy', protocolVersion: '2025-11-25', transport: 'stdio', at: 1 } as const;
const modern = { era: 'modern', protocolVersion: '2026-07-28', transport: 'http', at: 2 } as const;

it('remembers verdicts between openings, for the owner alone', () => {
  const path = place();
  verdictFile(path).set('a', legacy);
  verdictFile(path).set('b', modern);
  expect(['a', 'b', 'c'].map((key) => verdictFile(path).get(key))).toEqual([legacy, modern, undefined]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(path, '..'))).toEqual(['eras.json']);
});

it('forgets what is dropped, and the oldest of too many', () => {
  const verdicts = verdictFile(place());
  verdicts.set('a', legacy);
  verdicts.delete('a');
  expect(verdicts.get('a')).toBeUndefined();
  for (let at = 0; at <= MAX_VERDICTS; at += 1) verdicts.set(`k${at}`, { ...modern, at });
  expect(verdicts.get('k0')).toBeUndefined();
  expect(verdicts.get('k1')).toEqual({ ...modern, at: 1 });
});

it('takes a torn or hostile file for an empty one', () => {
  const path = place();
  const verdicts = verdictFile(path);
  verdicts.set('a', legacy);
  const odd = JSON.stringify({ a: { ...legacy, era: 'odd' } });
  for (const text of ['', '{', '[]', 'null', '{"a":1}', odd, '{"__proto__":{"a":1}}']) {
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
