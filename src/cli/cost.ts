import { Command, Option } from 'commander';
import type { DialectId } from '../dialects/dialect.ts';
import type { Cost, GroupCost } from '../index.ts';
import {
  type CommonOptions,
  type Context,
  examples,
  noteFailures,
  withCommonOptions,
  withHost,
} from './context.ts';
import { EXIT } from './exit.ts';
import type { Part, Printer } from './print.ts';

const DIALECTS: readonly DialectId[] = [
  'anthropic',
  'openai-responses',
  'openai-chat',
  'gemini',
  'gemini-interactions',
];
/** The most expensive tools that are named. */
const NAMED = 5;

interface CostOptions extends CommonOptions {
  for?: DialectId;
  model?: string;
}

/** `midspan cost`: what the tools cost in every request, before anybody has said a word. */
export function costCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('cost'))
    .description('show what the tools of every server cost in tokens, and which were never used')
    .addOption(
      new Option('--for <api>', 'estimate for one API; default: anthropic')
        .choices(DIALECTS)
        .conflicts('model'),
    )
    .option(
      '-m, --model <model>',
      "such as anthropic:<model>; its provider counts when the API's key is there, and its facts are used",
    )
    .addHelpText(
      'after',
      examples(
        'cost',
        'cost --for gemini',
        'cost --model anthropic:claude-sonnet-4-5',
        "cost --json | jq '.servers[] | {label, tokens, unused}'",
      ),
    )
    .action(async (options: CostOptions) => {
      exit(await cost(context, options));
    });
}

async function cost(context: Context, options: CostOptions): Promise<number> {
  const { print, signal } = context;
  return withHost(context, { config: options.config, patient: true }, async (host) => {
    print.status('Counting');
    const result = await host.cost({
      signal,
      ...(options.model !== undefined && { model: options.model }),
      ...(options.for !== undefined && { dialect: options.for }),
    });
    print.status(undefined);
    if (options.json === true) print.json(result);
    else printCost(result, print);
    noteFailures(host, print);
    return EXIT.good;
  });
}

const tokensOf = ({ tokens, exact }: Pick<GroupCost, 'tokens' | 'exact'>): string =>
  `${exact ? '' : '~'}${tokens}`;
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function printCost(cost: Cost, print: Printer): void {
  const { servers, native, total } = cost;
  const heads = ['LABEL', 'TOOLS', 'TOKENS', 'SHARE', 'NEVER USED', 'INSTRUCTIONS'];
  const row = (label: string, group: GroupCost, ...rest: string[]): Part[] => [
    { style: 'bold', text: label },
    String(group.tools),
    tokensOf(group),
    percent(total === 0 ? 0 : group.tokens / total),
    ...rest,
  ];
  print.table([
    heads.map((text): Part => ({ style: 'dim', text })),
    ...servers.map((server) =>
      row(
        server.label,
        server,
        cost.countedSince === undefined ? '-' : String(server.unused.length),
        server.instructions === 0 ? '-' : `~${server.instructions}`,
      ),
    ),
    row('(native)', native, '-', '-'),
  ]);
  print.line();
  for (const line of sentences(cost)) print.line(line);
  const dearest = [...servers, native]
    .flatMap(({ byTool }) => byTool)
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, NAMED);
  if (dearest.length > 0) {
    print.line(`Most expensive: ${dearest.map(({ name, tokens }) => `${name} (~${tokens})`).join(', ')}.`);
  }
  for (const { label, unused } of cost.countedSince === undefined ? [] : servers) {
    if (unused.length > 0) print.line(`Never used of ${label}: ${unused.join(', ')}.`);
  }
  if (!cost.exact) print.note(`Tokens with ~ are estimated: ${cost.reason ?? ''}.`);
}

function sentences({ total, exact, overhead, cache, context, countedSince, dialect, model }: Cost): string[] {
  const mark = exact ? '' : '~';
  const extra =
    overhead.tokens === undefined
      ? 'what the API itself adds for tools is not known'
      : `${overhead.exact ? '' : '~'}${overhead.tokens} of them for what the API adds to any tools`;
  const window = `${context.window} tokens${context.assumed ? ', if that is its size' : ''}`;
  return [
    `Total for ${model ?? dialect}: ${mark}${total} tokens in every request; ${extra}.`,
    `That is ${percent(context.share)} of a context window of ${window}.`,
    cache.longEnough
      ? `Prompt cache: a hit costs as much as ${mark}${cache.hit} input tokens, a miss ${mark}${cache.miss} (${cache.source}).`
      : `Prompt cache: the tools alone are shorter than the ${cache.minimum} tokens that are cached at least (${cache.source}).`,
    countedSince === undefined
      ? 'No call was counted yet.'
      : `Calls are counted since ${new Date(countedSince).toISOString().slice(0, 10)}.`,
  ];
}
