/**
 * Group commit for calls: what is recorded in one turn of the event loop goes into the store as one transaction, which costs
 * many times what its rows do.
 */
import { MidspanError } from '../errors.ts';
import type { JsonObject } from '../types.ts';
import type { AuditTable } from './audit.ts';
import { type CallBeginning, type CallEnding, type CallTable, checkOwner } from './calls.ts';
import type { Processes } from './processes.ts';
import type { RunTable } from './runs.ts';
import type { Sqlite } from './sqlite.ts';

/** How long the end of a call waits for others to be written with. Milliseconds. */
const LATEST = 5;

/** A call that has a row. */
export interface RecordedCall {
  readonly id: number;
  readonly run: string | undefined;
  /** Its run is in the store, and goes on with the result. */
  readonly keepsResult: boolean;
}

export interface CallRecord {
  /** One that begins here, or one that has. */
  call: CallBeginning | RecordedCall;
  ending?: CallEnding | undefined;
  /** JSON: what its run has seen by now. */
  taint?: string | undefined;
  /** Its line of the audit. */
  event: JsonObject;
}

export interface Records {
  /**
   * Resolves when it is written: at the end of this turn of the event loop; where it has an ending, some milliseconds later.
   * Whatever else is done with the store comes after it.
   * @throws MidspanError when it cannot be written, `closed` when another process has taken the run over.
   */
  add(record: CallRecord): Promise<RecordedCall>;
  /** Writes what waits. Never throws: whoever waits is told. */
  flush(): void;
}

interface Waiting {
  record: CallRecord;
  written: (call: RecordedCall) => void;
  failed: (error: unknown) => void;
}

interface Tables {
  calls: CallTable;
  runs: RunTable;
  audit: AuditTable;
}

export function recordsOf(db: Sqlite, users: Processes, { calls, runs, audit }: Tables): Records {
  let waiting: Waiting[] = [];
  let soon: NodeJS.Immediate | undefined;
  let later: NodeJS.Timeout | undefined;

  /** Inside of a transaction. Returns the rows, or why one is not written while the others are. */
  const write = (records: readonly CallRecord[]): (RecordedCall | Error)[] => {
    const owners = ownersIn(db, users);
    const beginnings: CallBeginning[] = [];
    const checked = records.map(({ call }) => {
      if ('id' in call) return call;
      const keepsResult = owners(call.run);
      if (keepsResult instanceof Error) return keepsResult;
      return { id: beginnings.push(call) - 1, run: call.run, keepsResult };
    });
    const ids = calls.start(beginnings);
    const endings: [number, CallEnding][] = [];
    const events: JsonObject[] = [];
    const written = checked.map((found, index) => {
      const { call, ending, taint, event } = records[index] as CallRecord;
      if (found instanceof Error) return found;
      const row = found === call ? found : { ...found, id: ids[found.id] as number };
      if (ending !== undefined)
        endings.push([row.id, row.keepsResult ? ending : { ...ending, result: undefined }]);
      if (row.run !== undefined && row.keepsResult && taint !== undefined) runs.saw(row.run, taint);
      events.push(event);
      return row;
    });
    calls.end(endings);
    audit.appendAll(events);
    return written;
  };

  const flush = (): void => {
    clearImmediate(soon);
    clearTimeout(later);
    soon = later = undefined;
    const batch = waiting;
    if (batch.length === 0) return;
    waiting = [];
    try {
      const rows = db.write(() => write(batch.map(({ record }) => record)));
      batch.forEach(({ written, failed }, index) => {
        const row = rows[index] as RecordedCall | Error;
        if (row instanceof Error) failed(row);
        else written(row);
      });
    } catch (error) {
      for (const { failed } of batch) failed(error);
    }
  };

  return {
    add(record) {
      if (record.ending === undefined) soon ??= setImmediate(flush);
      else later ??= setTimeout(flush, LATEST);
      return new Promise((written, failed) => waiting.push({ record, written, failed }));
    },
    flush,
  };
}

/** For the runs in one transaction: whether each is in the store, or why nothing may be written of it. */
function ownersIn(db: Sqlite, users: Processes): (run: string | undefined) => boolean | Error {
  const known = new Map<string, boolean | Error>();
  return (run) => {
    if (run === undefined) return false;
    const found = known.get(run) ?? ownerOf(db, users, run);
    known.set(run, found);
    return found;
  };
}

function ownerOf(db: Sqlite, users: Processes, run: string): boolean | Error {
  try {
    return checkOwner(db, users, run);
  } catch (error) {
    if (error instanceof MidspanError && error.code === 'closed') return error;
    throw error;
  }
}
