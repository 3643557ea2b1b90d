/** Arguments against the original schema, before anything else is asked of a call. */
import { MidspanError } from '../errors.ts';
import { validate, type Verdict } from '../schema/index.ts';
import type { JsonObject } from '../types.ts';
import type { CatalogEntry } from './catalog.ts';

export interface Checked {
  args: JsonObject;
  problem?: MidspanError;
  /** Names of arguments that were null and are left out. */
  dropped?: string[];
}

/**
 * Models say `null` for an optional argument that they leave open, and servers reject it: where that alone is wrong, it is
 * left out.
 */
export function checkArguments({ name, label, definition }: CatalogEntry, args: JsonObject): Checked {
  const schema = definition.inputSchema;
  const verdict = validate(schema, args);
  if (verdict.ok === true) return { args };
  const open = Object.keys(args).filter((key) => args[key] === null);
  const closed = without(args, open);
  if (open.length > 0 && validate(schema, closed).ok === true) {
    const dropped = open.filter((key) => validate(schema, { ...closed, [key]: null }).ok !== true);
    const kept = without(args, dropped);
    if (validate(schema, kept).ok === true) return { args: kept, dropped };
  }
  return { args, problem: argumentProblem(name, label, verdict) };
}

const without = (args: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([key]) => !keys.includes(key)));

function argumentProblem(
  name: string,
  owner: string | undefined,
  verdict: Exclude<Verdict, { ok: true }>,
): MidspanError {
  const label = owner === undefined ? {} : { label: owner };
  return verdict.ok === false
    ? new MidspanError({
        ...label,
        code: 'usage',
        what: `${name} was not run: ${verdict.problem}`,
        next: 'Correct the arguments and call it again',
      })
    : new MidspanError({
        ...label,
        code: 'limit',
        what: `${name} was not run: its arguments cannot be checked (${verdict.reason})`,
        next: 'Use another tool, or ask the maintainer of the server to mend its schema',
      });
}
