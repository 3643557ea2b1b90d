/** Limits that all strict tools of one Anthropic request share. */
import type { JsonObject } from '../types.ts';
import { asObject } from './json.ts';

const most = { tools: 20, optional: 24, unions: 16 };

/** @returns a check that counts the strict schemas it accepts, and says why the next one would be too much. */
export function strictBudget(): (schema: JsonObject) => string | undefined {
  const spent = { tools: 0, optional: 0, unions: 0 };
  return (schema) => {
    const cost = { tools: 1, optional: 0, unions: 0 };
    count(schema, cost);
    const over = (what: keyof typeof most): boolean => spent[what] + cost[what] > most[what];
    if (over('tools')) return `the API takes at most ${most.tools} strict tools in one request`;
    if (over('optional'))
      return `the strict tools of one request may have at most ${most.optional} optional parameters together`;
    if (over('unions'))
      return `the strict tools of one request may have at most ${most.unions} parameters of several types together`;
    spent.tools += cost.tools;
    spent.optional += cost.optional;
    spent.unions += cost.unions;
    return undefined;
  };
}

function count(node: unknown, cost: { optional: number; unions: number }): void {
  if (Array.isArray(node)) {
    for (const one of node) count(one, cost);
    return;
  }
  const schema = asObject(node);
  if (schema === undefined) return;
  if (Array.isArray(schema['anyOf']) || Array.isArray(schema['type'])) cost.unions++;
  const properties = asObject(schema['properties']);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  if (properties !== undefined) {
    cost.optional += Object.keys(properties).filter((name) => !required.includes(name)).length;
    for (const property of Object.values(properties)) count(property, cost);
  }
  for (const place of ['items', 'anyOf', 'allOf']) count(schema[place], cost);
  for (const place of ['$defs', 'definitions']) count(Object.values(asObject(schema[place]) ?? {}), cost);
}
