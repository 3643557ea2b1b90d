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
  /** What another process was told counts within LOOKED_AT. */
  get(call: Pick<StoredDecision, 'label' | 'tool' | 'digest'>): StoredDecision | undefined;
  /** The last word counts. */
  set(decision: Omit<StoredDecision, 'at'>): void;
  /** By label and tool, oldest first. */
  list(): StoredDecision[];
  /** Takes back what was said of a tool, of all tools of a label without one. Returns how many words were taken back. */
  forget(label: string, tool?: string): number;
}

/** Every call asks, so that all words are kept in memory; those of other processes count this much later. Milliseconds. */
export const LOOKED_AT = 1_000;

export function rememberedTable(db: Sqlite, now: () => number): RememberedTable {
  let known = new Map<string, StoredDecision>();
  let looked = -Infinity;
  const list = (): StoredDecision[] =>
    db.all('SELECT * FROM remembered ORDER BY label, tool, at').map(decisionOf);
  return {
    get(call) {
      const at = performance.now();
      if (at - looked >= LOOKED_AT) {
        known = new Map(list().map((decision) => [keyOf(decision), decision]));
        looked = at;
      }
      return known.size === 0 ? undefined : known.get(keyOf(call));
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
      looked = -Infinity;
    },
    list,
    forget(label, tool) {
      looked = -Infinity;
      return db.run(
        'DELETE FROM remembered WHERE label = ? AND (? IS NULL OR tool = ?)',
        label,
        tool ?? null,
        tool ?? null,
      );
    },
  };
}

const keyOf = ({ label, tool, digest }: Pick<StoredDecision, 'label' | 'tool' | 'digest'>): string =>
  `${digest}\0${label}\0${tool}`;

const decisionOf = (row: Row): StoredDecision => ({
  label: String(row['label']),
  tool: String(row['tool']),
  digest: String(row['digest']),
  action: row['action'] === 'allow' ? 'allow' : 'deny',
  at: Number(row['at']),
  by: row['by'] === null ? undefined : String(row['by']),
});
