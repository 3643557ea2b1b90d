/** Tells when the files of a configuration have changed, or somebody says that they have (SIGHUP). */
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Changes that come at once are one. Milliseconds. */
const TOGETHER = 200;

export interface Watching {
  /** Looks again, whether or not a file has changed. */
  look(): void;
  close(): void;
}

/**
 * @param files absolute paths; they need not be there.
 * @param changed is called again only when what it returned has settled.
 */
export function watchFiles(files: readonly string[], changed: () => Promise<void>): Watching {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = (running ?? Promise.resolve()).then(changed);
    }, TOGETHER);
  };
  // A folder, not a file: programs replace files rather than write into them.
  const names = new Map<string, Set<string>>();
  for (const file of files)
    names.set(dirname(file), (names.get(dirname(file)) ?? new Set()).add(basename(file)));
  const watchers: FSWatcher[] = [];
  for (const [folder, wanted] of names) {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null || wanted.has(name)) look();
      });
      // A folder that goes away is told by whoever reads from it.
      watcher.on('error', () => watcher.close());
      watchers.push(watcher);
    } catch {
      // Where folders cannot be watched, SIGHUP is what tells.
    }
  }
  return {
    look,
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
