/** What must outlive the process, in one SQLite file that several processes share. Opened at its first use. */
import { join } from 'node:path';
import { type AskRows, askTable } from './asks.ts';
import { type AuditTable, auditTable } from './audit.ts';
import { type CallTable, callTable } from './calls.ts';
import { processes } from './processes.ts';
import { type Records, recordsOf } from './records.ts';
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
  /** Calls with their lines of the audit, many at a time. */
  record: Records['add'];
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
  // Whatever is done with the store comes after what waits to be recorded.
  const db: Sqlite = {
    ...file,
    run: (sql, ...values) => (records.flush(), file.run(sql, ...values)),
    get: (sql, ...values) => (records.flush(), file.get(sql, ...values)),
    all: (sql, ...values) => (records.flush(), file.all(sql, ...values)),
    write(work) {
      records.flush();
      // Before the work, which may be undone: whoever reads what it leaves must find out whether we are still there.
      users.id();
      return file.write(work);
    },
  };
  const tables = {
    runs: runTable(db, users, now),
    calls: callTable(db, users, now),
    audit: auditTable(db, now),
  };
  const records: Records = recordsOf(db, users, tables);
  return {
    path,
    asks: askTable(db, users),
    remembered: rememberedTable(db, now),
    ...tables,
    record: (record) => records.add(record),
    write: (work) => db.write(work),
    close() {
      records.flush();
      users.close();
      db.close();
    },
  };
}
