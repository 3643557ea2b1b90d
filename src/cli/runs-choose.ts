/** A person's choice for each call of which nobody knows whether it ran. */
import type { Choices, RecordedConversation } from '../journal/journal.ts';
import type { Context } from './context.ts';
import { readKeys } from './keys.ts';
import { KEY_GUARD } from './terminal-asks.ts';

type StoredCall = RecordedConversation['calls'][number];

/** Without a terminal nothing is asked, and what was given is given back. */
export async function askChoices(
  { print, stdin, signal }: Context,
  open: readonly StoredCall[],
  given: Choices,
): Promise<Choices> {
  const isTerminal = print.isTerminal && stdin.isTTY === true;
  if (open.length === 0 || !isTerminal) return given;
  const [retry, skip] = [[...(given.retry ?? [])], [...(given.skip ?? [])]];
  const keys = readKeys(stdin, KEY_GUARD);
  try {
    for (const { call = '', label, tool, arguments: args } of open) {
      print.note(
        { style: 'yellow', text: 'unknown' },
        ` ${call}: ${label === undefined ? '' : `${label}/`}${tool} ${args}`,
      );
      print.note(
        'It was running when the host stopped, and may have taken effect. [r] run it again  [s] skip it  [q] leave',
      );
      const key = await keyOf(keys, signal);
      if (key === 'q') return given;
      (key === 'r' ? retry : skip).push(call);
    }
  } finally {
    keys.close();
  }
  return { ...given, retry, skip };
}

async function keyOf(keys: ReturnType<typeof readKeys>, signal: AbortSignal): Promise<'r' | 's' | 'q'> {
  for (;;) {
    const key = await keys.next(signal);
    if (key === 'r' || key === 's' || key === 'q') return key;
    if (key === 'interrupt') return 'q';
  }
}
