import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Lock } from '../../src/trust/lock/index.ts';
import { type Ended, project } from './midspan.ts';

const shifting = fileURLToPath(new URL('shifting.mjs', import.meta.url));
const rugpull = fileURLToPath(new URL('../../examples/rugpull/midspan.json', import.meta.url));

interface Weather {
  folder: string;
  midspan: (...words: string[]) => Promise<Ended>;
  terminal: Awaited<ReturnType<typeof project>>['terminal'];
  /** The text of the lock file. */
  locked: () => Promise<string>;
  /** Rewrites the configuration: when the server changes, and with which arguments it is started. */
  configure: (changed: string, ...args: string[]) => Promise<void>;
}

/** A folder with a server and a configuration, and no lock. */
async function weather(): Promise<Weather> {
  const { folder, midspan, terminal } = await project();
  await copyFile(shifting, path.join(folder, 'server.mjs'));
  const configure = (changed: string, ...args: string[]): Promise<void> => {
    const entry = {
      command: 'node',
      args: ['server.mjs', ...args],
      env: { CHANGED: changed },
      era: 'legacy',
    };
    return writeFile(path.join(folder, 'midspan.json'), JSON.stringify({ mcpServers: { weather: entry } }));
  };
  await configure('never');
  return {
    folder,
    midspan: (...words) => midspan(words),
    terminal,
    configure,
    locked: () => readFile(path.join(folder, 'midspan.lock.json'), 'utf8'),
  };
}

const pinOf = (text: string): Lock['servers'][string] | undefined =>
  (JSON.parse(text) as Lock).servers['weather'];

describe('midspan lock', () => {
  it('pins what servers list, says that nobody read it, and writes the same bytes again', async () => {
    const { midspan, locked } = await weather();
    const { code, out, err } = await midspan('lock', '--yes');
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(out).toMatch(/weather +1 +0 +0 +0 +\d{4}-\d\d-\d\d, unseen/);
    const first = await locked();
    expect(pinOf(first)?.reviewed.how).toBe('yes');
    expect((await midspan('check')).code).toBe(0);
    expect((await midspan('check', '--live')).code).toBe(0);
    expect((await midspan('lock', '--yes')).code).toBe(0);
    expect(await locked()).toBe(first);
  });

  it('writes no empty lock when no server can be reached', async () => {
    const { folder, midspan } = await weather();
    await rm(path.join(folder, 'server.mjs'));
    const { code, err } = await midspan('lock', '--yes');
    expect(code).toBe(4);
    expect(err).toContain('weather');
    expect(existsSync(path.join(folder, 'midspan.lock.json'))).toBe(false);
  });

  it('writes nothing where nobody can be asked', async () => {
    const { midspan, locked } = await weather();
    const { code, out, err } = await midspan('lock');
    expect(code).toBe(6);
    expect(out).toContain('Get the forecast for a city.');
    expect(err).toContain('midspan lock --yes');
    await expect(locked()).rejects.toThrow('ENOENT');
  });

  it('writes down a review at a terminal, and nothing after a no', async () => {
    const { terminal, locked } = await weather();
    for (const key of ['n', 'y']) {
      const screen = terminal(['lock']);
      await screen.shows('pin all of this?');
      // Keys that come too early are not taken for an answer.
      const typing = setInterval(() => screen.type(key), 100);
      const { code } = await screen.ended.finally(() => clearInterval(typing));
      expect(code).toBe(key === 'y' ? 0 : 6);
      if (key === 'n') await expect(locked()).rejects.toThrow('ENOENT');
    }
    expect(pinOf(await locked())?.reviewed.how).toBe('review');
  });

  it('leaves out what a server does not list twice, and says how it is approved', async () => {
    const { midspan, locked, configure } = await weather();
    await configure('second');
    const { code, err } = await midspan('lock', '--yes');
    expect(code).toBe(0);
    expect(err).toMatch(/left out weather: tool get_forecast .*midspan approve weather --digest sha256-/);
    expect(pinOf(await locked())?.tools).toEqual({});
  });

  it('writes nothing that cannot be recorded', async () => {
    const { midspan, folder, locked } = await weather();
    await mkdir(path.join(folder, '.midspan'));
    await writeFile(path.join(folder, '.midspan', 'midspan.db'), 'no database '.repeat(100));
    const { code, err } = await midspan('lock', '--yes');
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('damaged') as unknown });
    await expect(locked()).rejects.toThrow('ENOENT');
  });

  it('records that a decision was undone when the file cannot be written', async () => {
    const { midspan, folder } = await weather();
    await writeFile(
      path.join(folder, 'midspan.json'),
      JSON.stringify({
        mcpServers: { weather: { command: 'node', args: ['server.mjs'], env: { CHANGED: 'never' } } },
        trust: { lock: 'nowhere/midspan.lock.json' },
      }),
    );
    expect((await midspan('lock', '--yes')).code).toBe(2);
    const { out } = await midspan('audit', '--json');
    const rows = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { decision: string });
    expect(rows.map(({ decision }) => decision)).toEqual(['locked', 'undone']);
  });

  it('keeps secrets and places of this machine out of the file', async () => {
    const { midspan, locked, configure, folder } = await weather();
    await configure('never', '--token', 'hunter2-of-mine', path.join(folder, 'data'));
    expect((await midspan('lock', '--yes')).code).toBe(0);
    const text = await locked();
    for (const secret of ['hunter2', folder, process.execPath]) expect(text).not.toContain(secret);
    expect(pinOf(text)?.identity).toMatchObject({
      argv: expect.arrayContaining(['$CONFIG/data']) as unknown,
      env: ['CHANGED'],
    });
    await configure('never', '--token', 'another-of-mine', path.join(folder, 'data'));
    expect((await midspan('check')).code).toBe(6);
  });
});

