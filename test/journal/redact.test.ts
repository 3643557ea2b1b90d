import fc from 'fast-check';
import { expect, it } from 'vitest';
import { redact, redactText } from '../../src/journal/redact.ts';
import type { JsonObject } from '../../src/types.ts';

const SECRETS = [
  `sk-ant-${'a1B2'.repeat(8)}`,
  `ghp_${'a1B2c3'.repeat(6)}`,
  `github_pat_${'a1B2c3_'.repeat(6)}`,
  `xoxb-${'1234567890-'.repeat(2)}abc`,
  `AKIA${'ABCD1234'.repeat(2)}`,
  `AIza${'a1B2c3d'.repeat(5)}`,
  `eyJ${'hbGciOiJ'.repeat(3)}.${'eyJzdWIi'.repeat(3)}.${'c2lnbmF0'.repeat(3)}`,
  'Bearer abcdefgh12345678',
  '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
  'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
];

it.each(SECRETS)('leaves out %s', (secret) => {
  const shown = redactText(`before ${secret} after`);
  expect(shown).toContain('[redacted]');
  expect(shown).not.toContain(secret.slice(-8));
});

it.each([
  ['postgres://user:hunter2@db/x', 'postgres://user:[redacted]@db/x'],
  ['https://h/p?access_token=hunter2&x=1', 'https://h/p?access_token=[redacted]&x=1'],
  ['DB_PASSWORD=hunter2 run', 'DB_PASSWORD=[redacted] run'],
  ['{"apiKey": "hunter2"}', '{"apiKey": "[redacted]"}'],
])('takes the secret out of %s', (text, shown) => {
  expect(redactText(text)).toBe(shown);
});

it.each([
  'notes/a.md',
  'a sentence about passwords and tokens, of some length',
  '/home/ann/projects/AVeryLongFolderName2/withAFileInIt3.ts',
  'd41d8cd98f00b204e9800998ecf8427e',
  '3f0a2b1c-89de-4b6f-a0a1-0c9c6e2d4b11',
])('leaves %s as it is', (text) => {
  expect(redactText(text)).toBe(text);
});

it('goes by names at any depth, and leaves settings that are no texts', () => {
  expect(
    redact(
      {
        user: { password: 'x', list: [{ apiKey: { deep: 1 } }] },
        max_tokens: 5,
        secret: null,
        note: 'n',
        token: true,
      },
      new Set(['note']),
    ),
  ).toEqual({
    user: { password: '[redacted]', list: [{ apiKey: '[redacted]' }] },
    max_tokens: 5,
    secret: null,
    note: '[redacted]',
    token: true,
  });
});

it('keeps the shape of anything, and cuts long texts', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const value = JSON.parse(text) as JsonObject;
      const shown = redact({ value });
      expect(Object.keys(shown)).toEqual(['value']);
      expect(JSON.stringify(shown).length).toBeLessThan(text.length * 4 + 100);
    }),
  );
  expect(redactText('a b '.repeat(1_000))).toMatch(/… \(4000 characters\)$/);
});

it('takes a time that grows no faster than hostile texts do', () => {
  for (const piece of ['a', 'eyJ', 'sk-', '://', '-----BEGIN ', 'token', 'Bearer ', 'x_y-', '=:', '\u0000'])
    expect(redactText(piece.repeat(100_000)).length).toBeLessThan(2_000);
});
