/** What must outlive the process, in one SQLite file that several processes share. Opened at its first use. */
import { join } from 'node:path';
import { type AskRows, askTable } from './asks.ts';
import { type AuditTable, auditTable } from './audit.ts';
import { type CallTable, callTable } from './calls.ts';
import { processes } from './processes.ts';
import { type RememberedTable, rememberedTable } from './remembered.ts';
import { type RunTable, runTable } from './runs.ts';
import { migrate } from './schema.ts';
import { sqlite, type Sqlite } from './sqlite.ts';

export interface Store {
  readonly path: string;
  readonly asks: AskRows;
  readonly remembered: RememberedTable;
  readonly runs: RunTable;
  readonly calls: CallTable;
  readonly audit: AuditTable;
  /** All of the work is written or nothing of it. */
  write<T>(work: () => T): T;
  /** Calls that this process has started and not ended count as unknown from here on. */
  close(): void;
}

/**
 * The store of a folder, usually `.midspan` beside the configuration. Nothing is opened or made before the first use, so
 * this costs nothing and never fails; what is wrong with the file is told by the first use, and every later one.
 * @param now milliseconds since 1970.
 */
export function openStore(folder: string, now: () => number = Date.now): Store {
  const path = join(folder, 'midspan.db');
  const file = sqlite(path, migrate);
  const users = processes(file, now);
  const db: Sqlite = {
    ...file,
    write(work) {
      // Before the work, which may be undone: whoever reads what it leaves must find out whether we are still there.
      users.id();
      return file.write(work);
    },
  };
  return {
    path,
    asks: askTable(db, users),
    remembered: rememberedTable(db, now),
    runs: runTable(db, users, now),
    calls: callTable(db, users, now),
    audit: auditTable(db, now),
    write: (work) => db.write(work),
    close() {
      users.close();
      db.close();
    },
  };
}
