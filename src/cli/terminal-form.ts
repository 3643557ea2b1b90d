/** A form that a server wants filled (MCP elicitation), field by field on the terminal; nothing is sent unseen. */
import type { Answer } from '../asks/asks.ts';
import { validate } from '../schema/index.ts';
import type { Json, JsonObject } from '../types.ts';
import type { Keys } from './keys.ts';
import { objectOf } from '../schema/keywords.ts';
import { fieldsOf, optionsOf } from './form.ts';
import type { Printer } from './print.ts';

const DECLINED: Answer = { action: 'decline', reason: 'the person at the terminal said no' };

/** `interrupt` when Ctrl-C was pressed while a key was asked for. */
export async function fillForm(
  schema: JsonObject,
  print: Printer,
  keys: Keys,
  signal: AbortSignal,
): Promise<Answer | 'interrupt'> {
  const fields = fieldsOf(schema);
  const begin = await yesOrNo('y fill it in, n decline', print, keys, signal);
  if (begin !== 'y') return begin === 'n' ? DECLINED : begin;
  const content: [string, Json][] = [];
  for (const { name, field, isRequired } of fields) {
    const value = await fill(name, field, isRequired, { print, keys, signal });
    if (value !== undefined) content.push([name, value]);
  }
  print.noteText(JSON.stringify(Object.fromEntries(content), null, 2));
  const send = await yesOrNo('y send this to the server, n decline', print, keys, signal);
  if (send !== 'y') return send === 'n' ? DECLINED : send;
  print.note({ style: 'green', text: 'sent' });
  return { action: 'accept', content: Object.fromEntries(content) };
}

async function yesOrNo(
  question: string,
  print: Printer,
  keys: Keys,
  signal: AbortSignal,
): Promise<'y' | 'n' | 'interrupt'> {
  print.note({ style: 'bold', text: question });
  for (;;) {
    const key = await keys.next(signal);
    if (key === 'y' || key === 'n' || key === 'interrupt') return key;
  }
}

async function fill(
  name: string,
  field: JsonObject,
  isRequired: boolean,
  { print, keys, signal }: { print: Printer; keys: Keys; signal: AbortSignal },
): Promise<Json | undefined> {
  for (;;) {
    print.status(`${name}: `);
    const text = (await keys.line(signal)).trim();
    if (text === '') {
      if (field['default'] !== undefined) return field['default'];
      if (!isRequired) return undefined;
      print.note(`${name} is needed; Ctrl-C cancels`);
      continue;
    }
    const value = valueOf(text, field);
    const verdict = validate(field, value);
    if (verdict.ok === true) return value;
    print.note({ style: 'red', text: verdict.ok === false ? verdict.problem : verdict.reason });
  }
}

function valueOf(text: string, field: JsonObject): Json {
  switch (field['type']) {
    case 'boolean':
      if (/^(?:y|yes|true)$/i.test(text)) return true;
      return /^(?:n|no|false)$/i.test(text) ? false : text;
    case 'number':
    case 'integer':
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case 'array':
      return text.split(',').map((item) => chosen(item.trim(), objectOf(field['items'])));
    default:
      return chosen(text, field);
  }
}

/** What was typed may be an option's title. */
function chosen(text: string, field: JsonObject): string {
  return optionsOf(field)?.find(({ title }) => title.toLowerCase() === text.toLowerCase())?.value ?? text;
}
