/**
 * Whether an engine that backtracks can be made to take exponential time by a regular expression. We never run a
 * server's expression in such an engine, but other readers of the same schema do.
 */
import { automaton, isExpression, type Node, parse, type State, Unsupported } from './pattern.ts';

/** States, and steps of the search: a larger expression is not decided. */
const MAX_STATES = 120;
const MAX_STEPS = 300_000;
/** Characters that tell the usual classes apart. Those of the expression are tried too. */
const SAMPLE = Array.from('abzAZ019_-. ,:;/@+*#%&"\'\\\n\té中');

/**
 * True when some loop can read one text in two ways, so that the ways double with each turn; undefined when the expression
 * cannot be decided: it has no automaton, or is too large.
 */
export function isExponential(source: string): boolean | undefined {
  // Two ways through a loop need a group in it.
  if (!/\)[*+{]/.test(source)) return false;
  const flags = ['u', ''].find((flags) => isExpression(source, flags));
  if (flags === undefined) return undefined;
  let states: State[];
  try {
    states = automaton(shortened(parse(source, flags))).states;
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
  return states.length > MAX_STATES
    ? undefined
    : hasTwoWays(states, [...new Set([...SAMPLE, ...Array.from(source)])]);
}

/** Counted repetitions cut to a few: they bound the ways by themselves. */
function shortened(node: Node): Node {
  if (node.kind === 'sequence' || node.kind === 'choice')
    return { kind: node.kind, parts: node.parts.map(shortened) };
  if (node.kind !== 'repeat') return node;
  const max = node.max === Infinity ? Infinity : Math.min(node.max, 3);
  return { kind: 'repeat', part: shortened(node.part), min: Math.min(node.min, 2), max };
}

/**
 * Two copies of the automaton read the same text. When they start together in a state, stand apart and come together in it
 * again, that loop can be gone through in two ways.
 */
function hasTwoWays(states: readonly State[], characters: readonly string[]): boolean | undefined {
  let steps = 0;
  const next = new Map<number, Map<number, number>>();
  const reads = new Map<number, boolean[]>();
  for (const [index, state] of states.entries()) {
    if (state.kind !== 'one') continue;
    const ways = waysFrom(states, state.next);
    if (ways === undefined) return undefined;
    next.set(index, ways);
    reads.set(
      index,
      characters.map((character) => state.test(character)),
    );
  }
  const together = (a: number, b: number): boolean =>
    reads.get(a)!.some((does, at) => does && reads.get(b)![at] === true);
  const pair = (a: number, b: number): number => a * states.length + b;

  for (const [start, ways] of next) {
    if ((ways.get(start) ?? 0) > 1) return true;
    // Forwards from the pair, noting who led where, then back from it over what was noted.
    const before = new Map<number, number[]>();
    const seen = new Set([pair(start, start)]);
    const pending: [number, number][] = [[start, start]];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      const [a, b] = at;
      if (!together(a, b)) continue;
      for (const [toA] of next.get(a)!) {
        for (const [toB] of next.get(b)!) {
          if (++steps > MAX_STEPS) return undefined;
          const to = pair(toA, toB);
          const from = before.get(to);
          if (from === undefined) before.set(to, [pair(a, b)]);
          else from.push(pair(a, b));
          if (seen.has(to)) continue;
          seen.add(to);
          pending.push([toA, toB]);
        }
      }
    }
    const back = new Set<number>();
    const returning = [...(before.get(pair(start, start)) ?? [])];
    for (let at = returning.pop(); at !== undefined; at = returning.pop()) {
      if (back.has(at)) continue;
      back.add(at);
      if (Math.floor(at / states.length) !== at % states.length) return true;
      returning.push(...(before.get(at) ?? []));
    }
  }
  return false;
}

/**
 * The reading states that follow without a character, with the number of ways there, where two are as good as many. An inner
 * loop may be left and entered anew, but no turn of a loop is empty.
 */
function waysFrom(states: readonly State[], first: number): Map<number, number> | undefined {
  const ways = new Map<number, number>();
  const onWay = new Set<number>();
  let steps = 0;
  let isBegun = false;
  function follow(index: number): void {
    const state = states[index]!;
    if (state.kind === 'one') ways.set(index, Math.min(2, (ways.get(index) ?? 0) + 1));
    if (state.kind !== 'split' || onWay.has(index) || ++steps > 2_000) return;
    const isAgain = index !== first || isBegun;
    isBegun = true;
    if (isAgain) onWay.add(index);
    for (const to of state.next) follow(to);
    if (isAgain) onWay.delete(index);
  }
  follow(first);
  return steps > 2_000 ? undefined : ways;
}
