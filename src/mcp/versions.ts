/** The revisions of MCP as data. A new revision is a new row. */
import type { Era } from '../types.ts';

/** Newest first. */
const REVISIONS: readonly { version: string; era: Era }[] = [
  { version: '2026-07-28', era: 'modern' },
  { version: '2025-11-25', era: 'legacy' },
  { version: '2025-06-18', era: 'legacy' },
  { version: '2025-03-26', era: 'legacy' },
  { version: '2024-11-05', era: 'legacy' },
];

/** The revisions we speak of one era, newest first. */
export function versionsOf(era: Era): string[] {
  return REVISIONS.filter((revision) => revision.era === era).map((revision) => revision.version);
}

export function latestVersion(era: Era): string {
  return versionsOf(era)[0] as string;
}

/** The era of a revision we speak; undefined for any other text. */
export function eraOf(version: string): Era | undefined {
  return REVISIONS.find((revision) => revision.version === version)?.era;
}

/** The newest revision of `era` that both we and the peer's list have. Anything but a list of strings has none. */
export function commonVersion(offered: unknown, era: Era): string | undefined {
  if (!Array.isArray(offered)) return undefined;
  return versionsOf(era).find((version) => offered.includes(version));
}
