import { Command, InvalidArgumentError } from 'commander';
import { MidspanError } from '../errors.ts';
import type { Choices, RecordedRun, Store } from '../index.ts';
import { withStore } from './asks.ts';
import { type CommonOptions, type Context, examples, withCommonOptions, withHost } from './context.ts';
import { EXIT } from './exit.ts';
import type { Part } from './print.ts';

interface ResumeWords extends CommonOptions {
  model?: string;
  retry?: string[];
  skip?: string[];
  retryAll?: boolean;
  skipAll?: boolean;
  answersWithin?: number;
}

/** `midspan runs`: what ran, what was interrupted, and how it goes on. */
export function runsCommand(context: Context, exit: (code: number) => void): Command {
  const showing = withCommonOptions(new Command('show'))
    .description('show the turns, calls and decisions of a run; what looks like a secret is left out')
    .argument('<id>', 'of the run, or the beginning of it')
    .option('--full', 'everything as it was, secrets and long texts too')
    .addHelpText('after', examples('runs show 3fa9', 'runs show 3fa9 --json | jq .calls'))
    .action(async (id: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { full?: boolean }>();
      exit(await show(context, id, options));
    });
  const resuming = withCommonOptions(new Command('resume'))
    .description('go on with a run that was interrupted, aborted, failed or ran out of time')
    .argument('<id>', 'of the run, or the beginning of it')
    .option('--retry <calls...>', 'run these again, of which nobody knows whether they ran')
    .option('--skip <calls...>', 'do not: the model is told that their outcome is unknown')
    .option('--retry-all', 'run all others again')
    .option('--skip-all', 'skip all others')
    .option('-m, --model <model>', 'another model than before')
    .option(
      '--answers-within <seconds>',
      'wait so long for `midspan answer` where a call needs a word',
      whole,
    )
    .addHelpText('after', examples('runs resume 3fa9', 'runs resume 3fa9 --skip toolu_01 --retry-all'))
    .action(async (id: string, _: unknown, command: Command) => {
      exit(await resume(context, id, command.optsWithGlobals<ResumeWords>()));
    });
  const pruning = withCommonOptions(new Command('prune'))
    .description(
      'delete what began long ago: runs with their calls, single calls, settled asks; never the audit',
    )
    .option('--days <n>', 'keep what began within so many days', whole, 30)
    .addHelpText('after', examples('runs prune', 'runs prune --days 7'))
    .action(async (_: unknown, command: Command) => {
      exit(await prune(context, command.optsWithGlobals<CommonOptions & { days: number }>()));
    });
  return withCommonOptions(new Command('runs'))
    .description('list runs; `unknown` calls are those that were interrupted')
    .option('--limit <n>', 'the newest so many', atLeastOne, 20)
    .addHelpText('after', examples('runs', 'runs show 3fa9', 'runs resume 3fa9', 'runs prune --days 30'))
    .addCommand(showing)
    .addCommand(resuming)
    .addCommand(pruning)
    .action(async (options: CommonOptions & { limit: number }) => {
      exit(await list(context, options));
    });
}

async function list(context: Context, options: CommonOptions & { limit: number }): Promise<number> {
  const { print } = context;
  const { recordedRun, recordedRuns, unknownCalls } = await import('../index.ts');
  const { timeOf } = await import('./runs-show.ts');
  return withStore(context, options, async (store) => {
    const runs = store === undefined ? [] : recordedRuns(store, options.limit);
    const rows = runs.map((run) => {
      const isOpen = run.status !== 'ended' && store !== undefined;
      return { run, unknown: isOpen ? unknownCalls(recordedRun(store, run.id)) : [] };
    });
    if (options.json === true) {
      print.json({ runs: rows.map(({ run, unknown }) => ({ ...inJson(run), unknown: unknown.length })) });
      return EXIT.good;
    }
    if (rows.length === 0) print.note('No run is recorded.');
    else {
      const heads = ['RUN', 'STARTED', 'STATUS', 'TURNS', 'CALLS', 'MODEL', 'PROMPT'];
      print.table([
        heads.map((text): Part => ({ style: 'dim', text })),
        ...rows.map(({ run, unknown }): Part[] => [
          { style: 'bold', text: run.id },
          timeOf(run.started),
          statusOf(run, unknown.length),
          String(run.turns),
          String(run.calls),
          run.model,
          run.prompt.slice(0, 60),
        ]),
      ]);
    }
    for (const { run } of rows.filter(({ run: { status } }) => status === 'interrupted'))
      print.note({ style: 'dim', text: 'next ' }, ` \`midspan runs resume ${run.id}\` goes on with it`);
    return EXIT.good;
  });
}

