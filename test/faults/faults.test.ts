import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it(
  'answers right or clearly while servers are killed and input is mangled',
  { timeout: 60_000 },
  async () => {
    const run = fileURLToPath(new URL('./run.mjs', import.meta.url));
    const child = spawn(process.execPath, [run, '--seconds', '4', '--clients', '16', '--seed', '7']);
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += String(chunk)));
    const [code] = (await once(child, 'close')) as [number];
    expect([code, out]).toEqual([0, expect.stringContaining('"right":')]);
  },
);
