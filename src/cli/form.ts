/** The fields of a form that a server wants filled (MCP elicitation), drawn for a person. */
import { objectOf } from '../schema/keywords.ts';
import type { Json, JsonObject } from '../types.ts';
import type { Printer } from './print.ts';

export interface Field {
  name: string;
  field: JsonObject;
  isRequired: boolean;
}

/** More than any form that a person fills. */
const FIELDS_MAX = 100;

export function fieldsOf(schema: JsonObject): Field[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(objectOf(schema['properties']))
    .slice(0, FIELDS_MAX)
    .map(([name, field]) => ({ name, field: objectOf(field), isRequired: required.includes(name) }));
}

/** @param isSecret it asks for what a form must not ask for (MCP elicitation, "sensitive information"). */
export function showField(
  { name, field, isRequired }: Field,
  isSecret: boolean,
  print: Pick<Printer, 'note'>,
): void {
  const { title, description, format } = field;
  const facts = [
    optionsOf(field) === undefined ? wordOf(field['type']) : `one of ${listed(field)}`,
    ...(typeof format === 'string' ? [format] : []),
    ...(field['default'] === undefined ? [] : [`default ${JSON.stringify(field['default'])}`]),
    ...(isRequired ? [] : ['may be left empty']),
  ];
  print.note('  ', { style: 'bold', text: name }, ` (${facts.join(', ')})`);
  for (const words of [title, description]) if (typeof words === 'string') print.note(`    ${words}`);
  if (isSecret)
    print.note({
      style: 'red',
      text: '    It sounds like a secret, and a server must not ask for one in a form.',
    });
}

/** `enum`, `enum` with `enumNames`, or `oneOf`/`anyOf` of constants with titles. */
export function optionsOf(field: JsonObject): { value: string; title: string }[] | undefined {
  const { enum: values, enumNames: titles } = field;
  if (Array.isArray(values)) {
    const names = Array.isArray(titles) ? titles : [];
    return values.map((value, index) => ({ value: words(value), title: words(names[index] ?? value) }));
  }
  const branches = field['oneOf'] ?? field['anyOf'];
  if (!Array.isArray(branches)) return undefined;
  return branches
    .map(objectOf)
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
