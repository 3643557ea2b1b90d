import path from 'node:path';
import { Command } from 'commander';
import { MidspanError } from '../errors.ts';
import type { AuditEvent, Config } from '../index.ts';
import type { Lock, ServerPin } from '../trust/lock/index.ts';
import { type CommonOptions, configOf, type Context, examples, withCommonOptions } from './context.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { listedDifferences, printDifferences } from './diff.ts';
import { findingsOf, folderOf, lastOf, lookTwice, serversOf, type Twice } from './live.ts';
import { confirmed } from './person.ts';
import { recordAndWrite } from './record.ts';

interface LockOptions extends CommonOptions {
  yes?: boolean;
}

/** `midspan lock`: a review of everything that servers list, written down. */
export function lockCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('lock'))
    .description('review what servers list and pin it in the lock file')
    .argument('[labels...]', 'servers; default: all')
    .option('--yes', 'accept it unseen; the lock file says so')
    .addHelpText('after', examples('lock', 'lock files', 'lock --yes'))
    .action(async (labels: string[], options: LockOptions) => {
      exit(await lock(context, labels, options));
    });
}

async function lock(context: Context, labels: readonly string[], options: LockOptions): Promise<number> {
  const { print } = context;
  const { readLock, writeLock } = await import('../trust/lock/index.ts');
  const config = await configOf(context, options);
  const file = lockFileOf(config);
  const before = await readLock(file);
  const specs = serversOf(config, labels);
  const looked = await lookTwice(context, specs);
  const found = looked.filter((look) => 'surfaces' in look);
  const failures = looked.flatMap((look) => ('error' in look ? [look.error] : []));
  const [failure] = failures;
  // A lock that holds nothing would hide everything.
  if (found.length === 0 && before === undefined && failure !== undefined) throw failure;
  const pins = await pinAll(config, before, found, options.yes === true ? 'yes' : 'review');
  if (options.yes !== true) {
    // A first look where nothing was approved, and what changed where something was.
    const differences = await listedDifferences(context, config, before, found);
    await printDifferences(print, differences.values(), false);
    const write = await confirmed(
      context,
      'pin all of this?',
      new MidspanError({
        code: 'unapproved',
        what: 'a lock is written after a review, and there is no terminal to ask on',
        next: 'Read the output of `midspan diff`, then `midspan lock --yes` accepts it',
      }),
    );
    if (!write) {
      print.note('Nothing was written.');
      return EXIT.needsApproval;
    }
  }
  const kept = Object.entries(before?.servers ?? {}).filter(
    ([label]) => labels.length > 0 || config.servers.some((spec) => spec.label === label),
  );
  const { RULESET } = await import('../trust/scan/scan.ts');
  const next: Lock = {
    lockfileVersion: 1,
    pin: 'midspan-pin/1',
    ruleset: RULESET,
    servers: Object.fromEntries([
      ...kept,
      ...pins.map(({ label, pin }): [string, ServerPin] => [label, pin]),
    ]),
  };
  const decisions = pins.map(({ label, pin }): AuditEvent => ({
    what: 'definition',
    label,
    decision: 'locked',
    why: pin.reviewed.how === 'yes' ? 'accepted unseen by --yes' : 'reviewed',
    digest: pin.identity.digest,
  }));
  await recordAndWrite(config, decisions, () => writeLock(file, next, before ?? null));
  tell(context, file, pins, options);
  for (const error of failures) print.note({ style: 'red', text: 'failed' }, ` ${error.message}`);
  return failure === undefined ? EXIT.good : exitCodeOf(failure);
}

/** @throws MidspanError `usage` for a configuration without a file. */
export function lockFileOf({ trust }: Config): string {
  if (trust.lock !== undefined) return trust.lock;
  throw new MidspanError({
    code: 'usage',
    what: 'there is no place for a lock file',
    next: 'Name one by `trust.lock` in the configuration',
  });
}

interface Pinned {
  label: string;
  pin: ServerPin;
  leftOut: { kind: string; key: string; rules: string[]; digest: string }[];
  isNew: boolean;
}

async function pinAll(
  config: Config,
  before: Lock | undefined,
  found: readonly Extract<Twice, { surfaces: unknown }>[],
  how: ServerPin['reviewed']['how'],
): Promise<Pinned[]> {
  const { openFindings, pinServer, settlePin } = await import('../trust/lock/index.ts');
  const base = folderOf(config);
  const at = new Date().toISOString().slice(0, 10);
  const findings = await findingsOf(found.map(({ spec, surfaces }) => ({ spec, surface: lastOf(surfaces) })));
  return found.map(({ spec, surfaces }) => {
    const { label } = spec;
    const old = before?.servers[label];
    const open = openFindings(old, findings.get(label) ?? []);
    const fresh = pinServer(spec, base, lastOf(surfaces), { at, how });
    return { label, ...settlePin(fresh, old, open, surfaces), isNew: old === undefined };
  });
}

function tell({ print, cwd }: Context, file: string, pins: readonly Pinned[], { json }: LockOptions): void {
  if (json === true) {
    print.json({
      lock: file,
      servers: pins.map(({ label, pin, leftOut, isNew }) => ({
        label,
        isNew,
        tools: Object.keys(pin.tools).length,
        prompts: Object.keys(pin.prompts).length,
        resources: Object.keys(pin.resources).length,
        templates: Object.keys(pin.templates).length,
        reviewed: pin.reviewed,
        leftOut,
      })),
    });
    return;
  }
  print.table([
    ['LABEL', 'TOOLS', 'PROMPTS', 'RESOURCES', 'TEMPLATES', 'REVIEWED'],
    ...pins.map(({ label, pin }) => [
      label,
      ...[pin.tools, pin.prompts, pin.resources, pin.templates].map((items) =>
        String(Object.keys(items).length),
      ),
      pin.reviewed.how === 'yes' ? `${pin.reviewed.at}, unseen` : pin.reviewed.at,
    ]),
  ]);
  for (const { label, leftOut } of pins) {
    for (const { kind, key, rules, digest } of leftOut) {
      const name = key === '' ? kind : `${kind} ${key}`;
      print.note(
        { style: 'yellow', text: 'left out' },
        ` ${label}: ${name} (${rules.join(', ')}). Read it with \`midspan diff ${label}\`; \`midspan approve ${label} --digest ${digest}\` pins it`,
      );
    }
  }
  print.note({ style: 'green', text: 'wrote' }, ` ${path.relative(cwd, file) || file}`);
}
