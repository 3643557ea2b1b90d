/**
 * Everything that one stdio server started. The server leads a process group of its own, so that its helpers can be
 * reached together; descendants that left the group are found in the process table while their parents still live.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { KILL_WAIT_MS, ORPHAN_GRACE_MS, STDIN_GRACE_MS, TERMINATE_GRACE_MS } from '../mcp/limits.ts';
import { unwatch, watch } from './watchdog.ts';

const POLL_MS = 10;
const KILL_ROUND_MS = 50;

interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  zombie: boolean;
  /** Tells a process from a later one with the same id. */
  started: string;
}

export class ProcessTree {
  readonly #leader: ChildProcess;
  readonly #group: number;
  /** Every process of the tree that was ever seen: id to start time. */
  readonly #seen = new Map<number, string>();
  #ending: Promise<void> | undefined;

  /** @param leader a running child, spawned with `detached: true` except on Windows */
  constructor(leader: ChildProcess & { pid: number }) {
    this.#leader = leader;
    this.#group = leader.pid;
    watch(this.#group);
  }

  /**
   * Ends stdin, then asks, then kills; with `now` it kills at once. Resolves when the whole tree is gone; never rejects.
   */
  end(now = false): Promise<void> {
    this.#ending ??= (process.platform === 'win32' ? this.#endOnWindows(now) : this.#endGroup(now))
      .catch(() => {})
      .then(() => unwatch(this.#group));
    return this.#ending;
  }

  async #endGroup(now: boolean): Promise<void> {
    // Before anything dies: descendants of a dead process belong to init and cannot be found any more.
    if (!this.#exited) await this.#look();
    if (!now) {
      this.#leader.stdin?.end();
      if (await this.#gone(STDIN_GRACE_MS, ORPHAN_GRACE_MS)) return;
      await this.#look();
      this.#signal('SIGTERM');
      if (await this.#gone(TERMINATE_GRACE_MS, TERMINATE_GRACE_MS)) return;
    }
    const deadline = Date.now() + KILL_WAIT_MS;
    do {
      await this.#look();
      this.#signal('SIGKILL');
    } while (!(await this.#gone(KILL_ROUND_MS, KILL_ROUND_MS)) && Date.now() < deadline);
  }

  /** There are no groups and no signals on Windows: the end of stdin is the only request, then the tree is killed. */
  async #endOnWindows(now: boolean): Promise<void> {
    this.#leader.stdin?.end();
    if (!now && (await this.#exitWithin(STDIN_GRACE_MS))) return;
    await run('taskkill', ['/PID', String(this.#group), '/T', '/F']).catch(() => '');
    await this.#exitWithin(KILL_WAIT_MS);
  }

  get #exited(): boolean {
    return this.#leader.exitCode !== null || this.#leader.signalCode !== null;
  }

  async #exitWithin(milliseconds: number): Promise<boolean> {
    if (this.#exited) return true;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#leader.removeListener('exit', done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.#leader.once('exit', done);
    });
    return this.#exited;
  }

  /** Waits until nothing lives: at most `grace` for the leader, and at most `orphanGrace` from then on for the others. */
  async #gone(grace: number, orphanGrace: number): Promise<boolean> {
    if (!(await this.#exitWithin(grace))) return false;
    const deadline = Date.now() + orphanGrace;
    for (let pause = POLL_MS; ; pause = Math.min(2 * pause, 5 * POLL_MS)) {
      if (!this.#answers() || (await this.#look()) === 0) return true;
      if (Date.now() >= deadline) return false;
      await sleep(pause);
    }
  }

  /** Whether anything of the tree can be signalled; zombies can. */
  #answers(): boolean {
    return canSignal(-this.#group) || [...this.#seen.keys()].some(canSignal);
  }

  /** Reads the process table and remembers the members of the tree; the number that live. */
  async #look(): Promise<number> {
    const table = await processTable();
    const members = new Set<number>();
    for (const entry of table) {
      if (entry.group === this.#group || this.#seen.get(entry.pid) === entry.started) members.add(entry.pid);
    }
    for (let size = -1; size !== members.size;) {
      size = members.size;
      for (const entry of table) if (members.has(entry.parent)) members.add(entry.pid);
    }
    let living = 0;
    this.#seen.clear();
    for (const entry of table) {
      if (!members.has(entry.pid) || entry.zombie) continue;
      this.#seen.set(entry.pid, entry.started);
      living += 1;
    }
    return living;
  }

  #signal(signal: NodeJS.Signals): void {
    for (const target of [-this.#group, ...this.#seen.keys()]) {
      try {
        process.kill(target, signal);
      } catch {
        // already gone
      }
    }
  }
}

function canSignal(target: number): boolean {
  try {
    process.kill(target, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function processTable(): Promise<ProcessEntry[]> {
  if (process.platform !== 'linux') return psTable();
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(ids.map((id) => readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')));
  return stats.flatMap((stat) => {
    // "pid (name) state ppid pgrp … starttime(22nd) …"; the name may hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields.length < 20) return [];
    const [state, parent, group] = fields;
    const zombie = state === 'Z' || state === 'X';
    return [
      {
        pid: parseInt(stat, 10),
        parent: Number(parent),
        group: Number(group),
        zombie,
        started: fields[19] ?? '',
      },
    ];
  });
}

async function psTable(): Promise<ProcessEntry[]> {
  const output = await run('ps', [
    '-A',
    '-o',
    'pid=',
    '-o',
    'ppid=',
    '-o',
    'pgid=',
    '-o',
    'stat=',
    '-o',
    'lstart=',
  ]);
  return output.split('\n').flatMap((line) => {
    const [pid, parent, group, state = '', ...started] = line.trim().split(/\s+/);
    if (group === undefined) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        zombie: state.startsWith('Z'),
        started: started.join(' '),
      },
    ];
  });
}

function run(file: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { windowsHide: true, maxBuffer: 16 * 1024 * 1024 }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(error);
    });
  });
}
