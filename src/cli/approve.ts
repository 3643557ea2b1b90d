import { Command } from 'commander';
import { MidspanError } from '../errors.ts';
import type { Approved, Lock, ServerPin } from '../trust/lock/index.ts';
import { VERSION } from '../version.ts';
import { type CommonOptions, configOf, type Context, examples, withCommonOptions } from './context.ts';
import { EXIT } from './exit.ts';
import { findingsOf, folderOf, lastOf, lookAt, serversOf } from './live.ts';
import { lockFileOf } from './lock.ts';
import { recordAndWrite } from './record.ts';

interface ApproveOptions extends CommonOptions {
  digest: string;
}

/** `midspan approve`: one thing that was read in a diff, named by its digest. */
export function approveCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('approve'))
    .description('approve one thing that `midspan diff` showed: exactly what has the digest, or nothing')
    .argument('<label>', "the server's label in the configuration")
    .argument('[tool]', "the tool, by the server's own name; without it the digest alone says what is meant")
    .requiredOption('--digest <digest>', 'as `midspan diff` prints it')
    .addHelpText(
      'after',
      examples('approve files read_file --digest sha256-…', 'approve files --digest sha256-…'),
    )
    .action(async (label: string, tool: string | undefined, options: ApproveOptions) => {
      exit(await approve(context, label, tool, options));
    });
}

async function approve(
  context: Context,
  label: string,
  tool: string | undefined,
  options: ApproveOptions,
): Promise<number> {
  const { print } = context;
  const { digest, json } = options;
  if (!/^sha256-[A-Za-z0-9+/]{43}=$/.test(digest)) {
    throw new MidspanError({
      code: 'usage',
      what: `${JSON.stringify(digest)} is no digest`,
      next: `Give the one that \`midspan diff ${label}\` prints: sha256- and 44 characters`,
    });
  }
  const { approveDigest, identityOf, readLock, writeLock } = await import('../trust/lock/index.ts');
  const config = await configOf(context, options);
  const lockFile = lockFileOf(config);
  const lock = await readLock(lockFile);
  const [spec] = serversOf(config, [label]);
  const before = lock?.servers[label];
  if (lock === undefined || before === undefined || spec === undefined) {
    throw new MidspanError({
      code: 'unapproved',
      label,
      what: 'the server is not in the lock file',
      next: `\`midspan lock ${label}\` reviews it whole`,
    });
  }
  const identity = identityOf(spec, folderOf(config));
  // What else of the server was accepted unseen stays so: one thing that was read does not change that.
  const { how } = before.reviewed;
  const reviewed: ServerPin['reviewed'] = { at: new Date().toISOString().slice(0, 10), how };
  const write = async ({ pin, approved }: { pin: ServerPin; approved: Approved }): Promise<number> => {
    const next: Lock = { ...lock, servers: { ...lock.servers, [label]: pin } };
    const item = approved.key === '' ? approved.kind : `${approved.kind}:${approved.key}`;
    const why = 'by its digest';
    await recordAndWrite(
      config,
      [{ what: 'definition', label, item, digest, decision: 'approved', why }],
      () => writeLock(lockFile, next, lock),
    );
    if (json === true) print.json({ lock: lockFile, label, ...approved, digest });
    else print.note({ style: 'green', text: 'approved' }, ` ${label}: ${item.replace(':', ' ')}`);
    return EXIT.good;
  };
  // How it is reached is decided before anything is started.
  const stored = { serverInfo: before.serverInfo };
  const asIs = tool === undefined && identity.digest === digest;
  if (asIs) {
    const done = approveDigest(before, { identity, surface: stored }, { digest, findings: [] }, reviewed);
    if (done !== undefined) return write(done);
  }
  if (identity.digest !== before.identity.digest) {
    throw new MidspanError({
      code: 'unapproved',
      label,
      what: 'how the server is reached is not what was approved, so it is not started',
      next: `\`midspan diff ${label}\` shows the difference; approve that first`,
    });
  }
  const [look] = await lookAt(context, [spec], { name: 'midspan', version: VERSION });
  if (look === undefined || 'error' in look) throw look?.error ?? new Error('nothing was looked at');
  const surface = lastOf(look.surfaces);
  const findings = (await findingsOf([{ spec, surface }])).get(label) ?? [];
  const wanted = { digest, findings, ...(tool !== undefined && { tool }) };
  const done = approveDigest(before, { identity, surface }, wanted, reviewed);
  if (done !== undefined) return write(done);
  throw new MidspanError({
    code: 'unapproved',
    label,
    what: `${tool === undefined ? 'nothing' : `no tool ${JSON.stringify(tool)}`} that the server lists now has the digest ${digest}`,
    next: `Read \`midspan diff ${label}\` again: it may have changed since`,
  });
}
