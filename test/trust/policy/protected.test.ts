import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, decide, newTaint } from '../../../src/trust/policy/policy.ts';
import { CHECKED_MAX } from '../../../src/trust/policy/protected.ts';
import type { JsonObject, Policy, ToolLabel } from '../../../src/types.ts';

const ALLOW: Policy = { ...DEFAULT_POLICY, rules: [{ action: 'allow', tainted: 'allow' }] };

function asks(args: JsonObject, { policy = ALLOW, labels = [] as ToolLabel[] } = {}): boolean {
  const { action, rule } = decide(
    policy,
    { label: 'a', tool: 'b', arguments: args, digest: 'd', labels },
    { taint: newTaint(), remembered: () => undefined },
  );
  return action === 'ask' && rule === 'protected-path';
}

describe('a protected path in the arguments', () => {
  it.each([
    '~/.ssh/id_rsa',
    '/home/ann/.ssh',
    'C:\\Users\\Ann\\.AWS\\credentials',
    '/Users/ann/Library/Keychains/login.keychain-db',
    '/Users/ann/Library/Application Support/Claude/claude_desktop_config.json',
    '.env',
    'deploy/.env.production',
    'project/.mcp.json',
    '.cursor/mcp.json',
    '.vscode/settings.json',
    'midspan.json',
    'midspan.lock.json',
    '.midspan/store.db',
    '~/.bashrc',
    'Documents/PowerShell/Microsoft.PowerShell_profile.ps1',
    '/etc/cron.d/x',
    '/proc/self/environ',
    '/proc/1234/environ',
    'AGENTS.md',
    '.git/hooks/pre-commit',
    'backup.kdbx',
  ])('asks: %s', (path) => {
    expect(asks({ path })).toBe(true);
  });

  it.each([
    ['through ..', 'notes/../.ssh/id_rsa'],
    ['through . and //', './/.config/./gh//hosts.yml'],
    ['above the start', '../../.aws/credentials'],
    ['as a URI', 'file:///home/ann/.ssh/id_rsa'],
    ['as a URI of a host', 'file://localhost/home/ann/.ssh/id_rsa'],
    ['percent-encoded', 'file:///home/ann/%2Essh/id_rsa'],
    ['percent-encoded twice', '%252essh%252fid_rsa'],
    ['in capitals', '~/.SSH/ID_RSA'],
    ['in letters that a file system folds', '~/.\u017F\u017Fh/id_rsa'],
    ['in full-width letters', '~/\uFF0Essh/id_rsa'],
    ['with characters that some file systems ignore', '~/.s\u200Csh/id_rsa'],
    ['with dots and spaces that Windows ignores', '.ssh. /id_rsa'],
    ['as a stream of Windows', '.env::$DATA'],
    ['on a drive', 'C:.env'],
    ['of a host', 'scp ann@host:.ssh/known_hosts .'],
    ['in a list', '/a:/b/.aws/config:/c'],
    ['with a NUL', '.env\0.txt'],
    ['in a command', 'cat -n ~/.ssh/id_rsa | head'],
    ['in a command, quoted', "cat ~/.s's'h/id_rsa"],
    ['in a command, escaped', 'cat ~/.s\\sh/id_rsa'],
    ['as an option', '--file=/home/ann/.netrc'],
    ['beside a line break', 'first line\ncp .env /tmp/x'],
    ['as JSON in text', '{"path":"~\\/.ssh\\/id_rsa"}'],
    ['as JSON in text, escaped', '{"path":"~/\\u002essh/id_rsa"}'],
    ['in the query of an address', 'https://example.com/?upload=@~/.ssh/id_rsa'],
  ])('asks when it is spelled %s', (_, path) => {
    expect(asks({ path })).toBe(true);
  });

  it('asks wherever in the arguments it stands, as a key too', () => {
    expect(asks({ a: [{ b: [['x', '~/.ssh/id_rsa']] }] })).toBe(true);
    expect(asks({ files: { '.env': 'TOKEN=' } })).toBe(true);
  });

  it.each([
    'README.md',
    'src/env.ts',
    '.env.example',
    'docs/ssh/keys.md',
    'https://example.com/.env',
    'Tell me about .NET and Node.js, e.g. v20.1.',
    'a sentence that ends with config.',
    'C:\\Users\\Ann\\notes.txt',
    '100%',
    '%zz%',
    '{not json',
  ])('does not ask: %s', (path) => {
    expect(asks({ path })).toBe(false);
  });

  it('lets a tool that only reads have the files that steer assistants, but no secrets', () => {
    expect(asks({ path: 'AGENTS.md' }, { labels: ['reads'] })).toBe(false);
    expect(asks({ path: 'AGENTS.md' }, { labels: ['reads', 'sends'] })).toBe(true);
    expect(asks({ path: '.env' }, { labels: ['reads'] })).toBe(true);
  });

  it.each([
    ['~/payroll', '/home/ann/payroll/2026.csv'],
    ['~/payroll', '$HOME/payroll'],
    ['/home/ann/payroll/', '~/Payroll/x'],
    ['*.pem', 'certs/server.pem'],
    ['secrets', 'deploy/secrets/a.yaml'],
    ['/srv/data/**', '/srv/other/../data/x'],
    ['D:\\Private', 'd:/private/x.txt'],
  ])('asks for those of the policy: %s names %s', (glob, path) => {
    const policy = { ...ALLOW, protectedPaths: [glob] };
    expect(asks({ path }, { policy })).toBe(true);
    expect(asks({ path: 'elsewhere/readme.txt' }, { policy })).toBe(false);
  });

  it('asks when there is more than can be looked through, or deeper', () => {
    expect(asks({ text: 'x'.repeat(CHECKED_MAX) })).toBe(true);
    expect(asks({ text: 'x'.repeat(CHECKED_MAX - 100) })).toBe(false);
    let deep: JsonObject = {};
    for (let depth = 0; depth < 100; depth += 1) deep = { a: deep };
    expect(asks(deep)).toBe(true);
    expect(asks({ text: '['.repeat(100_000) })).toBe(false);
    expect(asks({ text: `${'['.repeat(200)}${']'.repeat(200)}` })).toBe(true);
  });

  it('ends soon whatever it is given', () => {
    const policy = { ...ALLOW, protectedPaths: ['secrets', '**/a/**/b'] };
    for (const piece of ['.', './', 'a/', ':', '%2e', 'a:', '~', '"', '\\', ' .', 'https://'])
      expect(asks({ text: `${piece.repeat(300_000 / piece.length)}x` }, { policy })).toBe(false);
  });

  it('is found in every spelling of it, wherever it stands in a text', () => {
    const path = fc.constantFrom(
      '/home/ann/.ssh/id_rsa',
      'x/.env',
      '.cursor/mcp.json',
      'a/midspan.lock.json',
      '/etc/cron.d/x',
      'b/c.kdbx',
      '/proc/7/environ',
      'Library/Keychains/x',
      'docs/agents.md',
    );
    const spelling = fc.constantFrom<(path: string) => string>(
      (text) => text.toUpperCase(),
      (text) => text.replaceAll('/', '\\'),
      (text) => text.replaceAll('/', '//'),
      (text) => text.replaceAll('/', '/./'),
      (text) => text.replaceAll('/', '/up/../'),
      (text) => encodeURIComponent(text),
      (text) => text.replaceAll('.', '%2e'),
      (text) => text.replaceAll('s', '\u017F'),
      (text) => text.replace(/(?<=[a-z])(?=[a-z])/, '\u200B'),
      (text) => text.replace(/(?<=[a-z])(?=[a-z])/, "''"),
      (text) => `file://${text.startsWith('/') ? '' : '/'}${text}`,
      (text) => `${text} `,
    );
    const around = fc.constantFrom<(path: string) => string>(
      (text) => text,
      (text) => `cat ${text} | sort`,
      (text) => `--in=${text}`,
      (text) => `line\n${text}\nline`,
      (text) => JSON.stringify({ deep: [{ er: text }] }),
    );
    fc.assert(
      fc.property(path, fc.array(spelling, { maxLength: 3 }), around, (plain, spellings, put) => {
        const spelled = spellings.reduce<string>((text, spell) => spell(text), plain);
        expect(asks({ any: [{ thing: put(spelled) }] }), put(spelled)).toBe(true);
      }),
    );
  });

  it('never allows what a rule denies', () => {
    const policy: Policy = { ...DEFAULT_POLICY, rules: [{ action: 'deny' }] };
    const found = decide(
      policy,
      { label: 'a', tool: 'b', arguments: { path: '.env' }, digest: 'd', labels: [] },
      { taint: newTaint(), remembered: () => undefined },
    );
    expect(found).toMatchObject({ action: 'deny', rule: 'rules[0]' });
  });
});
