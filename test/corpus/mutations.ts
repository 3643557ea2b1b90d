/** Deterministic disguises: the same text hidden in other characters, encoded, or moved to a place where a value should stand. */
import type { JsonObject } from '../../src/types.ts';

const LOOKALIKES: Readonly<Record<string, string>> = {
  a: 'а',
  c: 'с',
  e: 'е',
  o: 'о',
  p: 'р',
  x: 'х',
  y: 'у',
};

const shifted = (text: string, from: number, to: number, by: number): string =>
  Array.from(text, (character) => {
    const code = character.codePointAt(0)!;
    return code >= from && code <= to ? String.fromCodePoint(code + by) : character;
  }).join('');

/** In the description of a harmless tool. */
const IN_TEXT: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  tags: (text) => shifted(text, 0x20, 0x7e, 0xe0000),
  'zero-width split': (text) => text.replace(/(\p{L}{2})(?=\p{L})/gu, '$1\u200B'),
  homoglyphs: (text) => text.replace(/[aceopxy]/g, (letter) => LOOKALIKES[letter]!),
  fullwidth: (text) => shifted(text, 0x21, 0x7e, 0xfee0),
  base64: (text) => Buffer.from(text).toString('base64'),
  'HTML comment': (text) => `<!-- ${text} -->`,
};

/** Somewhere in the schema of a harmless tool. */
const IN_SCHEMA: Readonly<Record<string, (text: string) => JsonObject>> = {
  enum: (text) => ({ note: { type: 'string', enum: ['none', text] } }),
  default: (text) => ({ note: { type: 'string', default: text } }),
  title: (text) => ({ note: { type: 'string', title: text } }),
  'property name': (text) => ({ [text]: { type: 'string' } }),
};

export const MUTATIONS: readonly string[] = [...Object.keys(IN_TEXT), ...Object.keys(IN_SCHEMA)];

export function mutated(text: string, mutation: string): JsonObject {
  const hidden = IN_TEXT[mutation];
  const description = 'Converts a value between units.';
  const properties = { value: { type: 'number' }, ...IN_SCHEMA[mutation]?.(text) };
  return {
    name: 'convert_units',
    description: hidden === undefined ? description : `${description} ${hidden(text)}`,
    inputSchema: { type: 'object', properties },
  };
}
