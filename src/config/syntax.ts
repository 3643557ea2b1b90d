/**
 * JSON with comments, TOML and plain objects as one tree that knows where each value stands. Objects are maps, so that no
 * key is special. Nothing of a file's text enters an error: it may be a secret.
 */
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { parse as parseToml, TomlError } from 'smol-toml';

/** From 1. */
export interface Place {
  line: number;
  column: number;
}

export interface Item {
  value: string | number | boolean | null | Item[] | Map<string, Entry>;
  place: Place | undefined;
}

export interface Entry {
  item: Item;
  /** Where its key stands. */
  place: Place | undefined;
}

export class SyntaxProblem extends Error {
  readonly place: Place | undefined;

  constructor(message: string, place: Place | undefined) {
    super(message);
    this.place = place;
  }
}

/** Called for each key that occurs twice in one object; the last one is kept. */
export type OnDuplicate = (path: string[], place: Place | undefined, first: Place | undefined) => void;

/** @throws SyntaxProblem */
export function readJson(text: string, onDuplicate: OnDuplicate): Item {
  const placeAt = placer(text);
  const errors: ParseError[] = [];
  const tree = bounded(() => parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true }));
  const [error] = errors;
  if (error !== undefined)
    throw new SyntaxProblem(wordsOf(printParseErrorCode(error.error)), placeAt(error.offset));
  if (tree === undefined) throw new SyntaxProblem('the file is empty', { line: 1, column: 1 });

  const convert = (node: Node, path: string[]): Item => {
    const place = placeAt(node.offset);
    if (node.type === 'array') {
      return {
        place,
        value: (node.children ?? []).map((child, index) => convert(child, [...path, String(index)])),
      };
    }
    if (node.type !== 'object')
      return { place, value: getNodeValue(node) as string | number | boolean | null };
    const entries = new Map<string, Entry>();
    for (const property of node.children ?? []) {
      const [keyNode, valueNode] = property.children ?? [];
      if (keyNode === undefined || valueNode === undefined) continue;
      const key = String(keyNode.value);
      const keyPlace = placeAt(keyNode.offset);
      const first = entries.get(key);
      if (first !== undefined) onDuplicate([...path, key], keyPlace, first.place);
      entries.set(key, { item: convert(valueNode, [...path, key]), place: keyPlace });
    }
    return { place, value: entries };
  };
  return bounded(() => convert(tree, []));
}

/** @throws SyntaxProblem; TOML itself forbids a key that occurs twice. */
export function readToml(text: string): Item {
  try {
    const places = tomlPlaces(text);
    return fromObject(parseToml(text), (path) => places.get(JSON.stringify(path)));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    throw new SyntaxProblem(`not valid TOML: ${reason}`, { line: error.line, column: error.column });
  }
}

/** A value that a program made. Anything that JSON cannot hold becomes its name as text, which no reader accepts. */
export function fromObject(
  value: unknown,
  placeOf: (path: string[]) => Place | undefined = () => undefined,
  path: string[] = [],
): Item {
  const own = placeOf(path);
  if (Array.isArray(value)) {
    return {
      place: own,
      value: value.map((item, index) => fromObject(item, placeOf, [...path, String(index)])),
    };
  }
  if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    return {
      place: own,
      value: new Map(
        entries.map(([key, member]) => {
          const keyPath = [...path, key];
          return [key, { item: fromObject(member, placeOf, keyPath), place: placeOf(keyPath) ?? own }];
        }),
      ),
    };
  }
  const isPlain = value === null || ['string', 'number', 'boolean'].includes(typeof value);
  return { place: own, value: isPlain ? (value as string | number | boolean | null) : [] };
}

/** Parsers recurse: what is nested too deeply for the stack is an error of the file, not of ours. */
function bounded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxProblem('the file is nested too deeply', undefined);
    throw error;
  }
}

function placer(text: string): (offset: number) => Place {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

/** `CommaExpected` as "comma expected". */
const wordsOf = (code: string): string =>
  `not valid JSON: ${code.replace(/(?!^)([A-Z])/g, ' $1').toLowerCase()}`;

const TOML_KEY = /"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+/g;
const TOML_LINE =
  /^(\s*)(?:\[\[?\s*([^\]=]+?)\s*\]\]?\s*(?:#.*)?$|((?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_.\s-])+?)\s*=)/;

/** The parser keeps no positions, so table headers and keys at the start of a line are looked up in the text. */
function tomlPlaces(text: string): Map<string, Place> {
  const places = new Map<string, Place>();
  let table: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const found = TOML_LINE.exec(line);
    if (found === null) continue;
    const [, indent = '', header, key] = found;
    const keys = ((header ?? key ?? '').match(TOML_KEY) ?? []).map(tomlKey);
    if (header !== undefined) table = keys;
    const path = header === undefined ? [...table, ...keys] : keys;
    const place = { line: index + 1, column: indent.length + 1 };
    for (let length = 1; length <= path.length; length += 1) {
      const prefix = JSON.stringify(path.slice(0, length));
      if (!places.has(prefix)) places.set(prefix, place);
    }
  }
  return places;
}

function tomlKey(key: string): string {
  if (key.startsWith("'")) return key.slice(1, -1);
  if (!key.startsWith('"')) return key;
  try {
    return String(JSON.parse(key));
  } catch {
    return key.slice(1, -1);
  }
}
