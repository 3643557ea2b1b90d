/** Changes for programs. Members may be added; docs/cli.md describes them. */
import type { JsonObject } from '../../types.ts';
import type { Review } from './review.ts';

/** Texts and facts in it are drawn; names, pointers and digests are as they are. */
export function diffJson(reviews: readonly Review[]): JsonObject {
  return {
    waiting: reviews.reduce((sum, { waiting }) => sum + waiting, 0),
    servers: reviews.map(({ label, reviewed, note, waiting, items, gone }) => ({
      label,
      reviewed: reviewed === undefined ? null : { ...reviewed },
      ...(note !== undefined && { note }),
      waiting,
      changes: items.map(({ verdicts, details, findings, tokens, ...item }) => ({
        ...item,
        verdicts: verdicts.map((verdict) => ({ ...verdict })),
        details: details.map(({ runs, ...detail }) => ({
          ...detail,
          ...(runs !== undefined && { runs: runs.map((run) => ({ ...run })) }),
        })),
        findings: findings.map((finding) => ({ ...finding })),
        ...(tokens !== undefined && { tokens: { ...tokens } }),
      })),
      gone: gone.map((item) => ({ ...item })),
    })),
  };
}
