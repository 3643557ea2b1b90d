/**
 * Lines for people, as plain values: the CLI prints them with color, tests and Markdown read them as text. What a server
 * said is drawn (no control, bidirectional or invisible character is left) before it becomes part of a line.
 */
import { drawHidden } from '../scan/scan.ts';

/** Our own emphasis, put around text after it was made safe. A subset of what the CLI prints. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';
export type Part = string | { style: Style; text: string };
/** One line, without its end. */
export type Line = Part[];

/** What drawHidden may leave, since it is harmless elsewhere, but which would end or shift a line. */
const CONTROLS: Readonly<Record<string, string>> = { '\n': '↵', '\t': '␉', '\r': '␍' };

/** Text of a server on one line, unquoted. */
export const drawn = (text: string): string =>
  drawHidden(text).replace(/[\n\t\r]/g, (character) => CONTROLS[character] ?? '');

/** Text of a server with its line ends, all else drawn. */
export const drawnText = (text: string): string => drawHidden(text);

/** A JSON value of a server on one line. */
export const drawnJson = (value: unknown): string => drawn(JSON.stringify(value) ?? 'undefined');

/** A name or pointer: as it is when nothing in it could be taken for a word of ours, else in quotes. */
export const named = (text: string): string => (/^[\w.$@/~{}:+-]+$/.test(text) ? text : drawnJson(text));

export const plain = (line: Line): string =>
  line.map((part) => (typeof part === 'string' ? part : part.text)).join('');

export const plainText = (lines: readonly Line[]): string => lines.map((line) => `${plain(line)}\n`).join('');

/**
 * A drawn text as rows of at most `width` columns: nothing is left out, rows end after a space where there is one. The end
 * of a line of the text is shown as `↵`.
 */
export function rowsOf(text: string, width: number): string[] {
  const lines = text.split('\n');
  const ended = lines.map((line, index) => (index < lines.length - 1 ? `${line}↵` : line));
  const rows = ended.flatMap((line) =>
    wrapped(
      line.replace(/[\t\r]/g, (character) => CONTROLS[character] ?? ''),
      width,
    ),
  );
  // The text after the last line end is nothing when the text ends there.
  return rows.length > 1 && rows.at(-1) === '' ? rows.slice(0, -1) : rows;
}

function wrapped(line: string, width: number): string[] {
  const rows: string[] = [];
  let [row, used, afterSpace] = ['', 0, 0];
  for (const character of line) {
    const columns = columnsOf(character);
    // One space may hang over: it is not seen there.
    const hangs = character === ' ' && !row.endsWith(' ');
    if (used + columns > width && row !== '' && !hangs) {
      const rest = row.slice(afterSpace);
      const breaksAtSpace = afterSpace > 0;
      rows.push(breaksAtSpace ? row.slice(0, afterSpace) : row);
      row = breaksAtSpace ? rest : '';
      used = columnsOf(row);
      afterSpace = 0;
    }
    row += character;
    used += columns;
    if (character === ' ') afterSpace = row.length;
  }
  return [...rows, row];
}

/** East Asian scripts and emoji, and everything above them. */
const WIDE = /[\u1100-\u115F\u2E80-\u{10FFFF}]|\p{Emoji_Presentation}/u;

/** Columns on a terminal; rather too many than too few, since a row that is longer than the screen goes on at its edge. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += character >= '\u1100' && WIDE.test(character) ? 2 : 1;
  return columns;
}

/** `1,204 characters`, the same on every machine. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${String(count).replace(/\B(?=(\d{3})+$)/g, ',')} ${count === 1 ? one : many}`;
}
