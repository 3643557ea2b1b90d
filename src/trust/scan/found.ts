/** How a rule over whole items writes down what it found. */
import type { Finding, Severity, Tier } from '../findings.ts';
import type { Item } from '../../types.ts';
import { drawHidden } from './draw.ts';

export type ItemFinding = Omit<Finding, keyof Item | 'rule'>;

interface Place {
  pointer: string;
  inKey?: boolean;
  start?: number;
  end?: number;
}

const EVIDENCE = 200;

/** `raw`: the text at that place, or a few words of ours where the place holds no text. */
export function found(place: Place, raw: string, tier: Tier, severity: Severity): ItemFinding {
  const { pointer, inKey, start = 0, end = raw.length } = place;
  const evidence = drawHidden(raw.slice(start, Math.min(end, start + EVIDENCE))).slice(0, EVIDENCE);
  return { tier, severity, pointer, ...(inKey === true && { inKey }), start, end, evidence };
}
