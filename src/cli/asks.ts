import { existsSync } from 'node:fs';
import { Command } from 'commander';
import type { PendingAsk } from '../asks/rows.ts';
import { MidspanError } from '../errors.ts';
import type { Config, Store } from '../index.ts';
import { type CommonOptions, configOf, type Context, examples, withCommonOptions } from './context.ts';
import { EXIT } from './exit.ts';

/** `midspan asks`: what waits for a person, in any process that uses the store of this configuration. */
export function asksCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('asks'))
    .description("show what waits for a person's answer")
    .addHelpText('after', examples('asks', 'asks --json | jq -r .asks[].id'))
    .action(async (options: CommonOptions) => {
      exit(await asks(context, options));
    });
}

async function asks(context: Context, options: CommonOptions): Promise<number> {
  const { print } = context;
  const waiting = await withStore(context, options, (store) => pendingAsks(store));
  if (options.json === true) {
    print.json({ asks: waiting });
    return EXIT.good;
  }
  const { showAsk } = await import('./show-ask.ts');
  for (const pending of waiting) {
    const left = Math.max(0, Math.ceil((pending.deadline - Date.now()) / 1000));
    print.line({ style: 'bold', text: pending.id }, `  ${left} s left`);
    showAsk(pending.ask, {
      note: (...parts) => print.line(...parts),
      noteText: (text) => print.text(`${text}\n`),
    });
    print.line({ style: 'dim', text: `  midspan answer ${pending.id} accept --digest ${pending.digest}` });
  }
  if (waiting.length === 0) print.note('Nothing waits for an answer.');
  return EXIT.good;
}

/** Oldest first. A row that is not what its digest says is left out: nobody could know what it stands for. */
async function pendingAsks(store: Store | undefined): Promise<PendingAsk[]> {
  const { shownRow } = await import('../asks/rows.ts');
  return (store?.asks.pending(Date.now()) ?? []).flatMap((row) => shownRow(row) ?? []);
}

/** The store of the configuration; undefined when there is none yet. It is closed afterwards. */
export async function withStore<T>(
  context: Pick<Context, 'cwd' | 'env'>,
  options: Pick<CommonOptions, 'config'>,
  use: (store: Store | undefined, config: Config) => Promise<T>,
): Promise<T> {
  const { storeOf } = await import('../index.ts');
  const config = await configOf(context, options);
  const store = storeOf(config);
  if (store === false) throw new MidspanError({ code: 'internal', what: 'the configuration has no file' });
  try {
    // Looking makes no files.
    return await use(existsSync(store.path) ? store : undefined, config);
  } finally {
    store.close();
  }
}
