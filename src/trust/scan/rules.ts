/** All rules, in the order of their findings. */
import { ACROSS_RULES } from './across.ts';
import { ADDRESS_ASKED } from './ask.ts';
import { BIDI, BLANKS, CONTROLS, SELECTORS, STRAY, TAGS, WIDTHLESS_TEXT } from './bytes.ts';
import { CONFIG_RULES } from './config.ts';
import { CONVERSATIONS, PATH, SHELL, TAKING, TRANSFER } from './harvest.ts';
import { LANGUAGES } from './languages.ts';
import { LEAK } from './leaks.ts';
import { ACTIVE, AUTHORITY, HIDDEN, TEMPLATE } from './markup.ts';
import {
  ADDRESSED,
  CARRYING,
  COERCION,
  CONCEAL,
  DECODE,
  DISPARAGEMENT,
  NOTICE,
  OVERRIDE,
  PERSISTENCE,
  PREFERENCE,
  PREREQUISITE,
  PRETEXT,
  PRIORITY,
  REWRITE,
  SCOPE,
} from './orders.ts';
import { RESULT_RULES } from './result-rules.ts';
import type { Explained, LeafRule, PhraseRule } from './rule.ts';
import { SCHEMA_RULES } from './schema.ts';
import { SECRET } from './secrets.ts';
import { DISGUISED, NAME, PADDING, SPELLED_ESCAPE, STYLED, UNASSIGNED } from './shapes.ts';

/** Need a text that is more than printable ASCII. */
export const CHARACTER_RULES: readonly LeafRule[] = [
  TAGS,
  BIDI,
  STRAY,
  WIDTHLESS_TEXT,
  SELECTORS,
  CONTROLS,
  UNASSIGNED,
  BLANKS,
  DISGUISED,
  STYLED,
];
export { NAME, PADDING, SECRET, SPELLED_ESCAPE };

export const PHRASE_RULES: readonly PhraseRule[] = [
  OVERRIDE,
  CONCEAL,
  AUTHORITY,
  TEMPLATE,
  PREREQUISITE,
  PRIORITY,
  REWRITE,
  COERCION,
  PREFERENCE,
  PATH,
  TAKING,
  TRANSFER,
  CONVERSATIONS,
  HIDDEN,
  ACTIVE,
  SHELL,
  NOTICE,
  PRETEXT,
  PERSISTENCE,
  LANGUAGES,
  ADDRESSED,
  CARRYING,
  DECODE,
  DISPARAGEMENT,
  SCOPE,
];

export const ENCODED: Explained = {
  id: 'I30',
  title: 'an encoded text that gives orders',
  tier: 'hard',
  severity: 'critical',
  why: 'What is encoded or invisible is not meant for whoever reviews it. That it says what a rule looks for leaves no doubt.',
  example: 'Base64 of "ignore previous instructions"',
  advice: 'Do not use this definition. The finding shows what it says.',
};

export const NEW_HOST: Explained = {
  id: 'I32',
  title: 'names a host',
  tier: 'note',
  severity: 'low',
  why: 'Addresses are common in descriptions. One that an update adds deserves a look.',
  example: 'https://collector.example/ in a changed sentence',
  advice: 'Look at whose host it is.',
};

export const ODD_PLACE: Explained = {
  id: 'S03',
  title: 'an order in a place for values',
  tier: 'hard',
  severity: 'critical',
  why: 'Defaults, choices, patterns, names and members of the vendor are sent to the model, and nobody reads them as text.',
  example: 'a `default` that says what to read first',
  advice: 'Do not use this definition.',
};

export const SPLIT: Explained = {
  id: 'I33',
  title: 'an order spread over several texts',
  tier: 'hard',
  severity: 'critical',
  why: 'A model reads all texts of a server one after the other. Each part is harmless, together they are not.',
  example: 'one description that ends "Ignore all", and a next one that begins "previous instructions"',
  advice: 'Read the texts in their order.',
};

export const DEGRADED: Explained = {
  id: 'X00',
  title: 'not scanned to the end',
  tier: 'hard',
  severity: 'high',
  why: 'A rule failed, or there is more text than the scan reads. What was not read cannot be called clear.',
  example: 'a server with 20 MB of descriptions',
  advice: 'Show fewer of its tools, or report the failure to us.',
};

/** For `midspan scan --explain` and the documentation: by id. */
export const ALL_RULES: readonly Explained[] = [
  ...CHARACTER_RULES,
  SPELLED_ESCAPE,
  PADDING,
  NAME,
  ...PHRASE_RULES,
  ENCODED,
  SECRET,
  NEW_HOST,
  SPLIT,
  ...SCHEMA_RULES,
  ODD_PLACE,
  DEGRADED,
  ...ACROSS_RULES,
  ...CONFIG_RULES,
  ADDRESS_ASKED,
  ...RESULT_RULES,
  LEAK,
].sort((a, b) => (a.id < b.id ? -1 : 1));
