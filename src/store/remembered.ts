/** A person's words that hold for good, each for one digest of a definition. */
import type { Row, Sqlite } from './sqlite.ts';

export interface StoredDecision {
  label: string;
  tool: string;
  digest: string;
  action: 'allow' | 'deny';
  by: string | undefined;
  at: number;
}

export interface RememberedTable {
  get(call: Pick<StoredDecision, 'label' | 'tool' | 'digest'>): StoredDecision | undefined;
  /** The last word counts. */
  set(decision: Omit<StoredDecision, 'at'>): void;
  /** By label and tool, oldest first. */
  list(): StoredDecision[];
  /** Takes back what was said of a tool, of all tools of a label without one. Returns how many words were taken back. */
  forget(label: string, tool?: string): number;
}

export function rememberedTable(db: Sqlite, now: () => number): RememberedTable {
  return {
    get({ label, tool, digest }) {
      const row = db.get(
        'SELECT * FROM remembered WHERE label = ? AND tool = ? AND digest = ?',
        label,
        tool,
        digest,
      );
      return row && decisionOf(row);
    },
    set({ label, tool, digest, action, by }) {
      db.run(
        'INSERT OR REPLACE INTO remembered (label, tool, digest, action, at, by) VALUES (?, ?, ?, ?, ?, ?)',
        label,
        tool,
        digest,
        action,
        now(),
        by ?? null,
      );
    },
    list: () => db.all('SELECT * FROM remembered ORDER BY label, tool, at').map(decisionOf),
    forget: (label, tool) =>
      db.run(
        'DELETE FROM remembered WHERE label = ? AND (? IS NULL OR tool = ?)',
        label,
        tool ?? null,
        tool ?? null,
      ),
  };
}

const decisionOf = (row: Row): StoredDecision => ({
  label: String(row['label']),
  tool: String(row['tool']),
  digest: String(row['digest']),
  action: row['action'] === 'allow' ? 'allow' : 'deny',
  at: Number(row['at']),
  by: row['by'] === null ? undefined : String(row['by']),
});
