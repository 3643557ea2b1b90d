/**
 * A scripted model: a JSON file says what it answers, turn by turn. For tests, demonstrations and work without a network.
 * It reads what the calls returned, so that its answers depend on them, and its conversation goes through a dialect
 * like any other.
 *
 * ```json
 * { "dialect": "anthropic",
 *   "turns": [
 *     { "text": "I look it up.", "calls": [{ "id": "w", "name": "demo__get_weather", "arguments": { "city": "Oslo" } }] },
 *     { "text": "It is {{w.temperature}} degrees there. The server said: {{w}}" }
 *   ] }
 * ```
 */
import { readFileSync } from 'node:fs';
import type { Call, DialectId, Message, Stop, Turn, TurnDelta } from '../dialects/dialect.ts';
import { dialectOf } from '../dialects/index.ts';
import { MidspanError, messageOf } from '../errors.ts';
import type { Json, JsonObject } from '../types.ts';
import type { Model, ModelRequest } from './model.ts';
import { parseScript, type Script } from './script-file.ts';

/** Characters of one text delta. */
const DELTA = 24;

/** @throws MidspanError `config` when the file is missing or not a script. */
export function scriptModel(path: string, dialect?: DialectId): Model {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new MidspanError({
      code: 'config',
      what: `the script ${path} cannot be read: ${messageOf(error)}`,
      cause: error,
    });
  }
  return modelOfScript(`script:${path}`, parseScript(text, path), dialect);
}

function modelOfScript(
  name: string,
  script: Script,
  dialectId: DialectId = script.dialect ?? 'anthropic',
): Model {
  const dialect = dialectOf(dialectId);
  return {
    name,
    dialect,
    async *stream({ results, ...request }, { signal, onLoss }) {
      // Encoded as for a real API, so that what cannot be carried shows.
      const { losses } = dialect.request({ ...request, model: name }, results);
      for (const loss of losses) onLoss?.(loss);
      const turn = nextTurn(name, script, request);
      for await (const delta of deltasOf(turn)) {
        if (signal.aborted)
          throw new MidspanError({ code: 'cancelled', label: name, what: 'the request was canceled' });
        yield delta;
      }
      return turn;
    },
  };
}

/** The turn after those that the conversation has already. */
function nextTurn(name: string, script: Script, { messages }: Pick<ModelRequest, 'messages'>): Turn {
  const index = messages.filter(({ role }) => role === 'assistant').length;
  const planned = script.turns[index];
  const fail = (what: string, next: string): never => {
    throw new MidspanError({ code: 'model', label: name, what, next });
  };
  if (planned === undefined) {
    return fail(
      `the script has ${script.turns.length} turns and turn ${index + 1} was asked for`,
      'Add a turn to the script, or start a new conversation',
    );
  }
  const here = `turn ${index + 1}`;
  const heard = JSON.stringify(
    messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1),
  );
  for (const expected of planned.expect) {
    if (!heard.includes(JSON.stringify(expected).slice(1, -1))) {
      fail(
        `${here} expects ${JSON.stringify(expected)} in what it was told last, and it is not there: ${heard.slice(0, 500)}`,
        'Compare the script with the run',
      );
    }
  }
  const values = returnedValues(messages);
  const quote = (reference: string): Json => {
    const value = lookUp(reference, values);
    return value === undefined
      ? fail(
          `${here} quotes {{${reference}}}, which no call returned; there is ${[...values.keys()].map((id) => `{{${id}}}`).join(', ') || 'nothing to quote'}`,
          'Mend the script, or see why the call failed',
        )
      : value;
  };
  const text = inText(fill(planned.text, quote));
  const calls = planned.calls.map((call, position): Call => ({
    id: call.id ?? `call_${index + 1}_${position + 1}`,
    name: call.name,
    arguments: fill(call.arguments, quote) as JsonObject,
  }));
  return {
    message: { role: 'assistant', text, calls },
    stop: planned.stop ?? (calls.length > 0 ? 'calls' : ('complete' satisfies Stop)),
    usage: { input: Math.ceil(JSON.stringify(messages).length / 4), output: Math.ceil(text.length / 4) },
    model: name,
  };
}

async function* deltasOf({ message: { text, calls } }: Turn): AsyncGenerator<TurnDelta> {
  for (let start = 0; start < text.length; start += DELTA) {
    await new Promise<void>((resolve) => setImmediate(resolve)); // as from a network: others run between deltas
    yield { type: 'text', delta: text.slice(start, start + DELTA) };
  }
  for (const { id, name } of calls) yield { type: 'call', id, name };
}

/** By call id: the structured value that a call returned, and its text. */
function returnedValues(
  messages: readonly Message[],
): Map<string, { text: string; value: Json | undefined }> {
  const values = new Map<string, { text: string; value: Json | undefined }>();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    for (const { call, result } of message.results) {
      const texts = result.content.flatMap(({ type, text }) =>
        type === 'text' && typeof text === 'string' ? [text] : [],
      );
      const value = result.structuredContent ?? parsed(texts[0]);
      values.set(call.id, {
        text: texts.length > 0 ? texts.join('\n') : JSON.stringify(value ?? null),
        value,
      });
    }
  }
  return values;
}

function parsed(text: string | undefined): Json | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}

/** `id` is the text of a result; `id.member.0` a part of its structured value. */
function lookUp(reference: string, values: ReturnType<typeof returnedValues>): Json | undefined {
  const [id = '', ...path] = reference.split('.');
  const returned = values.get(id);
  if (returned === undefined || path.length === 0) return returned?.text;
  return path.reduce<Json | undefined>((value, member) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return undefined;
    return (value as JsonObject)[member];
  }, returned.value);
}

/** Replaces quotes in every string. A string that is one quote and nothing else becomes the value itself. */
function fill(value: Json, quote: (reference: string) => Json): Json {
  if (typeof value === 'string') {
    const whole = /^\{\{([^{}]+)\}\}$/.exec(value);
    if (whole !== null) return quote(whole[1]?.trim() ?? '');
    return value.replaceAll(/\{\{([^{}]+)\}\}/g, (_, reference: string) => inText(quote(reference.trim())));
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, quote));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, member === undefined ? null : fill(member, quote)]),
  );
}

function inText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
