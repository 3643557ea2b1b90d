/** Runs of the built command line that are killed in the middle of a call. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const bin = fileURLToPath(new URL('../../bin/midspan.js', import.meta.url));
const worker = fileURLToPath(new URL('worker.mjs', import.meta.url));

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export interface Workplace {
  folder: string;
  /** The pieces that the server has worked on, each time it did. */
  done: () => string[];
  /** Lets the work that waits come to its end. */
  open: () => void;
  midspan: (words: string[]) => Promise<Ended>;
  /** Starts a run and kills it once all of these pieces were begun. */
  killed: (words: string[], pieces: string[]) => Promise<void>;
}

/** `turns` of the scripted model, whose tool is `w__work`. */
export function workplace(turns: object[]): Workplace {
  const folder = mkdtempSync(path.join(tmpdir(), 'midspan-journal-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [log, gate] = [path.join(folder, 'log'), path.join(folder, 'gate')];
  const w = { command: process.execPath, args: [worker], env: { LOG: log, GATE: gate }, era: 'legacy' };
  writeFileSync(log, '');
  writeFileSync(path.join(folder, 'midspan.json'), JSON.stringify({ policy: 'allow', mcpServers: { w } }));
  writeFileSync(path.join(folder, 'script.json'), JSON.stringify({ turns }));
  const done = (): string[] => readFileSync(log, 'utf8').split('\n').slice(0, -1);
  const start = (words: string[]): { child: ChildProcess; ended: Promise<Ended> } => {
    const env = { PATH: process.env['PATH'], HOME: folder };
    const child = spawn(process.execPath, [bin, ...words], { cwd: folder, env });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdin.end();
    return { child, ended: endOf(child) };
  };
  return {
    folder,
    done,
    open: () => writeFileSync(gate, ''),
    midspan: (words) => start(words).ended,
    async killed(words, pieces) {
      const { child, ended } = start(words);
      await Promise.race([
        seen(log, () => pieces.every((piece) => done().includes(piece))),
        ended.then(({ err }) => Promise.reject(new Error(`it ended before it was killed: ${err}`))),
      ]);
      child.kill('SIGKILL');
      await ended;
      if (!existsSync(path.join(folder, '.midspan'))) throw new Error('nothing was recorded');
    },
  };
}

function endOf(child: ChildProcess): Promise<Ended> {
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

/** Resolves once `isThere` holds; looks whenever the file changes. */
function seen(file: string, isThere: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isThere()) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(file, look);
    onTestFinished(() => watcher.close());
    look();
  });
}
