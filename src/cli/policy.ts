import { Command } from 'commander';
import { suggestion } from '../config/problems.ts';
import { MidspanError } from '../errors.ts';
import type { Store } from '../index.ts';
import { withStore } from './asks.ts';
import { type CommonOptions, type Context, examples, withCommonOptions } from './context.ts';
import { EXIT } from './exit.ts';
import { explain, type ExplainOptions, pinsOf, ruleLine } from './policy-explain.ts';
import type { Part } from './print.ts';

/** `midspan policy`: the rules, labels and remembered words; `explain` says what decides one call. Starts no server. */
export function policyCommand(context: Context, exit: (code: number) => void): Command {
  const explaining = withCommonOptions(new Command('explain'))
    .description('say which rule decides a call, and by which labels')
    .argument('<label/tool>', "the server's label and its own name of the tool")
    .argument('[key=value...]', "arguments, typed by the tool's schema in the lock, or one JSON object")
    .option('--args <json>', 'arguments as a JSON object')
    .option('--untrusted', 'as if text of strangers had been seen before')
    .option('--private', 'as if private data had been seen before')
    .addHelpText(
      'after',
      examples(
        'policy explain files/write_file path=notes/a.md',
        'policy explain mail/send --untrusted --private',
        'policy explain files/read \'{"path":".env"}\' --json',
      ),
    )
    .action(async (name: string, words: string[], _: unknown, command: Command) => {
      exit(await explain(context, name, words, command.optsWithGlobals<ExplainOptions>()));
    });
  const forgetting = withCommonOptions(new Command('forget'))
    .description('take back what was answered for good (`always`, `never`)')
    .argument('<label[/tool]>', 'one tool, or all of a server')
    .addHelpText('after', examples('policy forget mail/send', 'policy forget mail'))
    .action(async (name: string, _: unknown, command: Command) => {
      exit(await forget(context, name, command.optsWithGlobals<CommonOptions>()));
    });
  return withCommonOptions(new Command('policy'))
    .description('show which calls run unasked, ask or are denied')
    .addHelpText(
      'after',
      examples('policy', 'policy explain mail/send to=ann@example.com', 'policy forget mail'),
    )
    .addCommand(explaining)
    .addCommand(forgetting)
    .allowExcessArguments()
    .action(async (options: CommonOptions, command: Command) => {
      const [word] = command.args;
      if (word !== undefined) {
        throw new MidspanError({
          code: 'usage',
          what: `\`midspan policy\` has no command ${JSON.stringify(word)}${suggestion(word, ['explain', 'forget'])}`,
          next: '`midspan policy --help` shows what it has',
        });
      }
      exit(await show(context, options));
    });
}

async function show(context: Context, options: CommonOptions): Promise<number> {
  const { print } = context;
  return withStore(context, options, async (store, config) => {
    const { policy } = config;
    const locked = [...(await pinsOf(config))].filter(([, { labels }]) => labels.length > 0);
    const remembered = store?.remembered.list() ?? [];
    if (options.json === true) {
      const labels = locked.map(([tool, pin]) => ({ tool, labels: pin.labels }));
      print.json({ ...policy, locked: labels, remembered });
      return EXIT.good;
    }
    for (const [index, rule] of policy.rules.entries()) print.line(...ruleLine(`rules[${index}]`, rule));
    print.line({ style: 'bold', text: 'default' }, `  ${DEFAULTS[policy.default]}`);
    const rows: Part[][] = [
      ...policy.labels.map(({ tools, labels }) => [tools, labels.join(', '), 'configuration']),
      ...locked.map(([tool, { labels }]) => [tool, labels.join(', '), 'lock']),
    ];
    if (rows.length > 0) {
      print.line('');
      print.table([['TOOLS', 'LABELS', 'FROM'].map(head), ...rows]);
    }
    if (remembered.length > 0) {
      print.line('');
      const words = remembered.map(({ label, tool, action, by, at }): Part[] => [
        `${label}/${tool}`,
        action === 'allow' ? 'always' : 'never',
        `${by ?? 'somebody'}, ${new Date(at).toISOString().slice(0, 10)}`,
      ]);
      print.table([['REMEMBERED', 'ANSWER', 'BY'].map(head), ...words]);
    }
    return EXIT.good;
  });
}

const DEFAULTS = {
  reads: 'tools labeled as reading alone are allowed, everything else asks',
  allow: 'everything else is allowed',
  ask: 'everything else asks',
  deny: 'everything else is denied',
} as const;

const head = (text: string): Part => ({ style: 'dim', text });

async function forget(context: Context, name: string, options: CommonOptions): Promise<number> {
  const { print } = context;
  return withStore(context, options, async (store: Store | undefined) => {
    const list = store?.remembered.list() ?? [];
    const known = list.find(({ label, tool }) => name === `${label}/${tool}`);
    const count =
      known === undefined
        ? store?.remembered.forget(name)
        : store?.remembered.forget(known.label, known.tool);
    if (options.json === true) print.json({ forgotten: count ?? 0 });
    else
      print.note(
        count === undefined || count === 0 ? `Nothing was remembered of ${name}.` : `${count} forgotten.`,
      );
    return EXIT.good;
  });
}
