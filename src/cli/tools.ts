import { Command, Option } from 'commander';
import type { Host } from '../index.ts';
import type { DialectId } from '../dialects/dialect.ts';
import {
  type CommonOptions,
  type Context,
  examples,
  noteFailures,
  withCommonOptions,
  withHost,
} from './context.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { cut, type Part, type Printer } from './print.ts';

const FORMS = [
  'anthropic',
  'openai-responses',
  'openai-chat',
  'gemini',
  'gemini-interactions',
  'mcp',
] as const;

interface ToolsOptions extends CommonOptions {
  for?: (typeof FORMS)[number];
  why?: string;
}

/** `midspan tools`: what a model is shown, in one API's form, and why anything is not. */
export function toolsCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('tools'))
    .description("show the tools of all servers, as a model's API is given them")
    .addOption(
      new Option('--for <api>', 'compile the definitions for one API and report what changed').choices(FORMS),
    )
    .option('--why <name>', 'say what a name stands for, or why it is not shown')
    .addHelpText(
      'after',
      examples(
        'tools',
        'tools --for anthropic --json | jq .tools > tools.json',
        'tools --for openai-responses',
        'tools --why files__read_file',
      ),
    )
    .action(async (options: ToolsOptions) => {
      exit(await tools(context, options));
    });
}

async function tools(context: Context, options: ToolsOptions): Promise<number> {
  const { print } = context;
  const asJson = options.json === true;
  return withHost(context, { config: options.config, patient: true }, async (host) => {
    if (options.why !== undefined) {
      const why = host.catalog().why(options.why);
      if (asJson) print.json({ name: options.why, why });
      else print.line(why);
      return EXIT.good;
    }
    if (options.for === undefined) printCatalog(host, print, asJson);
    else if (options.for === 'mcp') printDefinitions(host, print, asJson);
    else printCompiled(host, options.for, print, asJson);
    noteFailures(host, print);
    return partial(host);
  });
}

/** Some tools are a result; none, because nothing could be reached, is not. */
function partial(host: Host): number {
  const servers = host.servers().filter(({ state }) => state !== 'disabled');
  const failed = servers.find(({ error }) => error !== undefined)?.error;
  return failed === undefined || servers.some(({ state }) => state === 'ready')
    ? EXIT.good
    : exitCodeOf(failed);
}

function printCatalog(host: Host, print: Printer, asJson: boolean): void {
  const { entries, hidden } = host.catalog();
  if (asJson) {
    const tools = entries.map(({ name, label, tool, definition }) => ({
      name,
      label: label ?? null,
      tool,
      definition,
    }));
    return print.json({ tools, hidden });
  }
  print.table(
    entries.map(({ name, definition }): Part[] => [
      { style: 'bold', text: name },
      cut((definition.description ?? '').trim().split('\n')[0] ?? '', 100),
    ]),
  );
  if (hidden.length > 0)
    print.note(`${hidden.length} hidden by the configuration; \`midspan tools --why <name>\` says why.`);
}

function printDefinitions(host: Host, print: Printer, asJson: boolean): void {
  const tools = host.catalog().entries.map(({ name, definition }) => ({ ...definition, name }));
  if (asJson) return print.json({ dialect: 'mcp', tools, report: [] });
  for (const tool of tools) print.text(`${JSON.stringify(tool, null, 2)}\n`);
}

function printCompiled(host: Host, dialect: DialectId, print: Printer, asJson: boolean): void {
  const { tools, report } = host.tools(dialect);
  if (asJson) return print.json({ dialect, tools, report });
  const heads = ['NAME', 'TOKENS', 'STATUS', 'CHANGES'].map((text): Part => ({ style: 'dim', text }));
  const rows = report.map(({ name, tokens, status, changes }): Part[] => [
    { style: 'bold', text: name },
    String(tokens),
    { style: status === 'exact' ? 'green' : status === 'adapted' ? 'yellow' : 'red', text: status },
    changes.join('; '),
  ]);
  print.table([heads, ...rows]);
  const total = report.reduce((sum, { tokens }) => sum + tokens, 0);
  print.note(`${tools.length} tools, about ${total} tokens in every request.`);
}
