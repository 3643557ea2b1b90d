/** Runs and their conversations, each message written when it is taken into the transcript. */
import { MidspanError } from '../errors.ts';
import { checkOwner } from './calls.ts';
import type { Processes } from './processes.ts';
import type { Row, Sqlite } from './sqlite.ts';

export interface RunBeginning {
  id: string;
  /** As the user names it. */
  model: string;
  /** What was asked, in short. */
  prompt: string;
  /** JSON: what else the run was started with. */
  options: string;
}

export interface RunEnding {
  reason: string;
  detail?: string | undefined;
}

export interface StoredRun extends RunBeginning {
  started: number;
  turns: number;
  calls: number;
  /** JSON. */
  usage: string | undefined;
  /** JSON: what it has seen, see TaintRecord of journal/. */
  taint: string | undefined;
  ended: number | undefined;
  reason: string | undefined;
  detail: string | undefined;
  /** `interrupted`: it has no end and its process is gone. */
  status: 'running' | 'interrupted' | 'ended';
}

export interface StoredMessage {
  /** JSON. */
  message: string;
  /** JSON: what is known of the turn that made it. */
  turn: string | undefined;
}

/** What a run has spent so far. */
export interface RunCounts {
  turns: number;
  calls: number;
  /** JSON. */
  usage: string;
}

export interface RunTable {
  start(run: RunBeginning, messages: readonly string[]): void;
  /** `answered`: ids of calls whose results are in the message. @throws MidspanError as CallTable.start. */
  append(
    run: string,
    message: { message: string; turn?: string | undefined; answered?: readonly string[] },
    counts: RunCounts,
  ): void;
  saw(run: string, taint: string): void;
  end(run: string, ending: RunEnding, counts: RunCounts): void;
  /** Newest first. */
  list(limit: number): StoredRun[];
  /** By its id or a beginning of it that no other run has. @throws MidspanError `usage`. */
  read(id: string): StoredRun;
  messages(run: string): StoredMessage[];
  /** Takes the last message back. */
  dropLast(run: string): void;
  /** Makes a run that nobody drives ours. False when somebody does. */
  take(run: string): boolean;
  /** Deletes what began before: runs that nobody drives with all of theirs, calls outside of runs, settled asks. */
  prune(before: number): { runs: number; calls: number; asks: number };
}

export function runTable(db: Sqlite, processes: Processes, now: () => number): RunTable {
  const runOf = runReader((process) => processes.isGone(process));
  const progress = (run: string, { turns, calls, usage }: RunCounts): void => {
    db.run('UPDATE runs SET turns = ?, calls = ?, usage = ? WHERE id = ?', turns, calls, usage, run);
  };
  const append = (run: string, message: string, turn: string | undefined): void => {
    db.run(
      `INSERT INTO messages (run, position, message, turn)
        VALUES (?, (SELECT count(*) FROM messages WHERE run = ?), ?, ?)`,
      run,
      run,
      message,
      turn ?? null,
    );
  };
  return {
    start: ({ id, model, prompt, options }, messages) =>
      db.write(() => {
        db.run(
          'INSERT INTO runs (id, process, model, prompt, options, started) VALUES (?, ?, ?, ?, ?, ?)',
          id,
          processes.id(),
          model,
          prompt,
          options,
          now(),
        );
        for (const message of messages) append(id, message, undefined);
      }),
    append: (run, { message, turn, answered = [] }, counts) =>
      db.write(() => {
        checkOwner(db, processes, run);
        append(run, message, turn);
        for (const call of answered)
          db.run('UPDATE calls SET result = NULL WHERE run = ? AND call = ?', run, call);
        progress(run, counts);
      }),
    saw(run, taint) {
      db.run('UPDATE runs SET taint = ? WHERE id = ?', taint, run);
    },
    end: (run, { reason, detail }, counts) =>
      db.write(() => {
        checkOwner(db, processes, run);
        progress(run, counts);
        db.run(
          'UPDATE runs SET ended = ?, reason = ?, detail = ? WHERE id = ?',
          now(),
          reason,
          detail ?? null,
          run,
        );
      }),
    list: (limit) => db.all('SELECT * FROM runs ORDER BY started DESC, rowid DESC LIMIT ?', limit).map(runOf),
    read(id) {
      const found = db.all(
        'SELECT * FROM runs WHERE id = ? OR substr(id, 1, ?) = ? LIMIT 2',
        id,
        id.length,
        id,
      );
      const [first] = found;
      if (first !== undefined && found.length === 1) return runOf(first);
      throw new MidspanError({
        code: 'usage',
        what:
          first === undefined
            ? `there is no run ${JSON.stringify(id)}`
            : `several runs begin with ${JSON.stringify(id)}`,
        next: '`midspan runs` lists them',
      });
    },
    messages: (run) =>
      db
        .all('SELECT message, turn FROM messages WHERE run = ? ORDER BY position', run)
        .map(({ message, turn }) => ({
          message: String(message),
          turn: turn === null || turn === undefined ? undefined : String(turn),
        })),
    dropLast(run) {
      db.run(
        'DELETE FROM messages WHERE run = ? AND position = (SELECT max(position) FROM messages WHERE run = ?)',
        run,
        run,
      );
    },
    take: (run) =>
      db.write(() => {
        const row = db.get('SELECT * FROM runs WHERE id = ?', run);
        if (row === undefined || runOf(row).status === 'running') return false;
        db.run(
          'UPDATE runs SET process = ?, ended = NULL, reason = NULL, detail = NULL WHERE id = ?',
          processes.id(),
          run,
        );
        // Calls that were left open keep their process, so that they stay unknown.
        return true;
      }),
    prune(before) {
      // What is deleted is overwritten, and not left in the free pages of the file.
      db.get('PRAGMA secure_delete = ON');
      return db.write(() => {
        const runs = db
          .all('SELECT * FROM runs WHERE started < ?', before)
          .map(runOf)
          .filter(({ status }) => status !== 'running');
        for (const { id } of runs) for (const sql of OF_A_RUN) db.run(sql, id);
        const calls = db.run(
          `DELETE FROM calls WHERE started < ? AND status IS NOT NULL
            AND (run IS NULL OR run NOT IN (SELECT id FROM runs))`,
          before,
        );
        const settled = 'DELETE FROM asks WHERE created < ? AND (answer IS NOT NULL OR deadline < ?)';
        processes.prune();
        return { runs: runs.length, calls, asks: db.run(settled, before, now()) };
      });
    },
  };
}

const OF_A_RUN = [
  'DELETE FROM messages WHERE run = ?',
  'DELETE FROM calls WHERE run = ?',
  'DELETE FROM runs WHERE id = ?',
];

const runReader =
  (isGone: (process: number) => boolean) =>
  (row: Row): StoredRun => {
    const text = (name: string): string | undefined => (row[name] === null ? undefined : String(row[name]));
    const ended = row['ended'] === null ? undefined : Number(row['ended']);
    return {
      id: String(row['id']),
      model: String(row['model']),
      prompt: String(row['prompt']),
      options: String(row['options']),
      started: Number(row['started']),
      turns: Number(row['turns']),
      calls: Number(row['calls']),
      usage: text('usage'),
      taint: text('taint'),
      ended,
      reason: text('reason'),
      detail: text('detail'),
      status: ended !== undefined ? 'ended' : isGone(Number(row['process'])) ? 'interrupted' : 'running',
    };
  };
