/** The built command line as a child process, as a user runs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const bin = fileURLToPath(new URL('../../bin/midspan.js', import.meta.url));
const server = fileURLToPath(new URL('server.mjs', import.meta.url));

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export interface Project {
  folder: string;
  /** What the servers wrote of themselves, a line each. */
  log: () => Promise<string[]>;
  /** Runs to the end. */
  midspan: (words: string[], options?: { input?: string; env?: Record<string, string> }) => Promise<Ended>;
  /** A shell line; `midspan` is a word of it. */
  shell: (line: string) => Promise<Ended>;
  /** Under a pseudo-terminal. */
  terminal: (words: string[]) => Terminal;
}

export interface Terminal {
  /** Waits until the screen has shown this since the last wait. */
  shows: (text: string | RegExp) => Promise<void>;
  type: (text: string) => void;
  ended: Promise<{ code: number | null; screen: string }>;
}

/** A folder with a midspan.json whose server is our test server under the label `test`, and what else is given. */
export async function project(more: Record<string, object> = {}): Promise<Project> {
  const folder = await mkdtemp(path.join(tmpdir(), 'midspan-cli-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const logFile = path.join(folder, 'log');
  const test = { command: process.execPath, args: [server], env: { LOG: logFile }, era: 'legacy' };
  await writeFile(
    path.join(folder, 'midspan.json'),
    JSON.stringify({ policy: 'allow', trust: { mode: 'off' }, mcpServers: { test, ...more } }),
  );
  const start = (command: string, words: string[], env: Record<string, string> = {}): ChildProcess => {
    const child = spawn(command, words, {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, TERM: 'xterm', MIDSPAN: bin, ...env },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  return {
    folder,
    log: async () => (existsSync(logFile) ? (await readFile(logFile, 'utf8')).split('\n').slice(0, -1) : []),
    midspan(words, { input = '', env } = {}) {
      const child = start(process.execPath, [bin, ...words], env);
      child.stdin?.end(input);
      return end(child);
    },
    shell(line) {
      const child = start('bash', [
        '-c',
        `midspan() { "${process.execPath}" "$MIDSPAN" "$@"; }; set -o pipefail; ${line}`,
      ]);
      child.stdin?.end();
      return end(child);
    },
    terminal(words) {
      const line = [process.execPath, bin, ...words].map((word) => `'${word}'`).join(' ');
      return terminalOf(start('script', ['--quiet', '--return', '--command', line, '/dev/null']));
    },
  };
}

function end(child: ChildProcess): Promise<Ended> {
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

function terminalOf(child: ChildProcess): Terminal {
  let screen = '';
  let seen = 0;
  let look = (): void => undefined;
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    screen += chunk;
    look();
  });
  const ended = new Promise<{ code: number | null; screen: string }>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, screen });
      look();
    });
  });
  return {
    ended,
    type: (text) => void child.stdin?.write(text),
    shows: (text) =>
      new Promise((resolve, reject) => {
        look = () => {
          const rest = screen.slice(seen);
          const at = typeof text === 'string' ? rest.indexOf(text) : rest.search(text);
          if (at !== -1) {
            seen += at + 1;
            look = () => undefined;
            resolve();
          } else if (child.exitCode !== null)
            reject(new Error(`ended without showing ${String(text)}: ${screen}`));
        };
        look();
      }),
  };
}
