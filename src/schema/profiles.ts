/** The rules of each profile, as data. docs/dialects.md says where they come from. */
import type { Json, JsonObject } from '../types.ts';
import { typesOf } from './keywords.ts';
import { isExpression } from './pattern.ts';

/** What one provider's schema reader accepts; the rules of each are in docs/dialects.md. */
export type Profile =
  | 'anthropic'
  | 'anthropic-strict'
  | 'openai'
  | 'openai-strict'
  | 'gemini-json-schema'
  | 'gemini-openapi';

export interface Rules {
  /** The keywords that may be written. Absent: all of 2020-12. */
  keywords?: ReadonlySet<string>;
  /** Keywords refused at the root beside those. */
  rootRefuses: readonly string[];
  /**
   * The reader knows no merging: `allOf` and siblings of `$ref` are merged, a union stands alone in its node,
   * every node has a type, and definitions live in `$defs`.
   */
  flat: boolean;
  /** Schema-enforced generation: objects are closed, and what cannot be said exactly enough is refused. */
  strict: boolean;
  /** Every member is required; optional ones may be null instead. */
  requireAll: boolean;
  references: 'kept' | 'inlined';
  recursion: 'kept' | 'cut' | 'refused';
  /** Names of members, and whether the rule holds below the root too. */
  names?: { accepts: RegExp; everywhere: boolean };
  /** Which values `enum` and `const` may hold. */
  enums: 'any' | 'scalars' | 'strings and numbers' | 'strings';
  /** Values of `format`: of strings, and of numbers where they differ. Absent: any. */
  formats?: ReadonlySet<string>;
  numberFormats?: ReadonlySet<string>;
  /** Types in upper case, one per node, with `nullable`. */
  openapi: boolean;
  /** Objects must have `properties`, arrays `items`. */
  needs: readonly ('properties' | 'items')[];
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const UNIONS = ['allOf', 'anyOf', 'oneOf'];
const ANTHROPIC_NAMES = { accepts: /^[a-zA-Z0-9_.-]{1,64}$/, everywhere: false };

const ANTHROPIC: Rules = {
  rootRefuses: UNIONS,
  flat: false,
  strict: false,
  requireAll: false,
  references: 'kept',
  recursion: 'kept',
  names: ANTHROPIC_NAMES,
  enums: 'any',
  openapi: false,
  needs: [],
};

const OPENAI: Rules = {
  rootRefuses: [...UNIONS, 'enum', 'not'],
  flat: false,
  strict: false,
  requireAll: false,
  references: 'kept',
  recursion: 'kept',
  enums: 'any',
  openapi: false,
  needs: ['properties', 'items'],
};

const GEMINI: Rules = {
  ...OPENAI,
  keywords: words(
    `$id $defs $ref type format title description enum items prefixItems minItems maxItems minimum maximum anyOf properties
    additionalProperties required propertyOrdering`,
  ),
  rootRefuses: ['anyOf', 'enum'],
  flat: true,
  recursion: 'cut',
  enums: 'strings and numbers',
  needs: [],
};

export const PROFILES: Readonly<Record<Profile, Rules>> = {
  anthropic: ANTHROPIC,
  'anthropic-strict': {
    ...ANTHROPIC,
    keywords: words(
      `$id $defs $ref type enum const anyOf default format minItems pattern title description properties required
      additionalProperties items`,
    ),
    rootRefuses: ['anyOf', 'enum', 'const'],
    flat: true,
    strict: true,
    recursion: 'refused',
    enums: 'scalars',
    formats: words('date-time time date duration email hostname uri ipv4 ipv6 uuid'),
    needs: ['properties', 'items'],
  },
  openai: OPENAI,
  'openai-strict': {
    ...OPENAI,
    keywords: words(
      `$defs $ref type enum const anyOf pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems
      maxItems title description properties required additionalProperties items`,
    ),
    rootRefuses: ['anyOf', 'enum', 'const'],
    flat: true,
    strict: true,
    requireAll: true,
    enums: 'scalars',
    formats: words('date-time time date duration email hostname ipv4 ipv6 uuid'),
  },
  'gemini-json-schema': GEMINI,
  'gemini-openapi': {
    ...GEMINI,
    keywords: words(
      `type format title description nullable enum items minItems maxItems minLength maxLength pattern properties
      minProperties maxProperties required propertyOrdering anyOf minimum maximum default example`,
    ),
    references: 'inlined',
    names: { accepts: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/, everywhere: true },
    enums: 'strings',
    formats: words('enum date-time'),
    numberFormats: words('int32 int64 float double'),
    openapi: true,
    needs: ['items'],
  },
};

/** Whether a profile writes a keyword as it stands in a schema; what it does not write is told in the description. */
export function writes(rules: Rules, keyword: string, schema: JsonObject, root: boolean): boolean {
  const value = schema[keyword];
  if (root && rules.rootRefuses.includes(keyword)) return false;
  if (rules.keywords === undefined) return true;
  if (!rules.keywords.has(keyword)) return false;
  if (keyword === 'format') {
    const formats = typesOf(schema).includes('string')
      ? rules.formats
      : (rules.numberFormats ?? rules.formats);
    return formats === undefined || (typeof value === 'string' && formats.has(value));
  }
  if (keyword === '$id') return root;
  if (rules.strict && keyword === 'pattern') return isSimplePattern(value, rules);
  if (rules.strict && !rules.requireAll && keyword === 'minItems') return value === 0 || value === 1;
  return true;
}

/** Grammars are made of plain regular expressions: no look-around, back-reference, word boundary or large repetition. */
function isSimplePattern(source: Json | undefined, rules: Rules): boolean {
  if (typeof source !== 'string') return false;
  if (/\(\?[=!<]|\\[1-9kbB]/.test(source)) return false;
  if (
    !rules.requireAll &&
    [...source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].some(([, low, high]) => Number(high ?? low) > 100)
  )
    return false;
  return isExpression(source);
}
