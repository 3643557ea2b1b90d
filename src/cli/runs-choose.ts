/** A person's choice for each call of which nobody knows whether it ran. */
import type { Choices, RecordedConversation } from '../journal/journal.ts';
import type { Context } from './context.ts';
import { KEY_GUARD, readKeys } from './keys.ts';

type StoredCall = RecordedConversation['calls'][number];

/**
 * Without a terminal nothing is asked, and what was given is given back.
 * @param guard milliseconds after each question in which keys are not heard: they were meant for something else.
 */
export async function askChoices(
  { print, stdin, signal }: Pick<Context, 'print' | 'stdin' | 'signal'>,
  open: readonly StoredCall[],
  given: Choices,
  guard: number = KEY_GUARD,
): Promise<Choices> {
  if (!print.isTerminal || stdin.isTTY !== true) return given;
  const [retry, skip] = [[...(given.retry ?? [])], [...(given.skip ?? [])]];
  for (const { call = '', label, tool, arguments: args } of open) {
    print.note(
      { style: 'yellow', text: 'unknown' },
      ` ${call}: ${label === undefined ? '' : `${label}/`}${tool} ${args}`,
    );
    print.note('It was running when the host stopped, and may have taken effect.');
    print.note('r run it again, s skip it, q leave');
    const key = await keyOf(stdin, guard, signal);
    if (key === 'q') return given;
    (key === 'r' ? retry : skip).push(call);
  }
  return { ...given, retry, skip };
}

async function keyOf(stdin: Context['stdin'], guard: number, signal: AbortSignal): Promise<'r' | 's' | 'q'> {
  const keys = readKeys(stdin, guard);
  try {
    for (;;) {
      const key = await keys.next(signal);
      if (key === 'r' || key === 's' || key === 'q') return key;
      if (key === 'interrupt') return 'q';
    }
  } finally {
    keys.close();
  }
}
