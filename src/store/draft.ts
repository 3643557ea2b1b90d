/** How several processes change one small file: who creates its draft may write, and renames it into place. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

/** A draft this old is of a process that ended while it wrote. Milliseconds. */
const STALE_DRAFT = 10_000;
/** How long a process waits for its turn. Milliseconds. */
const TURN_WITHIN = 5_000;
const BETWEEN_ATTEMPTS = 10;

/**
 * The open draft; `taken` while another process has it. That way nothing is lost between reading and writing.
 * @param now milliseconds since 1970.
 * @throws what the file system throws, but for a draft that is there.
 */
export function claimDraft(draft: string, now: number): number | 'taken' {
  try {
    return openSync(draft, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  // None any more: it was just renamed into place.
  const made = statSync(draft, { throwIfNoEntry: false })?.mtimeMs;
  if (made !== undefined && now - made > STALE_DRAFT) rmSync(draft, { force: true });
  return 'taken';
}

/**
 * Writes a file anew, for its owner alone, when no other process does: `edit` makes its text from what the file holds
 * then. Blocks while it waits.
 * @throws what the file system and `edit` throw; the file is as it was then.
 */
export function rewriteInTurn(path: string, edit: () => string): void {
  const draft = `${path}.draft`;
  const file = claimInTurn(draft);
  try {
    writeFileSync(file, edit());
    fsyncSync(file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}

function claimInTurn(draft: string): number {
  const deadline = Date.now() + TURN_WITHIN;
  for (;;) {
    const file = claimDraft(draft, Date.now());
    if (file !== 'taken') return file;
    if (Date.now() > deadline) throw new Error(`another process has ${draft}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_ATTEMPTS);
  }
}
