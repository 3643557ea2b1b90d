/** Rules over how a server is started and reached (C01, C03, C04, X04 for packages). Nothing is run and nothing is asked. */
import type { Finding } from '../findings.ts';
import type { ServerSpec } from '../../types.ts';
import { COMMAND, findCommand } from './config-command.ts';
import { FAMILIAR_PACKAGE, findPackages } from './config-packages.ts';
import { findSecrets, LITERAL_SECRET } from './config-secrets.ts';
import { findTransport, TRANSPORT } from './config-transport.ts';
import type { ItemFinding } from './found.ts';
import type { Explained } from './rule.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Find = (spec: ServerSpec, environment: Environment) => ItemFinding[];

const FINDS: readonly [Explained, Find][] = [
  [COMMAND, findCommand],
  [TRANSPORT, findTransport],
  [LITERAL_SECRET, findSecrets],
  [FAMILIAR_PACKAGE, findPackages],
];

export const CONFIG_RULES: readonly Explained[] = FINDS.map(([rule]) => rule).filter(
  ({ id }) => id !== 'X04',
);

/**
 * What is dangerous about one entry of a configuration. Pointers lead into its transport, such as `/args/0`; no secret is in
 * the evidence. `environment` tells values that were written out from those that came from a variable.
 */
export function scanConfig(spec: ServerSpec, environment: Environment = {}): Finding[] {
  return FINDS.flatMap(([{ id }, find]) =>
    find(spec, environment).map((finding) => ({ rule: id, kind: 'server' as const, key: '', ...finding })),
  );
}
