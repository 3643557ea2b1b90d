/** What a rule is: data that explains it, and one small pure function. */
import type { Finding, Severity, Tier } from '../findings.ts';
import type { Item, JsonObject } from '../../types.ts';

/** One string of an item: a value, or the key of a member. */
export interface Leaf extends Item {
  /** JSON pointer of the value, or of the member whose key this is. */
  pointer: string;
  inKey: boolean;
  /** As the server sent it. */
  raw: string;
  /** `name` of the item itself; `text`: titles, descriptions, instructions, where prose belongs; `value`: everything else. */
  place: 'name' | 'text' | 'value';
}

/**
 * What a leaf is for, which is all that a rule may know of where it stands. identifier: the name of a tool or prompt.
 * argument: the name of an argument of a prompt. property: the name of an input or output. key: any other key.
 */
export type Role = 'identifier' | 'argument' | 'property' | 'key' | Leaf['place'];

/** How phrase rules read a leaf: NFKC, invisible characters out, confusables folded, white space collapsed. */
export interface View {
  text: string;
  /** `norm`, or how it was decoded: `tags`, `base64`, `hex`, `percent`, ... A hit in decoded text is always hard. */
  how: string;
  /** The raw offsets of a span of `text`. */
  raw(start: number, end: number): [number, number];
}

/** Where in the raw leaf a rule hit; `tier` and `severity` where this hit differs from the rule's own. */
export interface Hit {
  start: number;
  end: number;
  tier?: Tier;
  severity?: Severity;
  decoded?: string;
}

export interface Explained {
  id: string;
  title: string;
  tier: Tier;
  severity: Severity;
  why: string;
  example: string;
  advice: string;
}

/** Byte rules: run on the raw leaf. */
export interface LeafRule extends Explained {
  on: 'leaf';
  find(raw: string, role: Role): Hit[];
}

/** Phrase rules: run on each view of a leaf, spans in `view.text`. */
export interface PhraseRule extends Explained {
  on: 'phrase';
  patterns: readonly RegExp[];
  /** A hit that only mentions (quoted, "such as") is one tier softer. */
  mention?: true;
  /** `wanted`: indexes of the patterns to run, those that a survey of the text told of. */
  find(text: string, wanted: readonly number[]): Hit[];
}

/** Rules over a whole item: schemas, hints, icons, limits. */
export interface ItemRule extends Explained {
  on: 'item';
  find(item: Item & { value: JsonObject }, server: { label: string }): Omit<Finding, keyof Item | 'rule'>[];
}

export type Rule = LeafRule | PhraseRule | ItemRule;
