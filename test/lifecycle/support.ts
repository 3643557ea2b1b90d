/** What the tests of this folder share: configurations of servers that carry a mark, to find their processes by. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';

export const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let serial = 0;
export const newMark = (): string => `lifecycle-${process.pid}-${(serial += 1)}`;

export interface Entry {
  command: string;
  args: string[];
  era: string;
}

/** Starts at once and leaves with its input. */
export const light = (mark: string): Entry => ({
  command: '/bin/sh',
  args: [file('server.sh'), mark],
  era: 'legacy',
});

/** Ignores every request to leave. */
export const stubborn = (mark: string): Entry => ({
  command: process.execPath,
  args: [file('stubborn.mjs'), mark],
  era: 'legacy',
});

/** The same behind a process that starts a shell that starts it: three processes. */
export const wrapped = (mark: string): Entry => {
  const { command, args, era } = stubborn(mark);
  return { command, args: [file('wrapper.mjs'), ...args], era };
};

export const configurationOf = (entries: Entry[]): { policy: 'allow'; mcpServers: Record<string, Entry> } => {
  const labels = ['one', 'two', 'three', 'four', 'five'];
  return { policy: 'allow', mcpServers: Object.fromEntries(entries.map((entry, at) => [labels[at], entry])) };
};

/** Living processes whose command line contains the mark, this one aside. */
export function processesWith(mark: string): number[] {
  return processes().filter(
    (pid) => pid !== process.pid && read(pid, 'cmdline').includes(mark) && isAlive(pid),
  );
}

/** Children of a process. */
export function childrenOf(parent: number): number[] {
  return processes().filter((pid) => Number(status(pid)[1]) === parent);
}

/** Whether it is there and no zombie. */
export function isAlive(pid: number): boolean {
  const [state] = status(pid);
  return state !== undefined && state !== 'Z' && state !== 'X';
}

const processes = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** State, parent and so on; empty when it is gone. Its name stands before them and may hold anything. */
function status(pid: number): string[] {
  const stat = read(pid, 'stat');
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** Waits for a condition to hold. */
export function until(condition: () => boolean): Promise<unknown> {
  return vi.waitUntil(condition, { timeout: 120_000, interval: 10 });
}
