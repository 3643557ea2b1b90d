/** Names as the rules over several servers compare them. */

/** Words that are on every server: they tell none from another. */
const GENERIC = new Set('mcp server servers tools tool official the com io dev app npm'.split(' '));
/** Endings that copies of a tool go by. */
const COPY_ENDING = /(?:_?v\d{1,3}|_\d|_(?:new|advanced|official|secure|pro|plus|better|fixed|latest|copy))$/;

const LOOKALIKES: Readonly<Record<string, string>> = { '0': 'o', '1': 'l', i: 'l', '|': 'l', '5': 's' };

/** Text in which letters that look alike are the same letter. */
export function foldLookalikes(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replace(/[01i|5]/g, (character) => LOOKALIKES[character]!);
}

/** `sendEmail`, `send_email` and `send-email` are one name. */
export function nameKey(name: string): string {
  return name.replace(/[_.-]+/g, '').toLowerCase();
}

/** A name that no sentence holds by chance: six characters or more, with a joint inside. */
export function isDistinctive(name: string): boolean {
  return name.length >= 6 && /[A-Za-z0-9][_.-]+[A-Za-z0-9]|[a-z0-9][A-Z]/.test(name);
}

/** What two names that stand for one thing have in common: case, joints and the ending of a copy taken off. */
export function collisionKey(name: string): string {
  const joined = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_');
  const base = joined.replace(COPY_ENDING, '');
  return foldLookalikes(base.length >= 3 ? base : joined).replaceAll('_', '');
}

/** What tells a server from others in its label or name: `@acme/mcp-server-github` is `acme github`. */
export function serverWords(name: string): string[] {
  return name
    .slice(0, 200)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !GENERIC.has(word));
}
