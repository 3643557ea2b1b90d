/**
 * The one place that knows the SQLite driver. A database opens at its first use, not before: loading the driver costs more
 * than all else that a command does. Everything is synchronous, so that what must be written before an effect is.
 */
import type Database from 'libsql';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { MidspanError, messageOf } from '../errors.ts';

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** Every method throws MidspanError `internal` with what is wrong with the file and what to do. */
export interface Sqlite {
  readonly path: string;
  /** @returns how many rows were changed. */
  run(sql: string, ...values: Value[]): number;
  get(sql: string, ...values: Value[]): Row | undefined;
  all(sql: string, ...values: Value[]): Row[];
  /**
   * One statement for many rows, at a fraction of what one for each costs: `(VALUES …)` in the text stands for them, whose
   * columns SQLite calls `column1` and so on. Within `write`, since many rows may be several statements.
   */
  runRows(sql: string, rows: readonly (readonly Value[])[]): void;
  /** All of the work or nothing of it; no other process writes meanwhile. Work within work joins it. */
  write<T>(work: () => T): T;
  /** Does nothing when it is not open. What is used afterwards throws. */
  close(): void;
}

/** How long a writer waits for the others, which blocks this process. A write takes well under a millisecond. */
export const BUSY_WITHIN = 5_000;
const BETWEEN_ATTEMPTS = 10;
/** Rows of one statement, at most; other numbers are made of powers of two, so that few statements are kept prepared. */
const ROWS = 32;

/** @param prepare what is done once after opening: migrations. */
export function sqlite(path: string, prepare: (db: Sqlite) => void): Sqlite {
  let database: Database.Database | undefined;
  let isClosed = false;
  const statements = new Map<string, Database.Statement>();

  const opened = (): Database.Database => {
    if (isClosed) throw new MidspanError({ code: 'closed', what: `the store ${path} is closed` });
    if (database !== undefined) return database;
    makePlace(path);
    database = open(path);
    try {
      prepare(db);
    } catch (error) {
      forget();
      throw error;
    }
    return database;
  };
  /** The driver lets go of the file only when its statements are collected; nothing of ours waits for that. */
  const forget = (): void => {
    statements.clear();
    database?.close();
    database = undefined;
  };
  const statement = (sql: string, rows = 0, columns = 0): Database.Statement => {
    const from = opened();
    const key = rows === 0 ? sql : `${rows} ${sql}`;
    let found = statements.get(key);
    if (found === undefined) statements.set(key, (found = from.prepare(withRows(sql, rows, columns))));
    return found;
  };
  const told = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw inWords(error, path);
    }
  };

  const db: Sqlite = {
    path,
    run: (sql, ...values) => told(() => statement(sql).run(values).changes),
    get: (sql, ...values) => told(() => statement(sql).get(values) as Row | undefined),
    all: (sql, ...values) => told(() => statement(sql).all(values) as Row[]),
    runRows(sql, rows) {
      for (let at = 0; at < rows.length;) {
        const end = at + Math.min(2 ** Math.floor(Math.log2(rows.length - at)), ROWS);
        const values: Value[] = [];
        for (let row = at; row < end; row += 1) for (const value of rows[row] ?? []) values.push(value);
        told(() => statement(sql, end - at, values.length / (end - at)).run(values));
        at = end;
      }
    },
    write(work) {
      const inner = told(opened);
      if (inner.inTransaction) return work();
      told(() => statement('BEGIN IMMEDIATE').run());
      try {
        const result = work();
        told(() => statement('COMMIT').run());
        return result;
      } catch (error) {
        // Some failures have rolled back already.
        if (inner.inTransaction) inner.exec('ROLLBACK');
        throw error;
      }
    },
    close() {
      isClosed = true;
      if (database !== undefined) checkpoint(database);
      forget();
    },
  };
  return db;
}

function withRows(sql: string, rows: number, columns: number): string {
  if (rows === 0) return sql;
  const row = `(${Array.from({ length: columns }, () => '?').join(', ')})`;
  return sql.replace('(VALUES …)', `(VALUES ${Array.from({ length: rows }, () => row).join(', ')})`);
}

/** The folder and the file, for their owner alone; the driver makes its other files like this one. */
function makePlace(path: string): void {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    narrow(folder, 0o700);
    // Out of the way of version control.
    if (!existsSync(path)) writeFileSync(join(folder, '.gitignore'), '*\n', { mode: 0o600 });
    closeSync(openSync(path, 'a', 0o600));
    narrow(path, 0o600);
  } catch (error) {
    throw inWords(error, path);
  }
}

function narrow(path: string, mode: number): void {
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) chmodSync(path, mode);
}

function open(path: string): Database.Database {
  const Driver = createRequire(import.meta.url)('libsql') as typeof Database;
  const database = new Driver(path);
  try {
    database.pragma(`busy_timeout = ${BUSY_WITHIN}`);
    // What is committed survives the death of the process; the last commits may be lost with the power, never torn.
    database.pragma('synchronous = NORMAL');
    patiently(() => database.pragma('journal_mode = WAL'));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** What was written goes into the file itself, and to the disk, unless others are at work: then they will do it. */
function checkpoint(database: Database.Database): void {
  try {
    database.pragma('busy_timeout = 0');
    database.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // It stays in the file beside it, which is as good for whoever opens it next.
  }
}

/** The driver's own patience does not cover the change to WAL when two processes make it at once. */
function patiently(work: () => void): void {
  const deadline = Date.now() + BUSY_WITHIN;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_BUSY') || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_ATTEMPTS);
    }
  }
}

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

function inWords(error: unknown, path: string): unknown {
  if (error instanceof MidspanError) return error;
  const code = codeOf(error);
  const message = messageOf(error);
  const found = PROBLEMS.find(({ codes }) => codes.test(code === '' ? message : code));
  const { what, next } = found ?? {
    what: `the store ${path} failed: ${message}`,
    next: 'See whether the file is a store of Midspan and can be written to',
  };
  return new MidspanError({
    code: 'internal',
    what: what.replace('{path}', path).replace('{message}', message),
    next: next.replace('{path}', path),
    cause: error,
  });
}

const PROBLEMS: readonly { codes: RegExp; what: string; next: string }[] = [
  {
    codes: /^SQLITE_(?:NOTADB|CORRUPT)/,
    what: 'the store {path} is damaged or is no store: {message}',
    next: 'Move it away together with its -wal and -shm files; a new one is made, without the runs, decisions and audit of the old one',
  },
  {
    codes: /^SQLITE_FULL|^ENOSPC|^EDQUOT/,
    what: 'the disk of the store {path} is full',
    next: 'Make room; until then nothing runs that must be recorded first',
  },
  {
    codes: /^SQLITE_(?:BUSY|LOCKED)/,
    what: `other processes have kept the store {path} busy for ${BUSY_WITHIN / 1000} s`,
    next: 'Try again; see which processes have the file open if it stays so',
  },
  {
    codes:
      /^SQLITE_(?:READONLY|CANTOPEN|PERM|IOERR)|^E(?:ACCES|PERM|ROFS|NOTDIR|EXIST|ISDIR)$|^ConnectionFailed/,
    what: 'the store {path} cannot be written: {message}',
    next: 'See whether its folder exists and belongs to you',
  },
];
