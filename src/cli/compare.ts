import { Command } from 'commander';
import type { Comparison, Way } from '../compare/compare.ts';
import { MidspanError } from '../errors.ts';
import { type CommonOptions, type Context, examples, withCommonOptions, withHost } from './context.ts';
import { EXIT } from './exit.ts';
import type { Part, Printer } from './print.ts';

interface CompareOptions extends CommonOptions {
  model: string;
  prompt?: string;
}

/** `midspan compare`: one server and model, as functions, through this host, and through the provider's connector. */
export function compareCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('compare'))
    .description("compare functions of your own, this host and the provider's connector for one server")
    .argument('<label>', "the server's label in the configuration")
    .requiredOption('-m, --model <model>', 'such as anthropic:<model> or openai:<model>')
    .option('--prompt <text>', 'run it once on each way and measure; tools are really called')
    .addHelpText(
      'after',
      examples(
        'compare docs --model openai:gpt-5',
        "compare docs --model openai:gpt-5 --prompt 'Which pages are there?'",
        'compare docs --model anthropic:claude-sonnet-4-5 --json | jq .ways',
      ),
    )
    .action(async (label: string, options: CompareOptions) => {
      exit(await compareServer(context, label, options));
    });
}

async function compareServer(context: Context, label: string, options: CompareOptions): Promise<number> {
  const { print, env, signal } = context;
  const { compare } = await import('../compare/compare.ts');
  return withHost(context, { config: options.config, only: label, patient: true }, async (host, config) => {
    const [spec] = config.servers;
    const failure = host.servers()[0]?.error;
    if (failure !== undefined) throw failure;
    if (spec === undefined) throw new MidspanError({ code: 'internal', label, what: 'the server is gone' });
    print.status('Comparing');
    const { model, prompt } = options;
    const result = await compare(host, spec, { model, env, signal, ...(prompt !== undefined && { prompt }) });
    print.status(undefined);
    if (options.json === true) print.json(result);
    else show(result, print);
    return EXIT.good;
  });
}

function show({ label, model, tools, ways, features }: Comparison, print: Printer): void {
  print.line({ style: 'bold', text: label }, ` for ${model}, ${tools} tools`);
  print.line('');
  const head = (text: string): Part => ({ style: 'dim', text });
  print.table([
    ['', 'FUNCTIONS', 'HOST', 'CONNECTOR'].map(head),
    ['tokens in every request', ...ways.map(tokensOf)],
    ['measured', ...ways.map(measuredOf)],
    ...features.map(({ name, native, host, provider }) => [name, native.kept, host.kept, provider.kept]),
  ]);
  for (const { name, problem, notMeasured, loses } of ways) {
    print.line('');
    print.line({ style: 'bold', text: name });
    if (problem !== undefined) print.line(`  not possible: ${problem}`);
    if (notMeasured !== undefined) print.line(`  not measured: ${notMeasured}`);
    for (const loss of loses) print.line(`  loses ${loss}`);
  }
  print.note('yours: as good as the program that runs the functions; ~: estimated.');
}

function tokensOf({ tokens }: Way): string {
  return tokens === undefined ? '-' : `${tokens.exact ? '' : '~'}${tokens.count}`;
}

function measuredOf({ measured }: Way): string {
  return measured === undefined
    ? '-'
    : `${measured.milliseconds} ms, ${measured.turns} turns, ${measured.calls} calls, ${measured.usage.input} tokens in (${measured.reason})`;
}
