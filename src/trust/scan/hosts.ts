/** Hosts that a text names (I32). */
import { drawHidden } from './draw.ts';
import type { TextFinding } from './leaf.ts';
import type { Explained } from './rule.ts';

const MOST = 20;

export function findingsOfHosts(text: string, { id, tier, severity }: Explained): TextFinding[] {
  return Array.from(text.matchAll(/\bhttps?:\/\/[^\s/"'`<>)\\]{1,253}/gi))
    .slice(0, MOST)
    .map(({ 0: host, index }) => ({
      rule: id,
      tier,
      severity,
      start: index,
      end: index + host.length,
      evidence: drawHidden(host.slice(0, 200)).slice(0, 200),
    }));
}
