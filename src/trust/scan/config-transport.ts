import type { ServerSpec } from '../../types.ts';
import { isAddressLiteral, isLoopback } from './addresses.ts';
import { found, type ItemFinding } from './found.ts';
import type { Explained } from './rule.ts';
import { isSecret } from './schema-names.ts';

export const TRANSPORT: Explained = {
  id: 'C03',
  title: 'an address that others can read or answer for',
  tier: 'soft',
  severity: 'high',
  why: 'Without TLS everybody on the way reads the token and writes the definitions. A numeric or a look-alike host says nothing of who answers.',
  example: 'http://tools.example.com/mcp with an Authorization header',
  advice: 'Use https and the name that the provider publishes.',
};

/** Evidence is the host alone: the rest may hold a secret. */
export function findTransport({ transport }: ServerSpec): ItemFinding[] {
  if (transport.type === 'stdio' || !URL.canParse(transport.url)) return [];
  const { protocol, hostname, host, username, password, searchParams } = new URL(transport.url);
  const hasToken =
    Object.keys(transport.headers).some(
      (name) => /^(?:authorization|cookie|x-api-key)$/i.test(name) || isSecret(name),
    ) ||
    [...searchParams.keys()].some((name) => isSecret(name) || /^(?:token|key|auth)$/i.test(name)) ||
    password !== '';
  const findings: ItemFinding[] = [];
  const add = (words: string, isHard: boolean): void => {
    findings.push(found({ pointer: '/url' }, words, isHard ? 'hard' : 'soft', isHard ? 'critical' : 'high'));
  };
  if (isLoopback(hostname)) return [];
  if (protocol === 'http:') add(`http://${host}`, hasToken);
  if (username !== '' || password !== '') add(`name or password before ${host}`, false);
  if (isAddressLiteral(hostname)) add(`${protocol}//${host}`, false);
  if (/(?:^|\.)xn--/.test(hostname)) add(`${protocol}//${host}`, false);
  return findings;
}
