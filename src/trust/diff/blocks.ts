/** Details and findings as lines. What a server said always stands behind a mark and a bar of ours, which it cannot write. */
import type { Finding } from '../findings.ts';
import type { Detail } from './details.ts';
import {
  columnsOf,
  counted,
  drawn,
  type Line,
  named,
  type Part,
  plain,
  rowsOf,
  type Style,
} from './lines.ts';
import type { Run } from './words.ts';

export interface Shown {
  /** Columns of a row of text; marks and bars come before it, six columns at most. Default 74. */
  width?: number;
  /** Unchanged stretches in full. */
  full?: boolean;
}

/** Marks of what changed; without them (the first look at a server) everything is new and is shown plainly. */
export type Marking = 'marked' | 'plain';

export const WIDTH = 74;
/** Unchanged text longer than this is folded down to what stands next to a change. */
const FOLDED_FROM = 240;
const CONTEXT = 80;

/** Marks and bars before a row. */
const LEAD = 6;

const SIGNS = { added: '+', removed: '-', changed: '~', kept: ' ' } as const;
const STYLES: Readonly<Record<string, Style>> = { added: 'green', removed: 'red', changed: 'yellow' };
const SCHEMAS: readonly string[] = ['inputSchema', 'outputSchema'];

const styled = (style: Style | undefined, text: string): Part =>
  style === undefined ? text : { style, text };

export function detailLines(details: readonly Detail[], shown: Shown, marking: Marking): Line[] {
  const lines: Line[] = [];
  let [section, head] = ['', ''];
  for (const { op, pointer, fact, runs } of details) {
    const [, member = ''] = pointer.split('/', 2);
    const isSchema = SCHEMAS.includes(member);
    if (isSchema && member !== section) lines.push([{ style: 'bold', text: member }]);
    section = member;
    const place = named(isSchema ? pointer.slice(member.length + 1) || '/' : pointer);
    const style = marking === 'marked' ? STYLES[op] : undefined;
    const sign = marking === 'marked' ? SIGNS[op] : ' ';
    if (fact !== undefined)
      lines.push(...factLines(pointer === '' ? `${sign} ` : `${sign} ${place} `, fact, style, shown));
    if (fact !== undefined) head = pointer;
    if (runs === undefined) continue;
    // A description right under its schema needs no place of its own.
    if (pointer !== '' && pointer !== `${head}/description`)
      lines.push([{ style: 'dim', text: `${sign} ${place}` }]);
    lines.push(...textLines(runs, shown, marking));
  }
  return lines;
}

function factLines(lead: string, fact: string, style: Style | undefined, { width = WIDTH }: Shown): Line[] {
  const [first = '', ...more] = rowsOf(`${lead}${fact}`, width);
  return [first, ...more.map((row) => `    ${row}`)].map((row) => [styled(style, row)]);
}

/** A text, each run in rows of its own. The one space between the words of two runs is left out. */
export function textLines(
  runs: readonly Run[],
  { width = WIDTH, full = false }: Shown,
  marking: Marking,
): Line[] {
  const hasChange = runs.some(({ kind }) => kind !== 'kept');
  return runs.flatMap(({ kind, text }, index): Line[] => {
    const style = marking === 'marked' ? STYLES[kind] : undefined;
    const lead = marking === 'marked' ? `${SIGNS[kind]} │ ` : '  │ ';
    const rows = (piece: string): Line[] =>
      rowsOf(piece, width).map((row, at) => [
        styled(style, lead + (at === 0 ? spaces(row).replace(/^ (?=[^ ])/, '') : spaces(row))),
      ]);
    if (kind !== 'kept' || full || !hasChange || text.length <= FOLDED_FROM) return rows(text);
    const before = index === 0 ? '' : text.slice(0, edge(text, CONTEXT, -1));
    const after = index === runs.length - 1 ? '' : text.slice(edge(text, text.length - CONTEXT, 1));
    const hidden = text.length - before.length - after.length;
    const fold: Line = [
      { style: 'dim', text: `  ⋯ ${counted(hidden, 'character')} unchanged; --full shows them` },
    ];
    return [...(before === '' ? [] : rows(before)), fold, ...(after === '' ? [] : rows(after))];
  });
}

/** Spaces that nobody would see: a row of nothing else, and more than the one that parts two words. */
const spaces = (row: string): string =>
  row.replace(/ +$/, (end) => (end.length > 1 || end === row ? '␠'.repeat(end.length) : ''));

/** A place near `index` where no word and no drawn character is cut. */
function edge(text: string, index: number, step: 1 | -1): number {
  for (let place = index; Math.abs(place - index) < CONTEXT / 2; place += step) {
    if (text[place] === ' ') return place + 1;
  }
  return (text.codePointAt(index - 1) ?? 0) > 0xffff ? index + 1 : index;
}

/**
 * A line of ours with names of a server in it. When it is longer than the screen, what goes on below is set in, so that
 * nothing of a server ever stands where a line begins.
 */
export function fit(line: Line, { width = WIDTH }: Shown): Line[] {
  if (columnsOf(plain(line)) <= width + LEAD) return [line];
  return rowsOf(plain(line), width).map((row, index) => [
    index === 0 ? row.trimEnd() : `${' '.repeat(LEAD)}${row}`,
  ]);
}

const SEVERE: readonly string[] = ['critical', 'high'];

export function findingLines(findings: readonly Finding[], shown: Shown): Line[] {
  return findings.flatMap(({ rule, severity, pointer, evidence, decoded, others }): Line[] => {
    const style = SEVERE.includes(severity) ? 'red' : 'yellow';
    const place = pointer === '' ? '' : ` at ${named(pointer)}`;
    const concerned = others === undefined ? '' : `, concerns ${others.map(named).join(', ')}`;
    const quote = (lead: string, text: string): Line[] =>
      rowsOf(drawn(text), shown.width ?? WIDTH).map((row) => [lead, row]);
    return [
      [{ style, text: `! ${drawn(rule)} ${severity}` }, `${place}${concerned}`],
      ...quote('  │ ', evidence),
      ...(decoded === undefined ? [] : quote('  says │ ', decoded)),
    ];
  });
}
