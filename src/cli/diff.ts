import { Command } from 'commander';
import type { MidspanError } from '../errors.ts';
import type { Config } from '../index.ts';
import type { ServerSpec, Surface } from '../types.ts';
import type { FirstUse, Review } from '../trust/diff/index.ts';
import type { Finding } from '../trust/findings.ts';
import type { Change, Identity, Lock, ServerPin } from '../trust/lock/index.ts';
import { VERSION } from '../version.ts';
import { configOf, type Context, examples, withCommonOptions } from './context.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { findingsOf, folderOf, lastOf, lookAt, serversOf } from './live.ts';
import type { Printer } from './print.ts';
import { type FormatOptions, formatOption, printForPrograms } from './reviews.ts';

/** `midspan diff`: what changed since it was approved, or all of it where nothing was. */
export function diffCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('diff'))
    .description(
      'show what servers list now beside what was approved; without a lock, all that a model would see',
    )
    .argument('[labels...]', 'servers; default: all')
    .option('--full', 'show unchanged text, too')
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples(
        'diff',
        'diff files --full',
        'diff --format markdown > comment.md',
        'diff --format sarif > midspan.sarif',
      ),
    )
    .action(async (labels: string[], options: FormatOptions) => {
      exit(await diff(context, labels, options));
    });
}

/** One server: what changed of it, and its first screen when nothing of it was ever approved. */
export interface Difference {
  review: Review;
  first?: FirstUse;
}

async function diff(context: Context, labels: readonly string[], options: FormatOptions): Promise<number> {
  const { print } = context;
  const { readLock } = await import('../trust/lock/index.ts');
  const config = await configOf(context, options);
  const lock = config.trust.lock === undefined ? undefined : await readLock(config.trust.lock);
  const { found, failures } = await differences(context, config, lock, serversOf(config, labels));
  await show(context, config.trust.lock, found, options, failures.length);
  for (const error of failures) print.note({ style: 'red', text: 'failed' }, ` ${error.message}`);
  const [failure] = failures;
  if (failure !== undefined) return exitCodeOf(failure);
  return found.some(({ review }) => review.waiting > 0) ? EXIT.needsApproval : EXIT.good;
}

/** In the order of the configuration. */
async function differences(
  context: Context,
  config: Config,
  lock: Lock | undefined,
  specs: readonly ServerSpec[],
): Promise<{ found: Difference[]; failures: MidspanError[] }> {
  const { compare, identityOf } = await import('../trust/lock/index.ts');
  const { reviewOf } = await import('../trust/diff/index.ts');
  const base = folderOf(config);
  const subjects = specs.map((spec) => ({
    spec,
    pin: lock?.servers[spec.label],
    identity: identityOf(spec, base),
  }));
  const found = new Map<string, Difference>();
  for (const { spec, pin, identity } of subjects) {
    const changes = pin === undefined ? [] : compare(pin, { identity, surface: nothingNew(pin) });
    // What is reached otherwise than approved is not started to find out what it says.
    if (!changes.some(({ effect }) => effect === 'stop')) continue;
    const { label } = spec;
    found.set(label, { review: reviewOf({ label, changes, reviewed: pin?.reviewed, note: NOT_STARTED }) });
  }
  const rest = subjects.filter(({ spec }) => !found.has(spec.label));
  const client = { name: 'midspan', version: VERSION };
  const looked = await lookAt(
    context,
    rest.map(({ spec }) => spec),
    client,
  );
  const failures = looked.flatMap((look) => ('error' in look ? [look.error] : []));
  const listed = looked.filter((look) => 'surfaces' in look);
  for (const [label, difference] of await listedDifferences(context, config, lock, listed))
    found.set(label, difference);
  return { found: specs.flatMap(({ label }) => found.get(label) ?? []), failures };
}

