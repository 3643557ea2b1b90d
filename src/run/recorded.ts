/** Runs that are recorded: which of their options are kept, so that one that was interrupted goes on as it was meant. */
import type { DialectId } from '../dialects/dialect.ts';
import type { RecordedRun } from '../journal/journal.ts';
import type { JsonObject } from '../types.ts';
import type { Limits } from './budget.ts';
import type { RunOptions } from './options.ts';

/** What is plain data. A model that was given as an object is kept by its name alone. */
export interface KeptOptions extends Pick<
  RunOptions,
  'system' | 'tools' | 'via' | 'choice' | 'parallel' | 'maxTokens' | 'limits' | 'extra'
> {
  baseUrl?: string;
  dialect?: DialectId;
}

export function keptOptions(options: KeptOptions): JsonObject {
  const { system, tools, via, choice, parallel, maxTokens, limits = {}, extra, baseUrl, dialect } = options;
  const kept = { system, tools, via, choice, parallel, maxTokens, extra, baseUrl, dialect };
  return JSON.parse(JSON.stringify({ ...kept, limits: finite(limits) })) as JsonObject;
}

export const optionsOf = ({ options }: RecordedRun): KeptOptions => options;

/** JSON has no infinity. */
const finite = (limits: Partial<Limits>): Partial<Limits> =>
  Object.fromEntries(
    Object.entries(limits).map(([name, value]) => [
      name,
      value === Infinity ? Number.MAX_SAFE_INTEGER : value,
    ]),
  );
