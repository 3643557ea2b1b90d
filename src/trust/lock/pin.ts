/** What a review writes down of a server. */
import { suggestLabels } from '../policy/policy.ts';
import type { ItemKind, JsonObject, ServerSpec, Surface } from '../../types.ts';
import { KINDS } from './compare.ts';
import { itemDigest } from './digest.ts';
import { facetsOf, nameOf } from './facets.ts';
import { identityOf } from './identity.ts';
import type { ItemPin, ServerPin } from './lock.ts';

/** @param base the folder of the configuration; absolute. Two items of one name are left out: neither can be told apart. */
export function pinServer(
  spec: ServerSpec,
  base: string | undefined,
  surface: Surface,
  reviewed: ServerPin['reviewed'],
): ServerPin {
  const { serverInfo, instructions } = surface;
  const lists = Object.fromEntries(
    KINDS.map(({ kind, list, key }) => [list, pinItems(kind, key, surface[list] ?? [])]),
  ) as Pick<ServerPin, 'tools' | 'prompts' | 'resources' | 'templates'>;
  return {
    identity: identityOf(spec, base),
    serverInfo,
    ...(instructions !== undefined && {
      instructions: { text: instructions, digest: itemDigest('instructions', instructions) },
    }),
    ...lists,
    reviewed,
  };
}

function pinItems(
  kind: ItemKind,
  keyMember: string,
  items: readonly JsonObject[],
): { [key: string]: ItemPin } {
  const keys = items.map((item) => nameOf(item, keyMember));
  return Object.fromEntries(
    items.flatMap((item, index) => {
      const key = keys[index] ?? '';
      if (keys.indexOf(key) !== keys.lastIndexOf(key)) return [];
      return [[key, pinItem(kind, item)]];
    }),
  );
}

export function pinItem(kind: ItemKind, item: JsonObject): ItemPin {
  const labels = kind === 'tool' ? suggestLabels(item) : [];
  return {
    digest: itemDigest(kind, item),
    facets: facetsOf(kind, item),
    definition: item,
    ...(labels.length > 0 && { labels }),
  };
}
