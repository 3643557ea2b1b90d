/**
 * What a text must hold for a regular expression to match in it, derived from the expression: sets of stems, of each of which
 * one must be there. A stem is the first four letters of a word (all of a shorter one), in lower case, or one other character.
 * Nothing is claimed that does not follow from the expression, so that to look for the stems first loses no match.
 */

export type Stems = ReadonlySet<string>;

/** Any character beyond U+02FF. */
export const BEYOND = '\u{10ffff}';
const LETTERS = 4;
/** A set of more stems than this tells little. */
const MOST_STEMS = 120;

type Node =
  | { is: 'literal'; text: string }
  /** A word boundary, or the beginning or end of the text or line. */
  | { is: 'edge' }
  /** Looks at its surroundings and takes nothing. */
  | { is: 'nothing' }
  /** One character that is no letter. */
  | { is: 'blank' }
  | { is: 'any' }
  | { is: 'row'; nodes: Node[] }
  | { is: 'choice'; nodes: Node[] }
  | { is: 'repeat'; node: Node; least: number; most: number };

/** Of expressions that several patterns are made of. */
const known = new Map<string, Stems[]>();

/** The sets for the source of one expression, the smallest first. */
export function stemsOf(source: string): Stems[] {
  let sets = known.get(source);
  if (sets === undefined) {
    sets = required(readChoice({ source, at: 0 }), false).sort((a, b) => a.size - b.size);
    known.set(source, sets);
  }
  return sets;
}

interface Reader {
  source: string;
  at: number;
}

function readChoice(reader: Reader): Node {
  const nodes = [readRow(reader)];
  while (reader.source[reader.at] === '|') {
    reader.at++;
    nodes.push(readRow(reader));
  }
  return nodes.length === 1 ? nodes[0]! : { is: 'choice', nodes };
}

function readRow(reader: Reader): Node {
  const nodes: Node[] = [];
  for (let next = reader.source[reader.at]; next !== undefined; next = reader.source[reader.at]) {
    if (next === '|' || next === ')') break;
    nodes.push(readRepeat(reader));
  }
  return { is: 'row', nodes };
}

const COUNT = /\{(\d+)(,?)(\d*)\}/y;

function readRepeat(reader: Reader): Node {
  const node = readOne(reader);
  let [least, most] = [1, 1];
  const sign = reader.source[reader.at];
  if (sign === '?' || sign === '*' || sign === '+') {
    reader.at++;
    [least, most] = [sign === '+' ? 1 : 0, sign === '?' ? 1 : Infinity];
  } else if (sign === '{') {
    COUNT.lastIndex = reader.at;
    const [all, first, comma, last] = COUNT.exec(reader.source)!;
    reader.at += all.length;
    least = Number(first);
    most = comma === '' ? least : last === '' ? Infinity : Number(last);
  } else return node;
  if (reader.source[reader.at] === '?') reader.at++;
  return { is: 'repeat', node, least, most };
}

const GROUP = /\((\?:|\?<?[=!]|)/y;
const CLASS = /\[(?:[^\]\\]|\\.)*\]/y;

