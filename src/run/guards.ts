/**
 * Notices runs that go in circles. It looks at results, not only at calls: a loop is made of calls that bring nothing new,
 * whether they fail or succeed. The model is told once; when it goes on, the run ends.
 */
import { canonicalJson, sha256Hex } from '../canonical.ts';
import type { CallResult } from '../dialects/dialect.ts';
import type { Json } from '../types.ts';

/** Rounds of the same calls with the same results after which the model is told. */
export const TOLD_AFTER = 3;
/** The longest round that is noticed: A, A-B, A-B-C, A-B-C-D. */
export const LONGEST_ROUND = 4;
/** A tool whose result stays the same whatever it is asked is given this many times more rounds. */
export const SEARCH_PATIENCE = 2;

export interface GuardVerdict {
  /** To be put to the model, once. */
  tell?: string;
  /** Why the run must end. */
  end?: string;
}

/** `rounds` is how many rounds of a loop end the run; 0 turns the guard off. */
export function loopGuard(rounds: number): (results: readonly CallResult[]) => GuardVerdict {
  let told = false;
  const steps: string[] = [];
  let search = { name: '', result: '', times: 0 };

  return (results) => {
    if (rounds === 0) return {};
    let verdict: GuardVerdict = {};
    for (const { call, result } of results) {
      const outcome = digest(result.content, result.structuredContent ?? null, result.isError ?? false);
      steps.push(digest(call.name, call.arguments, call.problem ?? null, outcome));
      if (steps.length > (rounds + 1) * LONGEST_ROUND) steps.shift();
      search =
        search.name === call.name && search.result === outcome
          ? { ...search, times: search.times + 1 }
          : { name: call.name, result: outcome, times: 1 };
      verdict = worse(verdict, judge(repeatedRounds(steps), 'round', call.name));
      verdict = worse(verdict, judge(Math.floor(search.times / SEARCH_PATIENCE), 'search', call.name));
    }
    return verdict;
  };

  function judge(seen: number, kind: 'round' | 'search', name: string): GuardVerdict {
    const what =
      kind === 'round'
        ? `the same calls (the last of them ${name}) gave the same results ${seen} times in a row`
        : `${name} gave the same result ${search.times} times in a row, whatever it was asked`;
    if (seen >= rounds) return { end: what };
    if (seen < TOLD_AFTER || told) return {};
    told = true;
    return {
      tell: `Note: ${what}. Asking again will bring nothing new: use what you have, try another way, or answer.`,
    };
  }
}

const worse = (first: GuardVerdict, second: GuardVerdict): GuardVerdict => ({ ...second, ...first });

/** How many times the latest round was gone through, for the round length that gives most. */
function repeatedRounds(steps: readonly string[]): number {
  let most = 1;
  for (let length = 1; length <= LONGEST_ROUND; length += 1) {
    let same = 0;
    while (same < steps.length - length && steps.at(-1 - same) === steps.at(-1 - same - length)) same += 1;
    most = Math.max(most, Math.floor(same / length) + 1);
  }
  return most;
}

function digest(...parts: Json[]): string {
  try {
    return sha256Hex('midspan/loop/1', canonicalJson(parts));
  } catch {
    // Lone surrogates have no canonical form; two spellings of one value are then two values, which only delays the guard.
    return sha256Hex('midspan/loop/1', JSON.stringify(parts));
  }
}
