/** Where asks stand while they wait, so that whoever answers first settles them for everybody. */
import { canonicalJson, sha256Hex } from '../canonical.ts';
import type { AskRow, AskRows } from '../store/asks.ts';
import type { Answer, Ask } from './asks.ts';

/** An ask that waits. Exactly what is shown; nothing of it changes while it waits. */
export interface PendingAsk {
  /** Short, for typing. */
  id: string;
  /** Of everything in `ask`: an answer names it, so that it answers what was shown. */
  digest: string;
  ask: Ask;
  /** Milliseconds since 1970. */
  created: number;
  deadline: number;
}

/** The rows of one store, in files or in memory. */
export type { AskRow, AskRows };

export function memoryRows(): AskRows {
  const rows = new Map<string, AskRow>();
  return {
    insert(row) {
      if (rows.has(row.id)) throw new Error(`there is an ask ${row.id} already`);
      rows.set(row.id, { ...row });
      for (const [id, { answer }] of rows) {
        if (rows.size <= ROWS_MAX) break;
        if (answer !== undefined) rows.delete(id);
      }
    },
    pending: (now) =>
      [...rows.values()]
        .filter(({ answer, deadline }) => answer === undefined && deadline > now)
        .sort((a, b) => a.created - b.created),
    read: (id) => rows.get(id),
    answer(id, digest, answer, by, at) {
      const row = rows.get(id);
      if (row === undefined || row.digest !== digest || row.answer !== undefined) return false;
      rows.set(id, { ...row, answer, answeredBy: by, answeredAt: at });
      return true;
    },
  };
}

/** Settled rows that memory keeps. */
const ROWS_MAX = 1000;

/**
 * The digest of everything that is shown of an ask.
 * @throws RangeError for text that is not well-formed: it cannot be shown exactly.
 */
export const askDigest = (ask: Ask): string => sha256Hex('midspan-ask/1', canonicalJson(ask));

/** What became of an attempt to answer. */
export type Settled =
  | { settled: true }
  /** `unknown`: no such ask. `changed`: the digest is of something else. `answered`: somebody was first. `expired`: too late. */
  | { settled: false; why: 'unknown' | 'changed' | 'answered' | 'expired'; by?: string };

/** Answers a waiting ask, for everybody who waits for it; only the first answer counts. */
export function settle(
  rows: AskRows,
  { id, digest, answer, by, now }: { id: string; digest: string; answer: Answer; by: string; now: number },
): Settled {
  const row = rows.read(id);
  if (row === undefined) return { settled: false, why: 'unknown' };
  if (row.digest !== digest) return { settled: false, why: 'changed' };
  if (row.answer === undefined && row.deadline <= now) return { settled: false, why: 'expired' };
  if (rows.answer(id, digest, JSON.stringify({ ...answer, by }), by, now)) return { settled: true };
  const first = rows.read(id)?.answeredBy;
  return { settled: false, why: 'answered', ...(first !== undefined && { by: first }) };
}

/** A row as what is shown of it; undefined when it is not what its digest says. */
export function shownRow(row: AskRow): PendingAsk | undefined {
  try {
    const ask = JSON.parse(row.ask) as Ask;
    if (askDigest(ask) !== row.digest) return undefined;
    const { id, digest, created, deadline } = row;
    return { id, digest, ask, created, deadline };
  } catch {
    return undefined;
  }
}

const REMEMBER = ['once', 'run', 'always'] as const;

/** An answer that another process wrote. What is none is a decline that says so. */
export function readAnswer(text: string): Answer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const { action, content, remember, reason, by } = isObject(value) ? value : {};
  const held = REMEMBER.find((word) => word === remember);
  const common = {
    ...(held !== undefined && { remember: held }),
    ...(typeof by === 'string' && { by }),
  };
  if (action === 'accept') {
    if (remember !== undefined && held === undefined) return UNREADABLE;
    return {
      action,
      ...common,
      ...(isObject(content) && {
        content: content as NonNullable<(Answer & { action: 'accept' })['content']>,
      }),
    };
  }
  if (action !== 'decline' && action !== 'cancel') return UNREADABLE;
  return { action, ...common, ...(typeof reason === 'string' && { reason }) };
}

const UNREADABLE: Answer = { action: 'decline', reason: 'the answer in the store cannot be read' };

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
