import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Keychain } from '../../src/store/keychain.ts';
import { openSecrets, secretsPath } from '../../src/store/secrets.ts';

const place = (): string =>
  secretsPath({ XDG_STATE_HOME: mkdtempSync(path.join(tmpdir(), 'midspan-secrets-')) });
const none = () => ({ missing: 'there is none' });

function keychain(held: Record<string, string> = {}): Keychain & { held: Map<string, string> } {
  const map = new Map(Object.entries(held));
  return {
    held: map,
    get: (name) => map.get(name),
    set: (name, value) => void map.set(name, value),
    delete: (name) => map.delete(name),
    names: () => [...map.keys()],
  };
}

it('keeps secrets in a file for its owner alone where there is no keychain', () => {
  const file = place();
  const secrets = openSecrets(file, none);
  expect(secrets.list()).toEqual([]);
  expect(secrets.get('A')).toBeUndefined();
  expect(existsSync(file)).toBe(false);
  expect(secrets.set('B', 'two words')).toBe('file');
  expect(secrets.set('A', '1')).toBe('file');
  expect(secrets.withoutKeychain).toBe('there is none');
  expect(openSecrets(file, none).get('B')).toBe('two words');
  expect(openSecrets(file, none).list()).toEqual([
    { name: 'A', place: 'file' },
    { name: 'B', place: 'file' },
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  expect(readdirSync(path.dirname(file))).toEqual(['secrets.json']);
  expect([secrets.delete('A'), secrets.delete('A'), secrets.get('A')]).toEqual([true, false, undefined]);
});

it('keeps them in the keychain where one answers, and no longer in the file', () => {
  const file = place();
  openSecrets(file, none).set('A', 'old');
  const system = keychain({ B: 'b' });
  const secrets = openSecrets(file, () => system);
  expect(secrets.set('A', 'new')).toBe('keychain');
  expect(system.held.get('A')).toBe('new');
  expect(openSecrets(file, none).get('A')).toBeUndefined();
  expect([secrets.get('A'), secrets.get('B'), secrets.get('constructor')]).toEqual(['new', 'b', undefined]);
  expect(secrets.list()).toEqual([
    { name: 'A', place: 'keychain' },
    { name: 'B', place: 'keychain' },
  ]);
  expect(secrets.withoutKeychain).toBeUndefined();
  expect(secrets.delete('B')).toBe(true);
});

it('says why the keychain of this system is not used, or uses it', () => {
  const secrets = openSecrets(place());
  expect(secrets.withoutKeychain ?? 'it answers').toMatch(/does not answer|not installed|it answers/);
});

it('takes a file back from others, waits for nobody who is gone, and never quotes what it cannot read', () => {
  const file = place();
  const secrets = openSecrets(file, none);
  secrets.set('A', '1');
  chmodSync(file, 0o644);
  expect(secrets.get('A')).toBe('1');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(`${file}.draft`, '');
  const longAgo = Date.now() / 1000 - 60;
  utimesSync(`${file}.draft`, longAgo, longAgo);
  secrets.set('A', '2');
  expect(secrets.get('A')).toBe('2');
  for (const text of ['{"A": "hunter2', '["hunter2"]', '{"A": ["hunter2"]}', '"hunter2"']) {
    writeFileSync(file, text);
    let said = '';
    try {
      secrets.get('A');
    } catch (error) {
      said = String(error) + String((error as Error).cause);
    }
    expect(said).toContain('the file of secrets');
    expect(said).not.toContain('hunter2');
  }
});

it.each([
  ['1A', 'x'],
  ['', 'x'],
  ['A B', 'x'],
  ['A'.repeat(129), 'x'],
  ['A', ''],
  ['A', 'a\0b'],
  ['A', 'x'.repeat(65_537)],
])('refuses to keep %j', (name, value) => {
  expect(() => openSecrets(place(), none).set(name, value)).toThrow(/secret/);
});

const DIST = new URL('../../dist/store/secrets.js', import.meta.url).href;

it('loses nothing when several processes store at once', async () => {
  const file = place();
  const program = `import { openSecrets } from ${JSON.stringify(DIST)};
    const secrets = openSecrets(${JSON.stringify(file)}, () => ({ missing: '' }));
    for (let i = 0; i < 25; i += 1) secrets.set(process.argv[1] + i, 'x');`;
  await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program, name]),
    ),
  );
  expect(openSecrets(file, none).list()).toHaveLength(100);
});

it('is what a configuration refers to, and what is missing is told by its name alone', () => {
  const file = place();
  const secrets = openSecrets(file, none);
  secrets.set('TOKEN', 'hunter2');
  const config = (value: string) =>
    readConfig(
      { mcpServers: { a: { url: 'https://example.com/mcp', headers: { authorization: value } } } },
      { env: {}, base: '/', secret: (name) => secrets.get(name) },
    ).servers[0]?.transport;
  expect(config('Bearer ${secret:TOKEN}')).toMatchObject({ headers: { authorization: 'Bearer hunter2' } });
  expect(config('$${secret:TOKEN}')).toMatchObject({ headers: { authorization: '${secret:TOKEN}' } });
  expect(() => config('${secret:OTHER}')).toThrow(
    'no secret is stored as OTHER; `midspan secret set OTHER` stores it',
  );
  expect(() => config('${secret:a b}')).toThrow('the name of a secret has letters');
});

it('lies in the state folder of the user', () => {
  expect(secretsPath({ XDG_STATE_HOME: '/s', HOME: '/h' })).toBe('/s/midspan/secrets.json');
  expect(secretsPath({ XDG_STATE_HOME: 'relative', HOME: '/h' })).toBe(
    '/h/.local/state/midspan/secrets.json',
  );
});
