/** What every command is given, and how it opens the host. */
import { addAbortSignal, type Readable, type Writable } from 'node:stream';
import type { Command } from 'commander';
import type { AskQueue, Config, Host, Store } from '../index.ts';
import type { PolicyRule } from '../types.ts';
import { MidspanError } from '../errors.ts';
import type { Printer } from './print.ts';

export interface Context {
  print: Printer;
  stdin: Readable & { isTTY?: boolean };
  /** For what is no text for people; those are told by `print`. */
  stdout: Writable;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Aborts when the command should end. */
  signal: AbortSignal;
  /** See Stop. */
  lasts?: (onHangup: () => void) => void;
}

/** The options that every command has. */
export interface CommonOptions {
  config?: string;
  json?: boolean;
}

export function withCommonOptions(command: Command): Command {
  return command
    .option(
      '-c, --config <file>',
      'configuration file; default: midspan.json or .mcp.json, from here upwards',
    )
    .option('--json', 'print JSON, in the form that docs/cli.md describes');
}

/** The text under a command's help. */
export const examples = (...lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ midspan ${line}`).join('\n')}\n`;

/** The configuration that a command is about. */
export async function configOf(
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
  { config: path }: Pick<CommonOptions, 'config'>,
): Promise<Config> {
  const { loadConfig } = await import('../index.ts');
  return loadConfig({ cwd, env, ...(path !== undefined && { path }) });
}

/** Opens the configured servers, or only one of them, and closes them whatever happens. */
export async function withHost<T>(
  context: Context,
  options: {
    config?: string;
    only?: string;
    patient?: boolean;
    strict?: readonly string[];
    /** Calls are made: they are recorded, and what needs a person's word is put to whoever is there. */
    calls?: { answersWithin?: number };
    /** Beside the policy of the configuration, and before its rules. */
    rules?: readonly PolicyRule[];
  },
  use: (host: Host, config: Config) => Promise<T>,
): Promise<T> {
  const { print, env, cwd, signal } = context;
  const { openHost, storeOf } = await import('../index.ts');
  const all = await configOf(context, options);
  const config = options.only === undefined ? all : { ...all, servers: [serverOf(all, options.only)] };
  const waiting = new Set(
    config.servers.filter(({ disabled }) => disabled !== true).map(({ label }) => label),
  );
  const showWaiting = (): void =>
    print.status(waiting.size === 0 ? undefined : `Waiting for ${[...waiting].join(', ')}`);
  showWaiting();
  let isStarting = true;
  const store = options.calls === undefined ? false : storeOf(config);
  const asks = options.calls === undefined ? undefined : await asksFor(context, store, options.calls);
  const host = await openHost(config, {
    env,
    cwd,
    signal,
    store,
    ...(asks !== undefined && { asks }),
    ...(options.rules !== undefined && {
      policy: { ...config.policy, rules: [...options.rules, ...config.policy.rules] },
    }),
    ...(options.strict !== undefined && { strict: options.strict }),
    onEvent(event) {
      if (event.type === 'warning') {
        print.note(
          { style: 'yellow', text: 'warning' },
          ` ${event.label === undefined ? '' : `${event.label}: `}${event.message}`,
        );
      }
      if (event.type !== 'server' || event.state === 'starting') return;
      waiting.delete(event.label);
      if (isStarting) showWaiting();
    },
  });
  try {
    if (options.patient === true)
      await Promise.all([host.settled({ signal }), host.connect(undefined, { signal })]);
    signal.throwIfAborted();
    isStarting = false;
    print.status(undefined);
    return await use(host, config);
  } finally {
    print.status(undefined);
    asks?.close();
    await host.close();
    if (store !== false) store.close();
  }
}

/**
 * Who answers: the person at the terminal; and where the command is told to wait, whoever says `midspan answer` in time.
 * With neither, asking means no.
 */
export async function asksFor(
  context: Pick<Context, 'print' | 'stdin'>,
  store: Store | false,
  { answersWithin }: { answersWithin?: number },
): Promise<AskQueue> {
  const { askQueue } = await import('../asks/queue.ts');
  const { terminalAsks } = await import('./terminal-asks.ts');
  const terminal = terminalAsks({ print: context.print, stdin: context.stdin });
  return askQueue({
    ...(store !== false && { store: store.asks }),
    answerers: terminal === undefined ? [] : [terminal],
    waits: answersWithin !== undefined,
    ...(answersWithin !== undefined && { deadline: answersWithin * 1000 }),
  });
}

function serverOf(config: Config, label: string): Config['servers'][number] {
  const server = config.servers.find((candidate) => candidate.label === label);
  const labels = config.servers.map((candidate) => candidate.label).join(', ');
  if (server === undefined) {
    throw new MidspanError({
      code: 'usage',
      what: `there is no server labeled ${JSON.stringify(label)}`,
      next: labels === '' ? 'The configuration names no server' : `Configured are: ${labels}`,
    });
  }
  if (server.disabled === true) {
    throw new MidspanError({
      code: 'usage',
      label,
      what: 'the server is disabled',
      next: 'Take `disabled` out of its configuration',
    });
  }
  return server;
}

/** Servers that did not come up, told beside the result: what they would add is missing from it. */
export function noteFailures(host: Host, print: Printer): void {
  for (const { label, error } of host.servers()) {
    if (error === undefined) continue;
    const message = error.label === undefined ? `${label}: ${error.message}` : error.message;
    print.note({ style: 'red', text: 'failed' }, ` ${message}`);
  }
}

/** More than any prompt or arguments that a model or server would take. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/** The whole of standard input. */
export async function readStdin({ print, stdin, signal }: Context): Promise<string> {
  if (stdin.isTTY === true) print.note('Reading standard input; Ctrl-D ends it.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of addAbortSignal(signal, stdin)) {
    chunks.push(Buffer.from(chunk as Buffer));
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_INPUT_BYTES) {
      throw new MidspanError({
        code: 'limit',
        what: `standard input is larger than ${MAX_INPUT_BYTES} bytes`,
        next: 'Give less',
      });
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}
