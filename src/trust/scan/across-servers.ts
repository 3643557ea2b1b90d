/** Servers that go by almost the same name, or by the same (X04, X05). */
import { distance } from 'fastest-levenshtein';
import type { Add, Peer } from './across.ts';
import { foldLookalikes, serverWords } from './across-names.ts';
import { FAMILIAR_PACKAGE } from './config-packages.ts';
import { found } from './found.ts';
import type { Explained } from './rule.ts';

export const NEAR_NAME: Explained = FAMILIAR_PACKAGE;

export const SAME_NAME: Explained = {
  id: 'X05',
  title: 'two servers call themselves the same',
  tier: 'note',
  severity: 'low',
  why: 'What a server calls itself is no identity: anybody may write it. Midspan names servers by the labels of your configuration.',
  example: 'two servers whose serverInfo.name is "github"',
  advice: 'Nothing, if you connected one program twice.',
};

const LEAST = 5;

export function findNearNames(peers: readonly Peer[], add: Add): void {
  const named = peers
    .map((peer) => ({ peer, name: serverWords(peer.serverName).join('') }))
    .filter(({ name }) => name.length >= LEAST);
  for (const { peer, name } of named) {
    const near = named.filter((other) => other.peer !== peer && isNear(name, other.name));
    if (near.length === 0) continue;
    const place = found({ pointer: '/name' }, peer.serverName, peer.approved ? 'note' : 'soft', 'high');
    const others = [...new Set(near.map((other) => other.peer.label))].sort();
    add(peer.label, { rule: NEAR_NAME.id, kind: 'server', key: '', ...place, others });
  }
}

/** Numbers tell versions and copies apart on purpose. */
function isNear(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 1) return false;
  if (foldLookalikes(a) === foldLookalikes(b)) return true;
  if (a.replace(/\d+/g, '') === b.replace(/\d+/g, '')) return false;
  return Math.min(a.length, b.length) > LEAST && distance(a, b) === 1;
}

export function findSameNames(peers: readonly Peer[], add: Add): void {
  const byName = new Map<string, Peer[]>();
  for (const peer of peers) {
    if (peer.serverName === '') continue;
    byName.set(peer.serverName, [...(byName.get(peer.serverName) ?? []), peer]);
  }
  for (const [name, same] of byName) {
    if (same.length < 2) continue;
    for (const peer of same) {
      const others = same.filter((other) => other !== peer).map(({ label }) => label);
      add(peer.label, {
        rule: SAME_NAME.id,
        kind: 'server',
        key: '',
        ...found({ pointer: '/name' }, name, 'note', 'low'),
        others,
      });
    }
  }
}
