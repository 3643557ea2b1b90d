/** What the parts of the writing share: write.ts chooses, plain.ts and members.ts write, definitions.ts keeps references whole. */
import type { Json, JsonObject } from '../types.ts';
import type { Charge, Combiner } from './combine.ts';
import type { SchemaDocument } from './document.ts';
import type { Budget } from './evaluate.ts';
import type { Schema } from './keywords.ts';
import type { Notes } from './notes.ts';
import type { Rules } from './profiles.ts';
import type { Plan } from './restore.ts';

export interface Written {
  schema: Schema;
  plan: Plan;
}

export interface Writing {
  document: SchemaDocument;
  rules: Rules;
  combiner: Combiner;
  notes: Notes;
  charge: Charge;
}

export interface Definitions {
  isRecursive(target: JsonObject): boolean;
  /** A reference to a target that is written into `$defs`. */
  refer(ref: string, target: JsonObject, place: string[], level: number): { schema: JsonObject; plan: Plan };
  /** A schema is written where it stands; references inside are settled by `finish`. */
  stands(source: JsonObject, written: JsonObject, place: string[]): void;
  /** Settles all references and writes what they need. */
  finish(root: JsonObject, plan: Plan): JsonObject;
}

/** What the parts of the writing share. */
export interface Writer extends Writing {
  definitions: Definitions;
  /** JSON pointer of each renamed property to its new name. */
  renamed: Map<string, string>;
  /** Whether any value has to be changed on its way back. */
  inverts: boolean;
  /** `place` is where the schema stands in the original; `level` how often a recursion was entered on the way. */
  write(schema: Schema, place: string[], level: number): Written;
  /** How many things a schema of the original finds wrong with a value. */
  misfit(schema: Schema, value: Json, budget?: Budget): number;
  /** Adds what a keyword says to `words`, and the change to the notes. */
  tellInWords(keyword: string, value: Json, words: string[], place: readonly string[]): void;
}

/** One schema on its way out. */
export interface Plain {
  writer: Writer;
  schema: JsonObject;
  place: string[];
  level: number;
  /** Names of members to the names shown, for those that change. */
  names: Map<string, string>;
  plan: Plan;
  out: JsonObject;
}
