/** The limits of a run: what they are when nothing is said, what is spent, and a word before one is reached. */
import type { Usage } from '../dialects/dialect.ts';
import { MidspanError } from '../errors.ts';

export interface Limits {
  /** Answers of the model. */
  turns: number;
  /** Tool calls, those that were answered without being run included. */
  calls: number;
  /** Wall-clock time of the whole run. */
  milliseconds: number;
  /** Input and output tokens of all turns, as the API counts them. */
  tokens: number;
  /** Rounds of the same calls with the same results, see guards.ts; 0 lets a run go in circles. */
  rounds: number;
}

export const DEFAULT_LIMITS: Readonly<Limits> = {
  turns: 50,
  calls: 200,
  milliseconds: 30 * 60_000,
  tokens: 2_000_000,
  rounds: 8,
};

/** The share of a limit after which the model is told that it comes near. */
export const NEAR = 0.8;

/** @throws MidspanError `usage` for a limit that is no number. */
export function limitsOf(given: Partial<Limits> | undefined): Limits {
  const all = { ...DEFAULT_LIMITS, ...given };
  for (const [name, value] of Object.entries(all)) {
    if (typeof value !== 'number' || !(value >= 0)) {
      throw new MidspanError({
        code: 'usage',
        what: `limits.${name} must be a number that is not negative`,
      });
    }
  }
  return all;
}

export interface Spent {
  turns: number;
  calls: number;
  milliseconds: number;
  tokens: number;
}

/** Says once, and only once, which limits a run has come near. */
export function limitWatch(limits: Limits): (spent: Spent) => string | undefined {
  let said = false;
  return (spent) => {
    if (said) return undefined;
    const near = (['turns', 'calls', 'milliseconds', 'tokens'] as const).filter(
      (name) => spent[name] >= limits[name] * NEAR,
    );
    if (near.length === 0) return undefined;
    said = true;
    const words = near.map((name) =>
      name === 'milliseconds'
        ? `${Math.round(spent.milliseconds / 1000)} of ${limits.milliseconds / 1000} seconds`
        : `${spent[name]} of ${limits[name]} ${name}`,
    );
    return `Note: this run has used ${words.join(', ')}. Finish with what you have.`;
  };
}

export function addUsage(total: Usage, turn: Usage): void {
  total.input += turn.input;
  total.output += turn.output;
  for (const member of ['cacheRead', 'cacheWrite', 'reasoning'] as const) {
    const value = turn[member];
    if (value !== undefined) total[member] = (total[member] ?? 0) + value;
  }
}

export function tokensOf(usage: Usage): number {
  return usage.input + usage.output;
}
