/**
 * Exposed names. A name is a function of the label and the tool alone, so it never depends on which servers are up or
 * who answered first; names map back by table, never by splitting. `^[a-zA-Z_][a-zA-Z0-9_-]{0,62}$` is what every
 * provider takes.
 */
import { sha256Hex } from '../canonical.ts';

export const MAX_NAME = 63;
const EXPOSED = /^[a-zA-Z_][a-zA-Z0-9_-]{0,62}$/;
const HASH_DIGITS = 8;

export function isExposedName(name: string): boolean {
  return EXPOSED.test(name);
}

/**
 * `<label>__<tool>` where that is unmistakable, else a readable stem with a digest of (label, tool) behind it.
 * Plain names cannot collide: a plain label holds no `__` and does not end in `_`, so the first `__` ends the label;
 * and nothing plain looks as if it ended in a digest.
 */
export function exposedName(label: string, tool: string): string {
  const plain = `${label}__${tool}`;
  const unmistakable =
    /^[a-zA-Z_][a-zA-Z0-9_-]*$/.test(label) &&
    !label.includes('__') &&
    !label.endsWith('_') &&
    /^[a-zA-Z0-9_-]+$/.test(tool) &&
    plain.length <= MAX_NAME &&
    !/_[0-9a-f]{8,}$/.test(plain);
  return unmistakable ? plain : digestName(label, tool);
}

/** The readable stem, cut to fit, and the first `digits` of the digest. */
export function digestName(label: string, tool: string, digits: number = HASH_DIGITS): string {
  const digest = sha256Hex('midspan/name/1', JSON.stringify([label, tool])).slice(0, digits);
  const stem = `${label}__${tool}`.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(/^(?![a-zA-Z_])/, '_');
  return `${stem.slice(0, MAX_NAME - digits - 1)}_${digest}`;
}

export interface Nameable {
  label: string;
  tool: string;
  /** From the configuration: taken verbatim. */
  alias?: string;
}

/**
 * Names for all of them, in the order given, all different.
 * @param natives names of native functions, which win a name.
 * @param aliases every alias of the configuration, of servers that are down too, so that a name never depends on who is up.
 */
export function assignNames(
  tools: readonly Nameable[],
  natives: ReadonlySet<string>,
  aliases: ReadonlySet<string>,
): string[] {
  const names = tools.map(({ label, tool, alias }) => {
    if (alias !== undefined && !natives.has(alias)) return alias;
    const name = exposedName(label, tool);
    return natives.has(name) || aliases.has(name) ? digestName(label, tool) : name;
  });
  // Two digests that agree in their first digits are lengthened until they differ.
  for (let digits = HASH_DIGITS * 2; digits <= 40; digits += HASH_DIGITS) {
    const clashing = clashes(names, natives);
    if (clashing.length === 0) break;
    for (const index of clashing) {
      const tool = tools[index];
      if (tool !== undefined && names[index] !== tool.alias)
        names[index] = digestName(tool.label, tool.tool, digits);
    }
  }
  return names;
}

function clashes(names: readonly string[], natives: ReadonlySet<string>): number[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...names.keys()].filter((index) => {
    const name = names[index] ?? '';
    return (counts.get(name) ?? 0) > 1 || natives.has(name);
  });
}
