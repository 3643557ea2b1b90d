import type { JsonObject } from '../types.ts';

/** What one provider's schema reader accepts; the rules of each are in docs/dialects.md. */
export type Profile =
  | 'anthropic'
  | 'anthropic-strict'
  | 'openai'
  | 'openai-strict'
  | 'gemini-json-schema'
  | 'gemini-openapi';

export interface Lowered {
  /** A schema that the profile's API accepts. */
  schema: JsonObject;
  /** What was changed, in words, in a stable order; empty when nothing was but `$schema` left aside. */
  changes: string[];
  /** Property renames that were made, JSON pointer of the object schema + original name to new name. */
  renamed: Record<string, string>;
  /** The inverse: arguments as the model sent them to arguments for the original schema. Never throws on any JSON. */
  restore(args: JsonObject): JsonObject;
}

/**
 * Makes a copy of a tool's input schema that the profile's API accepts.
 * @returns the lowered schema, or `{failed}` with the reason when the profile cannot carry it (strict profiles, or limits).
 */
export declare function lower(schema: JsonObject, profile: Profile): Lowered | { failed: string };
