/**
 * Regular expressions in time linear in the subject, so that a hostile `pattern` cannot stall the host: the expression
 * is read into a nondeterministic automaton whose states are all followed at once. Single characters are left to the
 * engine. Look-around and back-references have no automaton: such an expression cannot be checked.
 */
import { MAX_PATTERN, MAX_PATTERN_STATES } from './limits.ts';

/** True or false; undefined when it would take more than `spend` allows. */
export type Matcher = (subject: string, spend: (steps: number) => boolean) => boolean | undefined;

export type Node =
  | { kind: 'one'; test: (character: string) => boolean }
  | { kind: 'assert'; holds: (characters: readonly string[], at: number) => boolean }
  | { kind: 'sequence'; parts: Node[] }
  | { kind: 'choice'; parts: Node[] }
  | { kind: 'repeat'; part: Node; min: number; max: number };

export type State =
  | { kind: 'one'; test: (character: string) => boolean; next: number }
  | { kind: 'assert'; holds: (characters: readonly string[], at: number) => boolean; next: number }
  | { kind: 'split'; next: number[] }
  | { kind: 'end' };

export class Unsupported extends Error {}

const compiled = new Map<string, Matcher | undefined>();

/** A matcher with the meaning of `new RegExp(source, 'u').test`, or undefined when the expression cannot be checked. */
export function compilePattern(source: string): Matcher | undefined {
  if (compiled.has(source)) return compiled.get(source);
  if (compiled.size > 500) compiled.clear();
  const matcher = compile(source);
  compiled.set(source, matcher);
  return matcher;
}

