import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { MidspanError } from '../../src/errors.ts';

/** A folder of files that is gone after the test. */
export async function folderWith(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'midspan-config-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  return folder;
}

/** The error that a configuration raises. */
export async function errorOf(work: () => unknown): Promise<MidspanError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof MidspanError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
