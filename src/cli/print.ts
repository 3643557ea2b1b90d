/**
 * The only place that writes to terminals and pipes: results to stdout, everything else to stderr. All text passes
 * `visible`, so that nothing a server says can move the cursor, hide, reorder, or look like something else.
 */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';
/** Text on one line; a style is ours and is put around the text after it was made safe. */
export type Part = string | { style: Style; text: string };

/** What is needed of a stream of node. */
export interface Sink {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

export interface Printer {
  /** One line of the result. */
  line(...parts: Part[]): void;
  /** A piece of the result, lines and all, nothing added. */
  text(text: string): void;
  /** One JSON value of the result on one line; still plain JSON, and safe for a terminal. */
  json(value: unknown): void;
  table(rows: readonly (readonly Part[])[]): void;
  /** One line beside the result. */
  note(...parts: Part[]): void;
  /** Several lines beside the result. */
  noteText(text: string): void;
  /** Replaces the one line that tells what is going on; only on a terminal. Undefined takes it away. */
  status(text: string | undefined): void;
  /** Whether what is printed beside the result is on a terminal. */
  readonly isTerminal: boolean;
  /** The screen for one speaker: what everybody else prints is kept back, in order, until `release`. */
  hold(): { print: Printer; release(): void };
}

/** Controls, format characters (bidirectional ones among them), line separators, halves of pairs, and what has no shape. */
const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}]/gu;
/** What joins an emoji is part of it. */
const EMOJI_PART =
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?)\uFE0F|(?<=\p{Extended_Pictographic}(?:\uFE0F|\p{Emoji_Modifier})?)\u200D(?=\p{Extended_Pictographic})/gu;

/** Text with everything that could deceive a terminal or its reader written out. `keep` are characters left alone. */
export function visible(text: string, keep: string = ''): string {
  const parts = new Set([...text.matchAll(EMOJI_PART)].map(({ index }) => index));
  return text.replace(UNSAFE, (character, index: number) =>
    keep.includes(character) || parts.has(index) ? character : writtenOut(character),
  );
}

const visibleLines = (text: string): string => visible(text.replaceAll('\r\n', '\n'), '\n\t');

function writtenOut(character: string): string {
  const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** The same value as JSON that no terminal acts on. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Some pseudo-terminals say that they have none. */
const DEFAULT_COLUMNS = 80;

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
};

export function createPrinter(
  stdout: Sink,
  stderr: Sink,
  env: Readonly<Record<string, string | undefined>>,
): Printer {
  const isPlain = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  const isTerminal = (sink: Sink): boolean => sink.isTTY === true && env['TERM'] !== 'dumb';
  let status = '';
  let isMidLine = false;

  const render = (sink: Sink, parts: readonly Part[]): string =>
    parts
      .map((part) => {
        if (typeof part === 'string') return visible(part);
        if (!isTerminal(sink) || isPlain) return visible(part.text);
        const [on, off] = CODES[part.style];
        return `\u001B[${on}m${visible(part.text)}\u001B[${off}m`;
      })
      .join('');
  const clear = (): void => {
    if (status !== '') stderr.write('\r\u001B[K');
    status = '';
  };
  const out = (text: string): void => {
    if (text === '') return;
    clear();
    stdout.write(text);
    isMidLine = !text.endsWith('\n');
  };
  const beside = (text: string): void => {
    clear();
    // On one screen with a result that is still being written, start a line of our own.
    if (isMidLine && stdout.isTTY === true) out('\n');
    stderr.write(text);
  };

  const printer: Omit<Printer, 'hold'> = {
    isTerminal: isTerminal(stderr),
    line: (...parts) => out(`${render(stdout, parts)}\n`),
    text: (text) => out(visibleLines(text)),
    json: (value) => out(`${visibleJson(value)}\n`),
    table(rows) {
      const safe = rows.map((row) => row.map((part) => visible(typeof part === 'string' ? part : part.text)));
      const widths = safe.reduce<number[]>(
        (most, row) => row.map((cell, column) => Math.max(most[column] ?? 0, widthOf(cell))),
        [],
      );
      for (const [index, row] of rows.entries()) {
        const cells = row.flatMap((part, column): Part[] => {
          const isLast = column === row.length - 1;
          const gap = (widths[column] ?? 0) - widthOf(safe[index]?.[column] ?? '');
          return isLast ? [part] : [part, ' '.repeat(gap + 2)];
        });
        printer.line(...cells);
      }
    },
    note: (...parts) => beside(`${render(stderr, parts)}\n`),
    noteText: (text) => beside(`${visibleLines(text).replace(/\n$/, '')}\n`),
    status(text) {
      if (!isTerminal(stderr) || isMidLine) return;
      clear();
      if (text === undefined) return;
      status = cut(visible(text), (stderr.columns || DEFAULT_COLUMNS) - 1);
      stderr.write(status);
    },
  };
  return shared(printer);
}

type Writing = Omit<Printer, 'hold' | 'isTerminal'>;

/** A printer that may be held. While it is, a status has no one to tell and is dropped. */
function shared(own: Omit<Printer, 'hold'>): Printer {
  let kept: (() => void)[] | undefined;
  const write = (work: () => void): void => {
    if (kept === undefined) work();
    else kept.push(work);
  };
  const writing: Writing = {
    line: (...parts) => write(() => own.line(...parts)),
    text: (text) => write(() => own.text(text)),
    json: (value) => write(() => own.json(value)),
    table: (rows) => write(() => own.table(rows)),
    note: (...parts) => write(() => own.note(...parts)),
    noteText: (text) => write(() => own.noteText(text)),
    status: (text) => {
      if (kept === undefined) own.status(text);
    },
  };
  const hold: Printer['hold'] = () => {
    own.status(undefined);
    kept = [];
    return {
      print: { ...own, hold },
      release() {
        const waiting = kept ?? [];
        kept = undefined;
        for (const work of waiting) work();
      },
    };
  };
  return { ...writing, isTerminal: own.isTerminal, hold };
}

/** Columns on a terminal, near enough: what may be wide counts as wide. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += (character.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1;
  return width;
}

/** As much of one line as fits. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let result = '';
  for (const character of text) {
    if (widthOf(result) + widthOf(character) > width - 1) break;
    result += character;
  }
  return `${result}…`;
}
