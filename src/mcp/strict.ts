/**
 * Faults of JSON text that `JSON.parse` passes over and other readers take otherwise: what one of them shows a person, another
 * one may not show the model. Only for what defines something (lists, openings); results are data and are not looked at.
 */
import { safeText } from './text.ts';

export interface Fault {
  /** The first steps from the root to it, at most PATH_MAX. */
  path: readonly (string | number)[];
  problem: string;
}

/** The names of the protocol in one place, by how a reader sees them that folds names. */
export type Names = ReadonlyMap<string, string>;
/** Those of the object that `path` leads to; undefined where names are anybody's. */
export type Known = (path: readonly (string | number)[]) => Names | undefined;

/** @param names separated by spaces */
export function namesOf(names: string): Names {
  return new Map(names.split(' ').map((name) => [folded(name), name]));
}

const PATH_MAX = 5;
/** Of more faults than these, and in objects of the protocol of more members, nothing is told apart any more. */
const FAULTS_MAX = 1000;
const MEMBERS_MAX = 1000;
const NUMBER = /[-+.\deE]*/y;
const SURROGATE = /\\u[dD][89a-fA-F]/;

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const NINE = 57;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const LETTER_F = 102;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Names that stand twice in an object, or differ from the protocol's own in case alone; `__proto__`; lone surrogates; numbers
 * that a reader with other numbers takes for others. In the order of the text.
 * @param text JSON that was parsed already, so that it is well-formed and its nesting is bounded
 */
export function faultsIn(text: string, known: Known): Fault[] {
  return new Reader(text, known).faults();
}

class Reader {
  readonly #text: string;
  readonly #known: Known;
  readonly #path: (string | number)[] = [];
  readonly #faults: Fault[] = [];
  #at = 0;
  /** The first escape at or after where the last string began. */
  #escape = -1;

  constructor(text: string, known: Known) {
    this.#text = text;
    this.#known = known;
  }

  faults(): Fault[] {
    this.#value(0);
    return this.#faults.length < FAULTS_MAX
      ? this.#faults
      : [{ path: [], problem: `${FAULTS_MAX} faults or more` }];
  }

  #fault(problem: () => string): void {
    if (this.#faults.length < FAULTS_MAX) this.#faults.push({ path: [...this.#path], problem: problem() });
  }

  #value(depth: number): void {
    const code = this.#next();
    if (code === OPEN_OBJECT) this.#object(depth);
    else if (code === OPEN_ARRAY) this.#array(depth);
    else if (code === QUOTE) this.#checkString();
    else if (code === MINUS || code <= NINE) this.#number();
    else this.#at += code === LETTER_F ? 5 : 4; // false; true and null
  }

  #object(depth: number): void {
    const names = new Set<string>();
    const known = depth <= PATH_MAX ? this.#known(this.#path) : undefined;
    this.#at += 1;
    for (let code = this.#next(); code !== CLOSE_OBJECT; code = this.#next()) {
      if (code === COMMA) {
        this.#at += 1;
        this.#next();
      }
      const name = this.#name();
      if (names.has(name)) this.#fault(() => `the member ${shown(name)} twice in one object`);
      else if (name === '__proto__') this.#fault(() => 'a member "__proto__"');
      else if (known !== undefined && names.size === MEMBERS_MAX)
        this.#fault(() => `an object of the protocol with more than ${MEMBERS_MAX} members`);
      else if (known !== undefined && names.size < MEMBERS_MAX && looksKnown(name, known))
        this.#fault(() => `a member ${shown(name)}, which other readers take for one of the protocol's`);
      names.add(name);
      this.#next();
      this.#at += 1; // the colon
      this.#within(name, depth);
    }
    this.#at += 1;
  }

  #array(depth: number): void {
    this.#at += 1;
    let index = 0;
    for (let code = this.#next(); code !== CLOSE_ARRAY; code = this.#next()) {
      if (code === COMMA) this.#at += 1;
      this.#within(index, depth);
      index += 1;
    }
    this.#at += 1;
  }

  #within(step: string | number, depth: number): void {
    if (depth < PATH_MAX) this.#path.push(step);
    this.#value(depth + 1);
    if (depth < PATH_MAX) this.#path.pop();
  }

  #name(): string {
    const start = this.#at;
    const plain = this.#skipString();
    const text = this.#text.slice(start, this.#at);
    if (plain) return text.slice(1, -1);
    const name = JSON.parse(text) as string;
    if (!name.isWellFormed()) this.#fault(() => 'a lone surrogate');
    return name;
  }

  /** The bytes were UTF-8, so that only an escape makes a lone surrogate. */
  #checkString(): void {
    const start = this.#at;
    if (this.#skipString()) return;
    const text = this.#text.slice(start, this.#at);
    if (SURROGATE.test(text) && !(JSON.parse(text) as string).isWellFormed())
      this.#fault(() => 'a lone surrogate');
  }

  /** True when it has no escapes. Searched natively as far as it has none, so that large texts cost little. */
  #skipString(): boolean {
    const text = this.#text;
    const start = this.#at + 1;
    if (this.#escape < start) {
      const escape = text.indexOf('\\', start);
      this.#escape = escape === -1 ? Infinity : escape;
    }
    const quote = text.indexOf('"', start);
    if (quote < this.#escape) {
      this.#at = quote + 1;
      return true;
    }
    let end = this.#escape;
    for (let code = BACKSLASH; code !== QUOTE; code = text.charCodeAt(end)) end += code === BACKSLASH ? 2 : 1;
    this.#at = end + 1;
    return false;
  }

  #number(): void {
    NUMBER.lastIndex = this.#at;
    const number = NUMBER.exec(this.#text)?.[0] ?? '';
    this.#at += number.length;
    const value = Number(number);
    const lost =
      !Number.isFinite(value) ||
      (value === 0 && /^-?[0.]*[1-9]/.test(number)) ||
      (/^-?\d+$/.test(number) && !Number.isSafeInteger(value));
    if (lost) this.#fault(() => `the number ${shown(number)}, which not every reader can hold`);
  }

  /** The code of the next character that is no white space. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code > 32) return code;
      this.#at += 1;
    }
  }
}

/** Whether readers that fold names take it for another one (`Name` for `name`, `paramſ` for `params`). */
function looksKnown(name: string, known: Names): boolean {
  return (known.get(folded(name)) ?? name) !== name;
}

function folded(name: string): string {
  return name.length > 100 ? name : name.normalize('NFKC').toLowerCase();
}

function shown(text: string): string {
  return `"${safeText(text, 60)}"`;
}
