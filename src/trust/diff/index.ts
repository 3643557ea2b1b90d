/** How changes are shown: as text for people, JSON, Markdown for a pull request, SARIF. Pure. */
export type { Shown } from './blocks.ts';
export { firstChanges, type FirstUse, firstUseText } from './first-use.ts';
export { diffJson } from './json.ts';
export { type Line, type Part, plain, plainText, type Style } from './lines.ts';
export { diffMarkdown } from './markdown.ts';
export { approveCommand, type Review, type Reviewed, reviewOf, type ServerChanges } from './review.ts';
export { diffSarif } from './sarif.ts';
export { diffText, summaryOf } from './text.ts';
