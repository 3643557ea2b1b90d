import type { Json, JsonObject } from '../types.ts';

export type Verdict =
  | { ok: true }
  /** One line that a model can act on. */
  | { ok: false; problem: string }
  /** The check could not be made (limits, hostile pattern, unknown dialect): the caller decides, failing closed. */
  | { ok: 'unchecked'; reason: string };

/** Validates a value against the original schema (2020-12 unless `$schema` says draft-07 or older). Bounded in depth, nodes and time. */
export declare function validate(schema: JsonObject | boolean, value: Json): Verdict;