function compile(source: string): Matcher | undefined {
  if (source.length > MAX_PATTERN) return undefined;
  const flags = ['u', ''].find((flags) => isExpression(source, flags));
  if (flags === undefined) return undefined;
  try {
    const { states, start } = automaton(parse(source, flags));
    return (subject, spend) => run(states, start, subject, spend);
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

export function isExpression(source: string, flags = 'u'): boolean {
  try {
    return new RegExp(source, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

/** @throws Unsupported for what has no automaton. */
export function parse(source: string, flags: string): Node {
  let at = 0;
  let depth = 0;

  function choice(): Node {
    if (++depth > 50) throw new Unsupported();
    const parts = [sequence()];
    while (source[at] === '|') {
      at++;
      parts.push(sequence());
    }
    depth--;
    return parts.length === 1 ? parts[0]! : { kind: 'choice', parts };
  }

  function sequence(): Node {
    const parts: Node[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(repeated(atom()));
    return { kind: 'sequence', parts };
  }

  function repeated(part: Node): Node {
    const quantifier = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(source.slice(at, at + 20));
    if (quantifier === null) return part;
    at += quantifier[0].length;
    const [text, low, range, high] = quantifier;
    if (text[0] === '*') return { kind: 'repeat', part, min: 0, max: Infinity };
    if (text[0] === '+') return { kind: 'repeat', part, min: 1, max: Infinity };
    if (text[0] === '?') return { kind: 'repeat', part, min: 0, max: 1 };
    const min = Number(low);
    const max = range === undefined ? min : high === '' ? Infinity : Number(high);
    return { kind: 'repeat', part, min, max };
  }

  function atom(): Node {
    const character = source[at]!;
    if (character === '(') {
      const open = /^\((?:\?(?::|<[^=!][^>]*>))?/.exec(source.slice(at))![0];
      if (open === '(' && source[at + 1] === '?') throw new Unsupported();
      at += open.length;
      const inner = choice();
      at++;
      return inner;
    }
    if (character === '^') {
      at++;
      return { kind: 'assert', holds: (_, at) => at === 0 };
    }
    if (character === '$') {
      at++;
      return { kind: 'assert', holds: (characters, at) => at === characters.length };
    }
    if (character === '\\' && /[bB]/.test(source[at + 1] ?? '')) {
      const wanted = source[at + 1] === 'b';
      at += 2;
      const word = (character: string | undefined): boolean =>
        character !== undefined && /^\w$/.test(character);
      return { kind: 'assert', holds: (all, at) => (word(all[at - 1]) !== word(all[at])) === wanted };
    }
    const text = atomText();
    at += text.length;
    return { kind: 'one', test: singleCharacter(text, flags) };
  }

  /** The source of one character: a class, an escape, a dot or the character itself. */
  function atomText(): string {
    const rest = source.slice(at, at + MAX_PATTERN);
    if (rest[0] === '[') {
      let end = 1;
      while (end < rest.length && rest[end] !== ']') end += rest[end] === '\\' ? 2 : 1;
      return rest.slice(0, end + 1);
    }
    if (rest[0] === '\\') {
      if (/^\\(?:[1-9]|k<)/.test(rest)) throw new Unsupported();
      const surrogates = /^\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/;
      const escape = /^\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|[^])/u;
      return (surrogates.exec(rest) ?? escape.exec(rest))?.[0] ?? rest.slice(0, 2);
    }
    return String.fromCodePoint(rest.codePointAt(0)!);
  }

  const tree = choice();
  if (at < source.length) throw new Unsupported();
  return tree;
}

function singleCharacter(text: string, flags: string): (character: string) => boolean {
  if (!isExpression(`^(?:${text})$`, flags)) throw new Unsupported();
  const expression = new RegExp(`^(?:${text})$`, flags);
  return (character) => expression.test(character);
}

export interface Automaton {
  states: State[];
  start: number;
}

/** Bounded in states, and in work: empty groups repeat without any state. */
export function automaton(tree: Node): Automaton {
  const states: State[] = [{ kind: 'end' }];
  let work = 0;

  /** Adds the states of a node that continues at `next`; returns its first state. */
  function build(node: Node, next: number): number {
    if (states.length > MAX_PATTERN_STATES || ++work > 10 * MAX_PATTERN_STATES) throw new Unsupported();
    switch (node.kind) {
      case 'one':
        return add({ kind: 'one', test: node.test, next });
      case 'assert':
        return add({ kind: 'assert', holds: node.holds, next });
      case 'sequence':
        return node.parts.reduceRight((after, part) => build(part, after), next);
      case 'choice':
        return add({ kind: 'split', next: node.parts.map((part) => build(part, next)) });
      default:
        return repeat(node.part, node.min, node.max, next);
    }
  }

  function repeat(part: Node, min: number, max: number, next: number): number {
    let first = next;
    if (max === Infinity) {
      const loop: number[] = [];
      first = add({ kind: 'split', next: loop });
      loop.push(build(part, first), next);
    } else {
      for (let count = min; count < max; count++)
        first = add({ kind: 'split', next: [build(part, first), next] });
    }
    for (let count = 0; count < min; count++) first = build(part, first);
    return first;
  }

  function add(state: State): number {
    return states.push(state) - 1;
  }

  return { start: build(tree, 0), states };
}

function run(
  states: State[],
  start: number,
  subject: string,
  spend: (steps: number) => boolean,
): boolean | undefined {
  const characters = Array.from(subject);
  let active: number[] = [];
  let marked = new Uint8Array(states.length);

  /** Follows everything that takes no character. True when the end is reached. */
  function enter(first: number, at: number, into: number[], seen: Uint8Array): boolean {
    const pending = [first];
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      if (seen[index] === 1) continue;
      seen[index] = 1;
      const state = states[index]!;
      if (state.kind === 'end') return true;
      if (state.kind === 'one') into.push(index);
      else if (state.kind === 'split') pending.push(...state.next);
      else if (state.holds(characters, at)) pending.push(state.next);
    }
    return false;
  }

  for (let at = 0; ; at++) {
    if (enter(start, at, active, marked)) return true;
    if (at === characters.length) return false;
    if (!spend(active.length + 1)) return undefined;
    const following: number[] = [];
    const seen = new Uint8Array(states.length);
    for (const index of active) {
      const state = states[index]!;
      if (state.kind === 'one' && state.test(characters[at]!) && enter(state.next, at + 1, following, seen))
        return true;
    }
    active = following;
    marked = seen;
  }
}
