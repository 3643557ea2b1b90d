/** Reads a script strictly: whatever is not understood is an error that names its place. */
import type { DialectId, Stop } from '../dialects/dialect.ts';
import { MidspanError, messageOf } from '../errors.ts';
import type { Json, JsonObject } from '../types.ts';

export interface Script {
  dialect: DialectId | undefined;
  turns: ScriptTurn[];
}

export interface ScriptTurn {
  text: string;
  calls: { id: string | undefined; name: string; arguments: JsonObject }[];
  /** Default: `calls` when there are calls, else `complete`. */
  stop: Stop | undefined;
  /** Texts that must occur in what the model was told since its last turn. */
  expect: string[];
}

const DIALECTS: readonly DialectId[] = [
  'anthropic',
  'openai-responses',
  'openai-chat',
  'gemini',
  'gemini-interactions',
];
const STOPS: readonly Stop[] = [
  'complete',
  'calls',
  'max-tokens',
  'stop-sequence',
  'pause',
  'refusal',
  'content-filter',
  'context-window',
  'compaction',
  'failed',
];

/** @throws MidspanError `config`, naming the file and the place in it. */
export function parseScript(text: string, path: string): Script {
  const wrong = (place: string, problem: string): never => {
    throw new MidspanError({
      code: 'config',
      what: `the script ${path} is wrong: ${place}: ${problem}`,
      next: 'Mend it and try again',
    });
  };
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    return wrong('it is not JSON', messageOf(error));
  }
  const object = (at: Json | undefined, place: string, members: readonly string[]): JsonObject => {
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return wrong(place, 'must be an object');
    const unknown = Object.keys(at).find((name) => !members.includes(name));
    return unknown === undefined
      ? at
      : wrong(place, `unknown member ${JSON.stringify(unknown)}; known: ${members.join(', ')}`);
  };
  const list = (at: Json | undefined, place: string): Json[] =>
    Array.isArray(at) ? at : wrong(place, 'must be a list');
  const string = (at: Json | undefined, place: string): string =>
    typeof at === 'string' ? at : wrong(place, 'must be a string');
  const oneOf = <T extends string>(at: Json | undefined, place: string, known: readonly T[]): T | undefined =>
    at === undefined
      ? undefined
      : (known.find((one) => one === at) ?? wrong(place, `must be one of ${known.join(', ')}`));

  const root = object(value, 'the file', ['dialect', 'turns']);
  const turns = list(root.turns, 'turns').map((entry, index): ScriptTurn => {
    const place = `turns[${index}]`;
    const turn = object(entry, place, ['text', 'calls', 'stop', 'expect']);
    const expect = turn.expect ?? [];
    return {
      text: string(turn.text ?? '', `${place}.text`),
      calls: list(turn.calls ?? [], `${place}.calls`).map((item, position) => {
        const where = `${place}.calls[${position}]`;
        const call = object(item, where, ['id', 'name', 'arguments']);
        return {
          id: call.id === undefined ? undefined : string(call.id, `${where}.id`),
          name: string(call.name, `${where}.name`),
          arguments: objectOf(call.arguments ?? {}) ?? wrong(`${where}.arguments`, 'must be an object'),
        };
      }),
      stop: oneOf(turn.stop, `${place}.stop`, STOPS),
      expect: (Array.isArray(expect) ? expect : [expect]).map((one) => string(one, `${place}.expect`)),
    };
  });
  if (turns.length === 0) wrong('turns', 'must have at least one turn');
  return { dialect: oneOf(root.dialect, 'dialect', DIALECTS), turns };
}

function objectOf(value: Json): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}
