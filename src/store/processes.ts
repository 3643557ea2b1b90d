/**
 * Which processes use a store, so that what one of them left behind can be told from what one still does. A process is
 * gone when its machine says so; where it cannot be asked (another container or machine), when it has not been heard of.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Row, Sqlite } from './sqlite.ts';

/** How often a process that has written says that it is there. Milliseconds. */
export const HEARTBEAT = 10_000;
/** After this long in silence a process that cannot be asked for counts as gone. Milliseconds. */
export const LEASE = 60_000;

export interface Processes {
  /** Ours; registered at its first use. */
  id(): number;
  isGone(id: number): boolean;
  /** Forgets those that are gone; one that is not known counts as gone, too. */
  prune(): void;
  /** Nothing that this process left open is going on any more. */
  close(): void;
}

export function processes(db: Sqlite, now: () => number): Processes {
  let own: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    id() {
      if (own !== undefined) return own;
      const { pid, place, born } = thisProcess();
      const row = db.get(
        'INSERT INTO processes (pid, place, born, seen) VALUES (?, ?, ?, ?) RETURNING id',
        pid,
        place,
        born,
        now(),
      );
      own = Number(row?.['id']);
      timer = setInterval(() => {
        try {
          db.run('UPDATE processes SET seen = ? WHERE id = ?', now(), own as number);
        } catch {
          // The next beat may get through; a process that can be asked for needs none.
        }
      }, HEARTBEAT).unref();
      return own;
    },
    isGone(id) {
      if (id === own) return false;
      const row = db.get('SELECT pid, place, born, seen FROM processes WHERE id = ?', id);
      return row === undefined || !isAlive(row, now());
    },
    prune() {
      for (const row of db.all('SELECT id, pid, place, born, seen FROM processes')) {
        if (!isAlive(row, now())) db.run('DELETE FROM processes WHERE id = ?', Number(row['id']));
      }
    },
    close() {
      clearInterval(timer);
      if (own === undefined) return;
      try {
        db.run('DELETE FROM processes WHERE id = ?', own);
      } catch {
        // The end of the process says the same.
      }
      own = undefined;
    },
  };
}

function isAlive({ pid, place, born, seen }: Row, now: number): boolean {
  const isHeard = now - Number(seen) < LEASE;
  if (place !== thisProcess().place) return isHeard;
  if (!isThere(Number(pid))) return false;
  // Where a process's birth is not known, its number may have gone to another.
  return born === null ? isHeard : born === birthOf(Number(pid));
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

interface Self {
  pid: number;
  /** Within which process numbers mean the same: the machine since it started, and the container. */
  place: string;
  born: string | null;
}

let self: Self | undefined;
const thisProcess = (): Self => {
  self ??= {
    pid: process.pid,
    place: [
      hostname(),
      quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
      quietly(() => readlinkSync('/proc/self/ns/pid')),
    ]
      .filter((part) => part !== null)
      .join(' '),
    born: birthOf(process.pid),
  };
  return self;
};

/** When a process began, in ticks of the kernel's clock. Null where the kernel does not say. */
function birthOf(pid: number): string | null {
  return quietly(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is a name in parentheses that may hold anything; the 22nd is the time.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  });
}

function quietly<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
