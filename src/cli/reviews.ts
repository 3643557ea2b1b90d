/** Reviews in the forms that `diff` and `check` share. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Option } from 'commander';
import type { Review } from '../trust/diff/index.ts';
import type { CommonOptions, Context } from './context.ts';

const FORMATS = ['text', 'json', 'markdown', 'sarif'] as const;

export interface FormatOptions extends CommonOptions {
  format: (typeof FORMATS)[number];
  full?: boolean;
}

export const formatOption = (): Option =>
  new Option('--format <form>', 'markdown is for a comment on a pull request')
    .choices(FORMATS)
    .default('text');

/**
 * Prints reviews for programs: JSON, Markdown or SARIF.
 * @param lockFile what SARIF points into; undefined where there is none.
 * @returns false where text for a person is wanted; then nothing was printed.
 */
export async function printForPrograms(
  { print, cwd }: Context,
  reviews: readonly Review[],
  lockFile: string | undefined,
  { json, format, full = false }: FormatOptions,
): Promise<boolean> {
  const view = await import('../trust/diff/index.ts');
  if (json === true || format === 'json') print.json(view.diffJson(reviews));
  else if (format === 'markdown') print.text(view.diffMarkdown(reviews, { full }));
  else if (format === 'sarif') {
    const lockText = lockFile === undefined ? '' : await readFile(lockFile, 'utf8').catch(() => '');
    print.json(view.diffSarif(reviews, { path: path.relative(cwd, lockFile ?? ''), lockText }));
  } else return false;
  return true;
}
