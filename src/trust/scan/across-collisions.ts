/** Tools of several servers under one name, and copies of each other (X03). */
import type { Finding } from '../findings.ts';
import type { Add, Peer } from './across.ts';
import type { GatheredItem } from './across-gather.ts';
import { collisionKey, serverWords } from './across-names.ts';
import { found } from './found.ts';
import type { Explained } from './rule.ts';

export const COLLISION: Explained = {
  id: 'X03',
  title: 'bears the name of another tool',
  tier: 'note',
  severity: 'medium',
  why: 'Two tools of one name are common, and models see them under different names. One that takes the name of a tool of the host, or that copies name and description of another server, is there to be mistaken for it.',
  example: 'search_v1 with the description of search on another server',
  advice: 'Keep only the server that you meant to use, or show its tool alone under an alias.',
};

interface Owner {
  peer: Peer;
  gathered: GatheredItem;
}

/** Shared triples of words, of the shorter description, from which two are the same text. */
const SAME_TEXT = 0.85;
const MOST_NAMED = 20;
const LEAST_TRIPLES = 4;
/** Comparisons for one name: who lists the same name often enough is seen by that. */
const MOST_COMPARED = 256;

export function findCollisions(peers: readonly Peer[], builtins: readonly string[], add: Add): void {
  const own = new Set(builtins.map(collisionKey));
  const owners = new Map<string, Owner[]>();
  for (const peer of peers) {
    for (const gathered of peer.items) {
      if (gathered.item.kind !== 'tool') continue;
      const key = gathered.collisionKey;
      const same = owners.get(key);
      if (same === undefined) owners.set(key, [{ peer, gathered }]);
      else same.push({ peer, gathered });
    }
  }
  for (const [key, same] of owners) {
    let left = MOST_COMPARED;
    if (own.has(key)) for (const owner of same) add(owner.peer.label, finding(owner, 'hard', []));
    for (const owner of same) {
      const others = same.filter(({ peer }) => peer !== owner.peer);
      if (others.length === 0) continue;
      const copies = owner.peer.approved ? [] : others.filter((other) => left-- > 0 && isCopy(owner, other));
      const labels = (copies.length > 0 ? copies : others).map(({ peer }) => peer.label);
      add(
        owner.peer.label,
        finding(owner, copies.length > 0 ? 'soft' : 'note', [...new Set(labels)].sort().slice(0, MOST_NAMED)),
      );
    }
  }
}

/** Two servers that the configuration names after one service (`github`, `github-old`) say the same with good reason. */
function isCopy(a: Owner, b: Owner): boolean {
  const words = new Set(serverWords(a.peer.label));
  if (serverWords(b.peer.label).some((word) => words.has(word))) return false;
  const [first, second] = [a.gathered.triples(), b.gathered.triples()];
  const [less, more] = first.size < second.size ? [first, second] : [second, first];
  if (less.size < LEAST_TRIPLES) return false;
  let shared = 0;
  for (const triple of less) if (more.has(triple)) shared++;
  return shared / less.size >= SAME_TEXT;
}

function finding({ gathered }: Owner, tier: 'hard' | 'soft' | 'note', others: string[]): Finding {
  const severity = tier === 'hard' ? 'high' : tier === 'soft' ? 'medium' : 'low';
  return {
    rule: COLLISION.id,
    ...gathered.item,
    ...found({ pointer: '/name' }, gathered.item.key, tier, severity),
    others,
  };
}
