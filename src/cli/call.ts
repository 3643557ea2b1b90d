import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import type { Host } from '../index.ts';
import { suggestion } from '../config/problems.ts';
import { MidspanError } from '../errors.ts';
import type { JsonObject } from '../types.ts';
import {
  type CommonOptions,
  type Context,
  examples,
  readStdin,
  withCommonOptions,
  withHost,
} from './context.ts';
import { EXIT, exitCodeOf } from './exit.ts';

interface CallOptions extends CommonOptions {
  args?: string;
}

/** `midspan call`: one call of one tool; only its server is started. */
export function callCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('call'))
    .description('call one tool of one server')
    .argument('<label>', "the server's label in the configuration")
    .argument('<tool>', "the tool, by the server's own name")
    .argument('[key=value...]', "arguments, typed by the tool's schema; key=@file takes the text of a file")
    .option('--args <json>', 'arguments as a JSON object; - reads it from standard input')
    .addHelpText(
      'after',
      examples(
        'call files list_directory path=.',
        'call files write_file path=notes.txt content=@draft.txt',
        'call memory create_entities \'entities=[{"name":"a","entityType":"b","observations":[]}]\'',
        'call files read_multiple_files paths=a.txt paths=b.txt --json',
        'call files read_text_file --args - < arguments.json',
      ),
    )
    .action(async (label: string, tool: string, words: string[], options: CallOptions) => {
      exit(await call(context, label, tool, words, options));
    });
}

async function call(
  context: Context,
  label: string,
  tool: string,
  words: readonly string[],
  options: CallOptions,
): Promise<number> {
  const { print, signal, cwd } = context;
  const { parseArguments, readArguments } = await import('./arguments.ts');
  const text = options.args === '-' ? await readStdin(context) : options.args;
  const start = text === undefined ? {} : parseArguments(text);
  return withHost(
    context,
    { config: options.config, only: label, patient: true, calls: {} },
    async (host) => {
      const schema = schemaOf(host, label, tool);
      const args = await readArguments(words, schema, start, (file) =>
        readFile(path.resolve(cwd, file), 'utf8'),
      );
      print.status(`Calling ${tool} of ${label}`);
      const { result, error, status } = await host.call(
        { label, tool, arguments: args },
        {
          signal,
          approved: true,
          onProgress: ({ progress, total, message }) =>
            print.status(
              `${tool}: ${total === undefined ? progress : `${progress} of ${total}`}${message === undefined ? '' : ` ${message}`}`,
            ),
        },
      );
      print.status(undefined);
      if (options.json === true) print.json(result);
      else if (status === 'done') (await import('./result.ts')).printResult(result, print);
      if (status === 'done') {
        if (result.isError !== true) return EXIT.good;
        if (options.json !== true)
          print.note({ style: 'red', text: 'error' }, ` ${label}: ${tool} answered with an error.`);
        return EXIT.toolError;
      }
      if (options.json === true) return error === undefined ? EXIT.failed : exitCodeOf(error);
      throw error ?? new MidspanError({ code: 'internal', label, what: `the call ended as ${status}` });
    },
  );
}

/** @throws MidspanError why there is no such tool, or why the server cannot be reached. */
function schemaOf(host: Host, label: string, tool: string): JsonObject {
  const { entries, hidden } = host.catalog();
  const own = entries.filter((entry) => entry.label === label);
  const found = own.find((entry) => entry.tool === tool);
  if (found !== undefined) return found.definition.inputSchema;
  const failure = host.servers().find((server) => server.label === label)?.error;
  if (failure !== undefined) throw failure;
  const names = own.map((entry) => entry.tool);
  const held = hidden.find((entry) => entry.label === label && entry.tool === tool);
  if (held?.isWithheld === true)
    throw new MidspanError({ code: 'unapproved', label, what: `${tool} is hidden: ${held.reason}` });
  const reason = held?.reason;
  throw new MidspanError({
    code: 'unknown-tool',
    label,
    what:
      reason === undefined
        ? `the server has no tool ${JSON.stringify(tool)}${suggestion(tool, names)}`
        : `${tool} is hidden: ${reason}`,
    next: `It has: ${names.join(', ') || 'none'}`,
  });
}
