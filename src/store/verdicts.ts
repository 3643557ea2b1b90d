/** Era verdicts that outlive the process: one small file, since a wrong or missing one only costs a probe. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Era } from '../types.ts';

/** A verdict is trusted for a day: a stale `legacy` never fails by itself, since dual-era servers keep answering. */
export const VERDICT_HOURS = 24;
const MAX_VERDICTS = 256;

interface Verdict {
  era: Era;
  protocolVersion: string;
}

interface Dated extends Verdict {
  /** Milliseconds since 1970. */
  at: number;
}

export interface VerdictFile {
  get(key: string): Verdict | undefined;
  set(key: string, verdict: Verdict): void;
  delete(key: string): void;
}

/**
 * Verdicts kept in a file, readable by its owner alone. Read anew at each look, written whole and renamed into place, so
 * that several processes may share it. A file that cannot be read or written is a file without verdicts.
 */
export function verdictFile(path: string, now: () => number = Date.now): VerdictFile {
  const read = (): Map<string, Dated> => {
    try {
      const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
      const fresh = now() - VERDICT_HOURS * 3_600_000;
      return new Map(
        Object.entries(parsed as object).filter(([, value]) => isDated(value) && value.at > fresh),
      );
    } catch {
      return new Map();
    }
  };
  const write = (verdicts: Map<string, Dated>): void => {
    const kept = [...verdicts].sort(([, a], [, b]) => b.at - a.at).slice(0, MAX_VERDICTS);
    const draft = `${path}.${process.pid}`;
    try {
      mkdirSync(dirname(path), { recursive: true });
    } catch {
      return;
    }
    try {
      writeFileSync(draft, JSON.stringify(Object.fromEntries(kept)), { mode: 0o600 });
      renameSync(draft, path);
    } catch {
      rmSync(draft, { force: true });
    }
  };
  return {
    get: (key) => {
      const found = read().get(key);
      return found && { era: found.era, protocolVersion: found.protocolVersion };
    },
    set: (key, { era, protocolVersion }) => write(read().set(key, { era, protocolVersion, at: now() })),
    delete: (key) => {
      const verdicts = read();
      if (verdicts.delete(key)) write(verdicts);
    },
  };
}

function isDated(value: unknown): value is Dated {
  if (typeof value !== 'object' || value === null) return false;
  const { era, protocolVersion, at } = value as Partial<Dated>;
  return (
    (era === 'legacy' || era === 'modern') && typeof protocolVersion === 'string' && typeof at === 'number'
  );
}
