/** Questions that wait for a person, where every process that shares the store sees and answers them. */
import type { Processes } from './processes.ts';
import type { Row, Sqlite } from './sqlite.ts';

/** A settled ask's answer is in `answer`; one that expired or whose asker went away has a cancel or decline there. */
export interface AskRow {
  id: string;
  /** Of everything that is shown. */
  digest: string;
  /** JSON of the `Ask` of asks/. */
  ask: string;
  /** Milliseconds since 1970. */
  created: number;
  deadline: number;
  run?: string;
  /** JSON of the `Answer` of asks/. */
  answer?: string;
  answeredBy?: string;
  answeredAt?: number;
}

/** Rows of one store. A store of files may be shared by processes: `answer` is atomic. Every method may throw. */
export interface AskRows {
  insert(row: AskRow): void;
  /** Unanswered, not past their deadline, and with somebody who still waits; oldest first. */
  pending(now: number): AskRow[];
  read(id: string): AskRow | undefined;
  /** Settles a row that has this digest and no answer yet. False when there is no such row. */
  answer(id: string, digest: string, answer: string, by: string, at: number): boolean;
}

export function askTable(db: Sqlite, processes: Processes): AskRows {
  return {
    insert({ id, digest, ask, created, deadline, run, answer, answeredBy, answeredAt }) {
      db.run(
        `INSERT INTO asks (id, process, digest, ask, created, deadline, run, answer, answered_by, answered_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        id,
        processes.id(),
        digest,
        ask,
        created,
        deadline,
        run ?? null,
        answer ?? null,
        answeredBy ?? null,
        answeredAt ?? null,
      );
    },
    pending: (now) =>
      db
        .all('SELECT * FROM asks WHERE answer IS NULL AND deadline > ? ORDER BY created, rowid', now)
        .filter(({ process }) => !processes.isGone(Number(process)))
        .map(askOf),
    read(id) {
      const row = db.get('SELECT * FROM asks WHERE id = ?', id);
      return row && askOf(row);
    },
    answer: (id, digest, answer, by, at) =>
      db.run(
        `UPDATE asks SET answer = ?, answered_by = ?, answered_at = ?
          WHERE id = ? AND digest = ? AND answer IS NULL`,
        answer,
        by,
        at,
        id,
        digest,
      ) === 1,
  };
}

function askOf(row: Row): AskRow {
  const { run, answer, answered_by: by, answered_at: at } = row;
  return {
    id: String(row['id']),
    digest: String(row['digest']),
    ask: String(row['ask']),
    created: Number(row['created']),
    deadline: Number(row['deadline']),
    ...(typeof run === 'string' && { run }),
    ...(typeof answer === 'string' && { answer }),
    ...(typeof by === 'string' && { answeredBy: by }),
    ...(typeof at === 'number' && { answeredAt: at }),
  };
}
