import { Command } from 'commander';
import type { providersOf } from '../host/delegation.ts';
import type { Host } from '../index.ts';
import { type CommonOptions, type Context, examples, withCommonOptions, withHost } from './context.ts';
import { EXIT } from './exit.ts';
import type { Part, Printer } from './print.ts';

/** `midspan servers`: reaches every server and says what it is. */
export function serversCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('servers'))
    .description('reach every configured server and show its era, version, tools and tokens')
    .addHelpText(
      'after',
      examples('servers', 'servers --config ~/.cursor/mcp.json', 'servers --json | jq .servers'),
    )
    .action(async (options: CommonOptions) => {
      exit(await servers(context, options));
    });
}

interface Row {
  label: string;
  status: string;
  transport: string;
  era?: string;
  protocolVersion?: string;
  name?: string;
  version?: string;
  tools?: number;
  tokens?: number;
  /** Only of servers that are left to providers: which of them can have it, and why not. */
  providers?: ReturnType<typeof providersOf>;
  error?: { code: string; message: string };
}

async function servers(context: Context, options: CommonOptions): Promise<number> {
  return withHost(context, { config: options.config, patient: true }, async (host, config) => {
    const specs = new Map(config.servers.map((spec) => [spec.label, spec]));
    const tokens = tokensByLabel(host);
    const { providersOf } = await import('../host/delegation.ts');
    const rows = host.servers().map((server): Row => {
      const { label, state, info, error, tools } = server;
      const { name, version } = info?.serverInfo ?? {};
      const spec = specs.get(label);
      return {
        label,
        status: state,
        transport: info?.transport ?? specs.get(label)?.transport.type ?? 'stdio',
        ...(info !== undefined && { era: info.era, protocolVersion: info.protocolVersion }),
        ...(typeof name === 'string' && { name }),
        ...(typeof version === 'string' && { version }),
        ...(tools !== undefined && { tools, tokens: tokens.get(label) ?? 0 }),
        ...(spec?.via === 'provider' && { providers: providersOf(spec) }),
        ...(error !== undefined && { error: { code: error.code, message: error.message } }),
      };
    });
    if (options.json === true) {
      const sum = (key: 'tools' | 'tokens'): number =>
        rows.reduce((total, row) => total + (row[key] ?? 0), 0);
      context.print.json({
        config: { path: config.path ?? null, format: config.format },
        servers: rows,
        totals: { tools: sum('tools'), tokens: sum('tokens') },
      });
    } else printRows(rows, context.print);
    // One that is up, but whose tools cannot be listed, is of no use either.
    const failed = rows.filter(
      ({ status, error }) => error !== undefined || (status !== 'ready' && status !== 'disabled'),
    );
    if (failed.length === 0) return EXIT.good;
    return failed.every(({ error }) => error?.code === 'sign-in') ? EXIT.signIn : EXIT.unreachable;
  });
}

/** Estimated, as Anthropic's API would be sent them. */
function tokensByLabel(host: Host): Map<string, number> {
  const costs = new Map(host.tools('anthropic').report.map(({ name, tokens }) => [name, tokens]));
  const result = new Map<string, number>();
  for (const { label, name } of host.catalog().entries) {
    if (label !== undefined) result.set(label, (result.get(label) ?? 0) + (costs.get(name) ?? 0));
  }
  return result;
}

function printRows(rows: readonly Row[], print: Printer): void {
  if (rows.length === 0) return print.note('The configuration names no server.');
  const heads = ['LABEL', 'STATUS', 'TRANSPORT', 'ERA', 'REVISION', 'TOOLS', 'TOKENS', 'SERVER'];
  const cells = rows.map((row): Part[] => [
    { style: 'bold', text: row.label },
    { style: row.status === 'ready' ? 'green' : row.status === 'disabled' ? 'dim' : 'red', text: row.status },
    row.transport,
    row.era ?? '-',
    row.protocolVersion ?? '-',
    String(row.tools ?? '-'),
    String(row.tokens ?? '-'),
    [row.name, row.version].filter((part) => part !== undefined).join(' '),
  ]);
  print.table([heads.map((text): Part => ({ style: 'dim', text })), ...cells]);
  for (const { label, providers } of rows) {
    if (providers === undefined) continue;
    print.note(`${label} is left to the model's provider in runs:`);
    for (const { provider, dialect, problem } of providers)
      print.note(`  ${provider} (${dialect}): ${problem === undefined ? 'yes' : `no, ${problem}`}`);
  }
  for (const { error } of rows) if (error !== undefined) print.noteText(`\n${error.message}`);
}
