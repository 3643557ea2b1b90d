import { afterEach, describe, expect, it } from 'vitest';
import { type Host, openHost } from '../../src/index.ts';
import { configurationOf, file, light, newMark, processesWith, stubborn, until, wrapped } from './support.ts';

const opened: Host[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((host) => host.close()));
});

async function open(configuration: object): Promise<Host> {
  const host = await openHost(configuration);
  opened.push(host);
  return host;
}

/** Wrapper, shell and server. */
const TREE = 3;

describe('a server behind a wrapper and a shell', () => {
  it('ends with its whole tree when the host is closed', async () => {
    const mark = newMark();
    const host = await open(configurationOf([wrapped(mark)]));
    expect(processesWith(mark)).toHaveLength(TREE);
    await host.close();
    expect(processesWith(mark)).toEqual([]);
  });

  it('is there once when it was brought back after a crash', async () => {
    const mark = newMark();
    const host = await open(configurationOf([wrapped(mark)]));
    const before = processesWith(mark);
    const pid = await pidOf(host);
    process.kill(pid, 'SIGKILL');
    await until(() => host.servers()[0]?.state !== 'ready');
    const after = await pidOf(host);
    expect(after).not.toBe(pid);
    await until(() => processesWith(mark).length === TREE);
    expect(processesWith(mark).filter((each) => before.includes(each))).toEqual([]);
  });

  it('leaves no tree of the old configuration when it is opened with an edited one', async () => {
    const [old, edited] = [newMark(), newMark()];
    await (await open(configurationOf([wrapped(old), light(old)]))).close();
    const host = await open(configurationOf([wrapped(edited), light(edited)]));
    expect(processesWith(old)).toEqual([]);
    expect(host.servers().map(({ state }) => state)).toEqual(['ready', 'ready']);
    expect(processesWith(edited)).toHaveLength(TREE + 1);
  });

  it('ends when the host is closed in the middle of a call, which is told so', async () => {
    const mark = newMark();
    const host = await open(configurationOf([wrapped(mark)]));
    const call = host.call({ label: 'one', tool: 'hang', arguments: {} });
    await host.close();
    expect(await call).toMatchObject({ status: 'unknown', error: { code: 'closed', label: 'one' } });
    expect(processesWith(mark)).toEqual([]);
  });

  it('ends when opening is given up while it starts', async () => {
    const mark = newMark();
    const giveUp = new AbortController();
    const opening = openHost(configurationOf([wrapped(mark), stubborn(mark)]), { signal: giveUp.signal });
    await until(() => processesWith(mark).length > 0);
    giveUp.abort();
    await expect(opening).rejects.toThrow();
    expect(processesWith(mark)).toEqual([]);
  });
});

describe('a server that dies before it answers', () => {
  it.each(['auto', 'legacy', 'modern'])(
    'fails at once and not at a time-out, with the end of its stderr: era %s',
    async (era) => {
      const dying = { command: process.execPath, args: [file('not-there.mjs')], era };
      // Longer than the test may take: whoever waited for a time-out would fail here.
      const timeouts = { start: 600_000, call: 600_000 };
      const configuration = configurationOf([{ ...dying, timeouts } as never, light(newMark())]);
      const host = await openHost(configuration, { startWithin: 600_000 });
      opened.push(host);
      const [status, other] = host.servers();
      expect(status?.state).toBe('failed');
      expect(status?.error?.message).toContain('Cannot find module');
      expect(other?.state).toBe('ready');
    },
  );

  it('does so behind a wrapper and a shell too', async () => {
    const args = [file('wrapper.mjs'), file('not-there.mjs')];
    const host = await open(configurationOf([{ command: process.execPath, args, era: 'auto' }]));
    expect(host.servers()[0]).toMatchObject({ state: 'failed' });
    expect(host.servers()[0]?.error?.message).toContain('Cannot find module');
  });
});

async function pidOf(host: Host): Promise<number> {
  const { result } = await host.call({ label: 'one', tool: 'pid', arguments: {} });
  return Number(result.content[0]?.['text']);
}
