/** The scan. Pure: no I/O, same input, same findings in the same order. */
import type { Finding } from '../findings.ts';
import type { Surface } from '../../types.ts';
import { scanAcross } from './across.ts';
import { scanServer } from './engine.ts';
import { readText } from './leaf.ts';
import { ALL_RULES, NEW_HOST } from './rules.ts';
import { findingsOfHosts } from './hosts.ts';

export { drawHidden } from './draw.ts';
export { scanAcross, scanServer };
export { cleanResultText } from './results.ts';

/** Changes whenever a rule does, so that a lock can say what it was reviewed with. */
export const RULESET = 'scan/2026.12';

export interface Scanned {
  label: string;
  surface: Surface;
  /** True: its definitions were reviewed before (cross-server rules then ask instead of withholding). */
  approved?: boolean;
}

/** Everything that is found in what servers list, in each alone and in all together, by label. */
export function scanAll(
  servers: readonly Scanned[],
  builtins: readonly string[] = [],
): Map<string, Finding[]> {
  const across = scanAcross(servers, builtins);
  return new Map(
    servers.map((server) => [server.label, [...scanServer(server), ...(across.get(server.label) ?? [])]]),
  );
}

/** Rules over the new text of one leaf, for diffs: with where it stands, and the hosts that it names as notes. */
export function scanText(
  text: string,
  where: { kind: Finding['kind']; key: string; pointer: string },
): Finding[] {
  return [...readText(text, 'text').findings, ...findingsOfHosts(text, NEW_HOST)].map((found) => ({
    ...where,
    ...found,
  }));
}

export interface Explanation {
  rule: string;
  title: string;
  why: string;
  example: string;
  tier: string;
  advice: string;
}

/** Every rule there is, by id. */
export const RULES: readonly Explanation[] = ALL_RULES.map(({ id, title, why, example, tier, advice }) => ({
  rule: id,
  title,
  why,
  example,
  tier,
  advice,
}));

export function explain(rule: string): Explanation | undefined {
  return RULES.find((known) => known.rule === rule);
}
