import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ServeSettings } from '../config/serve.ts';
import { LOG_LEVELS, type LogLevel } from '../doors/observe/log.ts';
import { messageOf } from '../errors.ts';
import type { Config } from '../index.ts';
import {
  asksFor,
  type CommonOptions,
  configOf,
  type Context,
  examples,
  withCommonOptions,
} from './context.ts';
import { EXIT } from './exit.ts';
import { logPrinter } from './log.ts';
import { watchFiles } from './reload.ts';

interface ServeOptions extends CommonOptions {
  host?: string;
  port?: number;
  auth?: 'token' | 'none';
  newToken?: boolean;
  stdio?: boolean;
  server?: string;
  sse?: boolean;
  answersWithin?: number;
  logLevel: LogLevel;
}

/** `midspan serve`: one MCP endpoint in front of all servers. */
export function serveCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('serve'))
    .description('serve all servers as one MCP endpoint, for any client')
    .option('--host <address>', 'where to listen; default: 127.0.0.1')
    .option('--port <n>', 'default: 7717; 0 is any free one', whole)
    .addOption(new Option('--auth <how>', 'none: no token, on this machine alone').choices(['token', 'none']))
    .option('--new-token', 'make another token; the one before counts no more')
    .option('--stdio', 'serve the one client that has started this command, over its pipe')
    .option('--server <label>', 'beside --stdio: one server as it is; default: all of them')
    .option('--sse', 'serve the HTTP+SSE transport of 2024-11-05, too')
    .option(
      '--answers-within <seconds>',
      'wait so long for `midspan answer` where a call needs a word',
      whole,
    )
    .addOption(
      new Option('--log-level <level>', 'what is told on stderr').choices(LOG_LEVELS).default('info'),
    )
    .addHelpText('after', examples('serve', 'serve --port 0 --json', 'serve --answers-within 120'))
    .action(async (options: ServeOptions) => {
      exit(await serve(context, options));
    });
}

async function serve(context: Context, options: ServeOptions): Promise<number> {
  const { print, env, cwd, signal } = context;
  const config = await configOf(context, options);
  const settings = settingsOf(config, options);
  const log = logPrinter(print, options);
  const { openHost, storeOf } = await import('../index.ts');
  const doors = await import('../doors/index.ts');
  const store = storeOf(config);
  const asks = await asksFor(context, store, settings);
  // Where nobody could answer for a client, servers are not told that somebody can.
  const isAnswered = settings.answersWithin !== undefined || context.stdin.isTTY === true;
  const others = isAnswered ? { asks } : {};
  const host = await openHost(config, {
    env,
    cwd,
    store,
    ...others,
    ...(!isAnswered && { answerable: {} }),
    startWithin: 0,
    lists: 'all',
    readResult: false,
    onEvent(event) {
      const { label } = { label: undefined, ...event };
      if (event.type === 'warning') log('warn', event.message, { server: label });
      if (event.type === 'server')
        log(
          event.error === undefined ? 'info' : 'warn',
          event.error?.message ?? `${event.label} is ${event.state}`,
          {
            server: event.label,
            state: event.state,
          },
        );
    },
  });
  try {
    if (options.stdio === true) {
      const { stdin, stdout } = context;
      await doors.servePipe(host, {
        input: stdin,
        output: stdout,
        ...others,
        log,
        signal,
        ...(options.server !== undefined && { server: options.server }),
        ...(settings.tasks !== undefined && { tasks: settings.tasks }),
      });
      return EXIT.good;
    }
    const served = await doors.serve(host, {
      ...settings,
      ...others,
      log,
      newToken: options.newToken === true,
      ...(config.path !== undefined && { folder: join(config.path, '..', '.midspan') }),
    });
    const { url, token } = served;
    if (options.json === true)
      print.json({
        type: 'listening',
        url,
        servers: served.servers(),
        ...(token !== undefined && { token }),
      });
    else {
      print.line(url);
      if (token !== undefined) print.note(`The token of this gateway, which is shown this once: ${token}`);
      print.note(
        'Clients send it as `Authorization: Bearer <token>`. One server as it is: add its label to the address.',
      );
    }
    const watching = watchFiles(filesOf(config), async () => {
      try {
        const next = await configOf(context, options);
        await host.reload(next);
        served.configure(settingsOf(next, options));
        log('info', 'The configuration was read again');
      } catch (error) {
        log('error', `The configuration stays as it was: ${messageOf(error)}`);
      }
    });
    context.lasts?.(() => watching.look());
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    watching.close();
    log('info', 'Ending: no more is taken, what runs may come to its end');
    await served.close();
    return EXIT.good;
  } finally {
    asks.close();
    await host.close();
    if (store !== false) store.close();
  }
}

const filesOf = ({ path, trust: { lock } }: Config): string[] =>
  [path, lock].flatMap((file) => (file === undefined ? [] : [file]));

/** The command line wins. */
function settingsOf({ serve: settings }: Config, options: ServeOptions): ServeSettings {
  const { host, port, auth, sse, answersWithin } = options;
  return {
    ...settings,
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(auth !== undefined && { auth }),
    ...(sse !== undefined && { sse }),
    ...(answersWithin !== undefined && { answersWithin }),
  };
}

function whole(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
