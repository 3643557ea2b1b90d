import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { MidspanError, messageOf } from '../errors.ts';
import type { Store } from '../index.ts';
import type { JsonObject } from '../types.ts';
import { withStore } from './asks.ts';
import { type CommonOptions, type Context, examples, withCommonOptions } from './context.ts';
import { EXIT } from './exit.ts';
import type { Part } from './print.ts';

interface AuditOptions extends CommonOptions {
  verify?: boolean;
  noted?: string;
  since?: string;
  label?: string;
  export?: string;
}

/** `midspan audit`: every decision about a definition, every ask and every call; verified and exported. */
export function auditCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('audit'))
    .description('read, verify and export the record of decisions, asks and calls')
    .option(
      '--since <time>',
      'from a date or time on, or the last so many minutes, hours or days: 30m, 12h, 7d',
    )
    .option('--label <label>', 'of one server')
    .option(
      '--verify',
      'follow the chain of hashes and name the first row that is wrong; code 1 when there is one',
    )
    .option('--noted <seq:hash>', 'beside --verify: a row that was noted elsewhere must be there as it was')
    .option('--export <file>', 'write the rows as JSON lines, as they were hashed; - is standard output')
    .addHelpText(
      'after',
      examples(
        'audit --since 24h',
        'audit --verify',
        'audit --verify --noted 120:9f86d0…',
        'audit --export audit.jsonl',
      ),
    )
    .action(async (options: AuditOptions) => {
      exit(await audit(context, options));
    });
}

async function audit(context: Context, options: AuditOptions): Promise<number> {
  const { print } = context;
  const since = options.since === undefined ? undefined : sinceOf(options.since);
  if (options.noted !== undefined && options.verify !== true)
    throw new MidspanError({ code: 'usage', what: '--noted is for --verify' });
  return withStore(context, options, async (store) => {
    if (options.verify === true) return verify(context, store, options);
    const filter = {
      ...(since !== undefined && { since }),
      ...(options.label !== undefined && { label: options.label }),
    };
    const rows = store?.audit.rows(filter) ?? [];
    if (options.export !== undefined) return exportRows(context, rows, options.export);
    let count = 0;
    for (const { body, hash } of rows) {
      count += 1;
      const event = JSON.parse(body) as JsonObject;
      if (options.json === true) print.json({ ...event, hash });
      else print.line(...lineOf(event));
    }
    if (count === 0) print.note('The audit holds no such row.');
    return EXIT.good;
  });
}

function verify({ print }: Context, store: Store | undefined, options: AuditOptions): number {
  const noted = options.noted === undefined ? undefined : notedOf(options.noted);
  if (store === undefined && noted === undefined) {
    if (options.json === true) print.json({ intact: true, rows: 0, hash: '' });
    else print.line('There is no audit yet.');
    return EXIT.good;
  }
  const verified = store?.audit.verify(noted) ?? {
    intact: false as const,
    rows: 0,
    seq: 1,
    problem: 'the audit is gone',
  };
  if (options.json === true) print.json(verified);
  else if (verified.intact) {
    print.line({ style: 'green', text: 'intact' }, ` ${verified.rows} rows`);
    print.line(`${verified.rows}:${verified.hash}`);
  } else print.line({ style: 'red', text: 'broken' }, ` at row ${verified.seq}: ${verified.problem}`);
  return verified.intact ? EXIT.good : EXIT.failed;
}

/** One row a line: the body as it was hashed, and its hash. */
async function exportRows(
  { print, cwd, signal }: Context,
  rows: Iterable<{ body: string; hash: string }>,
  file: string,
): Promise<number> {
  const lines = function* (): Generator<string> {
    for (const { body, hash } of rows) yield `${JSON.stringify({ body, hash })}\n`;
  };
  if (file === '-') {
    for (const line of lines()) print.json(JSON.parse(line));
    return EXIT.good;
  }
  const target = path.resolve(cwd, file);
  try {
    await pipeline(Readable.from(lines()), createWriteStream(target, { mode: 0o600 }), { signal });
  } catch (error) {
    if (error instanceof MidspanError) throw error;
    throw new MidspanError({
      code: 'usage',
      what: `${target} cannot be written: ${messageOf(error)}`,
      cause: error,
    });
  }
  print.note(`Written to ${target}.`);
  return EXIT.good;
}

function lineOf(event: JsonObject): Part[] {
  const text = (name: string): string => (typeof event[name] === 'string' ? event[name] : '');
  const decision = text('decision');
  const more = [
    text('rule'),
    text('who') === '' ? '' : `by ${text('who')}`,
    typeof event['milliseconds'] === 'number' ? `${event['milliseconds']} ms` : '',
    typeof event['resultBytes'] === 'number' ? `${event['resultBytes']} bytes` : '',
    event['arguments'] === undefined ? '' : JSON.stringify(event['arguments']),
    text('why'),
  ].filter((part) => part !== '');
  return [
    {
      style: 'dim',
      text: `${String(Number(event['seq'])).padStart(6)}  ${new Date(Number(event['at'])).toISOString()}  `,
    },
    `${text('what')} ${[text('label'), text('item')].filter((part) => part !== '').join('/')} `,
    { style: REFUSALS.has(decision) ? 'red' : 'bold', text: decision },
    more.length === 0 ? '' : `  ${more.join('; ')}`,
  ];
}

const REFUSALS: ReadonlySet<string> = new Set([
  'refused',
  'failed',
  'decline',
  'withheld',
  'unknown',
  'stopped',
]);

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function sinceOf(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const time = count === undefined ? Date.parse(text) : Date.now() - Number(count) * (UNITS[unit] ?? 0);
  if (!Number.isNaN(time)) return time;
  throw new MidspanError({
    code: 'usage',
    what: `--since ${JSON.stringify(text)} is no time`,
    next: 'Give one like 2026-12-01, 2026-12-01T08:00:00Z, 30m, 12h or 7d',
  });
}

function notedOf(text: string): { seq: number; hash: string } {
  const [, seq, hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq !== undefined) return { seq: Number(seq), hash };
  throw new MidspanError({
    code: 'usage',
    what: '--noted is a number and a hash, such as `midspan audit --verify` prints them',
  });
}
