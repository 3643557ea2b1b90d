/** Keywords that an API ignores or refuses, told to the model in words instead. */
import type { Json, JsonObject } from '../types.ts';
import { isObject, stringList } from './keywords.ts';
import { plural, quoted, shown } from './notes.ts';

const MAX_VALUE = 200;

/** What a keyword says, or undefined when it says nothing to a model. */
export function keywordWords(keyword: string, value: Json | undefined): string | undefined {
  const json = (): string => shown(value, MAX_VALUE);
  switch (keyword) {
    case 'const':
      return `must be ${json()}`;
    case 'enum':
      return Array.isArray(value)
        ? `one of ${value
            .slice(0, 50)
            .map((item) => shown(item))
            .join(', ')}${value.length > 50 ? ', …' : ''}`
        : undefined;
    case 'default':
      return `default ${json()}`;
    case 'examples':
      return Array.isArray(value)
        ? `for example ${value
            .slice(0, 5)
            .map((item) => shown(item))
            .join(', ')}`
        : undefined;
    case 'format':
      return `format ${shown(value).replaceAll('"', '')}`;
    case 'pattern':
      return `pattern ${shown(value, MAX_VALUE)}`;
    case 'minLength':
      return `at least ${plural(Number(value), 'character')}`;
    case 'maxLength':
      return `at most ${plural(Number(value), 'character')}`;
    case 'minimum':
      return `minimum ${json()}`;
    case 'maximum':
      return `maximum ${json()}`;
    case 'exclusiveMinimum':
      return `greater than ${json()}`;
    case 'exclusiveMaximum':
      return `less than ${json()}`;
    case 'multipleOf':
      return `a multiple of ${json()}`;
    case 'minItems':
      return `at least ${plural(Number(value), 'item')}`;
    case 'maxItems':
      return `at most ${plural(Number(value), 'item')}`;
    case 'uniqueItems':
      return value === true ? 'no item twice' : undefined;
    case 'minProperties':
      return `at least ${plural(Number(value), 'member')}`;
    case 'maxProperties':
      return `at most ${plural(Number(value), 'member')}`;
    case 'prefixItems':
      return `items in order: ${json()}`;
    case 'contains':
      return `contains an item like ${json()}`;
    case 'minContains':
      return `at least ${json()} of these`;
    case 'maxContains':
      return `at most ${json()} of these`;
    case 'not':
      return isObject(value) && stringList(value['required']).length > 0 && Object.keys(value).length === 1
        ? `not with ${stringList(value['required'])
            .map((name) => quoted(name))
            .join(' and ')} given`
        : `not ${json()}`;
    case 'if':
      return `if ${json()}`;
    case 'then':
      return `then ${json()}`;
    case 'else':
      return `else ${json()}`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return isObject(value) && Object.keys(value).length > 0 ? `other members: ${json()}` : undefined;
    case 'patternProperties':
      return `members by pattern: ${json()}`;
    case 'propertyNames':
      return `member names: ${json()}`;
    case 'dependentRequired':
      return isObject(value)
        ? Object.entries(value)
            .map(
              ([name, wanted]) =>
                `${quoted(name)} needs ${stringList(wanted)
                  .map((one) => quoted(one))
                  .join(' and ')}`,
            )
            .join('; ')
        : undefined;
    case 'dependentSchemas':
      return `depending on members given: ${json()}`;
    case 'unevaluatedItems':
      return value === false ? 'no other items' : undefined;
    case 'deprecated':
      return value === true ? 'deprecated' : undefined;
    case 'title':
      return typeof value === 'string' && value !== '' ? value : undefined;
    case 'contentEncoding':
    case 'contentMediaType':
      return `${keyword === 'contentEncoding' ? 'encoded as' : 'holds'} ${json()}`;
    default:
      return undefined;
  }
}

/** A description with what had to be said in words; the same words are not said twice. */
export function describe(description: Json | undefined, words: readonly string[]): string | undefined {
  const text = typeof description === 'string' ? description : '';
  const added = [...new Set(words)].filter((word) => word !== '' && !text.includes(word)).join('; ');
  if (added === '') return typeof description === 'string' ? description : undefined;
  return text === '' ? added : `${text} (${added})`;
}

export function joinTexts(first: Json | undefined, second: Json | undefined): string | undefined {
  const texts = [first, second].filter((text) => typeof text === 'string' && text !== '') as string[];
  if (texts.length === 2 && texts[0]!.includes(texts[1]!)) return texts[0];
  return texts.length === 0 ? undefined : texts.join(' ');
}

/** The part of a schema that is for reading. */
export function withDescription(schema: JsonObject, description: string | undefined): JsonObject {
  return description === undefined ? schema : { ...schema, description };
}
