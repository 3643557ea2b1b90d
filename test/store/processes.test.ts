import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const soak = fileURLToPath(new URL('soak.mjs', import.meta.url));

/** Long enough for most writers to be killed in the middle of something; `npm run soak:store` takes longer. */
const SECONDS = 2;

it('loses nothing that was acknowledged while 8 processes write at once and are killed at random', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [soak, String(SECONDS), '8']);
  const { acknowledged, kills, problems } = JSON.parse(stdout) as Record<string, unknown>;
  expect(problems).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(8);
  expect(acknowledged).toBeGreaterThan(0);
}, 60_000);
