import { Argument, Command, Option } from 'commander';
import type { Answer } from '../asks/asks.ts';
import type { PendingAsk } from '../asks/rows.ts';
import { suggestion } from '../config/problems.ts';
import { MidspanError } from '../errors.ts';
import type { Store } from '../index.ts';
import { isRememberable } from '../trust/policy/call.ts';
import type { Json } from '../types.ts';
import { withStore } from './asks.ts';
import { type CommonOptions, type Context, examples, withCommonOptions } from './context.ts';
import { EXIT } from './exit.ts';
import { confirmed, person } from './person.ts';

const REMEMBER = ['once', 'run', 'always'] as const;

interface AnswerOptions extends CommonOptions {
  digest?: string;
  remember?: (typeof REMEMBER)[number];
  reason?: string;
  content?: string;
}

/** `midspan answer`: a person's answer to what waits in another process. */
export function answerCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('answer'))
    .description("answer what waits for a person's word; `midspan asks` lists it")
    .argument('<id>', 'the id of the ask')
    .addArgument(new Argument('<action>', 'what you say').choices(['accept', 'decline']))
    .option('--digest <digest>', 'of the ask that you saw; needed where there is no terminal to confirm on')
    .addOption(
      new Option(
        '--remember <how long>',
        'how long it holds, for this definition of the tool; default: once',
      ).choices(REMEMBER),
    )
    .option('--reason <text>', 'why not; the model and the record get it')
    .option('--content <json>', 'what the form asks for, as a JSON object, beside accept')
    .addHelpText(
      'after',
      examples(
        'answer k3m9x2pq accept',
        'answer k3m9x2pq accept --remember run',
        'answer k3m9x2pq decline --reason "not on a Friday"',
        'answer k3m9x2pq accept --digest 9f2c… --json',
      ),
    )
    .action(async (id: string, action: 'accept' | 'decline', options: AnswerOptions) => {
      exit(await answer(context, id, action, options));
    });
}

async function answer(
  context: Context,
  id: string,
  action: 'accept' | 'decline',
  options: AnswerOptions,
): Promise<number> {
  const { print } = context;
  return withStore(context, options, async (store) => {
    const pending = await pendingAsk(store, id);
    const given = await answerOf(pending, action, options);
    if (options.json !== true) (await import('./show-ask.ts')).showAsk(pending.ask, print);
    // What was shown is what is answered: a person says so by a key, a script by the digest.
    if (options.digest === undefined && !(await confirmed(context, `${action} this?`, unnamed()))) {
      print.note('Nothing was answered.');
      return EXIT.failed;
    }
    const digest = options.digest ?? pending.digest;
    const { settle } = await import('../asks/rows.ts');
    const rows = (store as Store).asks;
    const settled = settle(rows, { id, digest, answer: given, by: person(), now: Date.now() });
    if (!settled.settled) throw unsettled(id, settled);
    if (options.json === true) print.json({ id, digest, action, remember: given.remember ?? 'once' });
    else
      print.note({
        style: action === 'accept' ? 'green' : 'red',
        text: action === 'accept' ? 'accepted' : 'declined',
      });
    return EXIT.good;
  });
}

const unnamed = (): MidspanError =>
  new MidspanError({
    code: 'usage',
    what: 'an answer names what it answers',
    next: 'Give --digest from `midspan asks`, or answer on a terminal',
  });

async function pendingAsk(store: Store | undefined, id: string): Promise<PendingAsk> {
  const { shownRow } = await import('../asks/rows.ts');
  const row = store?.asks.read(id);
  const pending = row && shownRow(row);
  if (pending !== undefined) return pending;
  const ids = (store?.asks.pending(Date.now()) ?? []).map((one) => one.id);
  throw new MidspanError({
    code: 'usage',
    what: `nothing with the id ${JSON.stringify(id)} waits for an answer${suggestion(id, ids)}`,
    next: '`midspan asks` lists what waits',
  });
}

async function answerOf(
  { ask }: PendingAsk,
  action: 'accept' | 'decline',
  { remember, reason, content }: AnswerOptions,
): Promise<Answer> {
  const usage = (what: string, next: string): MidspanError => new MidspanError({ code: 'usage', what, next });
  if (remember !== undefined && remember !== 'once') {
    if (ask.kind !== 'approve')
      throw usage('only the approval of a call can be remembered', 'Leave --remember out');
    if (!isRememberable(ask.rule))
      throw usage(`what asks for ${ask.rule ?? 'this'} is asked each time`, 'Leave --remember out');
  }
  const held = remember === undefined ? {} : { remember };
  if (action === 'decline') {
    if (content !== undefined) throw usage('--content has a meaning only beside accept', 'Leave it out');
    return { action, reason: reason ?? `${person()} said no`, ...held };
  }
  if (reason !== undefined) throw usage('--reason has a meaning only beside decline', 'Leave it out');
  if (ask.kind !== 'form') {
    if (content !== undefined) throw usage('--content has a meaning only for a form', 'Leave it out');
    return { action, ...held };
  }
  if (content === undefined)
    throw usage('a form is accepted by its content', 'Give it: --content \'{"field":"value"}\'');
  const { parseArguments } = await import('./arguments.ts');
  return { action, content: parseArguments(content) as { [name: string]: Json } };
}

function unsettled(id: string, { why, by }: { why: string; by?: string }): MidspanError {
  const what =
    {
      changed: `${id} is not what has this digest`,
      answered: `${id} was answered already${by === undefined ? '' : `, by ${by}`}`,
      expired: `${id} waits no longer`,
    }[why] ?? `nothing with the id ${id} waits`;
  return new MidspanError({ code: 'usage', what, next: '`midspan asks` lists what waits' });
}
