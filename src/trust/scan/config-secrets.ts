import type { ServerSpec } from '../../types.ts';
import { found, type ItemFinding } from './found.ts';
import type { Explained } from './rule.ts';
import { isSecret } from './schema-names.ts';

export const LITERAL_SECRET: Explained = {
  id: 'C04',
  title: 'a secret written out in the configuration',
  tier: 'soft',
  severity: 'high',
  why: 'Configurations are committed, shared and read by every program that knows where they lie; arguments are seen in the list of processes.',
  example: '"env": {"API_KEY": "sk-…"}',
  advice: 'Write "${NAME}" and put the value into the environment.',
};

/** Prefixes by which services mark their tokens, and forms that are nothing but secrets. */
const MARKED =
  /(?:^|[^A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,}|glpat-[\w-]{20,}|sk-(?:ant-|proj-)?[\w-]{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*|-----BEGIN [A-Z ]{0,30}PRIVATE KEY)/;
const PLACEHOLDER = /your|example|placeholder|xxxx|changeme|<[^>]*>|\*\*\*|dummy|^test/i;
const NAMES_SECRET =
  /(?:^|[_-])(?:token|secret|password|passwd|api_?key|apikey|private_?key|credentials?|auth)$/i;
const LEAST = 8;

export function findSecrets(
  { transport }: ServerSpec,
  environment: Readonly<Record<string, string | undefined>>,
): ItemFinding[] {
  const fromOutside = Object.values(environment).filter(
    (value) => value !== undefined && value.length >= LEAST,
  );
  const values =
    transport.type === 'stdio'
      ? [
          ...argumentValues(transport.args),
          ...Object.entries(transport.env).map(([name, text]) => ({
            pointer: `/env/${name}`,
            name,
            text,
            isShown: false,
          })),
        ]
      : [
          ...Object.entries(transport.headers).map(([name, text]) => ({
            pointer: `/headers/${name}`,
            name,
            text,
            isShown: false,
          })),
          ...addressValues(transport.url),
        ];
  return values
    .filter(({ name, text, isShown }) => {
      if (!looksSecret(name, text)) return false;
      // What stands in the list of processes is seen wherever it came from.
      return isShown || !fromOutside.some((value) => text.includes(value!));
    })
    .map(({ pointer, name }) =>
      found({ pointer }, `${name === '' ? 'a value' : name} of the form of a secret`, 'soft', 'high'),
    );
}

interface Value {
  pointer: string;
  name: string;
  text: string;
  isShown: boolean;
}

function looksSecret(name: string, text: string): boolean {
  if (text.length < LEAST || PLACEHOLDER.test(text)) return false;
  if (MARKED.test(text)) return true;
  const isNamed = isSecret(name) || NAMES_SECRET.test(name) || /^(?:authorization|cookie)$/i.test(name);
  return isNamed && /\d/.test(text) && !/^(?:[./~]|https?:|\$)/.test(text);
}

/** `--token value`, `--token=value` and bare words. */
function argumentValues(args: readonly string[]): Value[] {
  return args.map((argument, at) => {
    const [, name, text] = /^--?([\w-]{1,60})=(.*)$/s.exec(argument) ?? [];
    const before = /^--?([\w-]{1,60})$/.exec(args[at - 1] ?? '')?.[1];
    return { pointer: `/args/${at}`, name: name ?? before ?? '', text: text ?? argument, isShown: true };
  });
}

function addressValues(address: string): Value[] {
  if (!URL.canParse(address)) return [];
  const url = new URL(address);
  const parts: [string, string][] = [['password', url.password], ...url.searchParams, ['', url.pathname]];
  return parts.map(([name, text]) => ({ pointer: '/url', name, text, isShown: false }));
}
