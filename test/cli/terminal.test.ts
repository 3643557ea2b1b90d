import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { project } from './midspan.ts';

const CTRL_C = '\u0003';

describe('on a terminal', () => {
  it('shows progress on one line, harmless, and takes it away', async () => {
    const { terminal } = await project();
    const { shows, type, ended } = terminal(['call', 'test', 'slow']);
    await shows('slow: 1 of 3 half way\\x1b[2J');
    type(CTRL_C);
    const { screen } = await ended;
    expect(screen).toContain('\r\u001B[K');
    expect(screen).not.toContain('half way\u001B');
  });

  it('cancels the call at the first Ctrl-C, so that the server hears of it, and closes everything', async () => {
    const { terminal, log } = await project();
    const { shows, type, ended } = terminal(['call', 'test', 'slow']);
    await shows('slow: 1 of 3');
    type(CTRL_C);
    await shows('Canceling. Press Ctrl-C again to leave at once.');
    expect((await ended).code).toBe(130);
    const lines = await log();
    expect(lines).toContain('cancelled');
    expect(existsSync(`/proc/${(lines[0] ?? '').split(' ')[1]}`)).toBe(false);
  });

  it('leaves at the second Ctrl-C', async () => {
    // A server that never answers and will not end keeps the first from being enough at once.
    const { terminal } = await project({
      deaf: {
        command: process.execPath,
        args: ['-e', 'process.on("SIGTERM",()=>{});setInterval(()=>{},1e6)'],
        era: 'legacy',
      },
    });
    const { shows, type, ended } = terminal(['servers']);
    await shows('Waiting for');
    type(CTRL_C);
    await shows('Canceling.');
    type(CTRL_C);
    expect((await ended).code).toBe(130);
  });

  it('leaves at Ctrl-C while it waits for standard input', async () => {
    const { terminal } = await project();
    const { shows, type, ended } = terminal(['call', 'test', 'echo', '--args', '-']);
    await shows('Reading standard input; Ctrl-D ends it.');
    type('{"text":');
    type(CTRL_C);
    expect((await ended).code).toBe(130);
  });

  it('colors what it prints', async () => {
    const { terminal } = await project();
    const { screen, code } = await terminal(['servers']).ended;
    expect(code).toBe(0);
    expect(screen).toContain('\u001B[1mtest\u001B[22m');
  });
});