/** What servers listed, the last time above all, beside what was approved of them. By label. */
export async function listedDifferences(
  { env }: Context,
  config: Config,
  lock: Lock | undefined,
  listed: readonly { spec: ServerSpec; surfaces: readonly Surface[] }[],
): Promise<Map<string, Difference>> {
  const { compare, identityOf } = await import('../trust/lock/index.ts');
  const { reviewOf } = await import('../trust/diff/index.ts');
  const { scanConfig } = await import('../trust/scan/config.ts');
  const base = folderOf(config);
  const findings = await findingsOf(
    listed.map(({ spec, surfaces }) => ({
      spec,
      surface: lastOf(surfaces),
      approved: lock?.servers[spec.label] !== undefined,
    })),
  );
  const found = new Map<string, Difference>();
  for (const { spec, surfaces } of listed) {
    const { label } = spec;
    const own = findings.get(label) ?? [];
    const pin = lock?.servers[label];
    const identity = identityOf(spec, base);
    if (pin === undefined) {
      found.set(label, await firstDifference(label, identity, surfaces, [...scanConfig(spec, env), ...own]));
      continue;
    }
    const lists = surfaces.map((surface) =>
      compare(pin, { identity, surface }, { profile: config.trust.profile }).map((change) =>
        withFindings(change, own),
      ),
    );
    found.set(label, { review: reviewOf({ label, reviewed: pin.reviewed, ...together(lists) }) });
  }
  return found;
}

/** A surface that differs in nothing: what is left are differences of the identity. */
const nothingNew = ({ serverInfo, instructions }: ServerPin): Surface => ({
  serverInfo,
  ...(instructions !== undefined && { instructions: instructions.text }),
});

const NOT_STARTED =
  'It was not started, since how it is reached is not what was approved: approve that first, then look at what it lists.';

/** Of what is new, all words are added words. */
const withFindings = (change: Change, findings: readonly Finding[]): Change =>
  change.was !== undefined || change.findings !== undefined
    ? change
    : { ...change, findings: findings.filter(({ kind, key }) => kind === change.kind && key === change.key) };

/** What the last list says, and of items that it says nothing of, what the one before did. */
function together(lists: readonly (readonly Change[])[]): { changes: Change[]; note?: string } {
  const idOf = ({ kind, key }: Change): string => JSON.stringify([kind, key]);
  const changes: Change[] = [];
  for (const list of lists.toReversed()) {
    const told = new Set(changes.map(idOf));
    changes.push(...list.filter((change) => !told.has(idOf(change))));
  }
  const contents = lists.map((list) =>
    JSON.stringify(list.map((change) => `${idOf(change)} ${change.nowDigest ?? ''}`).sort()),
  );
  return { changes, ...(new Set(contents).size > 1 && { note: UNSTEADY }) };
}

const UNSTEADY = 'It was asked more than once and did not always list the same.';

async function firstDifference(
  label: string,
  identity: Identity,
  surfaces: readonly Surface[],
  findings: readonly Finding[],
): Promise<Difference> {
  const { firstChanges, reviewOf } = await import('../trust/diff/index.ts');
  const { suggestLabels } = await import('../trust/policy/policy.ts');
  const first = { label, identity, surface: lastOf(surfaces), findings, labels: suggestLabels };
  const isSteady = new Set(surfaces.map((surface) => JSON.stringify(surface))).size === 1;
  const changes = firstChanges(first);
  return { first, review: reviewOf({ label, changes, isNew: true, ...(!isSteady && { note: UNSTEADY }) }) };
}

async function show(
  context: Context,
  lockFile: string | undefined,
  found: readonly Difference[],
  options: FormatOptions,
  unreached: number,
): Promise<void> {
  const { print } = context;
  const reviews = found.map(({ review }) => review);
  if (await printForPrograms(context, reviews, lockFile, options)) return;
  const { summaryOf } = await import('../trust/diff/index.ts');
  await printDifferences(print, found, options.full === true);
  const isFirst = found.some(({ first }) => first !== undefined);
  print.note(
    `${summaryOf(reviews, unreached)}.${isFirst ? ' `midspan lock` approves what was never approved, after a review.' : ''}`,
  );
}

/** First screens and changes, for a person to read. */
export async function printDifferences(
  print: Printer,
  found: Iterable<Difference>,
  full: boolean,
): Promise<void> {
  const { diffText, firstUseText } = await import('../trust/diff/index.ts');
  for (const { review, first } of found) {
    const lines = first === undefined ? diffText([review], { full }) : firstUseText(first);
    for (const line of lines) print.line(...line);
    if (first !== undefined && review.note !== undefined) print.note(`${review.label}: ${review.note}`);
  }
}
