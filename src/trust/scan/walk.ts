/** Every string of a server that can reach a model or a screen: values and keys, each with its place. */
import { pointerTo } from '../../schema/reference.ts';
import type { Item, ItemKind, JsonObject, Surface } from '../../types.ts';
import type { Leaf, View } from './rule.ts';
import { normView } from './views.ts';

export type SurfaceItem = Item & { value: JsonObject };

/** All items in the order of the surface; `instructions` as a member of an object of its own. */
export function surfaceItems(surface: Surface): SurfaceItem[] {
  const items: SurfaceItem[] = [{ kind: 'server', key: '', value: surface.serverInfo }];
  if (surface.instructions !== undefined)
    items.push({ kind: 'instructions', key: '', value: { instructions: surface.instructions } });
  const add = (kind: ItemKind, member: string, values: readonly JsonObject[] | undefined): void => {
    for (const value of values ?? []) {
      const key = value[member];
      items.push({ kind, key: typeof key === 'string' ? key : '', value });
    }
  };
  add('tool', 'name', surface.tools);
  add('prompt', 'name', surface.prompts);
  add('resource', 'uri', surface.resources);
  add('template', 'uriTemplate', surface.templates);
  return items;
}

/** Members that hold prose wherever they stand, but for what is below. */
const PROSE = new Set(['description', 'title', 'instructions']);
const NAMES = new Set(['name', 'uri', 'uriTemplate']);
/** The members of these bear names of the server's own. */
const TABLES = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** Strings after which an item is not read further: its size is a finding of its own (S04). */
const MOST_LEAVES = 100_000;

interface Pending {
  at: unknown;
  pointer: string;
  /** The member that holds it; '' where the name is the server's own, as in a table of properties. */
  member: string;
  depth: number;
  isTable: boolean;
}

/** In the order of the text, keys before their values. Never recurses, and stops at a bound. */
export function leavesOf({ kind, key, value }: SurfaceItem): Leaf[] {
  const leaves: Leaf[] = [];
  const pending: (Pending | Leaf)[] = [{ at: value, pointer: '', member: '', depth: 0, isTable: false }];
  for (let next = pending.pop(); next !== undefined && leaves.length < MOST_LEAVES; next = pending.pop()) {
    if ('raw' in next) {
      leaves.push(next);
      continue;
    }
    const { at, member, depth, isTable } = next;
    if (typeof at === 'string') {
      const pointer = kind === 'instructions' ? '' : next.pointer;
      const isName = depth === 1 && NAMES.has(member);
      const place = isName ? 'name' : PROSE.has(member) ? 'text' : 'value';
      leaves.push({ kind, key, pointer, inKey: false, raw: at, place });
    } else if (Array.isArray(at)) {
      for (let index = at.length - 1; index >= 0; index--)
        pending.push({
          at: at[index],
          pointer: `${next.pointer}/${index}`,
          member: '',
          depth: depth + 1,
          isTable: false,
        });
    } else if (typeof at === 'object' && at !== null) {
      for (const name of Object.keys(at).reverse()) {
        const pointer = pointerTo(next.pointer, name);
        pending.push({
          at: (at as Record<string, unknown>)[name],
          pointer,
          member: isTable ? '' : name,
          depth: depth + 1,
          isTable: !isTable && TABLES.has(name),
        });
        if (kind !== 'instructions')
          pending.push({ kind, key, pointer, inKey: true, raw: name, place: 'value' });
      }
    }
  }
  return leaves;
}

/** The view that every phrase rule reads. */
export function viewOf(leaf: Leaf): View {
  return normView(leaf.raw);
}
