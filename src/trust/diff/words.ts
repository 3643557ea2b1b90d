/** The difference of two texts, word by word. */
import { diffArrays } from 'diff/lib/diff/array.js';

/** Kept and added runs make the new text, kept and removed ones the old. */
export interface Run {
  kind: 'kept' | 'removed' | 'added';
  text: string;
}

/**
 * A drawn character is one word, so that a hidden one shows as added or removed by itself; a version, a path and a
 * hyphenated word are one, too.
 */
const WORD =
  /⟨[^⟨⟩\n]{1,80}⟩|[-.~@/]{0,3}[\p{L}\p{N}\p{M}_]+(?:[-.:/@]{1,2}[\p{L}\p{N}\p{M}_]+)*|\n|[^\S\n]+|./gsu;

/** Beyond so many changed words the texts have little in common, and the search would take long. */
const MAX_EDITS = 1000;

/** Kept words shorter than this between two changes are read more easily as part of the change. */
const SHORT = 4;

/** What is removed comes before what is added in its place; no two runs of one kind follow each other. */
export function wordRuns(was: string, now: string): Run[] {
  const [before, after] = [wordsOf(was), wordsOf(now)];
  const head = commonLength(before, after, (words, index) => words[index]);
  const [restBefore, restAfter] = [before.slice(head), after.slice(head)];
  const tail = commonLength(restBefore, restAfter, (words, index) => words.at(-1 - index));
  const middle = changed(
    restBefore.slice(0, restBefore.length - tail),
    restAfter.slice(0, restAfter.length - tail),
  );
  return joined([
    { kind: 'kept', text: before.slice(0, head).join('') },
    ...middle,
    { kind: 'kept', text: before.slice(before.length - tail).join('') },
  ]);
}

const wordsOf = (text: string): string[] => text.match(WORD) ?? [];

function commonLength(
  before: readonly string[],
  after: readonly string[],
  at: (words: readonly string[], index: number) => string | undefined,
): number {
  const most = Math.min(before.length, after.length);
  let length = 0;
  while (length < most && at(before, length) === at(after, length)) length += 1;
  return length;
}

function changed(before: string[], after: string[]): Run[] {
  const parts =
    before.length === 0 || after.length === 0
      ? undefined
      : diffArrays(before, after, { maxEditLength: MAX_EDITS });
  if (parts === undefined) {
    return [
      { kind: 'removed', text: before.join('') },
      { kind: 'added', text: after.join('') },
    ];
  }
  const runs = parts.map(({ added, removed, value }): Run => ({
    kind: added ? 'added' : removed ? 'removed' : 'kept',
    text: value.join(''),
  }));
  return runs.flatMap((run, index): Run[] => {
    const isBetween = run.kind === 'kept' && index > 0 && index < runs.length - 1;
    if (!isBetween || run.text.trim().length >= SHORT) return [run];
    return [
      { ...run, kind: 'removed' },
      { ...run, kind: 'added' },
    ];
  });
}

function joined(runs: readonly Run[]): Run[] {
  const result: Run[] = [];
  let [kept, removed, added] = ['', '', ''];
  const push = (kind: Run['kind'], text: string): void => void (text !== '' && result.push({ kind, text }));
  const flush = (): void => {
    push('kept', kept);
    push('removed', removed);
    push('added', added);
    [kept, removed, added] = ['', '', ''];
  };
  for (const { kind, text } of runs) {
    if (kind === 'kept') {
      if (removed !== '' || added !== '') flush();
      kept += text;
    } else if (kind === 'removed') removed += text;
    else added += text;
  }
  flush();
  return result;
}
