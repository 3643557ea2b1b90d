/** Which tools were called: one small file that several processes add to. Whatever goes wrong with it costs a count, no more. */
import { closeSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { claimDraft } from './draft.ts';

/** The tools that were called last are kept. */
export const MAX_TOOLS = 2_000;
/** Calls are written together. Milliseconds. */
export const WRITE_WITHIN = 1_000;
const LARGEST_FILE = 4 * 1024 * 1024;
const LAST_ATTEMPTS = 20;
const BETWEEN_ATTEMPTS = 10;

export interface CountedCalls {
  /** When counting began, in milliseconds since 1970; undefined when nothing was ever counted. */
  since: number | undefined;
  calls(label: string, tool: string): number;
}

export interface UsageFile {
  /** One call that reached a server. Written a little later. */
  add(label: string, tool: string): void;
  /** What all processes wrote, and what is not written yet. */
  read(): CountedCalls;
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

interface Use {
  label: string;
  tool: string;
  calls: number;
  /** Milliseconds since 1970. */
  last: number;
}

interface Counted {
  since: number | undefined;
  uses: Map<string, Use>;
}

export function usageFile(path: string, now: () => number = Date.now): UsageFile {
  let waiting = new Map<string, Use>();
  let timer: NodeJS.Timeout | undefined;
  const later = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!write()) later();
    }, WRITE_WITHIN).unref();
  };
  /** @returns false while another process writes. */
  const write = (): boolean => {
    if (waiting.size === 0) return true;
    const draft = `${path}.draft`;
    // The others come again.
    const lock = claim(draft, now());
    if (lock === 'taken') return false;
    if (lock === undefined) return true;
    try {
      const { since, uses } = merged(readCounted(path), waiting);
      const kept = [...uses.values()].sort((a, b) => b.last - a.last).slice(0, MAX_TOOLS);
      try {
        writeFileSync(lock, JSON.stringify({ since, tools: kept }));
      } finally {
        closeSync(lock);
      }
      renameSync(draft, path);
      waiting = new Map();
    } catch {
      rmSync(draft, { force: true });
    }
    return true;
  };
  return {
    add(label, tool) {
      const key = keyOf({ label, tool });
      const known = waiting.get(key);
      if (known === undefined) waiting.set(key, { label, tool, calls: 1, last: now() });
      else {
        known.calls += 1;
        known.last = now();
      }
      later();
    },
    read() {
      const { since, uses } = merged(readCounted(path), waiting);
      return { since, calls: (label, tool) => uses.get(keyOf({ label, tool }))?.calls ?? 0 };
    },
    async close() {
      clearTimeout(timer);
      for (let attempt = 0; !write() && attempt < LAST_ATTEMPTS; attempt += 1) await pause(BETWEEN_ATTEMPTS);
    },
  };
}

const keyOf = ({ label, tool }: Pick<Use, 'label' | 'tool'>): string => JSON.stringify([label, tool]);

function merged(counted: Counted, more: ReadonlyMap<string, Use>): Counted {
  const uses = new Map(counted.uses);
  for (const [key, use] of more) {
    const before = uses.get(key);
    const calls = (before?.calls ?? 0) + use.calls;
    uses.set(key, { ...use, calls, last: Math.max(before?.last ?? 0, use.last) });
  }
  const first = Math.min(...[...more.values()].map(({ last }) => last));
  return { since: counted.since ?? (Number.isFinite(first) ? first : undefined), uses };
}

/** Undefined where nothing can be written. */
function claim(draft: string, now: number): number | 'taken' | undefined {
  try {
    mkdirSync(dirname(draft), { recursive: true });
    return claimDraft(draft, now);
  } catch {
    return undefined;
  }
}

/** A file that cannot be read, or holds something else, counts nothing. */
function readCounted(path: string): Counted {
  const nothing: Counted = { since: undefined, uses: new Map() };
  try {
    if (statSync(path).size > LARGEST_FILE) return nothing;
    const { since, tools } = JSON.parse(readFileSync(path, 'utf8')) as { since: unknown; tools: unknown };
    if (!Array.isArray(tools) || !isTime(since)) return nothing;
    return { since, uses: new Map(tools.filter(isUse).map((use) => [keyOf(use), use])) };
  } catch {
    return nothing;
  }
}

const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0;

function isUse(value: unknown): value is Use {
  const { label, tool, calls, last } = (value ?? {}) as Partial<Use>;
  return (
    typeof label === 'string' &&
    typeof tool === 'string' &&
    Number.isSafeInteger(calls) &&
    isTime(last) &&
    isTime(calls)
  );
}
