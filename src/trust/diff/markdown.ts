/**
 * Changes as Markdown for a comment on a pull request. Whatever a server said stands in code, where no markup, link,
 * mention or HTML works, behind a fence that is longer than any in the text.
 */
import { detailLines, findingLines, type Shown } from './blocks.ts';
import { drawn, plainText } from './lines.ts';
import type { Review, Reviewed } from './review.ts';
import { approvedOf, costOf, itemName, summaryOf, VERDICTS } from './text.ts';

/** What GitHub takes as one comment is 65,536 characters. */
const LIMIT = 60_000;

/** @param options.limit characters of the whole; what no longer fits is counted, and the command that shows it is named. */
export function diffMarkdown(reviews: readonly Review[], options: Shown & { limit?: number } = {}): string {
  const { limit = LIMIT, ...shown } = options;
  const head = `## Midspan: ${summaryOf(reviews)}\n`;
  let result = head;
  let [shortened, missing] = [0, 0];
  const add = (...forms: readonly string[]): void => {
    const index = forms.findIndex((form) => result.length + form.length <= limit);
    if (index === -1) missing += 1;
    else if (index > 0) shortened += 1;
    result += forms[index] ?? '';
  };
  for (const { label, reviewed, note, items, gone } of reviews) {
    if (items.length + gone.length === 0 && note === undefined) continue;
    add(
      `\n### ${code(label)}\n\n${code(approvedOf(reviewed))}\n${note === undefined ? '' : `\n${code(note)}\n`}`,
    );
    for (const item of items) add(section(item, shown, true), section(item, shown, false));
    if (gone.length > 0) add(goneSection(gone));
  }
  if (shortened + missing > 0)
    result += `\n**Longer than a comment may be:** ${shortened} shown without their text, ${missing} left out. \`midspan diff\` shows all.\n`;
  return result;
}

function section(item: Reviewed, shown: Shown, isWhole: boolean): string {
  const { effect, verdicts, facets, details, findings, renamedFrom, approve } = item;
  const { word, means } = VERDICTS[effect];
  const formerly = renamedFrom === undefined ? '' : `, formerly ${code(renamedFrom)}`;
  const touched = facets.length === 0 ? '' : ` (${facets.map(code).join(', ')})`;
  const body = [...detailLines(details, shown, 'marked'), ...findingLines(findings, shown)];
  const cost = costOf(item);
  return [
    `\n#### ${word}: ${code(itemName(item))}${formerly}${touched}\n\n${means}\n`,
    ...verdicts.map(({ what }) => `- ${code(what)}\n`),
    ...(isWhole && body.length > 0 ? [`\n${fence('diff', plainText(body))}`] : []),
    ...(cost === undefined ? [] : [`\n${cost}\n`]),
    ...(approve === undefined ? [] : [`\n${fence('sh', `${drawn(approve)}\n`)}`]),
  ].join('');
}

function goneSection(gone: Review['gone']): string {
  const list = gone.map((item) => `- ${code(itemName(item))}\n`).join('');
  return `\n<details><summary>No longer there (${gone.length})</summary>\n\n${list}\n</details>\n`;
}

/** Longer than the longest run of backticks in the text. */
function ticks(text: string, least: number): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 0);
  return '`'.repeat(Math.max(least, longest + 1));
}

function fence(language: string, text: string): string {
  const mark = ticks(text, 3);
  return `${mark}${language}\n${text}${mark}\n`;
}

/** A code span: drawn, on one line. */
function code(text: string): string {
  const line = drawn(text);
  const mark = ticks(line, 1);
  const pad = /^`|`$|^ .* $/.test(line) || line === '' ? ' ' : '';
  return `${mark}${pad}${line}${pad}${mark}`;
}
