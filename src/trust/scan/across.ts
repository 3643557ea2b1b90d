/**
 * The rules over all connected servers at once (X01 to X06). What one server's texts name is gathered once for each content;
 * comparing is then a look-up for each name, so that the whole is linear in the texts, whatever the number of servers.
 */
import type { Finding } from '../findings.ts';
import { COLLISION, findCollisions } from './across-collisions.ts';
import { FOREIGN_SERVER, FOREIGN_TOOL, findMentions } from './across-mentions.ts';
import { findNearNames, findSameNames, NEAR_NAME, SAME_NAME } from './across-servers.ts';
import { COMBINATION, findCombination } from './across-combination.ts';
import { type Gathered, gather } from './across-gather.ts';
import type { Explained } from './rule.ts';
import type { Scanned } from './scan.ts';

export const ACROSS_RULES: readonly Explained[] = [
  FOREIGN_TOOL,
  FOREIGN_SERVER,
  COLLISION,
  NEAR_NAME,
  SAME_NAME,
  COMBINATION,
];

export interface Peer extends Gathered {
  label: string;
  approved: boolean;
}

/** Findings by label; a server without any is not in it. The order of `servers` is of no account. */
export function scanAcross(
  servers: readonly Scanned[],
  builtins: readonly string[] = [],
): Map<string, Finding[]> {
  const peers = servers
    .map(({ label, surface, approved }): Peer => ({ label, approved: approved === true, ...gather(surface) }))
    .sort((a, b) => (a.label < b.label ? -1 : 1));
  const found = new Map<string, Finding[]>();
  const add = (label: string, finding: Finding): void => {
    const findings = found.get(label);
    if (findings === undefined) found.set(label, [finding]);
    else findings.push(finding);
  };
  findMentions(peers, builtins, add);
  findCollisions(peers, builtins, add);
  findNearNames(peers, add);
  findSameNames(peers, add);
  findCombination(peers, add);
  for (const findings of found.values()) findings.sort(byPlace);
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export type Add = (label: string, finding: Finding) => void;

function byPlace(a: Finding, b: Finding): number {
  const [keyA, keyB] = [a, b].map(({ kind, key, pointer, rule }) => `${kind}\0${key}\0${pointer}\0${rule}`);
  return keyA === keyB ? a.start - b.start : keyA! < keyB! ? -1 : 1;
}
