/** Questions that wait for a person, where every process that shares the store sees and answers them. */
import type { Processes } from './processes.ts';
import type { Row, Sqlite } from './sqlite.ts';

export interface StoredAsk {
  id: string;
  digest: string;
  /** JSON. */
  ask: string;
  created: number;
  deadline: number;
  run?: string;
  /** JSON. */
  answer?: string;
  answeredBy?: string;
  answeredAt?: number;
}

export interface AskTable {
  insert(ask: StoredAsk): void;
  /** Unanswered, not past their deadline, and with somebody who still waits; oldest first. */
  pending(now: number): StoredAsk[];
  read(id: string): StoredAsk | undefined;
  /** Settles an ask that has this digest and no answer yet. False when there is no such ask. */
  answer(id: string, digest: string, answer: string, by: string, at: number): boolean;
}

export function askTable(db: Sqlite, processes: Processes): AskTable {
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

function askOf(row: Row): StoredAsk {
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
