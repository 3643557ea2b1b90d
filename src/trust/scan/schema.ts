/** The rules over whole items (S01 to S14). S03 is the phrase rules, in places where a value should stand. */
import type { ItemRule } from './rule.ts';
import { ADDRESSES, HINTS } from './schema-hints.ts';
import {
  DANGEROUS_VALUE,
  ECHO,
  HARVEST,
  MIRRORED_HEADER,
  PROTOTYPE_KEY,
  SECRET_INPUT,
  UNEXPLAINED,
} from './schema-inputs.ts';
import { LIMIT, OUTSIDE_REFERENCE, PATTERN, SIZE } from './schema-limits.ts';

export const SCHEMA_RULES: readonly ItemRule[] = [
  HARVEST,
  UNEXPLAINED,
  LIMIT,
  OUTSIDE_REFERENCE,
  PATTERN,
  DANGEROUS_VALUE,
  PROTOTYPE_KEY,
  ADDRESSES,
  MIRRORED_HEADER,
  SIZE,
  HINTS,
  SECRET_INPUT,
  ECHO,
];
