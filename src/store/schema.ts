/** The tables of the store, as the migrations that made them. A migration that was released is never changed. */
import { MidspanError } from '../errors.ts';
import type { Sqlite } from './sqlite.ts';

/**
 * Each is one version. Times are milliseconds since 1970. `process` says who wrote a row, see processes.ts. Columns named
 * for a type of the code (`ask`, `answer`, `message`, `arguments`, `usage`) hold JSON.
 */
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE processes (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      pid INTEGER NOT NULL, place TEXT NOT NULL, born TEXT, seen INTEGER NOT NULL
    ) STRICT`,
    `CREATE TABLE runs (
      id TEXT PRIMARY KEY, process INTEGER NOT NULL,
      model TEXT NOT NULL, prompt TEXT NOT NULL, options TEXT NOT NULL, started INTEGER NOT NULL,
      turns INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0, usage TEXT, taint TEXT,
      ended INTEGER, reason TEXT, detail TEXT
    ) STRICT`,
    'CREATE INDEX runs_started ON runs (started)',
    `CREATE TABLE messages (
      run TEXT NOT NULL, position INTEGER NOT NULL, message TEXT NOT NULL, turn TEXT,
      PRIMARY KEY (run, position)
    ) STRICT`,
    `CREATE TABLE calls (
      id INTEGER PRIMARY KEY AUTOINCREMENT, process INTEGER NOT NULL,
      run TEXT, call TEXT, name TEXT, label TEXT, tool TEXT NOT NULL, digest TEXT, arguments TEXT NOT NULL,
      rule TEXT, why TEXT, by TEXT, started INTEGER NOT NULL,
      status TEXT, milliseconds INTEGER, bytes INTEGER, result TEXT, error TEXT, choice TEXT
    ) STRICT`,
    'CREATE INDEX calls_run ON calls (run, id)',
    `CREATE TABLE asks (
      id TEXT PRIMARY KEY, process INTEGER NOT NULL, digest TEXT NOT NULL, ask TEXT NOT NULL,
      created INTEGER NOT NULL, deadline INTEGER NOT NULL, run TEXT,
      answer TEXT, answered_by TEXT, answered_at INTEGER
    ) STRICT`,
    'CREATE INDEX asks_pending ON asks (created) WHERE answer IS NULL',
    `CREATE TABLE remembered (
      label TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL,
      action TEXT NOT NULL CHECK (action IN ('allow', 'deny')), at INTEGER NOT NULL, by TEXT,
      PRIMARY KEY (label, tool, digest)
    ) STRICT`,
    // Everything but the hash is in the body, which is what was hashed: nothing beside it could differ from it.
    `CREATE TABLE audit (
      seq INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL,
      at INTEGER GENERATED ALWAYS AS (json_extract(body, '$.at')) VIRTUAL,
      label TEXT GENERATED ALWAYS AS (json_extract(body, '$.label')) VIRTUAL
    ) STRICT`,
    'CREATE TABLE audit_head (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT',
    "INSERT INTO audit_head VALUES (1, 0, '')",
    `CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
      BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END`,
    `CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
      BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END`,
    `CREATE TRIGGER audit_head_forward BEFORE UPDATE ON audit_head WHEN NEW.seq <> OLD.seq + 1
      BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END`,
    `CREATE TRIGGER audit_head_stays BEFORE DELETE ON audit_head
      BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END`,
  ],
  [
    // Several rows at once move the head once, to the last of them.
    'DROP TRIGGER audit_head_forward',
    `CREATE TRIGGER audit_head_forward BEFORE UPDATE ON audit_head
      WHEN NEW.seq <= OLD.seq OR NEW.seq IS NOT (SELECT max(seq) FROM audit)
      BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END`,
  ],
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Brings a database to our version, whoever else does so at the same time.
 * @throws MidspanError `internal` for a database of a newer version.
 */
export function migrate(db: Sqlite): void {
  const version = versionOf(db);
  if (version > SCHEMA_VERSION) {
    throw new MidspanError({
      code: 'internal',
      what: `the store ${db.path} was written by a newer Midspan (version ${version} of its tables, this one knows ${SCHEMA_VERSION})`,
      next: 'Use that version, or move the file away',
    });
  }
  if (version === SCHEMA_VERSION) return;
  db.write(() => {
    // Under the lock it may be done already.
    for (const migration of MIGRATIONS.slice(versionOf(db))) for (const sql of migration) db.run(sql);
    db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

const versionOf = (db: Sqlite): number => Number(db.get('PRAGMA user_version')?.['user_version']);
