/** The command line: parses, calls the core through one command, turns errors into words and exit codes. */
import { Command, CommanderError } from 'commander';
import { MidspanError, messageOf } from '../errors.ts';
import { VERSION } from '../version.ts';
import { answerCommand } from './answer.ts';
import { asksCommand } from './asks.ts';
import { auditCommand } from './audit.ts';
import { approveCommand } from './approve.ts';
import { callCommand } from './call.ts';
import { checkCommand } from './check.ts';
import { compareCommand } from './compare.ts';
import { type Context, examples } from './context.ts';
import { costCommand } from './cost.ts';
import { diffCommand } from './diff.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { policyCommand } from './policy.ts';
import { lockCommand } from './lock.ts';
import { createPrinter, type Printer } from './print.ts';
import { runCommand } from './run.ts';
import { scanCommand } from './scan.ts';
import { runsCommand } from './runs.ts';
import { secretCommand } from './secret.ts';
import { serveCommand } from './serve.ts';
import { serversCommand } from './servers.ts';
import { watchStop } from './stop.ts';
import { toolsCommand } from './tools.ts';

/** Runs the command line of this process, and ends the process. */
export async function start(process: NodeJS.Process): Promise<never> {
  const print = createPrinter(process.stdout, process.stderr, process.env);
  const stop = watchStop(process, print);
  const { stdin, stdout, env } = process;
  const { signal } = stop;
  const lasts = (onHangup: () => void): void => stop.lasts(onHangup);
  const context = { print, stdin, stdout, env, cwd: process.cwd(), signal, lasts };
  const code = await main(process.argv.slice(2), context);
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(stop.code() ?? code);
}

/** Never rejects. */
export async function main(words: readonly string[], context: Context): Promise<number> {
  let code: number = EXIT.good;
  const program = createProgram(context, (result) => {
    code = result;
  });
  try {
    await program.parseAsync(words, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.good : EXIT.usage;
    if (!context.signal.aborted) printError(error, context.print);
    if (context.env['MIDSPAN_DEBUG'] !== undefined && error instanceof Error)
      context.print.noteText(error.stack ?? '');
    return error instanceof MidspanError ? exitCodeOf(error) : EXIT.failed;
  }
}

function createProgram(context: Context, exit: (code: number) => void): Command {
  const { print } = context;
  const program = new Command('midspan')
    .description('The host between language models and MCP servers.')
    .version(VERSION, '-V, --version')
    .addHelpText(
      'after',
      `${examples('servers', 'tools --for anthropic', 'call files list_directory path=.')}
Exit codes: 0 good, 1 failed, 2 usage or configuration, 3 needs sign-in, 4 unreachable, 5 tool error, 6 needs approval.`,
    );
  for (const create of [
    serversCommand,
    toolsCommand,
    costCommand,
    callCommand,
    compareCommand,
    runCommand,
    scanCommand,
    runsCommand,
    auditCommand,
    secretCommand,
    policyCommand,
    asksCommand,
    answerCommand,
    diffCommand,
    lockCommand,
    checkCommand,
    approveCommand,
    serveCommand,
  ]) {
    program.addCommand(create(context, exit));
  }
  for (const command of withAll(program)) {
    command
      .exitOverride()
      .showHelpAfterError('(--help shows the options and examples)')
      .configureOutput({ writeOut: (text) => print.text(text), writeErr: (text) => print.noteText(text) });
  }
  return program;
}

const withAll = (command: Command): Command[] => [command, ...command.commands.flatMap(withAll)];

function printError(error: unknown, print: Printer): void {
  const isOurs = error instanceof MidspanError;
  const label = isOurs && error.label !== undefined ? `${error.label}: ` : '';
  const [first, ...rest] = (isOurs ? error.what : messageOf(error)).split('\n');
  print.note({ style: 'red', text: 'error' }, ` ${label}${first}`);
  if (rest.length > 0) print.noteText(rest.join('\n'));
  const next = isOurs ? error.next : 'This is a fault in Midspan; MIDSPAN_DEBUG=1 shows where';
  if (next !== undefined) print.note({ style: 'dim', text: 'next ' }, ` ${next}`);
}

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write('', () => resolve());
  });