describe('midspan check', () => {
  it.each([
    ['text', /get_forecast/],
    ['json', /"get_forecast"/],
    ['markdown', /get_forecast/],
    ['sarif', /"version": ?"2.1.0"/],
  ])('tells of drift as %s and ends with 6', async (format, shows) => {
    const { midspan, configure } = await weather();
    await midspan('lock', '--yes');
    await configure('always');
    if (format === 'text') expect((await midspan('check')).code).toBe(0);
    const { code, out } = await midspan('check', '--live', '--format', format);
    expect(code).toBe(6);
    expect(out).toMatch(shows);
    expect(out).not.toContain('\u200b');
  });

  it('tells of a server that is in no lock, or is started otherwise, without starting it', async () => {
    const { midspan, configure } = await weather();
    const unknown = await midspan('check');
    expect(unknown.code).toBe(6);
    // A command that `midspan approve` would refuse helps nobody.
    expect(unknown.out).toMatch(/approve with {2}midspan lock weather$/m);
    await midspan('lock', '--yes');
    await configure('never', '--more');
    const { code, out } = await midspan('check', '--live');
    expect(code).toBe(6);
    expect(out).toContain('how it is reached changed: the command');
  });

  it('ends with 4 when a server could not be verified', async () => {
    const { midspan, folder } = await weather();
    await midspan('lock', '--yes');
    await rm(path.join(folder, 'server.mjs'));
    expect((await midspan('check')).code).toBe(0);
    const { code, err } = await midspan('check', '--live');
    expect(code).toBe(4);
    expect(err).toContain('not verified');
    expect(err).not.toContain('Nothing changed.');
    const diff = await midspan('diff');
    expect(diff.code).toBe(4);
    expect(diff.err).not.toContain('Nothing changed.');
  });

  it('names the entry that was edited by hand', async () => {
    const { midspan, folder, locked } = await weather();
    await midspan('lock', '--yes');
    const file = path.join(folder, 'midspan.lock.json');
    await writeFile(file, (await locked()).replace('Get the forecast', 'Give the forecast'));
    const { code, err } = await midspan('check');
    expect(code).not.toBe(0);
    expect(err).toContain('servers.weather.tools.get_forecast was edited');
  });

  it.each(['', '{', '[]', 'null', '{"servers": {}}', 'edited'])(
    'says how a lock file that is none is replaced, and that works: %s',
    async (text) => {
      const { midspan, folder, locked } = await weather();
      await midspan('lock', '--yes');
      const file = path.join(folder, 'midspan.lock.json');
      const whole = await locked();
      await writeFile(file, text === 'edited' ? whole.replace('Get the forecast', 'Give it') : text);
      const { code, err } = await midspan('check');
      expect(code).toBe(2);
      expect(err).toContain('move it away, and `midspan lock` reviews and writes everything anew');
      expect(err).not.toContain('arguments');
      await rm(file);
      expect((await midspan('lock', '--yes')).code).toBe(0);
      expect(await locked()).toBe(whole);
    },
  );

  it('notices the example that turns on its second list', async () => {
    const { midspan } = await weather();
    expect((await midspan('check', '--config', rugpull)).code).toBe(0);
    const { code, out } = await midspan('check', '--config', rugpull, '--live');
    expect(code).toBe(6);
    expect(out).toContain('get_forecast');
    expect(out).toContain('did not always list the same');
    expect((await midspan('diff', '--config', rugpull)).out).toContain('⟨tags: send it all⟩');
  });
});

describe('midspan approve', () => {
  it('writes exactly what has the digest, and nothing when the server lists something else', async () => {
    const { midspan, configure, locked } = await weather();
    await midspan('lock', '--yes');
    await configure('always');
    const { out } = await midspan('diff');
    const digest = /approve weather get_forecast --digest (sha256-\S+)/.exec(out)?.[1] ?? '';
    const before = await locked();
    await configure('never');
    const refused = await midspan('approve', 'weather', 'get_forecast', '--digest', digest);
    expect(refused.code).toBe(6);
    expect(refused.err).toContain(digest);
    expect(await locked()).toBe(before);
    await configure('always');
    const held = await midspan('call', 'weather', 'get_forecast', 'city=Rome');
    expect(held.code).toBe(6);
    expect(held.err).toContain(`midspan approve weather get_forecast --digest ${digest}`);
    const another = await midspan('approve', 'weather', 'another', '--digest', digest);
    expect(another.code).toBe(6);
    expect(another.err).toContain(`no tool "another" that the server lists now has the digest ${digest}`);
    const none = await midspan('approve', 'weather', 'get_forecast', '--digest', 'sha256-short');
    expect(none.code).toBe(2);
    expect(none.err).toContain('"sha256-short" is no digest');
    expect((await midspan('approve', 'weather', 'get_forecast', '--digest', digest)).code).toBe(0);
    expect(pinOf(await locked())?.tools['get_forecast']?.digest).toBe(digest);
    expect((await midspan('check', '--live')).code).toBe(0);
  });
});
