/** A form that a server wants filled (MCP elicitation), field by field on the terminal; nothing is sent unseen. */
import type { Answer } from '../asks/asks.ts';
import { validate } from '../schema/index.ts';
import type { Json, JsonObject } from '../types.ts';
import type { Keys } from './keys.ts';
import type { Printer } from './print.ts';

const DECLINED: Answer = { action: 'decline', reason: 'the person at the terminal said no' };

/** `interrupt` when Ctrl-C was pressed while a key was asked for. */
export async function fillForm(
  schema: JsonObject,
  print: Printer,
  keys: Keys,
  signal: AbortSignal,
): Promise<Answer | 'interrupt'> {
  const fields = Object.entries(asObject(schema['properties'])).slice(0, FIELDS_MAX);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  for (const [name, field] of fields) showField(name, asObject(field), required.includes(name), print);
  const begin = await yesOrNo('y fill it in, n decline', print, keys, signal);
  if (begin !== 'y') return begin === 'n' ? DECLINED : begin;
  const content: [string, Json][] = [];
  for (const [name, field] of fields) {
    const value = await fill(name, asObject(field), required.includes(name), { print, keys, signal });
    if (value !== undefined) content.push([name, value]);
  }
  print.noteText(JSON.stringify(Object.fromEntries(content), null, 2));
  const send = await yesOrNo('y send this to the server, n decline', print, keys, signal);
  if (send !== 'y') return send === 'n' ? DECLINED : send;
  print.note({ style: 'green', text: 'sent' });
  return { action: 'accept', content: Object.fromEntries(content) };
}

/** More than any form that a person fills. */
const FIELDS_MAX = 100;

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

/** Words that name what a form must not ask for (MCP elicitation, "sensitive information"). */
const SECRET =
  /passw|secret|token|api.?key|credential|\bcvv\b|\bcvc\b|\bpin\b|seed.?phrase|private.?key|card.?number/i;

function showField(name: string, field: JsonObject, isRequired: boolean, print: Printer): void {
  const { title, description, format } = field;
  const facts = [
    optionsOf(field) === undefined ? wordOf(field['type']) : `one of ${listed(field)}`,
    ...(typeof format === 'string' ? [format] : []),
    ...(field['default'] === undefined ? [] : [`default ${JSON.stringify(field['default'])}`]),
    ...(isRequired ? [] : ['may be left empty']),
  ];
  print.note('  ', { style: 'bold', text: name }, ` (${facts.join(', ')})`);
  for (const words of [title, description]) if (typeof words === 'string') print.note(`    ${words}`);
  if ([name, title, description].some((words) => typeof words === 'string' && SECRET.test(words)))
    print.note({
      style: 'red',
      text: '    It sounds like a secret, and a server must not ask for one in a form.',
    });
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
      return text.split(',').map((item) => chosen(item.trim(), asObject(field['items'])));
    default:
      return chosen(text, field);
  }
}

/** What was typed may be an option's title. */
function chosen(text: string, field: JsonObject): string {
  return optionsOf(field)?.find(({ title }) => title.toLowerCase() === text.toLowerCase())?.value ?? text;
}

/** `enum`, `enum` with `enumNames`, or `oneOf`/`anyOf` of constants with titles. */
function optionsOf(field: JsonObject): { value: string; title: string }[] | undefined {
  const { enum: values, enumNames: titles } = field;
  if (Array.isArray(values)) {
    const names = Array.isArray(titles) ? titles : [];
    return values.map((value, index) => ({ value: words(value), title: words(names[index] ?? value) }));
  }
  const branches = field['oneOf'] ?? field['anyOf'];
  if (!Array.isArray(branches)) return undefined;
  return branches
    .map(asObject)
    .map((one) => ({ value: words(one['const']), title: words(one['title'] ?? one['const']) }));
}

const listed = (field: JsonObject): string =>
  (optionsOf(field) ?? [])
    .slice(0, FIELDS_MAX)
    .map(({ value, title }) => (value === title ? value : `${value} (${title})`))
    .join(', ');

function wordOf(type: Json | undefined): string {
  switch (type) {
    case 'boolean':
      return 'yes or no';
    case 'number':
    case 'integer':
      return type === 'integer' ? 'a whole number' : 'a number';
    case 'array':
      return 'several, separated by commas';
    default:
      return 'text';
  }
}

const words = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);

const asObject = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
