/**
 * The audit: rows that are only ever added, each with the hash of the one before it, so that a changed, missing or moved
 * row shows. Whoever can write the file can also write a whole new chain; that shows against a hash that was noted elsewhere.
 */
import { canonicalJson, sha256Hex } from '../canonical.ts';
import type { JsonObject } from '../types.ts';
import type { Row, Sqlite } from './sqlite.ts';

export interface AuditRow {
  /** From 1, without gaps. */
  seq: number;
  /** Canonical JSON of `seq`, `at`, `previous` and what happened. */
  body: string;
  hash: string;
}

export interface AuditTable {
  /** The event is taken over: what the row adds is put into it. */
  append(event: JsonObject): AuditRow;
  /** In this order. */
  appendAll(events: readonly JsonObject[]): AuditRow[];
  /** Oldest first. `since` in milliseconds since 1970. */
  rows(filter?: { since?: number; label?: string }): IterableIterator<AuditRow>;
  /** The last row's number and hash, to be noted elsewhere. */
  head(): Pick<AuditRow, 'seq' | 'hash'>;
  verify(noted?: Pick<AuditRow, 'seq' | 'hash'>): Verified;
}

export type Verified =
  | { intact: true; rows: number; hash: string }
  /** `seq`: the first row that is wrong. */
  | { intact: false; rows: number; seq: number; problem: string };

/** Rows that are read at a time. */
const PAGE = 500;

export function auditTable(db: Sqlite, now: () => number): AuditTable {
  const head = (): Pick<AuditRow, 'seq' | 'hash'> => {
    const row = db.get('SELECT seq, hash FROM audit_head');
    return { seq: Number(row?.['seq'] ?? 0), hash: String(row?.['hash'] ?? '') };
  };
  function* rows({ since, label }: { since?: number; label?: string } = {}): Generator<AuditRow> {
    for (let after = 0; ;) {
      const page = db
        .all(
          `SELECT seq, body, hash FROM audit
            WHERE seq > ? AND (? IS NULL OR at >= ?) AND (? IS NULL OR label = ?) ORDER BY seq LIMIT ${PAGE}`,
          after,
          since ?? null,
          since ?? null,
          label ?? null,
          label ?? null,
        )
        .map(rowOf);
      yield* page;
      if (page.length < PAGE) return;
      after = page.at(-1)?.seq ?? after;
    }
  }
  const appendAll = (events: readonly JsonObject[]): AuditRow[] => {
    if (events.length === 0) return [];
    return db.write(() => {
      let { seq, hash } = head();
      const at = now();
      const added = events.map((event) => {
        seq += 1;
        event.seq = seq;
        event.at = at;
        event.previous = hash;
        const body = canonicalEvent(event);
        hash = hashOf(body);
        return { seq, body, hash };
      });
      db.runRows(
        'INSERT INTO audit (seq, body, hash) SELECT * FROM (VALUES …)',
        added.map((row) => [row.seq, row.body, row.hash]),
      );
      db.run('UPDATE audit_head SET seq = ?, hash = ?', seq, hash);
      return added;
    });
  };
  return {
    append: (event) => appendAll([event])[0] as AuditRow,
    appendAll,
    rows,
    head,
    verify(noted) {
      // The head is read first: what others add meanwhile is more than is expected, never less.
      const last = head();
      const expected = [last, ...(noted === undefined ? [] : [noted])];
      let previous = '';
      let count = 0;
      const broken = (seq: number, problem: string): Verified => ({
        intact: false,
        rows: count,
        seq,
        problem,
      });
      for (const row of rows()) {
        count += 1;
        const wrong = problemOf(row, count, previous);
        if (wrong !== undefined) return broken(count, wrong);
        if (expected.some(({ seq, hash }) => seq === row.seq && hash !== row.hash))
          return broken(count, 'its hash is not the one that was noted');
        previous = row.hash;
      }
      const most = Math.max(...expected.map(({ seq }) => seq));
      if (count < most) return broken(count + 1, `the rows from ${count + 1} to ${most} are gone`);
      const written = head().seq;
      if (count > written) return broken(written + 1, 'it was not written by a Midspan');
      return { intact: true, rows: count, hash: previous };
    },
  };
}

const hashOf = (body: string): string => sha256Hex('midspan-audit/1', body);

function problemOf({ seq, body, hash }: AuditRow, expected: number, previous: string): string | undefined {
  if (seq !== expected) return `row ${expected} is gone`;
  if (hashOf(body) !== hash) return 'its content is not what was hashed';
  const { seq: own, previous: before } = JSON.parse(body) as JsonObject;
  if (own !== seq) return 'it was written as another row';
  return before === previous ? undefined : 'it does not follow the row before it';
}

const rowOf = (row: Row): AuditRow => ({
  seq: Number(row['seq']),
  body: String(row['body']),
  hash: String(row['hash']),
});

function canonicalEvent(event: JsonObject): string {
  try {
    return canonicalJson(event);
  } catch {
    return canonicalJson(wellFormed(event) as JsonObject);
  }
}

/** Halves of characters, which canonical JSON and the store have no form for, become U+FFFD. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), wellFormed(member)]),
  );
}
