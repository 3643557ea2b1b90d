/** What all servers together make possible (X06). */
import type { Add, Peer } from './across.ts';
import { found } from './found.ts';
import type { Explained } from './rule.ts';

export const COMBINATION: Explained = {
  id: 'X06',
  title: "strangers' texts, private data and a way out, together",
  tier: 'note',
  severity: 'medium',
  why: 'A text of a stranger may ask for private data to be sent away. That takes a tool that brings such texts in, one that reads private data and one that sends. Most sets of servers have all three.',
  example: 'a server that reads issues, one that reads private repositories, and one that sends mail',
  advice:
    "Label the tools in the policy: once strangers' texts and private data were seen, whatever sends asks first.",
};

/** Told at the servers that send. */
export function findCombination(peers: readonly Peer[], add: Add): void {
  const having = (label: 'untrusted' | 'private' | 'sends'): Peer[] =>
    peers.filter(({ items }) => items.some(({ labels }) => labels.includes(label)));
  const [untrusted, secret, senders] = [having('untrusted'), having('private'), having('sends')];
  if (untrusted.length === 0 || secret.length === 0) return;
  const concerned = [...new Set([...untrusted, ...secret].map(({ label }) => label))].sort();
  for (const { label } of senders) {
    const others = concerned.filter((other) => other !== label).slice(0, 20);
    add(label, {
      rule: COMBINATION.id,
      kind: 'server',
      key: '',
      ...found({ pointer: '' }, '', 'note', 'medium'),
      others,
    });
  }
}
