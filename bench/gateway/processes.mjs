// The programs that are measured: how they are started, what they take of processor and memory, how they end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';

/** Ticks of the kernel's clock in a second, on every Linux that Node runs on. */
const TICKS = 100;
const running = new Set();

process.on('exit', () => {
  for (const child of running) end(child);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

/** With all that it has started. Its group is its own. */
function end(child) {
  running.delete(child);
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** Starts a program. `firstLine` is what it prints first; a program that ends before it does has failed. */
export function start(command, args, options = {}) {
  const { environment = {}, cwd } = options;
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, NODE_ENV: 'production', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  running.add(child);
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (words = (words + text).slice(-2_000)));
  child.stdin.on('error', () => undefined);
  const firstLine = new Promise((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      if (text.includes('\n')) return;
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      reject(new Error(`${[command, ...args].join(' ').slice(0, 200)} ended (${signal ?? code}): ${words}`));
    });
  });
  firstLine.catch(() => undefined);
  return {
    pid: child.pid,
    firstLine,
    write: (text) => child.stdin.write(text),
    /** Seconds of processor time of this one process. */
    cpu: () => cpuOf(child.pid),
    memory: () => memoryOf(child.pid),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return end(child);
      const ended = once(child, 'exit');
      end(child);
      await ended;
    },
  };
}

export const canMeasure = existsSync('/proc/self/stat');

function cpuOf(pid) {
  if (!canMeasure) return Number.NaN;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Resident, in megabytes. */
function memoryOf(pid) {
  if (!canMeasure) return Number.NaN;
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
