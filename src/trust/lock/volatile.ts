/**
 * Places of a definition that legitimately differ from start to start or machine to machine. What may stand there is one of a
 * closed set, so that no sentence ever fits.
 */
import { canonicalJson } from '../../canonical.ts';
import { pointerTo } from '../../schema/reference.ts';
import type { Json, JsonObject } from '../../types.ts';
import type { ItemPin } from './lock.ts';

/** Longest text that a placeholder takes. Characters. */
export const LONGEST_VOLATILE = 128;

const PLACEHOLDERS: { [name: string]: RegExp } = {
  '{os}': /linux|darwin|win32|macOS|Windows/,
  '{datetime}': /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})/,
  '{date}': /\d{4}-\d{2}-\d{2}/,
  '{semver}': /\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]{1,40})?/,
  '{uuid}': /[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}/,
  '{int}': /-?\d{1,19}/,
};

/** Whether an item is the pinned one but for its volatile places, each of which holds what its placeholder allows. */
export function fitsVolatile({ definition, volatile = [] }: ItemPin, item: JsonObject): boolean {
  if (volatile.length === 0) return false;
  let [was, now]: [Json, Json] = [definition, item];
  for (const { pointer, placeholder } of volatile) {
    const [before, after] = [textAt(was, pointer), textAt(now, pointer)];
    if (before === undefined || after === undefined) return false;
    const fixed = [withPlaceholder(before, placeholder), withPlaceholder(after, placeholder)];
    if (fixed[0] === undefined || fixed[0] !== fixed[1]) return false;
    was = replacedAt(was, pointer, placeholder);
    now = replacedAt(now, pointer, placeholder);
  }
  return canonicalJson(was) === canonicalJson(now);
}

/** A text with the first thing that fits put out, or undefined when nothing fits. */
function withPlaceholder(text: string, placeholder: string): string | undefined {
  const pattern = PLACEHOLDERS[placeholder];
  const match = pattern?.exec(text);
  if (match === undefined || match === null || match[0].length > LONGEST_VOLATILE) return undefined;
  return `${text.slice(0, match.index)}${placeholder}${text.slice(match.index + match[0].length)}`;
}

/** The places where two listings of one item differ in what a placeholder allows; none when anything else differs, too. */
export function volatileBetween(a: JsonObject, b: JsonObject): NonNullable<ItemPin['volatile']> {
  const volatile: NonNullable<ItemPin['volatile']> = [];
  for (const pointer of differences(a, b, '')) {
    const [first, second] = [textAt(a, pointer), textAt(b, pointer)];
    const placeholder = Object.keys(PLACEHOLDERS).find((name) => {
      const fixed = first === undefined ? undefined : withPlaceholder(first, name);
      return fixed !== undefined && second !== undefined && fixed === withPlaceholder(second, name);
    });
    if (placeholder === undefined) return [];
    volatile.push({ pointer, placeholder });
  }
  return volatile;
}

function differences(a: Json, b: Json, at: string): string[] {
  if (canonicalJson(a) === canonicalJson(b)) return [];
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return [at];
  if (Array.isArray(a) !== Array.isArray(b)) return [at];
  const [before, after] = [a as JsonObject, b as JsonObject];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .sort()
    .flatMap((key) => differences(before[key] ?? null, after[key] ?? null, pointerTo(at, key)));
}

const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));

function textAt(value: Json, pointer: string): string | undefined {
  let at: Json | undefined = value;
  for (const step of stepsOf(pointer)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as { [step: string]: Json | undefined })[step];
  }
  return typeof at === 'string' ? at : undefined;
}

function replacedAt(value: Json, pointer: string, text: string): Json {
  const replace = (at: Json, steps: readonly string[]): Json => {
    const [step, ...rest] = steps;
    if (step === undefined) return text;
    if (Array.isArray(at))
      return at.map((item, index) => (String(index) === step ? replace(item, rest) : item));
    if (typeof at !== 'object' || at === null) return at;
    return Object.fromEntries(
      Object.entries(at).map(([key, member]) => [
        key,
        key === step ? replace(member ?? null, rest) : (member ?? null),
      ]),
    );
  };
  return replace(value, stepsOf(pointer));
}
