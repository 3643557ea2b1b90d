/** Calls as models make them: arguments as object or text, ids that are missing, repeated or of the wrong type. */
import type { Json, JsonObject } from '../types.ts';
import type { Call } from './dialect.ts';
import { asObject, asText, parsed } from './json.ts';

/** The members of one call as an API sent them. */
export interface RawCall {
  id: Json | undefined;
  name: Json | undefined;
  arguments: Json | undefined;
}

const mintedPrefix = 'midspan_';
const shownOfBroken = 160;

/** Was this id minted here, because the API gave none? Then it is not sent back to an API that gives none. */
export function isMinted(id: string): boolean {
  return id.startsWith(mintedPrefix);
}

/**
 * The id of the call at a position of its turn: the API's own when it is usable and new, otherwise one made from the
 * id of the answer, so that the same answer always gives the same ids. At most 64 characters of `[A-Za-z0-9_-]`.
 */
export function callId(
  id: Json | undefined,
  position: number,
  answer: string,
  taken: ReadonlySet<string>,
): string {
  const given = typeof id === 'number' ? String(id) : asText(id);
  if (given !== '' && !taken.has(given)) return given;
  const stem = `${mintedPrefix}${answer.replaceAll(/[^A-Za-z0-9_-]/g, '').slice(-40)}`;
  let minted = `${stem}_${position}`;
  for (let more = 1; taken.has(minted); more++) minted = `${stem}_${position}_${more}`;
  return minted;
}

/** The calls of one turn, in order, with ids that are unique in it. `answer` is the id of the API's answer. */
export function readCalls(raw: readonly RawCall[], answer: string): Call[] {
  const taken = new Set<string>();
  return raw.map((one, position) => {
    const id = callId(one.id, position, answer, taken);
    taken.add(id);
    const name = asText(one.name);
    const read = readArguments(one.arguments);
    const problem = name === '' ? 'The call names no tool.' : read.problem;
    return problem === undefined
      ? { id, name, arguments: read.arguments }
      : { id, name, arguments: {}, problem };
  });
}

/** Arguments as an object or as JSON text. Nothing at all, `""` and `null` mean no arguments. */
export function readArguments(raw: Json | undefined): { arguments: JsonObject; problem?: string } {
  let value = raw;
  // Twice, because some models write the text of an object into a JSON string.
  for (let level = 0; level < 2 && typeof value === 'string'; level++) {
    if (value.trim() === '') return { arguments: {} };
    const inside: Json | undefined = parsed(value);
    if (inside === undefined) {
      return { arguments: {}, problem: `The arguments are not valid JSON: ${excerpt(value)}` };
    }
    value = inside;
  }
  if (value === undefined || value === null) return { arguments: {} };
  const object = asObject(value);
  if (object !== undefined) return { arguments: object };
  return {
    arguments: {},
    problem: `The arguments must be a JSON object, not ${excerpt(JSON.stringify(value))}`,
  };
}

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= shownOfBroken
    ? line
    : `${line.slice(0, shownOfBroken / 2)} ... ${line.slice(-shownOfBroken / 2)} (${line.length} characters)`;
}