async function show(
  context: Context,
  id: string,
  options: CommonOptions & { full?: boolean },
): Promise<number> {
  const { recordedRun } = await import('../index.ts');
  const { conversationLines, shownConversation } = await import('./runs-show.ts');
  return withStore(context, options, async (store) => {
    const found = shownConversation(recordedRun(stored(store, id), id), options.full === true);
    if (options.json === true)
      context.print.json({ run: inJson(found.run), messages: found.messages, calls: found.calls });
    else for (const line of conversationLines(found)) context.print.line(...line);
    return EXIT.good;
  });
}

async function resume(context: Context, id: string, options: ResumeWords): Promise<number> {
  const { follow } = await import('./follow.ts');
  const choices = await chosen(context, id, options);
  const calls = options.answersWithin === undefined ? {} : { answersWithin: options.answersWithin };
  return withHost(context, { config: options.config, calls }, async (host) => {
    const { signal } = context;
    const model = options.model === undefined ? {} : { model: options.model };
    return follow(host.resume(id, { ...choices, ...model, signal }), options, context.print);
  });
}

/** Before a server is started. What the command line does not say is asked on a terminal. */
async function chosen(context: Context, id: string, options: ResumeWords): Promise<Choices> {
  if (options.retryAll === true && options.skipAll === true)
    throw new MidspanError({ code: 'usage', what: '--retry-all and --skip-all exclude each other' });
  const { retry = [], skip = [], retryAll, skipAll } = options;
  const given: Choices = {
    by: 'the command line',
    retry,
    skip,
    ...(retryAll === true && { others: 'retry' }),
    ...(skipAll === true && { others: 'skip' }),
  };
  const { recordedRun, unknownCalls } = await import('../index.ts');
  const { checkResumable } = await import('../journal/journal.ts');
  const { askChoices } = await import('./runs-choose.ts');
  return withStore(context, options, async (store) => {
    const found = recordedRun(stored(store, id), id);
    const open = unknownCalls(found).filter(
      ({ call = '' }) => given.others === undefined && !retry.includes(call) && !skip.includes(call),
    );
    const choices = await askChoices(context, open, given);
    checkResumable(found, choices);
    return choices;
  });
}

async function prune(context: Context, options: CommonOptions & { days: number }): Promise<number> {
  return withStore(context, options, async (store) => {
    const before = Date.now() - options.days * DAY;
    const pruned = store?.runs.prune(before) ?? { runs: 0, calls: 0, asks: 0 };
    if (options.json === true) context.print.json(pruned);
    else
      context.print.line(`Deleted ${pruned.runs} runs, ${pruned.calls} single calls, ${pruned.asks} asks.`);
    return EXIT.good;
  });
}

const DAY = 24 * 60 * 60 * 1000;

function stored(store: Store | undefined, id: string): Store {
  if (store !== undefined) return store;
  throw new MidspanError({
    code: 'usage',
    what: `there is no run ${JSON.stringify(id)}: nothing is recorded for this configuration`,
    next: 'See whether --config names the one that it ran with',
  });
}

function statusOf({ status, reason }: RecordedRun, unknown: number): Part {
  if (status === 'running') return { style: 'bold', text: 'running' };
  if (status === 'ended') return { style: reason === 'complete' ? 'green' : 'red', text: reason ?? 'ended' };
  return { style: 'yellow', text: unknown === 0 ? 'interrupted' : `interrupted, ${unknown} unknown` };
}

function inJson(run: RecordedRun): object {
  const { id, model, prompt, started, ended, status, reason, detail, turns, calls, usage } = run;
  return { id, model, prompt, started, ended, status, reason, detail, turns, calls, usage };
}

function atLeastOne(text: string): number {
  if (whole(text) === 0) throw new InvalidArgumentError('It must be at least 1.');
  return whole(text);
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
