/** Single keys, and whole lines, from a terminal. */
import type { Readable } from 'node:stream';

export type TerminalInput = Readable & { isTTY?: boolean; setRawMode?: (raw: boolean) => unknown };

/** Every method rejects when the signal aborts or the input ends. */
export interface Keys {
  /** The next key: one character, not echoed, or `interrupt` for Ctrl-C. */
  next(this: void, signal: AbortSignal): Promise<string>;
  /** The next line, echoed and edited by the terminal itself, where Ctrl-C sends its signal. */
  line(this: void, signal: AbortSignal): Promise<string>;
  /** Gives the terminal back. */
  close(): void;
}

/** Milliseconds after a question appears in which keys are not heard: they were meant for something else. */
export const KEY_GUARD = 300;
/** Characters of one line; what is longer is cut. */
const LINE_MAX = 64 * 1024;

/** @param guard milliseconds from now in which keys are dropped, those that were typed before among them. */
export function readKeys(stdin: TerminalInput, guard: number): Keys {
  const keys: string[] = [];
  let line: string | undefined;
  let wake: () => void = () => undefined;
  let isOver = false;
  let isGuarded = guard > 0;
  const timer = setTimeout(() => {
    isGuarded = false;
  }, guard);

  const onData = (chunk: Buffer | string): void => {
    const text = String(chunk);
    if (line !== undefined) line = (line + text).slice(0, LINE_MAX);
    // An arrow or function key is a sequence; no part of it is a key of ours.
    else if (!text.startsWith('\u001B')) {
      for (const key of text) {
        if (key === '\u0003') keys.push('interrupt');
        else if (!isGuarded) keys.push(key);
      }
    }
    wake();
  };
  const onEnd = (): void => {
    isOver = true;
    wake();
  };
  async function until<T>(look: () => T | undefined, signal: AbortSignal): Promise<T> {
    const onAbort = (): void => wake();
    signal.addEventListener('abort', onAbort);
    try {
      for (;;) {
        signal.throwIfAborted();
        const found = look();
        if (found !== undefined) return found;
        if (isOver) throw new Error('the terminal is gone');
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  stdin.setRawMode?.(true);
  stdin.on('data', onData).on('end', onEnd).on('error', onEnd);
  stdin.resume();
  return {
    next: (signal) => until(() => keys.shift(), signal),
    async line(signal) {
      stdin.setRawMode?.(false);
      line = '';
      try {
        // What was pasted after the first line is dropped: it was not meant for the next question.
        return await until(() => /^([^\r\n]*)\r?\n/.exec(line ?? '')?.[1], signal);
      } finally {
        line = undefined;
        stdin.setRawMode?.(true);
      }
    },
    close() {
      clearTimeout(timer);
      stdin.off('data', onData).off('end', onEnd).off('error', onEnd);
      stdin.pause();
      stdin.setRawMode?.(false);
    },
  };
}
