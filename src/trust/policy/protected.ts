/**
 * Whether a call's arguments name a path that always asks. Every text and key in them is looked at, however deep, whole and
 * in its parts, after undoing what spells the same path differently. What a shell would compute cannot be known.
 */
import type { Json, JsonObject } from '../../types.ts';
import { globs as compile } from './globs.ts';
import { isSecret, isSteering, mayBeProtected } from './protected-paths.ts';

export interface PathOptions {
  /** `policy.protectedPaths`. */
  globs: readonly string[];
  /** The tool only reads: files that steer an assistant may be read. */
  isReading: boolean;
}

/** More text than any model writes into one call. */
export const CHECKED_MAX = 2 * 1024 * 1024;
const DEPTH_MAX = 64;
/** Of a whole text, or of a path. */
const WHOLE_MAX = 4096;
const SHOWN_MAX = 100;

/** One sentence naming the path, or why nothing can be told; undefined when nothing is touched. */
export function protectedPath(args: JsonObject, options: PathOptions): string | undefined {
  const own = ownGlobs(options.globs);
  let left = CHECKED_MAX;

  function inText(text: string, depth: number): string | undefined {
    left -= text.length + 1;
    if (left < 0) throw new TooMuch('are too long');
    if (own === undefined && PLAIN_WORDS.test(text)) return undefined;
    for (const path of candidates(text, own !== undefined)) {
      if (isProtected(path, own, options.isReading))
        return `An argument names the protected path ${shown(path)}.`;
    }
    const inner = /^\s*[[{]/.test(text) ? parsed(text) : undefined;
    return inner === undefined ? undefined : inValue(inner, depth + 1);
  }

  function inValue(value: Json | undefined, depth: number): string | undefined {
    if (depth > DEPTH_MAX) throw new TooMuch('are nested too deep');
    if (typeof value === 'string') return inText(value, depth);
    if (typeof value !== 'object' || value === null) return undefined;
    for (const [key, member] of Object.entries(value)) {
      const found = (Array.isArray(value) ? undefined : inText(key, depth)) ?? inValue(member, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  try {
    return inValue(args, 0);
  } catch (error) {
    const what = error instanceof TooMuch ? error.message : 'cannot be read';
    return `Its arguments ${what} to be checked for protected paths.`;
  }
}

/** No path that is protected is without a dot, a slash, a tilde or an underscore, however it is encoded. */
const PLAIN_WORDS = /^[A-Za-z0-9 ,;!?()-]*$/;

class TooMuch extends Error {}

/** Globs are written like paths, and normalized like them; one that does not start at a root may start anywhere. */
const normalizedGlobs = new WeakMap<readonly string[], readonly string[]>();

function ownGlobs(patterns: readonly string[]): ((path: string) => boolean) | undefined {
  if (patterns.length === 0) return undefined;
  let list = normalizedGlobs.get(patterns);
  if (list === undefined) {
    list = patterns.flatMap((pattern) => {
      const path = homed(folded(pattern.replaceAll('\\', '/')).replace(/\/+$/, ''));
      const anchored = /^(?:[/~*]|[a-z]:)/.test(path) ? [path] : [path, `**/${path}`];
      // What names a folder means all that is in it.
      return anchored.flatMap((each) => [each, `${each}/**`]);
    });
    normalizedGlobs.set(patterns, list);
  }
  return compile(list);
}

function isProtected(
  path: string,
  own: ((path: string) => boolean) | undefined,
  isReading: boolean,
): boolean {
  const segments = path.split('/');
  // No file system opens a longer path, and the globs' expressions need not be linear.
  const isOwn = path.length <= WHOLE_MAX && own?.(path) === true;
  return isOwn || isSecret(segments) || (!isReading && isSteering(segments));
}

/**
 * Every path that a text may name: the whole of it, and each of its words; a backslash may separate or escape.
 * @param isAny whether any path counts, not only those that look like a protected one.
 */
function candidates(text: string, isAny: boolean): Set<string> {
  const found = new Set<string>();
  const plain = folded(decoded(text));
  // An address on the web is no file of this machine; what is passed along in its query may be.
  const local = plain.includes('://') ? plain.replace(/https?:\/\/[^\s"'`<>()[\]{}|;,=&@$\0]*/g, ' ') : plain;
  const separated = local.replaceAll('\\', '/');
  const variants = new Set([separated]);
  if (/["'`\\]/.test(local)) {
    variants.add(separated.replace(/["'`]/g, ''));
    variants.add(local.replace(/["'`\\]/g, ''));
  }
  for (const variant of variants) {
    if (!isAny && !mayBeProtected(variant)) continue;
    for (const word of variant.split(/[\s"'`=,;|&<>()[\]{}@\0]+/)) {
      // Most words are no paths, and no single name that is protected is without a dot or underscore.
      if (!/[./_~]/.test(word)) continue;
      found.add(normalized(word));
      // What follows a colon may be a path on a drive, of a host, or the second of a list.
      if (word.includes(':')) for (const part of word.split(':')) found.add(normalized(part));
    }
    if (variant.length <= WHOLE_MAX && !/[\n\0]/.test(variant)) found.add(normalized(variant.trim()));
  }
  return found;
}

/** Percent encoding, also when it is applied twice or thrice. Bytes that are no UTF-8 stay as they are. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  let result = text;
  for (let round = 0; round < 3 && /%[\da-f]{2}/i.test(result); round += 1) {
    result = result.replace(/(?:%[\da-f]{2})+/gi, (run) => {
      try {
        return decodeURIComponent(run);
      } catch {
        return run.replace(/%([0-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
      }
    });
  }
  return result;
}

/** As file systems compare that ignore case: composed, no invisible characters, one case. */
function folded(text: string): string {
  // eslint-disable-next-line no-control-regex
  if (/^[\0-\x7F]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toUpperCase()
    .toLowerCase();
}

function normalized(path: string): string {
  const isRooted = /^(?:file:)?\//.test(path);
  const segments: string[] = [];
  let climbed = false;
  for (const raw of path.replace(/^file:/, '').split('/')) {
    // Windows ignores dots and spaces at the end of a name, and what follows a colon is a stream of the file.
    const segment = /^\.+$/.test(raw) ? raw : trimmed(raw.replace(/(?<=[^:]):.*$/, driveOr));
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) climbed = true;
  }
  return homed(`${isRooted || climbed ? '/' : ''}${segments.join('/')}`);
}

/** Without dots and spaces at its end, in one pass: an expression would start anew at each of them. */
function trimmed(segment: string): string {
  let end = segment.length;
  while (end > 0 && (segment[end - 1] === '.' || segment[end - 1] === ' ')) end -= 1;
  return segment.slice(0, end);
}

/** `c:` stays. */
const driveOr = (stream: string, at: number, whole: string): string =>
  at === 1 && /^[a-z]:$/.test(whole) ? stream : '';

/** The home of whoever it is, in one spelling. */
const homed = (path: string): string =>
  path.replace(
    /^(?:~[\w.-]*|\$home|\$\{?home\}?|\$env:userprofile|%userprofile%|\/root|\/(?:home|users)\/[^/*]+|\/?[a-z]:\/users\/[^/*]+)(?=\/|$)/,
    '~',
  );

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const shown = (path: string): string =>
  JSON.stringify(path.length > SHOWN_MAX ? `…${path.slice(-SHOWN_MAX)}` : path);
