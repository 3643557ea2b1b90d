/** Changes for a person to read. */
import type { Effect } from '../lock/lock.ts';
import { detailLines, findingLines, fit, type Shown } from './blocks.ts';
import { counted, drawn, type Line, named, type Style } from './lines.ts';
import type { Review, Reviewed } from './review.ts';

export const VERDICTS: Readonly<Record<Effect, { word: string; style: Style; means: string }>> = {
  stop: { word: 'STOPPED', style: 'red', means: 'nothing of this server is shown or called' },
  withhold: { word: 'WITHHELD', style: 'red', means: 'not shown to a model, not called' },
  'serve-pinned': {
    word: 'AS APPROVED',
    style: 'yellow',
    means: 'models go on seeing what was approved',
  },
  inform: { word: 'NOTED', style: 'dim', means: 'nothing to approve' },
};

/** @returns no line for servers of which nothing changed. */
export function diffText(reviews: readonly Review[], shown: Shown = {}): Line[] {
  return reviews
    .filter(({ items, gone, note }) => items.length + gone.length > 0 || note !== undefined)
    .flatMap((review) => serverLines(review, shown));
}

/**
 * `3 items wait for review, 1 item noted, 2 items no longer there`. Of servers that could not be reached nothing is
 * known, least of all that they did not change.
 */
export function summaryOf(reviews: readonly Review[], unreached = 0): string {
  const sum = (count: (review: Review) => number): number =>
    reviews.reduce((total, review) => total + count(review), 0);
  const waiting = sum((review) => review.waiting);
  const noted = sum(({ items }) => items.length) - waiting;
  const gone = sum((review) => review.gone.length);
  const parts = [
    waiting > 0 && `${counted(waiting, 'item')} ${waiting === 1 ? 'waits' : 'wait'} for review`,
    noted > 0 && `${counted(noted, 'item')} noted`,
    gone > 0 && `${counted(gone, 'item')} no longer there`,
  ].filter((part) => part !== false);
  const summary = parts.length === 0 ? 'Nothing changed' : parts.join(', ');
  return unreached > 0 ? `${summary} where servers could be reached` : summary;
}

function serverLines({ label, reviewed, note, items, gone }: Review, shown: Shown): Line[] {
  const goneText = `No longer there (${gone.length}): ${gone.map(itemName).join(', ')}`;
  return [
    ...fit([{ style: 'bold', text: named(label) }, `  ${approvedOf(reviewed)}`], shown),
    ...(note === undefined ? [] : fit([{ style: 'yellow', text: note }], shown)),
    ...items.flatMap((item) => [[], ...itemLines(item, shown)]),
    ...(gone.length === 0 ? [] : [[], ...fit([{ style: 'dim', text: goneText }], shown)]),
    [],
  ];
}

export const itemName = ({ kind, key }: { kind: string; key: string }): string =>
  key === '' ? (kind === 'server' ? 'the server itself' : kind) : `${kind} ${named(key)}`;

export function approvedOf(reviewed: Review['reviewed']): string {
  if (reviewed === undefined) return 'never approved';
  const { at, how, by } = reviewed;
  const who = by === undefined ? '' : ` by ${named(by)}`;
  return how === 'yes'
    ? `approved unseen (--yes) ${named(at)}${who}`
    : `approved after review ${named(at)}${who}`;
}

function itemLines(item: Reviewed, shown: Shown): Line[] {
  const { effect, verdicts, facets, details, findings, renamedFrom, approve } = item;
  const { word, style, means } = VERDICTS[effect];
  const formerly = renamedFrom === undefined ? '' : `, formerly ${named(renamedFrom)}`;
  const touched = facets.length === 0 ? '' : ` (${facets.map(named).join(', ')})`;
  const cost = costOf(item);
  const title = { style: 'bold' as const, text: itemName(item) };
  const lines: Line[] = [
    [{ style, text: word }, ' ', title, `${formerly}${touched}: ${means}`],
    ...verdicts.map(({ what }) => [`  ${what}`]),
    ...detailLines(details, shown, 'marked').map((line) => ['  ', ...line]),
    ...findingLines(findings, shown).map((line) => ['  ', ...line]),
    ...(cost === undefined ? [] : [[{ style: 'dim' as const, text: `  ${cost}` }]]),
  ];
  return [
    ...lines.flatMap((line) => fit(line, shown)),
    // On one line however long, to be copied.
    ...(approve === undefined
      ? []
      : [['  approve with  ', { style: 'bold' as const, text: drawn(approve) }]]),
  ];
}

/** `about +312 tokens in every request`; undefined for what changes nothing. */
export function costOf({ tokens }: Reviewed): string | undefined {
  const delta = tokens === undefined ? 0 : tokens.now - tokens.was;
  if (delta === 0) return undefined;
  return `about ${delta < 0 ? '-' : '+'}${counted(Math.abs(delta), 'token')} in every request`;
}
