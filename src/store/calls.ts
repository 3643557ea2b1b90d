/** Calls: a row before each goes out, its end added afterwards. A row without an end whose process is gone is unknown. */
import { MidspanError } from '../errors.ts';
import type { Processes } from './processes.ts';
import type { Row, Sqlite } from './sqlite.ts';

export type CallStatus = 'done' | 'refused' | 'failed' | 'cancelled' | 'unknown' | 'asked';

export interface CallBeginning {
  run?: string | undefined;
  /** The model's id. */
  call?: string | undefined;
  name?: string | undefined;
  label?: string | undefined;
  tool: string;
  digest?: string | undefined;
  /** JSON, redacted. */
  arguments: string;
  rule?: string | undefined;
  why?: string | undefined;
  by?: string | undefined;
}

export interface CallEnding {
  status: CallStatus;
  milliseconds: number;
  bytes: number;
  /** JSON; kept for a run alone, until the message that holds it is written. */
  result?: string | undefined;
  error?: string | undefined;
}

export interface StoredCall extends CallBeginning {
  id: number;
  started: number;
  /** `running`: it has no end yet and its process lives. */
  status: CallStatus | 'running';
  milliseconds?: number | undefined;
  bytes?: number | undefined;
  result?: string | undefined;
  error?: string | undefined;
  /** What a person chose for an unknown call. */
  choice?: 'retry' | 'skip';
}

export interface CallTable {
  /** One row each, in this order. Returns their ids. */
  start(calls: readonly CallBeginning[]): number[];
  /** By the ids of their rows. */
  end(endings: readonly (readonly [number, CallEnding])[]): void;
  /** Of one run, or outside of any; oldest first. */
  list(run: string | undefined): StoredCall[];
  /** Closes an unknown call with what a person chose. */
  settle(id: number, choice: 'retry' | 'skip'): void;
}

export function callTable(db: Sqlite, processes: Processes, now: () => number): CallTable {
  return {
    start(calls) {
      if (calls.length === 0) return [];
      return db.write(() => {
        const [process, started] = [processes.id(), now()];
        db.runRows(
          START,
          calls.map(({ run, call, name, label, tool, digest, arguments: args, rule, why, by }) => [
            process,
            run ?? null,
            call ?? null,
            name ?? null,
            label ?? null,
            tool,
            digest ?? null,
            args,
            rule ?? null,
            why ?? null,
            by ?? null,
            started,
          ]),
        );
        const last = Number(db.get('SELECT last_insert_rowid() AS id')?.['id']);
        return calls.map((_, index) => last - calls.length + 1 + index);
      });
    },
    end(endings) {
      if (endings.length === 0) return;
      db.runRows(
        END,
        endings.map(([id, { status, milliseconds, bytes, error, result }]) => [
          id,
          status,
          milliseconds,
          bytes,
          error ?? null,
          result ?? null,
        ]),
      );
    },
    list: (run) =>
      db
        .all('SELECT * FROM calls WHERE run IS ? ORDER BY id', run ?? null)
        .map((row) => callOf(row, (id) => processes.isGone(id))),
    settle(id, choice) {
      db.run("UPDATE calls SET status = 'unknown', choice = ? WHERE id = ?", choice, id);
    },
  };
}

/** Nobody else inserts meanwhile, so that the ids follow one another. */
const START = `INSERT INTO calls (process, run, call, name, label, tool, digest, arguments, rule, why, by, started)
  SELECT * FROM (VALUES …)`;
const END = `UPDATE calls SET status = column2, milliseconds = column3, bytes = column4, error = column5, result = column6
  FROM (VALUES …) WHERE id = column1 AND status IS NULL`;

/**
 * A run belongs to one process; one that was taken for dead and is not must not go on beside its successor. Returns whether
 * there is such a run.
 * @throws MidspanError `closed` when another process has taken it over.
 */
export function checkOwner(db: Sqlite, processes: Processes, run: string): boolean {
  const owner = db.get('SELECT process FROM runs WHERE id = ?', run)?.['process'];
  if (owner === undefined) return false;
  if (owner === processes.id()) return true;
  throw new MidspanError({
    code: 'closed',
    what: `another process has taken over the run ${run}`,
    next: `\`midspan runs show ${run}\` shows where it is`,
  });
}

function callOf(row: Row, isGone: (process: number) => boolean): StoredCall {
  const text = (name: string): string | undefined => (row[name] === null ? undefined : String(row[name]));
  const number = (name: string): number | undefined => (row[name] === null ? undefined : Number(row[name]));
  const status = text('status') ?? (isGone(Number(row['process'])) ? 'unknown' : 'running');
  const choice = text('choice');
  return {
    id: Number(row['id']),
    run: text('run'),
    call: text('call'),
    name: text('name'),
    label: text('label'),
    tool: String(row['tool']),
    digest: text('digest'),
    arguments: String(row['arguments']),
    rule: text('rule'),
    why: text('why'),
    by: text('by'),
    started: Number(row['started']),
    status: status as StoredCall['status'],
    milliseconds: number('milliseconds'),
    bytes: number('bytes'),
    result: text('result'),
    error: text('error'),
    ...(choice !== undefined && { choice: choice as 'retry' | 'skip' }),
  };
}
