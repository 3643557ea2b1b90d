/** What is wrong with a value, in one line that tells a model what to change. */
import type { Json, JsonObject } from '../types.ts';
import type { Failure, Path } from './evaluate.ts';
import { isOfType } from './evaluate.ts';
import { distinct, isObject, stringList, typesOf } from './keywords.ts';
import { inline, plural, quoted, shown } from './notes.ts';

const MAX_SENTENCES = 3;
const MAX_NAMES = 12;
const MAX_LINE = 600;

export function explain(failures: readonly Failure[]): string {
  const sentences = [...new Set(mostRelevant(failures).map(sentence))];
  const kept = sentences.slice(0, MAX_SENTENCES);
  if (sentences.length > kept.length)
    kept.push(`and ${plural(sentences.length - kept.length, 'more problem')}`);
  return inline(kept.join('; '), MAX_LINE);
}

/** A wrong type at a place makes whatever else is said of that place noise. */
function mostRelevant(failures: readonly Failure[]): readonly Failure[] {
  const mistyped = new Set(
    failures.filter(({ keyword }) => keyword === 'type').map(({ path }) => JSON.stringify(path)),
  );
  return failures.filter(({ keyword, path }) => keyword === 'type' || !mistyped.has(JSON.stringify(path)));
}

function sentence(failure: Failure): string {
  const { keyword, schema, value, path } = failure;
  const at = placeOf(path);
  const got = `got ${valueWords(value)}`;
  const limit = shown(schema[keyword]);
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return `${placeOf([...path, failure.name!])} is required but missing`;
    case 'type':
      return `${at} must be ${typeWords(typesOf(schema))}, ${got}`;
    case 'const':
      return `${at} must be ${limit}, ${got}`;
    case 'enum':
      return `${at} must be one of ${listed((schema['enum'] as Json[]).map((item) => shown(item)))}, ${got}`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `${placeOf([...path, failure.name!])} is not known here${knownNames(schema)}`;
    case 'propertyNames':
      return `${quoted(failure.name!)} is not allowed as a member name${path.length === 0 ? '' : ` of ${at}`}`;
    case 'false':
      return path.length === 0 ? 'no arguments are accepted' : `${at} must not be given`;
    case 'not':
      return `${at} must not be ${notWords(schema['not'])}`;
    case 'minimum':
      return `${at} must be at least ${limit}, ${got}`;
    case 'maximum':
      return `${at} must be at most ${limit}, ${got}`;
    case 'exclusiveMinimum':
      return `${at} must be greater than ${limit}, ${got}`;
    case 'exclusiveMaximum':
      return `${at} must be less than ${limit}, ${got}`;
    case 'multipleOf':
      return `${at} must be a multiple of ${limit}, ${got}`;
    case 'minLength':
      return `${at} must have at least ${plural(Number(limit), 'character')}, ${got}`;
    case 'maxLength':
      return `${at} must have at most ${plural(Number(limit), 'character')}, got ${lengthOf(value)}`;
    case 'pattern':
      return `${at} must match the pattern ${shown(schema['pattern'], 100)}, ${got}`;
    case 'minItems':
      return `${at} must have at least ${plural(Number(limit), 'item')}, got ${(value as Json[]).length}`;
    case 'maxItems':
      return `${at} must have at most ${plural(Number(limit), 'item')}, got ${(value as Json[]).length}`;
    case 'items':
      return `${at} must have at most ${plural(Number(failure.name), 'item')}, got ${(value as Json[]).length}`;
    case 'uniqueItems':
      return `${at} must not have the same item twice`;
    case 'contains':
      return `${at} lacks an item that it must contain`;
    case 'maxContains':
      return `${at} has too many items of one kind (at most ${limit})`;
    case 'minProperties':
      return `${at} must have at least ${plural(Number(limit), 'member')}`;
    case 'maxProperties':
      return `${at} must have at most ${plural(Number(limit), 'member')}`;
    default:
      return union(failure, at);
  }
}

