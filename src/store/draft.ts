/** How several processes change one small file: who creates its draft may write, and renames it into place. */
import { openSync, rmSync, statSync } from 'node:fs';

/** A draft this old is of a process that ended while it wrote. Milliseconds. */
const STALE_DRAFT = 10_000;

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
