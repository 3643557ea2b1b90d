// The processes that the matrix needs: our server over HTTP, and the gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const running = new Set();

/** Starts a program and resolves to the first line that it prints; it ends with `stopAll`. */
export async function start(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const ended = once(child, 'exit').then(([code]) => {
    running.delete(child);
    throw new Error(`${args.join(' ')} ended with ${code}:\n${errors.slice(-4000)}`);
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors = (errors + chunk).slice(-100_000);
    if (process.env.MIDSPAN_DEBUG !== undefined) process.stderr.write(chunk);
  });
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, 'line'), ended]);
  ended.catch((error) => {
    if (!isStopping) console.log(`\n${error.message}`);
  });
  return first[0];
}

/** Runs a program to its end; one that fails is an error. */
export async function finish(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${output}`);
}

let isStopping = false;

/** Ends everything that was started, and waits for it; not for what it left behind with its output. */
export async function stopAll() {
  isStopping = true;
  await Promise.all(
    [...running].map((child) => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const last = setTimeout(() => child.kill('SIGKILL'), 10_000);
      return exited.then(() => {
        clearTimeout(last);
        child.stdout.destroy();
        child.stderr.destroy();
      });
    }),
  );
}
