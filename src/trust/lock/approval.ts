/** What a person approved becomes part of a lock; what speaks hard against an item keeps it out unless it is approved by digest. */
import type { Item, ItemKind, JsonObject, Surface } from '../../types.ts';
import { type Finding, judge } from '../findings.ts';
import { KINDS } from './compare.ts';
import { itemDigest } from './digest.ts';
import { nameOf } from './facets.ts';
import type { Digest, Identity, ItemPin, ServerPin } from './lock.ts';
import { pinItem } from './pin.ts';
import { fitsVolatile, volatileBetween } from './volatile.ts';

/** What a pin holds, as if the server had listed it. */
export function surfaceOf({
  serverInfo,
  instructions,
  tools,
  prompts,
  resources,
  templates,
}: ServerPin): Surface {
  const listed = (pins: { [key: string]: ItemPin }): JsonObject[] =>
    Object.values(pins).map(({ definition }) => definition);
  return {
    serverInfo,
    ...(instructions !== undefined && { instructions: instructions.text }),
    tools: listed(tools),
    prompts: listed(prompts),
    resources: listed(resources),
    templates: listed(templates),
  };
}

/** Findings that nobody accepted for exactly what is pinned. */
export function openFindings(pin: ServerPin | undefined, findings: readonly Finding[]): Finding[] {
  return findings.filter(({ kind, key, rule, pointer }) => {
    const accepted = kind === 'instructions' ? pin?.instructions?.accepted : pinOf(pin, kind, key)?.accepted;
    return accepted?.some((one) => one.rule === rule && one.pointer === pointer) !== true;
  });
}

function pinOf(pin: ServerPin | undefined, kind: ItemKind, key: string): ItemPin | undefined {
  const list = KINDS.find((each) => each.kind === kind)?.list;
  const pins = list === undefined ? undefined : pin?.[list];
  return pins !== undefined && Object.hasOwn(pins, key) ? pins[key] : undefined;
}

/**
 * Carries over what was said of the same items before: labels, accepted findings, variants, volatile places. Items that the
 * scan speaks hard against are left out, unless exactly this was approved before.
 * @param others more listings of the same server: what differs between them in a known way becomes volatile, and what differs
 * otherwise is left out
 */
export function settlePin(
  fresh: ServerPin,
  before: ServerPin | undefined,
  findings: readonly Finding[],
  others: readonly Surface[] = [],
): { pin: ServerPin; leftOut: (Item & { rules: string[]; digest: Digest })[] } {
  const leftOut: (Item & { rules: string[]; digest: Digest })[] = [];
  const pin: ServerPin = { ...fresh };
  const spoken = (kind: ItemKind, key: string): Finding[] =>
    findings.filter((finding) => finding.kind === kind && finding.key === key);
  for (const { kind, list, key: member } of KINDS) {
    const entries: [string, ItemPin][] = [];
    for (const [key, item] of Object.entries(fresh[list])) {
      const old = pinOf(before, kind, key);
      const own = spoken(kind, key);
      if (old?.digest === item.digest) entries.push([key, old]);
      else if (old !== undefined && old.variants?.includes(item.digest) === true) entries.push([key, old]);
      else if (judge(own) === 'withhold') {
        leftOut.push({ kind, key, rules: rulesOf(own), digest: item.digest });
        if (old !== undefined) entries.push([key, old]);
      } else {
        const twins = others.flatMap((other) => other[list]?.filter((each) => each[member] === key) ?? []);
        const different = twins.filter((twin) => itemDigest(kind, twin) !== item.digest);
        const volatile = different.flatMap((twin) => volatileBetween(item.definition, twin));
        const pinned = { ...item, ...(volatile.length > 0 && { volatile: distinct(volatile) }) };
        if (different.every((twin) => fitsVolatile(pinned, twin))) entries.push([key, pinned]);
        else leftOut.push({ kind, key, rules: ['unsteady'], digest: item.digest });
      }
    }
    pin[list] = Object.fromEntries(entries);
  }
  const { instructions } = fresh;
  if (instructions !== undefined && before?.instructions?.digest === instructions.digest) {
    pin.instructions = before.instructions;
  } else if (instructions !== undefined && judge(spoken('instructions', '')) === 'withhold') {
    leftOut.push({
      kind: 'instructions',
      key: '',
      rules: rulesOf(spoken('instructions', '')),
      digest: instructions.digest,
    });
    delete pin.instructions;
    if (before?.instructions !== undefined) pin.instructions = before.instructions;
  }
  if (before !== undefined && sameBut(before, pin)) pin.reviewed = before.reviewed;
  return { pin, leftOut };
}

function distinct(volatile: NonNullable<ItemPin['volatile']>): NonNullable<ItemPin['volatile']> {
  return [...new Map(volatile.map((each) => [each.pointer, each])).values()];
}

const rulesOf = (findings: readonly Finding[]): string[] =>
  [...new Set(findings.map(({ rule }) => rule))].sort();

const sameBut = ({ reviewed: _a, ...a }: ServerPin, { reviewed: _b, ...b }: ServerPin): boolean =>
  itemDigest('server', a as unknown as JsonObject) === itemDigest('server', b as unknown as JsonObject);

export type Approved = { kind: ItemKind | 'identity'; key: string };

/**
 * Approves the one thing that has this digest: a tool, a prompt, ..., the instructions, what the server says of itself, or
 * how it is reached. Undefined when nothing has it (and, for a tool that was named, that name).
 */
export function approveDigest(
  before: ServerPin,
  live: { identity: Identity; surface: Surface },
  wanted: { digest: Digest; tool?: string; findings: readonly Finding[]; by?: string },
  reviewed: ServerPin['reviewed'],
): { pin: ServerPin; approved: Approved } | undefined {
  const { digest, tool, findings, by } = wanted;
  const { identity, surface } = live;
  const acceptedOf = (kind: ItemKind, key: string): Pick<ItemPin, 'accepted'> => {
    const accepted = findings
      .filter((finding) => finding.kind === kind && finding.key === key && finding.tier !== 'note')
      .map(({ rule, pointer }) => ({ rule, pointer, ...(by !== undefined && { by }) }));
    return accepted.length === 0 ? {} : { accepted };
  };
  const done = (pin: Partial<ServerPin>, approved: Approved): { pin: ServerPin; approved: Approved } => ({
    pin: { ...before, ...pin, reviewed },
    approved,
  });
  if (tool === undefined) {
    if (identity.digest === digest) return done({ identity }, { kind: 'identity', key: '' });
    const { serverInfo, instructions } = surface;
    if (itemDigest('server', serverInfo) === digest) return done({ serverInfo }, { kind: 'server', key: '' });
    if (instructions !== undefined && itemDigest('instructions', instructions) === digest) {
      const pin = { text: instructions, digest, ...acceptedOf('instructions', '') };
      return done({ instructions: pin }, { kind: 'instructions', key: '' });
    }
  }
  for (const { kind, list, key: member } of KINDS) {
    if (tool !== undefined && kind !== 'tool') continue;
    for (const item of surface[list] ?? []) {
      const key = nameOf(item, member);
      if ((tool !== undefined && key !== tool) || itemDigest(kind, item) !== digest) continue;
      const old = pinOf(before, kind, key);
      const pinned = {
        ...pinItem(kind, item),
        ...(old?.labels !== undefined && { labels: old.labels }),
        ...acceptedOf(kind, key),
      };
      return done({ [list]: { ...before[list], [key]: pinned } }, { kind, key });
    }
  }
  return undefined;
}
