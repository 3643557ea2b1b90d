/** Globs of a policy. Compiled once for each list of a policy, which must not be changed afterwards. */
import picomatch from 'picomatch';

export type Matches = (text: string) => boolean;

/**
 * `*` crosses every character, line breaks and slashes too, so that no name slips past a rule. The same on every platform;
 * upper and lower case differ.
 */
const OPTIONS = { bash: true, dot: true, nonegate: true, windows: false, flags: 's' } as const;

const compiled = new WeakMap<readonly string[], Matches>();

export function globs(patterns: readonly string[]): Matches {
  let matches = compiled.get(patterns);
  if (matches === undefined) compiled.set(patterns, (matches = picomatch([...patterns], OPTIONS)));
  return matches;
}

const single = new Map<string, Matches>();
/** More patterns than any configuration has; then we start anew. */
const SINGLE_MAX = 10_000;

export function glob(pattern: string): Matches {
  let matches = single.get(pattern);
  if (matches === undefined) {
    if (single.size >= SINGLE_MAX) single.clear();
    single.set(pattern, (matches = picomatch(pattern, OPTIONS)));
  }
  return matches;
}
