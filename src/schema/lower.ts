/** Lowering: a schema as a server wrote it becomes one that a provider's API accepts, with the way back. */
import type { JsonObject } from '../types.ts';
import { createCombiner } from './combine.ts';
import { readSchema } from './document.ts';
import type { SchemaDocument } from './document.ts';
import { evaluate, Unfinished } from './evaluate.ts';
import { exactly } from './exact.ts';
import { MAX_EXPANSION, MAX_NODES } from './limits.ts';
import { PROFILES } from './profiles.ts';
import type { Profile, Rules } from './profiles.ts';
import { restoreValue } from './restore.ts';
import { shapeRoot, WRAPPER } from './root.ts';
import { CannotCarry, overStrictLimits, TooLarge } from './strict.ts';
import { writeRoot } from './write.ts';

export type { Profile };

export interface Lowered {
  /** A schema that the profile's API accepts. */
  schema: JsonObject;
  /** What was changed, in words, in a stable order; empty when nothing was but `$schema` left aside. */
  changes: string[];
  /** Property renames that were made: JSON pointer of the property in the original schema to its new name. */
  renamed: Record<string, string>;
  /**
   * The inverse: arguments as the model sent them to arguments for the original schema. Never throws on any JSON.
   * Where a root that is no object had to be wrapped, this is the bare value again, whatever its type.
   */
  restore: (args: JsonObject) => JsonObject;
}

/**
 * Makes a schema that the profile's API accepts of a tool's input schema, which it leaves alone. What goes out unchanged may
 * be the same object: neither may be changed afterwards.
 * @returns the lowered schema, or `{failed}` with the reason when the profile cannot carry it (strict profiles, or
 * references that lead nowhere). A schema that is only too large becomes an open object in profiles that are not strict.
 */
export function lower(schema: JsonObject, profile: Profile): Lowered | { failed: string } {
  const rules = PROFILES[profile];
  const exact = exactly(schema, rules);
  if (exact !== undefined) return unchanged(exact, rules);
  const document = readSchema(schema, rules.openapi);
  if ('refused' in document) {
    return document.size && !rules.strict
      ? openObject(schema, rules, document.refused)
      : { failed: document.refused };
  }
  try {
    return lowerDocument(document, rules);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TooLarge) {
      const reason = error instanceof TooLarge ? error.message : 'the schema is nested too deep';
      return rules.strict ? { failed: reason } : openObject(schema, rules, reason);
    }
    if (error instanceof CannotCarry) return { failed: error.message };
    throw error;
  }
}

function unchanged(schema: JsonObject, rules: Rules): Lowered | { failed: string } {
  const over = rules.strict ? overStrictLimits(schema, rules) : undefined;
  if (over !== undefined) return { failed: over };
  return { schema, changes: [], renamed: {}, restore: (args) => args };
}

function lowerDocument(document: SchemaDocument, rules: Rules): Lowered | { failed: string } {
  const { notes } = document;
  const limit = rules.flat ? MAX_EXPANSION : 2 * MAX_NODES;
  let written = 0;
  const charge = (amount: number): void => {
    written += amount;
    if (written > limit) throw new TooLarge(`written out, the schema has more than ${limit} nodes`);
  };
  const combiner = createCombiner((ref) => document.target(ref), charge);
  const original = typeof document.root === 'boolean' ? {} : document.root;
  const { schema: root, wrapped } = shapeRoot(original, combiner, notes);
  const { schema, plan, renamed, inverts } = writeRoot({ document, rules, combiner, notes, charge }, root);
  const over = rules.strict ? overStrictLimits(schema, rules) : undefined;
  if (over !== undefined) return { failed: over };
  const restore = (args: JsonObject): JsonObject => {
    const restored = inverts ? (restoreValue(plan, args) as JsonObject) : args;
    return wrapped && Object.hasOwn(restored, WRAPPER) ? (restored[WRAPPER] as JsonObject) : restored;
  };
  const united = root !== original && rules.requireAll;
  return {
    schema,
    changes: notes.lines(),
    renamed,
    restore: united ? droppingSpareNulls(document, root, restore) : restore,
  };
}

/**
 * A merged union asks for the members of all its branches, so null may stand for "not of this branch" even where one
 * branch allows null. When keeping such nulls makes the arguments invalid and dropping them does not, they go.
 */
function droppingSpareNulls(
  document: SchemaDocument,
  root: JsonObject,
  restore: Lowered['restore'],
): Lowered['restore'] {
  const fits = (value: JsonObject): boolean => {
    try {
      return evaluate(document, document.root, value).failures.length === 0;
    } catch (error) {
      if (error instanceof Unfinished) return false;
      throw error;
    }
  };
  const required = new Set(Array.isArray(root['required']) ? root['required'] : []);
  return (args) => {
    const restored = restore(args);
    if (typeof restored !== 'object' || restored === null || Array.isArray(restored)) return restored;
    const sparse = Object.fromEntries(
      Object.entries(restored).filter(([name, value]) => value !== null || required.has(name)),
    );
    return !fits(restored) && fits(sparse) ? sparse : restored;
  };
}

function openObject(schema: JsonObject, rules: Rules, reason: string): Lowered {
  const description = typeof schema['description'] === 'string' ? { description: schema['description'] } : {};
  return {
    schema: { type: rules.openapi ? 'OBJECT' : 'object', properties: {}, ...description },
    changes: [`replaced by an open object: ${reason}`],
    renamed: {},
    restore: (args) => args,
  };
}
