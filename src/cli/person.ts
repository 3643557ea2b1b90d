/** The person at the command line: who it is, and a yes or no on a terminal. */
import { userInfo } from 'node:os';
import type { MidspanError } from '../errors.ts';
import type { Context } from './context.ts';
import { KEY_GUARD, readKeys } from './keys.ts';

/** @throws `otherwise` where there is no terminal to ask on. */
export async function confirmed(
  { print, stdin, signal }: Context,
  question: string,
  otherwise: MidspanError,
): Promise<boolean> {
  if (!print.isTerminal || stdin.isTTY !== true) throw otherwise;
  print.note({ style: 'bold', text: `${question} y yes, n no` });
  const keys = readKeys(stdin, KEY_GUARD);
  try {
    for (;;) {
      const key = await keys.next(signal);
      if (key === 'y') return true;
      if (key === 'n' || key === 'interrupt') return false;
    }
  } finally {
    keys.close();
  }
}

/** For the record. */
export function person(): string {
  try {
    return userInfo().username;
  } catch {
    return 'somebody';
  }
}
