/** Era verdicts that outlive the process: one small file, since a wrong or missing one only costs a probe. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Era } from '../types.ts';

/** The newest are kept. */
export const MAX_VERDICTS = 256;

interface Verdict {
  era: Era;
  protocolVersion: string;
  transport: 'stdio' | 'http' | 'sse';
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
export function verdictFile(path: string): VerdictFile {
  const read = (): Map<string, Verdict> => {
    try {
      const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
      return new Map(Object.entries(parsed as object).filter(([, value]) => isVerdict(value)));
    } catch {
      return new Map();
    }
  };
  const write = (verdicts: Map<string, Verdict>): void => {
    const kept = [...verdicts].sort(([, a], [, b]) => b.at - a.at).slice(0, MAX_VERDICTS);
    const draft = `${path}.${process.pid}`;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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
    get: (key) => read().get(key),
    set: (key, verdict) => write(read().set(key, verdict)),
    delete: (key) => {
      const verdicts = read();
      if (verdicts.delete(key)) write(verdicts);
    },
  };
}

function isVerdict(value: unknown): value is Verdict {
  if (typeof value !== 'object' || value === null) return false;
  const { era, protocolVersion, transport, at } = value as Partial<Verdict>;
  return (
    (era === 'legacy' || era === 'modern') &&
    typeof protocolVersion === 'string' &&
    (transport === 'stdio' || transport === 'http' || transport === 'sse') &&
    typeof at === 'number'
  );
}
