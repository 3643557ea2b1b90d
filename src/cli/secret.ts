import { Command } from 'commander';
import { MidspanError } from '../errors.ts';
import { openSecrets, type Secrets, secretsPath } from '../store/secrets.ts';
import { type Context, examples, readStdin } from './context.ts';
import { EXIT } from './exit.ts';
import { readKeys } from './keys.ts';

interface JsonOption {
  json?: boolean;
}

const JSON_OPTION = ['--json', 'print JSON, in the form that docs/cli.md describes'] as const;

/** `midspan secret`: what a configuration refers to as `${secret:NAME}`. No command prints one. */
export function secretCommand(context: Context, exit: (code: number) => void): Command {
  const { print } = context;
  const secrets = (): Secrets => openSecrets(secretsPath(context.env));
  const setting = new Command('set')
    .description('store a secret: typed unseen, or all of standard input')
    .argument('<name>', 'letters, digits, `_`, `-` and `.`')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('secret set GITHUB_TOKEN', 'secret set GITHUB_TOKEN < token.txt'))
    .action(async (name: string, { json }: JsonOption) => {
      const store = secrets();
      const place = store.set(name, await valueOf(context, name));
      const missing = store.withoutKeychain;
      if (missing !== undefined)
        print.note(
          { style: 'yellow', text: 'warning' },
          ` it is kept in a file that only you can read, not encrypted: ${missing}`,
        );
      if (json === true) print.json({ name, place });
      else print.line(`Stored ${name} in the ${place}. Refer to it as \${secret:${name}}.`);
      exit(EXIT.good);
    });
  const listing = new Command('list')
    .description('list the names of the stored secrets and where each is')
    .option(...JSON_OPTION)
    .action(({ json }: JsonOption) => {
      const found = secrets().list();
      if (json === true) print.json({ secrets: found });
      else if (found.length === 0) print.note('No secret is stored.');
      else print.table(found.map(({ name, place }) => [{ style: 'bold', text: name }, place]));
      exit(EXIT.good);
    });
  const deleting = new Command('delete')
    .description('delete a secret')
    .argument('<name>')
    .option(...JSON_OPTION)
    .action((name: string, { json }: JsonOption) => {
      if (!secrets().delete(name))
        throw new MidspanError({
          code: 'usage',
          what: `no secret is stored as ${JSON.stringify(name)}`,
          next: '`midspan secret list` names them',
        });
      if (json === true) print.json({ name });
      else print.line(`Deleted ${name}.`);
      exit(EXIT.good);
    });
  return new Command('secret')
    .description(
      'store what a configuration refers to as ${secret:NAME}, in the keychain or a file for you alone',
    )
    .addHelpText('after', examples('secret set GITHUB_TOKEN', 'secret list', 'secret delete GITHUB_TOKEN'))
    .addCommand(setting)
    .addCommand(listing)
    .addCommand(deleting);
}

/** A line break at the end is no part of it. */
async function valueOf(context: Context, name: string): Promise<string> {
  const { stdin, print } = context;
  if (stdin.isTTY !== true || !print.isTerminal) return (await readStdin(context)).replace(/\r?\n$/, '');
  // Who sees the prompt may type at once: nothing may be shown from there on.
  const keys = readKeys(stdin, 0);
  try {
    print.note(`Type the secret ${name}, then Enter. It is not shown.`);
    let value = '';
    for (;;) {
      const key = await keys.next(context.signal);
      if (key === '\r' || key === '\n') return value;
      if (key === 'interrupt') throw new MidspanError({ code: 'cancelled', what: 'nothing was stored' });
      value = key === '\u007F' || key === '\b' ? value.slice(0, -1) : value + key;
    }
  } finally {
    keys.close();
  }
}
