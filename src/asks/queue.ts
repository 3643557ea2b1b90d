/** The one queue of everything that waits for a person. Several may answer; the first answer settles it everywhere. */
import { randomBytes } from 'node:crypto';
import { messageOf } from '../errors.ts';
import type { Answer, Ask, Asks } from './asks.ts';
import {
  askDigest,
  type AskRows,
  memoryRows,
  type PendingAsk,
  readAnswer,
  settle,
  type Settled,
} from './rows.ts';

/** Milliseconds that an ask waits. */
export const ASK_DEADLINE = 5 * 60 * 1000;
/** Asks that wait at a time; more are declined. */
export const PENDING_MAX = 256;
/** Characters of one ask as JSON; nobody reads more. */
export const ASK_MAX = 4 * 1024 * 1024;
/** Milliseconds between two looks at what other processes answered. */
export const POLL_EVERY = 200;

/** Somebody who may answer: a terminal, code of a program. */
export interface Answerer {
  /** For the record. */
  name: string;
  /**
   * Undefined: this one does not answer such asks. The signal aborts when somebody else was first, or nobody waits any
   * more; what comes later is not heard. An error counts as undefined.
   */
  answer(pending: PendingAsk, options: { signal: AbortSignal }): Promise<Answer | undefined>;
}

export type AskEvent =
  | { type: 'asked'; pending: PendingAsk }
  | { type: 'settled'; pending: PendingAsk; answer: Answer };

export interface AskQueueOptions {
  /** Rows that other processes see and answer. Without them asks stay in this process. */
  store?: AskRows;
  answerers?: readonly Answerer[];
  /** Milliseconds; default ASK_DEADLINE. Then it is declined. */
  deadline?: number;
  /**
   * Whether an ask waits although none of the answerers takes it, since somebody else may: another process through the
   * store, or `answer`. Default: when there is a store.
   */
  waits?: boolean;
  /** Milliseconds since 1970. */
  now?: () => number;
}

export interface AskQueue extends Asks {
  /** Oldest first. */
  pending(): PendingAsk[];
  /** Settles a waiting ask of this queue. `digest` says what was shown. */
  answer(id: string, digest: string, answer: Answer, by: string): Settled;
  /** Returns what ends the listening. A listener's failure is not the queue's. */
  on(listener: (event: AskEvent) => void): () => void;
  /** Cancels everything that waits. */
  close(): void;
}

interface Waiting {
  pending: PendingAsk;
  look(): void;
  give(answer: Answer, by: string): void;
}

export function askQueue(options: AskQueueOptions = {}): AskQueue {
  const { answerers = [], deadline = ASK_DEADLINE, now = Date.now } = options;
  const rows = options.store ?? memoryRows();
  const waits = options.waits ?? options.store !== undefined;
  const waiting = new Map<string, Waiting>();
  const listeners = new Set<(event: AskEvent) => void>();
  let poll: NodeJS.Timeout | undefined;

  const emit = (event: AskEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch {
        // A listener's failure is not the queue's.
      }
    }
  };

  function enqueue(ask: Ask): PendingAsk | { declined: string } {
    if (waiting.size >= PENDING_MAX) return { declined: `${PENDING_MAX} questions wait already` };
    const text = JSON.stringify(ask);
    if (text.length > ASK_MAX) return { declined: 'it is too large to be shown' };
    const shown = frozen(JSON.parse(text) as Ask);
    const created = now();
    const pending = {
      id: newId(),
      digest: askDigest(shown),
      ask: shown,
      created,
      deadline: created + deadline,
    };
    const run = shown.kind === 'approve' ? shown.run : undefined;
    rows.insert({ ...pending, ask: text, ...(run !== undefined && { run }) });
    return Object.freeze(pending);
  }

  function wait(pending: PendingAsk, signal: AbortSignal): Promise<Answer> {
    const { id, digest } = pending;
    const others = new AbortController();
    return new Promise<Answer>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        waiting.delete(id);
        if (waiting.size === 0) clearInterval(poll);
        others.abort();
      };
      /** What stands in the rows is the answer, whoever wrote it. */
      const look = (): void => {
        let answer: Answer;
        try {
          const text = rows.read(id)?.answer;
          if (text === undefined) return;
          answer = readAnswer(text);
        } catch (error) {
          answer = { action: 'decline', reason: `the answer cannot be read: ${messageOf(error)}` };
        }
        if (!waiting.has(id)) return;
        end();
        resolve(answer);
        emit({ type: 'settled', pending, answer });
      };
      const give = (answer: Answer, by: string): void => {
        if (!waiting.has(id)) return;
        try {
          rows.answer(id, digest, JSON.stringify({ ...answer, by }), by, now());
        } catch (error) {
          end();
          const reason = `the answer cannot be kept: ${messageOf(error)}`;
          resolve({ action: 'decline', reason });
          return;
        }
        look();
      };
      const onAbort = (): void => give({ action: 'cancel', reason: 'the call was canceled' }, 'host');
      const timer = setTimeout(() => {
        give({ action: 'decline', reason: `nobody answered within ${inWords(deadline)}` }, 'deadline');
      }, deadline);
      waiting.set(id, { pending, look, give });
      if (options.store !== undefined && waiting.size === 1)
        poll = setInterval(() => {
          for (const one of waiting.values()) one.look();
        }, POLL_EVERY);
      signal.addEventListener('abort', onAbort, { once: true });
      emit({ type: 'asked', pending });
      void askAll(pending, others.signal, give).then((refusal) => {
        if (!waits) give({ action: 'decline', reason: refusal ?? 'nobody was there to answer' }, 'host');
      });
    });
  }

  /** Resolves when no answerer will answer any more, with why the last one failed. */
  async function askAll(
    pending: PendingAsk,
    signal: AbortSignal,
    give: (answer: Answer, by: string) => void,
  ): Promise<string | undefined> {
    let failure: string | undefined;
    await Promise.all(
      answerers.map(async (answerer) => {
        try {
          const answer = await answerer.answer(pending, { signal });
          if (answer !== undefined) give(answer, answer.by ?? answerer.name);
        } catch (error) {
          if (!signal.aborted) failure = `${answerer.name} could not ask: ${messageOf(error)}`;
        }
      }),
    );
    return failure;
  }

  return {
    async ask(ask, { signal }) {
      signal.throwIfAborted();
      let pending: ReturnType<typeof enqueue>;
      try {
        pending = enqueue(ask);
      } catch (error) {
        return { action: 'decline', reason: `it could not be asked: ${messageOf(error)}` };
      }
      return 'declined' in pending ? { action: 'decline', reason: pending.declined } : wait(pending, signal);
    },
    pending: () => [...waiting.values()].map(({ pending }) => pending),
    answer(id, digest, answer, by) {
      const waiter = waiting.get(id);
      const settled = settle(rows, { id, digest, answer, by, now: now() });
      waiter?.look();
      return settled;
    },
    on(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      const reason = 'the host was closed';
      for (const one of waiting.values()) one.give({ action: 'cancel', reason }, 'host');
    },
  };
}

/** Letters and digits that are not taken for each other. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';

const newId = (): string => [...randomBytes(8)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member);
    Object.freeze(value);
  }
  return value;
}

function inWords(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds >= 120 && seconds % 60 === 0 ? `${seconds / 60} minutes` : `${seconds} s`;
}
