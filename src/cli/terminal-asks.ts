/** The terminal as one of those who answer asks: shows one after the other, in full, and reads a key. */
import type { Answer, Ask } from '../asks/asks.ts';
import type { Answerer } from '../asks/queue.ts';
import type { PendingAsk } from '../asks/rows.ts';
import { isRememberable } from '../trust/policy/call.ts';
import { KEY_GUARD, type Keys, readKeys, type TerminalInput } from './keys.ts';
import type { Printer } from './print.ts';

export interface TerminalAsksOptions {
  print: Printer;
  stdin: TerminalInput;
  /** What Ctrl-C does beside canceling the ask; the key no longer sends a signal while an ask is shown. */
  interrupt?: () => void;
  /** For `readKeys`. Default KEY_GUARD. */
  guard?: number;
}

/** Undefined where there is no terminal to ask on. */
export function terminalAsks({
  print,
  stdin,
  interrupt = () => void process.emit('SIGINT', 'SIGINT'),
  guard = KEY_GUARD,
}: TerminalAsksOptions): Answerer | undefined {
  if (!print.isTerminal || stdin.isTTY !== true || stdin.setRawMode === undefined) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    name: 'terminal',
    answer(pending, { signal }) {
      const turn = last.then(async () => {
        signal.throwIfAborted();
        const held = print.hold();
        const keys = readKeys(stdin, guard);
        try {
          const answer = await answerOf(pending, held.print, keys, signal);
          if (answer === 'interrupt') {
            interrupt();
            return { action: 'cancel', reason: 'canceled by Ctrl-C' } as const;
          }
          return answer;
        } catch (error) {
          if (signal.aborted)
            held.print.note('It waits no longer: answered elsewhere, canceled or too late.');
          throw error;
        } finally {
          keys.close();
          held.release();
        }
      });
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

async function answerOf(
  pending: PendingAsk,
  print: Printer,
  keys: Keys,
  signal: AbortSignal,
): Promise<Answer | 'interrupt'> {
  const { ask } = pending;
  (await import('./show-ask.ts')).showAsk(ask, print);
  if (ask.kind === 'form')
    return (await import('./terminal-form.ts')).fillForm(ask.schema, print, keys, signal);
  const choices = choicesOf(ask);
  const shown = choices.map(({ key, does }) => `${key} ${does}`).join(', ');
  for (;;) {
    print.note({ style: 'bold', text: `${shown}, ? more` });
    const choice = await choiceOf(choices, keys, signal);
    if (choice === 'interrupt') return 'interrupt';
    if (choice === 'more') {
      showMore(pending, print);
      continue;
    }
    print.note({ style: choice.answer.action === 'accept' ? 'green' : 'red', text: choice.said });
    return choice.answer;
  }
}

/** Waits for a key that means something. */
async function choiceOf(
  choices: readonly Choice[],
  keys: Keys,
  signal: AbortSignal,
): Promise<Choice | 'more' | 'interrupt'> {
  for (;;) {
    const key = await keys.next(signal);
    if (key === 'interrupt') return 'interrupt';
    if (key === '?') return 'more';
    const found = choices.find((choice) => choice.key === key);
    if (found !== undefined) return found;
  }
}

interface Choice {
  key: string;
  does: string;
  said: string;
  answer: Answer;
}

const ONCE: Choice = { key: 'y', does: 'yes', said: 'yes', answer: { action: 'accept', remember: 'once' } };
const NO: Choice = {
  key: 'n',
  does: 'no',
  said: 'no',
  answer: { action: 'decline', reason: 'the person at the terminal said no', remember: 'once' },
};
const RUN: Choice = {
  key: 'r',
  does: 'yes in this run',
  said: 'yes, for the rest of this run',
  answer: { action: 'accept', remember: 'run' },
};
const ALWAYS: Choice = {
  key: 'a',
  does: 'always',
  said: 'yes, always, until the definition of the tool changes',
  answer: { action: 'accept', remember: 'always' },
};
const NEVER: Choice = {
  key: 'd',
  does: 'never',
  said: 'no, never, until the definition of the tool changes',
  answer: { action: 'decline', reason: 'the person at the terminal said never', remember: 'always' },
};

function choicesOf(ask: Ask): Choice[] {
  if (ask.kind !== 'approve') return [{ ...ONCE, does: 'I open it myself' }, NO];
  return isRememberable(ask.rule) ? [ONCE, RUN, ALWAYS, NO, NEVER] : [ONCE, NO];
}

function showMore({ id, digest, ask }: PendingAsk, print: Printer): void {
  if (ask.kind === 'approve') {
    print.note(`  ${ask.message}`);
    if (ask.rule !== undefined) print.note(`  rule        ${ask.rule}`);
    if (ask.digest !== undefined) print.note(`  definition  ${ask.digest}`);
    if (ask.run !== undefined) print.note(`  run         ${ask.run}`);
    if (!isRememberable(ask.rule)) print.note('  What asks for this reason asks each time.');
  }
  print.note(`  ask         ${id}`);
  print.note(`  digest      ${digest}`);
}
