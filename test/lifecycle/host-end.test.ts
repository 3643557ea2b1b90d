import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import {
  childrenOf,
  configurationOf,
  file,
  isAlive,
  newMark,
  processesWith,
  stubborn,
  until,
  wrapped,
} from './support.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

interface Program {
  pid: number;
  /** Everything that it started, watchdog included. */
  children: number[];
  exited: Promise<void>;
}

/** A program whose host has two servers behind wrappers and one without, all of which ignore every request to leave. */
async function program(ending: string, mark: string): Promise<Program> {
  const configuration = configurationOf([wrapped(mark), wrapped(mark), stubborn(mark)]);
  const child = spawn(process.execPath, [file('host.mjs'), ending, JSON.stringify(configuration)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  started.push(child);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk));
  await until(() => output.includes('\n'));
  expect(output).toBe('ready,ready,ready\n');
  return { pid: child.pid ?? 0, children: childrenOf(child.pid ?? 0), exited };
}

async function leavesNothing({ children, exited }: Program, mark: string): Promise<void> {
  await exited;
  const since = performance.now();
  await until(() => processesWith(mark).length === 0);
  console.info(`all of it had ended ${Math.round(performance.now() - since)} ms after the program`);
  await until(() => children.every((pid) => !isAlive(pid)));
}

describe('the end of a program with a host', () => {
  it.each(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'ends the process trees of its servers: %s',
    async (signal) => {
      const mark = newMark();
      const running = await program('wait', mark);
      // Wrapper, shell and server, twice, one server, and the program itself, whose arguments name the mark too.
      expect(processesWith(mark)).toHaveLength(8);
      process.kill(running.pid, signal);
      await leavesNothing(running, mark);
    },
  );

  it('ends them when the whole process group of the program is killed', async () => {
    const mark = newMark();
    const running = await program('wait', mark);
    process.kill(-running.pid, 'SIGKILL');
    await leavesNothing(running, mark);
  });

  it.each(['exit', 'throw', 'reject'])('ends them when it ends by itself: %s', async (ending) => {
    const mark = newMark();
    await leavesNothing(await program(ending, mark), mark);
  });
});
