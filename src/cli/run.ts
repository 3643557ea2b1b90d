import { Command, InvalidArgumentError } from 'commander';
import { suggestion } from '../config/problems.ts';
import { MidspanError } from '../errors.ts';
import type { Choice, Host, Model } from '../index.ts';
import { MODEL_FORMS } from '../models/forms.ts';
import {
  type CommonOptions,
  type Context,
  examples,
  noteFailures,
  readStdin,
  withCommonOptions,
  withHost,
} from './context.ts';
import { follow } from './follow.ts';
import type { Printer } from './print.ts';

interface RunOptions extends CommonOptions {
  model?: string;
  baseUrl?: string;
  system?: string;
  choice?: string;
  parallel: boolean;
  maxTurns?: number;
  maxCalls?: number;
  maxRounds?: number;
  maxSeconds?: number;
  maxTokens?: number;
  tools?: string[];
  allow?: string[];
  answersWithin?: number;
}

/** `midspan run`: a model answers a prompt with the tools of all servers. */
export function runCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('run'))
    .description('let a model answer a prompt with the tools of all servers')
    .argument('[prompt]', 'what to do; - or nothing reads it from standard input')
    .option(
      '-m, --model <model>',
      'a form below; default: what is configured, else what runs on this machine',
    )
    .option('--base-url <url>', "the API's address; without a model: a Chat Completions server")
    .option('--system <text>', 'the system prompt')
    .option('--tools <globs...>', 'offer only tools whose exposed names match')
    .option('--allow <globs...>', 'run these without asking: globs over <label>/<tool>')
    .option(
      '--answers-within <seconds>',
      'wait so long for `midspan answer` where a call needs a word',
      whole,
    )
    .option('--choice <choice>', `${CHOICES.join(', ')}, or the exposed name of the tool to call first`)
    .option('--no-parallel', 'one call at a time')
    .option('--max-turns <n>', 'answers of the model', whole)
    .option('--max-calls <n>', 'tool calls', whole)
    .option('--max-rounds <n>', 'rounds of the same calls with the same results; 0: no end to them', whole)
    .option('--max-seconds <n>', 'time for the whole run', whole)
    .option('--max-tokens <n>', 'output tokens of each answer', whole)
    .addHelpText(
      'after',
      `
Models:
${MODEL_FORMS.map(({ form, what }) => `  ${form.padEnd(28)}  ${what}`).join('\n')}
${examples(
  "run 'List the files here and sum up the README'",
  "run --model anthropic:claude-sonnet-5-5 --choice required 'What changed today?'",
  "run --model openai-chat:qwen3 --base-url http://localhost:11434/v1 --tools 'files__*' -- 'What is here?'",
  'run --model script:tour.json --json - < prompt.txt',
)}`,
    )
    .action(async (prompt: string | undefined, options: RunOptions) => {
      exit(await run(context, prompt, options));
    });
}

async function run(context: Context, prompt: string | undefined, options: RunOptions): Promise<number> {
  const { print, signal } = context;
  const content = await promptText(context, prompt);
  const model = await modelOf(context, options);
  const calls = options.answersWithin === undefined ? {} : { answersWithin: options.answersWithin };
  const rules = options.allow && [
    { tools: options.allow, action: 'allow' as const, reason: 'allowed by --allow' },
  ];
  return withHost(context, { config: options.config, calls, ...(rules && { rules }) }, async (host) => {
    noteFailures(host, print);
    notePins(host.pinnedBy, print);
    const limits = {
      ...(options.maxTurns !== undefined && { turns: options.maxTurns }),
      ...(options.maxCalls !== undefined && { calls: options.maxCalls }),
      ...(options.maxRounds !== undefined && { rounds: options.maxRounds }),
      ...(options.maxSeconds !== undefined && { milliseconds: options.maxSeconds * 1000 }),
    };
    const running = host.run({
      model,
      messages: [{ role: 'user', content }],
      limits,
      signal,
      parallel: options.parallel,
      ...(options.choice !== undefined && { choice: choiceOf(options.choice, host) }),
      ...(options.system !== undefined && { system: options.system }),
      ...(options.tools !== undefined && { tools: options.tools }),
      ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
    });
    return follow(running, options, print);
  });
}

/** A model is about to read what servers say: whoever runs it should know who has looked at that. */
function notePins(pinnedBy: Host['pinnedBy'], print: Printer): void {
  if (pinnedBy === 'first-listing') print.note({ style: 'dim', text: UNLOCKED });
  if (pinnedBy === 'off') print.note({ style: 'yellow', text: 'warning' }, ` ${UNCHECKED}`);
}

const UNLOCKED = 'Definitions are not pinned: `midspan lock` shows and pins what a model is given.';
const UNCHECKED = 'Definitions are neither compared nor scanned: `trust.mode` is `off` in the configuration.';

/** The model that was named, or the one that is there. */
async function modelOf(
  { env, signal, print }: Context,
  { model: name, baseUrl }: RunOptions,
): Promise<Model> {
  const { chooseModel, MODEL_VARIABLES, openModel } = await import('../index.ts');
  const access = { env, ...(baseUrl !== undefined && { baseUrl }) };
  if (name !== undefined) return openModel(name, access);
  print.status('Looking for a model');
  const chosen = await chooseModel({ ...access, signal }).finally(() => print.status(undefined));
  if (chosen === undefined) {
    throw new MidspanError({
      code: 'usage',
      what: 'there is no model: none is named or configured, and no local server answers',
      next: `Give --model, set one of ${MODEL_VARIABLES.join(', ')}, or start Ollama, LM Studio, vLLM or llama.cpp`,
    });
  }
  print.note({ style: 'dim', text: 'model' }, ` ${chosen.model.name} (${chosen.why})`);
  return chosen.model;
}

const CHOICES = ['auto', 'required', 'none', 'validated'] as const;

function choiceOf(word: string, host: Host): Choice {
  const known = CHOICES.find((choice) => choice === word);
  if (known !== undefined) return known;
  const names = host.catalog().entries.map(({ name }) => name);
  if (names.includes(word)) return { tool: word };
  throw new MidspanError({
    code: 'usage',
    what: `--choice ${JSON.stringify(word)} is neither ${CHOICES.join(', ')} nor a tool that is there${suggestion(word, [...CHOICES, ...names])}`,
    next: '`midspan tools` lists the tools',
  });
}

async function promptText(context: Context, prompt: string | undefined): Promise<string> {
  const isPiped = context.stdin.isTTY !== true;
  const text =
    prompt === '-' || (prompt === undefined && isPiped) ? await readStdin(context) : (prompt ?? '');
  if (text.trim() !== '') return text;
  throw new MidspanError({
    code: 'usage',
    what: 'there is no prompt',
    next: 'Give it as an argument, or on standard input',
  });
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
