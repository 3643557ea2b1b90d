import { Command } from 'commander';
import type { MidspanError } from '../errors.ts';
import type { Config } from '../index.ts';
import type { Finding } from '../trust/findings.ts';
import type { Change, Lock, ServerPin } from '../trust/lock/index.ts';
import type { ServerSpec, Surface } from '../types.ts';
import { configOf, type Context, examples, withCommonOptions } from './context.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { findingsOf, folderOf, lookTwice, serversOf } from './live.ts';
import { lockFileOf } from './lock.ts';
import { type FormatOptions, formatOption, printForPrograms } from './reviews.ts';

interface CheckOptions extends FormatOptions {
  live?: boolean;
}

/** `midspan check`: for CI. The lock against itself and the configuration; with --live against the servers. */
export function checkCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('check'))
    .description(
      'compare the lock file with the configuration, and with --live with what servers list; exit 6 on drift',
    )
    .argument('[labels...]', 'servers; default: all')
    .option('--live', 'list every server in two processes, as two clients in two locales and time zones')
    .addOption(formatOption())
    .addHelpText('after', examples('check', 'check --live', 'check --format sarif > midspan.sarif'))
    .action(async (labels: string[], options: CheckOptions) => {
      exit(await check(context, labels, options));
    });
}

async function check(context: Context, labels: readonly string[], options: CheckOptions): Promise<number> {
  const { print } = context;
  const { readLock } = await import('../trust/lock/index.ts');
  const config = await configOf(context, options);
  const file = lockFileOf(config);
  const lock = await readLock(file);
  const specs = serversOf(config, labels);
  const offline = await offlineChanges(config, lock, specs);
  const live =
    options.live === true ? await liveChanges(context, config, lock, specs, offline) : NOTHING_LIVE;
  const { reviewOf } = await import('../trust/diff/index.ts');
  const reviews = specs.map(({ label }) =>
    reviewOf({
      label,
      changes: [...(offline.get(label) ?? []), ...(live.changes.get(label) ?? [])],
      reviewed: lock?.servers[label]?.reviewed,
      isNew: lock?.servers[label] === undefined,
      note: live.notes.get(label),
    }),
  );
  if (!(await printForPrograms(context, reviews, file, options))) {
    const view = await import('../trust/diff/index.ts');
    for (const line of view.diffText(reviews)) print.line(...line);
    print.note(`${view.summaryOf(reviews, live.failures.length)}.`);
  }
  for (const error of live.failures) print.note({ style: 'red', text: 'not verified' }, ` ${error.message}`);
  if (reviews.some(({ waiting }) => waiting > 0)) return EXIT.needsApproval;
  const [failure] = live.failures;
  return failure === undefined ? EXIT.good : exitCodeOf(failure);
}

/** What can be said without starting anything. */
async function offlineChanges(
  config: Config,
  lock: Lock | undefined,
  specs: readonly ServerSpec[],
): Promise<Map<string, Change[]>> {
  const { compare, identityOf, openFindings, surfaceOf } = await import('../trust/lock/index.ts');
  const base = folderOf(config);
  const stored = specs.flatMap((spec) => {
    const pin = lock?.servers[spec.label];
    return pin === undefined ? [] : [{ spec, pin, surface: surfaceOf(pin), approved: true }];
  });
  const findings = await findingsOf(stored);
  const changes = new Map<string, Change[]>();
  for (const spec of specs) {
    const known = stored.find((each) => each.spec === spec);
    const identity = identityOf(spec, base);
    if (known === undefined) {
      changes.set(spec.label, [
        {
          kind: 'server',
          key: '',
          class: 'added',
          effect: 'stop',
          what: 'the server is not in the lock file',
          facets: ['id'],
          now: { ...identity },
          nowDigest: identity.digest,
        },
      ]);
      continue;
    }
    const { pin, surface } = known;
    const open = openFindings(pin, findings.get(spec.label) ?? []);
    changes.set(spec.label, [
      ...compare(pin, { identity, surface }, { profile: config.trust.profile }),
      ...findingChanges(pin, open),
    ]);
  }
  return changes;
}

/** What the rules say of texts that were approved: newer rules may know more than the review did. */
function findingChanges(pin: ServerPin, findings: readonly Finding[]): Change[] {
  const hard = findings.filter(({ tier }) => tier === 'hard');
  const items = new Map(hard.map((finding) => [`${finding.kind} ${finding.key}`, finding]));
  return [...items.values()].map(({ kind, key }) => {
    const own = hard.filter((finding) => finding.kind === kind && finding.key === key);
    const digest = kind === 'tool' ? pin.tools[key]?.digest : undefined;
    return {
      kind,
      key,
      class: 'finding',
      effect: 'withhold',
      what: 'the scan speaks against what was approved',
      facets: [],
      findings: own,
      ...(digest !== undefined && { wasDigest: digest, nowDigest: digest }),
    };
  });
}

interface Live {
  changes: Map<string, Change[]>;
  notes: Map<string, string>;
  failures: MidspanError[];
}

const NOTHING_LIVE: Live = { changes: new Map(), notes: new Map(), failures: [] };

async function liveChanges(
  context: Context,
  { trust }: Config,
  lock: Lock | undefined,
  specs: readonly ServerSpec[],
  offline: ReadonlyMap<string, readonly Change[]>,
): Promise<Live> {
  const { compare } = await import('../trust/lock/index.ts');
  // What is reached otherwise than approved is not started.
  const reachable = specs.filter(
    ({ label }) => offline.get(label)?.some(({ effect }) => effect === 'stop') !== true,
  );
  const live: Live = { changes: new Map(), notes: new Map(), failures: [] };
  for (const look of await lookTwice(context, reachable)) {
    if ('error' in look) {
      live.failures.push(look.error);
      continue;
    }
    const { label } = look.spec;
    const pin = lock?.servers[label];
    if (pin === undefined) continue;
    const lists = look.surfaces.map((surface: Surface) =>
      compare(pin, { surface }, { profile: trust.profile }),
    );
    const changes = new Map<string, Change>();
    for (const change of lists.toReversed().flat()) {
      const id = JSON.stringify([change.kind, change.key, change.class, change.nowDigest ?? '']);
      if (!changes.has(id)) changes.set(id, change);
    }
    live.changes.set(label, [...changes.values()]);
    if (new Set(look.surfaces.map((surface: Surface) => JSON.stringify(surface))).size > 1) {
      live.notes.set(
        label,
        'It was listed twice in each of two processes, as two clients in two locales and time zones, and did not always list the same.',
      );
    }
  }
  return live;
}
