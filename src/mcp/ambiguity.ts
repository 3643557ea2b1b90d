/** Where the text of a list or an opening can be read in two ways, and how much of it is lost to that. */
import { META } from './modern.ts';
import { faultsIn, namesOf } from './strict.ts';
import type { ListKind } from './lists.ts';
import type { Known, Names } from './strict.ts';

const RESULT = '_meta resultType ttlMs cacheScope';
const MESSAGE = namesOf('jsonrpc id method params result error');
const LISTS = namesOf(`${RESULT} nextCursor tools prompts resources resourceTemplates`);
const OPENINGS = namesOf(`${RESULT} protocolVersion supportedVersions capabilities serverInfo instructions`);
const HINTS = namesOf(
  'title readOnlyHint destructiveHint idempotentHint openWorldHint audience priority lastModified',
);
const IMPLEMENTATION = namesOf('name title version description websiteUrl icons');

export interface Ambiguities<Part> {
  /** Set: none of it can be used. */
  whole?: string;
  /** What is wrong with one part; the others stay. */
  parts: ReadonlyMap<Part, string>;
}

/** Of a list: its parts are its items, by their place on this page. */
export function listAmbiguities({ member, names }: ListKind, text: string): Ambiguities<number> {
  const known: Known = (path) => {
    if (path[1] !== member || typeof path[2] !== 'number') return undefined;
    return path.length === 3 ? names : path.length === 4 && path[3] === 'annotations' ? HINTS : undefined;
  };
  return ambiguities(text, LISTS, known, ([, list, index]) =>
    list === member && typeof index === 'number' ? index : undefined,
  );
}

/** Members of an opening that a connection can do without. */
export type OpeningPart = 'serverInfo' | 'instructions' | '_meta';

/** Of the result that opens a connection. */
export function openingAmbiguities(text: string): Ambiguities<OpeningPart> {
  const known: Known = (path) =>
    (path.length === 2 && path[1] === 'serverInfo') || (path.length === 3 && path[2] === META.serverInfo)
      ? IMPLEMENTATION
      : undefined;
  return ambiguities(text, OPENINGS, known, ([, part]) =>
    part === 'serverInfo' || part === 'instructions' || part === '_meta' ? part : undefined,
  );
}

function ambiguities<Part>(
  text: string,
  result: Names,
  known: Known,
  partOf: (path: readonly (string | number)[]) => Part | undefined,
): Ambiguities<Part> {
  const parts = new Map<Part, string>();
  const faults = faultsIn(text, (path) => {
    // In a batch the message has a place of its own.
    const at = typeof path[0] === 'number' ? path.slice(1) : path;
    if (at.length === 0) return MESSAGE;
    if (at[0] !== 'result') return undefined;
    return at.length === 1 ? result : known(at);
  });
  for (const { path, problem } of faults) {
    const part = path[0] === 'result' ? partOf(path) : undefined;
    if (part === undefined) return { whole: problem, parts };
    if (!parts.has(part)) parts.set(part, problem);
  }
  return { parts };
}
