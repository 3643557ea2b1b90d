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
/** More of them need not be told apart. */
const FAULTS_MAX = 1000;

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const NINE = 57;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
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

  constructor(text: string, known: Known) {
    this.#text = text;
    this.#known = known;
  }

  faults(): Fault[] {
    this.#value(0);
    return this.#faults;
  }

  #fault(problem: string): void {
    if (this.#faults.length < FAULTS_MAX) this.#faults.push({ path: [...this.#path], problem });
  }

  #value(depth: number): void {
    const code = this.#next();
    if (code === OPEN_OBJECT) this.#object(depth);
    else if (code === OPEN_ARRAY) this.#array(depth);
    else if (code === QUOTE) this.#string();
    else if (code === MINUS || code <= NINE) this.#number();
    else this.#at += code === 102 ? 5 : 4; // false; true and null
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
      const name = this.#string();
      if (names.has(name)) this.#fault(`the member ${shown(name)} twice in one object`);
      else if (name === '__proto__') this.#fault('a member "__proto__"');
      else if (known !== undefined && (known.get(folded(name)) ?? name) !== name)
        this.#fault(`a member ${shown(name)}, which other readers take for one of the protocol's`);
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

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let end = start + 1;
    let plain = true;
    for (let code = text.charCodeAt(end); code !== QUOTE; code = text.charCodeAt(end)) {
      if (code === BACKSLASH) {
        plain = false;
        end += 1;
      }
      end += 1;
    }
    this.#at = end + 1;
    // The bytes were UTF-8, so that only an escape makes a lone surrogate.
    if (plain) return text.slice(start + 1, end);
    const value = JSON.parse(text.slice(start, end + 1)) as string;
    if (!value.isWellFormed()) this.#fault('a lone surrogate');
    return value;
  }

  #number(): void {
    const start = this.#at;
    while (/[-+.\deE]/.test(this.#text.charAt(this.#at))) this.#at += 1;
    const number = this.#text.slice(start, this.#at);
    const value = Number(number);
    const lost =
      !Number.isFinite(value) ||
      (value === 0 && /^-?[0.]*[1-9]/.test(number)) ||
      (/^-?\d+$/.test(number) && !Number.isSafeInteger(value));
    if (lost) this.#fault(`the number ${shown(number)}, which not every reader can hold`);
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

/** `Name` and `paramſ` as readers see them that do not tell them from `name` and `params`. */
function folded(name: string): string {
  return name.length > 100 ? name : name.normalize('NFKC').toLowerCase();
}

function shown(text: string): string {
  return `"${safeText(text, 60)}"`;
}
