import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build } from 'vite';
import { fixture, peer, processesWith, Recorder, until } from './support.ts';

let serial = 0;
/** A word of its own for each test, to find its processes by. */
const mark = () => `mark-${process.pid}-${(serial += 1)}`;
const WATCHDOG = 'midspan-watchdog';

describe('closing a channel', () => {
  it('defect 1: ends helpers of the server, in its group and in sessions of their own, that ignore SIGTERM', async () => {
    const name = mark();
    const channel = peer('family', name);
    const recorder = new Recorder();
    await channel.open(recorder);
    await until(() => recorder.messages.length === 2);
    expect(processesWith(name)).toHaveLength(4);
    await channel.close();
    expect(processesWith(name)).toEqual([]);
    expect(recorder.endings).toEqual([]);
  });

  it('defects 2 and 8: resolves only when a stubborn server is gone, which stays when its stdin ends', async () => {
    const name = mark();
    const channel = peer('stubborn', name);
    const recorder = new Recorder();
    await channel.open(recorder);
    await until(() => recorder.messages.length === 1);
    await Promise.all([channel.close(), channel.close()]);
    expect(processesWith(name)).toEqual([]);
  });

  it('ends what a server left behind when it died', async () => {
    const name = mark();
    const channel = peer('heldOpen', name);
    const recorder = new Recorder();
    await channel.open(recorder);
    await recorder.ending();
    await channel.close();
    expect(processesWith(name)).toEqual([]);
  });

  it('leaves no watchdog when the last server is gone', async () => {
    const channels = [peer('echo'), peer('echo')];
    await Promise.all(channels.map((channel) => channel.open(new Recorder())));
    const mine = () => processesWith(WATCHDOG).filter((pid) => parentOf(pid) === process.pid);
    expect(mine()).toHaveLength(1);
    await channels[0]?.close();
    expect(mine()).toHaveLength(1);
    await channels[1]?.close();
    expect(mine()).toEqual([]);
  });

  it('leaves nothing after many cycles, neither processes nor listeners', async () => {
    const name = mark();
    for (let cycle = 0; cycle < 10; cycle += 1) {
      const channels = [peer('echo', name), peer('echo', name)];
      await Promise.all(channels.map((channel) => channel.open(new Recorder())));
      await Promise.all(channels.map((channel) => channel.close()));
    }
    expect(processesWith(name)).toEqual([]);
    expect(process.listenerCount('exit')).toBeLessThan(10);
  });
});

describe('the end of the host', () => {
  const hosts: ChildProcess[] = [];
  let module = '';

  beforeAll(async () => {
    // Node 20 cannot run the sources as they are.
    const outDir = mkdtempSync(join(process.cwd(), 'node_modules', '.channels-'));
    await build({
      logLevel: 'silent',
      configFile: false,
      build: {
        ssr: new URL('../../src/servers/stdio.ts', import.meta.url).pathname,
        outDir,
        emptyOutDir: false,
        rollupOptions: { output: { entryFileNames: 'stdio.mjs' } },
      },
    });
    module = join(outDir, 'stdio.mjs');
  });

  afterAll(() => {
    rmSync(dirname(module), { recursive: true });
    for (const host of hosts) host.kill('SIGKILL');
  });

  async function startHost(ending: string, expected: number, name: string, ...behaviors: string[]) {
    const host = spawn(process.execPath, [fixture('host.mjs'), ending, module, name, ...behaviors], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, EXPECTED: String(expected) },
    });
    hosts.push(host);
    let output = '';
    host.stdout.on('data', (chunk: Buffer) => (output += chunk));
    const exited = new Promise<void>((resolve) => host.once('exit', () => resolve()));
    await until(() => output.includes('ready'));
    return { host, exited, output: () => output };
  }

  it.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
    'leaves nothing behind on %s, though servers ignore the end of their input and SIGTERM',
    async (signal) => {
      const name = mark();
      const { host, exited } = await startHost('wait', 4, name, 'stubborn', 'clan', 'deaf');
      expect(processesWith(name).length).toBeGreaterThanOrEqual(6);
      const watchdogs = processesWith(WATCHDOG).filter((pid) => parentOf(pid) === host.pid);
      expect(watchdogs).toHaveLength(1);
      host.kill(signal);
      await exited;
      await until(() => processesWith(name).length === 0, 10_000);
      await until(() => !processesWith(WATCHDOG).includes(watchdogs[0] ?? 0), 10_000);
    },
  );

  it.each(['exit', 'throw'])('leaves nothing behind when it ends by itself: %s', async (ending) => {
    const name = mark();
    const { exited } = await startHost(ending, 1, name, 'stubborn');
    await exited;
    await until(() => processesWith(name).length === 0, 10_000);
  });

  it('is not held up by the watchdog, which prints nothing', async () => {
    const { exited, output } = await startHost('close', 1, join(tmpdir(), mark()), 'orderly');
    await exited;
    expect(output()).toBe('ready\nclosed\n');
  });
});

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}
