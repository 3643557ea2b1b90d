/** Names of members that an API refuses get another name, the same one every time. */
import type { Json } from '../types.ts';
import { schemaMap } from './keywords.ts';
import type { Rules } from './profiles.ts';

const MAX_NAME = 64;

/** The name to show for each member name, for those that change. Names that are fine as they are keep theirs. */
export function renameMembers(
  properties: Json | undefined,
  rules: Rules,
  root: boolean,
): Map<string, string> {
  const renamed = new Map<string, string>();
  const { names: rule } = rules;
  if (rule === undefined || (!root && !rule.everywhere)) return renamed;
  const names = schemaMap(properties).map(([name]) => name);
  const taken = new Set(names.filter((name) => rule.accepts.test(name)));
  for (const name of names) {
    if (rule.accepts.test(name)) continue;
    const base = acceptable(name, rule.accepts);
    let candidate = base;
    for (let count = 2; taken.has(candidate); count++) {
      const suffix = `_${count}`;
      candidate = base.slice(0, MAX_NAME - suffix.length) + suffix;
    }
    taken.add(candidate);
    renamed.set(name, candidate);
  }
  return renamed;
}

function acceptable(name: string, accepts: RegExp): string {
  const plain = name
    .replace(/[^a-zA-Z0-9_.-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, MAX_NAME);
  const candidates = [
    plain,
    plain.replace(/[^a-zA-Z0-9_]/g, '_'),
    `_${plain.replace(/[^a-zA-Z0-9_]/g, '_')}`.slice(0, MAX_NAME),
  ];
  return candidates.find((candidate) => candidate !== '_' && accepts.test(candidate)) ?? 'member';
}