function readOne(reader: Reader): Node {
  const { source, at } = reader;
  const character = source[at]!;
  if (character === '(') {
    GROUP.lastIndex = at;
    const [open, kind] = GROUP.exec(source)!;
    reader.at += open.length;
    const inside = readChoice(reader);
    reader.at++;
    return kind === '?:' || kind === '' ? inside : { is: 'nothing' };
  }
  if (character === '[') {
    CLASS.lastIndex = at;
    const [all] = CLASS.exec(source)!;
    reader.at += all.length;
    return { is: /^\[\^|[A-Za-z]|[^\0-\x7f]/.test(all) ? 'any' : 'blank' };
  }
  if (character === '\\') {
    const escaped = source[at + 1]!;
    reader.at += 2;
    if (escaped === 'b') return { is: 'edge' };
    if (/[nrts0d]/.test(escaped)) return { is: 'blank' };
    return /[A-Za-z0-9]/.test(escaped) ? { is: 'any' } : { is: 'literal', text: escaped };
  }
  reader.at++;
  if (character === '^' || character === '$') return { is: 'edge' };
  return character === '.' ? { is: 'any' } : { is: 'literal', text: character };
}

function isLetter(text: string): boolean {
  const code = text.charCodeAt(0) | 32;
  return code >= 97 && code <= 122 && text.charCodeAt(0) < 128;
}

/** `atStart`: a letter that comes next is the first one of a word. */
function required(node: Node, atStart: boolean): Stems[] {
  if (node.is === 'row') {
    let start = atStart;
    const sets: Stems[] = [];
    for (const [at, one] of node.nodes.entries()) {
      const begun = start && one.is !== 'edge' ? prefixesOf(node.nodes.slice(at)) : undefined;
      if (begun !== undefined) sets.push(begun);
      // What a choice begins with is told already.
      if (begun === undefined || one.is !== 'choice') sets.push(...required(one, start));
      start = leavesStart(one, start);
    }
    return sets;
  }
  if (node.is === 'choice') {
    const sets = node.nodes.map((one) => best(required(one, atStart)));
    return sets.includes(undefined) ? [] : [new Set(sets.flatMap((set) => [...set!]))];
  }
  if (node.is === 'repeat') return node.least > 0 ? required(node.node, atStart) : [];
  if (node.is !== 'literal' || isLetter(node.text) || node.text === ' ') return [];
  const code = node.text.charCodeAt(0);
  return code < 128 ? [new Set([node.text])] : code > 0x2ff ? [new Set([BEYOND])] : [];
}

/** Words tell more than other characters do. */
function best(sets: readonly Stems[]): Stems | undefined {
  const words = sets.filter((set) => [...set].every((stem) => /^[a-z]/.test(stem)));
  return (words.length > 0 ? words : sets).toSorted((a, b) => a.size - b.size)[0];
}

function leavesStart(node: Node, start: boolean): boolean {
  if (node.is === 'literal') return !isLetter(node.text) && node.text.charCodeAt(0) < 128;
  if (node.is === 'edge' || node.is === 'blank') return true;
  if (node.is === 'nothing') return start;
  if (node.is === 'row') return node.nodes.reduce((before, one) => leavesStart(one, before), start);
  if (node.is === 'choice') return node.nodes.every((one) => leavesStart(one, start));
  return node.is === 'repeat' && leavesStart(node.node, start) && (node.least > 0 || start);
}

/** The stems of the word that begins with these nodes; undefined where they do not tell. */
function prefixesOf(nodes: readonly Node[]): Stems | undefined {
  const stems = new Set<string>();
  const isTold = expand(nodes, '', (prefix) => {
    // The end of the expression: letters may follow.
    return prefix.length >= LETTERS;
  });
  return isTold && stems.size > 0 && stems.size <= MOST_STEMS ? stems : undefined;

  function expand(rest: readonly Node[], prefix: string, end: (prefix: string) => boolean): boolean {
    if (prefix.length >= LETTERS) {
      stems.add(prefix.toLowerCase());
      return stems.size <= MOST_STEMS;
    }
    const [node, ...others] = rest;
    if (node === undefined) return end(prefix);
    const next = (longer: string): boolean => expand(others, longer, end);
    const stop = (): boolean => {
      if (prefix === '') return false;
      stems.add(prefix.toLowerCase());
      return true;
    };
    switch (node.is) {
      case 'literal':
        return isLetter(node.text) ? next(prefix + node.text) : node.text.charCodeAt(0) < 128 && stop();
      case 'edge':
        return prefix === '' ? next(prefix) : stop();
      case 'nothing':
        return next(prefix);
      case 'blank':
        return stop();
      case 'any':
        return false;
      case 'row':
        return expand(node.nodes, prefix, next);
      case 'choice':
        return node.nodes.every((one) => expand([one], prefix, next));
      default: {
        if (node.least === 0 && !next(prefix)) return false;
        const again = (longer: string): boolean =>
          node.most === 1 || longer === prefix || longer.length >= LETTERS ? next(longer) : false;
        return expand([node.node], prefix, again);
      }
    }
  }
}
