/** CONTRACT of the scan (owner: trust/scan). Pure: no I/O, same input, same findings in the same order. */
import type { Finding } from '../findings.ts';
import type { Surface } from '../../types.ts';

/** Changes whenever a rule does, so that a lock can say what it was reviewed with. Such as `scan/2026.12`. */
export declare const RULESET: string;

export interface Scanned {
  label: string;
  surface: Surface;
  /** True: its definitions were reviewed before (cross-server rules then ask instead of withholding). */
  approved?: boolean;
}

/** The rules that need one server only: bytes, phrases, decoded text, schemas, the concatenation of all leaves. Cached by content. */
export declare function scanServer(server: Scanned): Finding[];

export { scanAcross } from './across.ts';

/** Rules over added text alone, for diffs: a leaf's new text, with where it stood. */
export declare function scanText(
  text: string,
  where: { kind: Finding['kind']; key: string; pointer: string },
): Finding[];

/** Results are never blocked: bytes cleaned, what was found; `suspicious` raises taint. */
export declare function cleanResultText(text: string): {
  text: string;
  findings: Finding[];
  suspicious: boolean;
};

export { drawHidden } from './draw.ts';

export interface Explanation {
  rule: string;
  title: string;
  why: string;
  example: string;
  tier: string;
  advice: string;
}
export declare function explain(rule: string): Explanation | undefined;
export declare const RULES: readonly Explanation[];
