import { Command, Option } from 'commander';
import type { Host } from '../index.ts';
import type { CompileEntry, DialectId } from '../dialects/dialect.ts';
import { MidspanError } from '../errors.ts';
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
  report?: boolean;
  strict?: string[];
  why?: string;
}

/** `midspan tools`: what a model is shown, in one API's form, and why anything is not. */
export function toolsCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('tools'))
    .description("show the tools of all servers, as a model's API is given them")
    .addOption(
      new Option('--for <api>', 'compile the definitions for one API and report what changed').choices(FORMS),
    )
    .option('--report', 'with --for: every change in words, what had to be left out first')
    .option(
      '--strict <globs...>',
      "ask for the API's schema-enforced mode for tools whose exposed names match",
    )
    .option('--why <name>', 'say what a name stands for, or why it is not shown')
    .addHelpText(
      'after',
      examples(
        'tools',
        'tools --for anthropic --json | jq .tools > tools.json',
        'tools --for gemini --report',
        "tools --for openai-responses --strict 'files__*' --report",
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
  if (options.report === true && (options.for === undefined || options.for === 'mcp')) {
    throw new MidspanError({
      code: 'usage',
      what: 'a report is about one API',
      next: `Name it: --report --for ${FORMS[0]}`,
    });
  }
  const { config, strict } = options;
  return withHost(context, { config, patient: true, ...(strict && { strict }) }, async (host) => {
    if (options.why !== undefined) {
      const why = host.catalog().why(options.why);
      if (asJson) print.json({ name: options.why, why });
      else print.line(why);
      return EXIT.good;
    }
    if (options.for === undefined) printCatalog(host, print, asJson);
    else if (options.for === 'mcp') printDefinitions(host, print, asJson);
    else if (asJson) printCompiledJson(host, options.for, print);
    else if (options.report === true) printReport(host, options.for, print);
    else printCompiled(host, options.for, print);
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
    print.note(
      `${hidden.length} hidden, by the configuration or until reviewed; \`midspan tools --why <name>\` says why.`,
    );
}

function printDefinitions(host: Host, print: Printer, asJson: boolean): void {
  const tools = host.catalog().entries.map(({ name, definition }) => ({ ...definition, name }));
  if (asJson) return print.json({ dialect: 'mcp', tools, report: [] });
  for (const tool of tools) print.text(`${JSON.stringify(tool, null, 2)}\n`);
}

function printCompiledJson(host: Host, dialect: DialectId, print: Printer): void {
  const { tools, report } = host.tools(dialect);
  const entries = report.map(({ name, ...rest }) => {
    const { label = null, tool = name } = host.catalog().find(name) ?? {};
    return { name, label, tool, ...rest };
  });
  print.json({ dialect, tools, report: entries });
  noteLeftOut(report, print);
}

function printCompiled(host: Host, dialect: DialectId, print: Printer): void {
  const { report } = host.tools(dialect);
  const heads = ['NAME', 'TOKENS', 'STATUS', 'CHANGES'].map((text): Part => ({ style: 'dim', text }));
  const rows = report.map(({ name, tokens, status, changes }): Part[] => [
    { style: 'bold', text: name },
    String(tokens),
    { style: STYLES[status], text: status },
    changes.join('; '),
  ]);
  print.table([heads, ...rows]);
  noteLeftOut(report, print);
  noteTotal(report, print);
}

const STYLES = { 'left out': 'red', adapted: 'yellow', exact: 'green' } as const;

/** What was lost comes first. */
function printReport(host: Host, dialect: DialectId, print: Printer): void {
  const { report } = host.tools(dialect);
  for (const status of ['left out', 'adapted', 'exact'] as const) {
    const entries = report.filter((entry) => entry.status === status);
    if (entries.length === 0) continue;
    print.line({ style: STYLES[status], text: `${status.toUpperCase()} (${entries.length})` });
    for (const { name, tokens, changes, renamed } of entries) {
      print.line(
        '  ',
        { style: 'bold', text: name },
        status === 'left out' ? ' is not shown to the model' : `, about ${tokens} tokens`,
      );
      for (const change of changes) print.line(`    ${change}`);
      for (const [original, shown] of Object.entries(renamed)) {
        print.line(`    ${original} is shown as ${shown}`);
      }
    }
  }
  noteLeftOut(report, print);
  noteTotal(report, print);
}

function noteLeftOut(report: readonly CompileEntry[], print: Printer): void {
  for (const { name, status, changes } of report) {
    if (status === 'left out')
      print.note({ style: 'red', text: 'left out' }, ` ${name}: ${changes.join('; ')}`);
  }
}

function noteTotal(report: readonly CompileEntry[], print: Printer): void {
  const shown = report.filter(({ status }) => status !== 'left out');
  const total = shown.reduce((sum, { tokens }) => sum + tokens, 0);
  print.note(`${shown.length} tools, about ${total} tokens in every request.`);
}