function union(failure: Failure, at: string): string {
  const { schema, keyword, path, value } = failure;
  const all = failure.branches ?? [];
  const branches = (schema[keyword] as Json[]) ?? [];
  const fitting = branches.filter((_, index) => all[index]?.length === 0);
  const where = path.length === 0 ? '' : ` in ${at}`;
  if (fitting.length > 1) {
    const labels = fitting.map(requiredWords);
    if (labels.every((label) => label !== '') && new Set(labels).size === labels.length) {
      const words =
        labels.length === 2 ? `either ${labels.join(' or ')}, not both` : `exactly one of ${listed(labels)}`;
      return `give ${words}${where}`;
    }
    return `${at} fits ${fitting.length} variants, but must fit exactly one: leave out what belongs to the others`;
  }

  const missing = all.map((found) =>
    found.every((one) => one.keyword === 'required' && samePath(one.path, path)) ? found : [],
  );
  if (all.length > 1 && missing.every((found) => found.length > 0)) {
    const labels = [
      ...new Set(branches.map((branch, index) => requiredWords(branch) || missingWords(missing[index]!))),
    ];
    if (labels.length > 1)
      return `give ${labels.length === 2 ? 'either ' : 'one of '}${listed(labels, 'or')}${where}`;
  }

  const types = all.map((found) => found.find((one) => one.keyword === 'type' && samePath(one.path, path)));
  if (types.every((found) => found !== undefined)) {
    const names = [...new Set(types.flatMap((found) => typesOf(found.schema)))];
    return `${at} must be ${typeWords(names)}, got ${valueWords(value)}`;
  }

  const open = all.filter((_, index) => types[index] === undefined);
  const tags = open.map((found) => found.find((one) => ['const', 'enum'].includes(one.keyword)));
  const untagged = open.filter((_, index) => tags[index] === undefined);
  const tagged = tags.filter((tag) => tag !== undefined);
  if (untagged.length === 0 && tagged.every((tag) => samePath(tag.path, tagged[0]!.path))) {
    const values = tagged.flatMap(({ schema }) =>
      'const' in schema ? [schema['const']!] : (schema['enum'] as Json[]),
    );
    const unique = distinct(values);
    const words = unique.map((item) => shown(item));
    return `${placeOf(tagged[0]!.path)} must be ${words.length === 1 ? '' : 'one of '}${listed(words)}, got ${valueWords(tagged[0]!.value)}`;
  }
  const candidates = untagged.length > 0 ? untagged : open;
  const best = candidates.reduce(
    (best, found) => (closeness(found) > closeness(best) ? found : best),
    candidates[0] ?? [],
  );
  return candidates.length === 1
    ? explain(best)
    : `${at} fits none of the ${all.length} variants; for the closest one: ${explain(best)}`;
}

/** Deeper and fewer failures are nearer to what was meant. */
function closeness(failures: readonly Failure[]): number {
  return Math.max(0, ...failures.map(({ path }) => path.length)) - failures.length;
}

function requiredWords(branch: Json | undefined): string {
  return isObject(branch) ? namesTogether(stringList(branch['required'])) : '';
}

function missingWords(failures: readonly Failure[]): string {
  return namesTogether(failures.map(({ name }) => name ?? ''));
}

function namesTogether(names: readonly string[]): string {
  return names.map((name) => quoted(name)).join(' and ');
}

function knownNames(schema: JsonObject): string {
  const names = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  return names.length === 0
    ? ', and nothing else is'
    : `; known are ${listed(
        names.map((name) => quoted(name)),
        'and',
      )}`;
}

function notWords(not: Json | undefined): string {
  if (!isObject(not)) return 'given';
  if (Array.isArray(not['enum'])) return `one of ${listed(not['enum'].map((item) => shown(item)))}`;
  if ('const' in not) return shown(not['const']);
  const required = stringList(not['required']);
  if (required.length > 0) return `given with ${namesTogether(required)}`;
  return typesOf(not).length > 0 && Object.keys(not).length === 1
    ? typeWords(typesOf(not))
    : `valid against ${shown(not, 120)}`;
}

function typeWords(types: readonly string[]): string {
  return listed(
    types.map((type) => (type === 'null' ? 'null' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`)),
    'or',
  );
}

function lengthOf(value: Json): number {
  return typeof value === 'string' ? Array.from(value).length : 0;
}

function valueWords(value: Json): string {
  if (value === null) return 'null';
  const type = ['array', 'object', 'boolean', 'number', 'string'].find((type) => isOfType(value, type))!;
  return type === 'array' || type === 'object' ? `an ${type}` : `the ${type} ${shown(value)}`;
}

function listed(words: readonly string[], last = ''): string {
  const kept = words.slice(0, MAX_NAMES);
  if (words.length > MAX_NAMES) return `${kept.join(', ')} and ${words.length - MAX_NAMES} more`;
  if (last === '' || kept.length < 2) return kept.join(', ');
  return `${kept.slice(0, -1).join(', ')} ${last} ${kept.at(-1)}`;
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}

function placeOf(path: Path): string {
  if (path.length === 0) return 'the arguments object';
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else if (/^[\w$@-]+$/.test(key)) text += `${text === '' ? '' : '.'}${key}`;
    else text += `[${shown(key)}]`;
  }
  return quoted(text, 120);
}
