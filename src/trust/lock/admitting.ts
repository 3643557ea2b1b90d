/**
 * One server's admission over the life of a process. What it shows comes from the pins alone; what it saw it remembers, so that
 * a server that shows two faces is stopped; and nothing is learned without a word.
 */
import { sameJson } from '../../schema/keywords.ts';
import type { Item, ItemKind, Json, JsonObject, Surface, ToolDefinition, ToolLabel } from '../../types.ts';
import { type Finding, judge } from '../findings.ts';
import { compare, KINDS, worstOf } from './compare.ts';
import { itemDigest } from './digest.ts';
import { nameOf } from './facets.ts';
import type { Admission, Admitting, Change, Digest, Identity, ItemPin, Profile, ServerPin } from './lock.ts';

export interface AdmittingOptions {
  label: string;
  /** Undefined: the server is in no lock. */
  pin: ServerPin | undefined;
  /** A lock holds: what is not pinned is pending. */
  isLocked: boolean;
  identity: Identity;
  profile: Profile;
}

export function admitting({ label, pin, isLocked, identity, profile }: AdmittingOptions): Admitting {
  const digests = digestCache();
  const faces = twoFaces();
  let stopped: string | undefined;
  /** Without a lock: what this process took in, by name. */
  let seen: ServerPin | undefined;
  let last: (Listing & { admission: Admission }) | undefined;

  const admit = (surface: Surface, findings: readonly Finding[]): Admission => {
    const base = isLocked ? (pin ?? nothing(identity)) : (seen ??= nothing(identity, surface));
    /** What is the pinned one has its digest, which is nearly always; that is cheaper than to make it. */
    const digest = (kind: ItemKind, value: JsonObject): Digest => {
      const known = kind === 'tool' ? pinnedItem(base.tools, nameOf(value, 'name')) : undefined;
      return known !== undefined && sameJson(known.definition, value)
        ? known.digest
        : digests.of(kind, value);
    };
    if (!isLocked) takeIn(base, surface, findings, digest);
    const changes = compare(base, { surface }, { profile, digest });
    const flipped = faces.look(surface.tools ?? [], base, digest);
    if (flipped !== undefined && stopped === undefined) {
      stopped = `${/^[\w.-]{1,64}$/.test(flipped) ? `its tool ${JSON.stringify(flipped)}` : 'one of its tools'} showed one definition, then another, then the first again`;
    }
    if (stopped !== undefined) {
      changes.unshift({
        kind: 'server',
        key: '',
        class: 'flip-flop',
        effect: 'stop',
        what: stopped,
        facets: [],
      });
    }
    return admissionOf({ label, base, surface, changes, findings, stopped, isLocked });
  };

  return {
    admit(surface, findings) {
      if (last !== undefined && isSame(last, { surface, findings })) return last.admission;
      const admission = admit(surface, findings);
      last = { surface, findings, admission };
      return admission;
    },
  };
}

interface Listing {
  surface: Surface;
  findings: readonly Finding[];
}

const isSame = (a: Listing, b: Listing): boolean =>
  sameJson(a.surface as unknown as Json, b.surface as unknown as Json) &&
  (a.findings === b.findings || JSON.stringify(a.findings) === JSON.stringify(b.findings));

const nothing = (identity: Identity, surface?: Surface): ServerPin => ({
  identity,
  serverInfo: surface?.serverInfo ?? {},
  ...(surface?.instructions !== undefined && {
    instructions: { text: surface.instructions, digest: itemDigest('instructions', surface.instructions) },
  }),
  tools: {},
  prompts: {},
  resources: {},
  templates: {},
  reviewed: { at: '', how: 'yes' },
});

/** Without a lock, items that were not seen before are taken in as they are, unless the scan speaks against them. */
function takeIn(
  base: ServerPin,
  surface: Surface,
  findings: readonly Finding[],
  digest: (kind: ItemKind, value: JsonObject) => Digest,
): void {
  for (const { kind, list, key: member } of KINDS) {
    const keys = new Map<string, number>();
    const items = surface[list] ?? [];
    for (const item of items) keys.set(nameOf(item, member), (keys.get(nameOf(item, member)) ?? 0) + 1);
    for (const item of items) {
      const key = nameOf(item, member);
      if (keys.get(key) !== 1 || Object.hasOwn(base[list], key)) continue;
      if (judgeItem(kind, key, findings) !== 'clear') continue;
      try {
        base[list][key] = { digest: digest(kind, item), facets: {}, definition: item };
      } catch {
        continue; // told as malformed by the comparison
      }
    }
  }
}

const judgeItem = (kind: ItemKind, key: string, findings: readonly Finding[]): ReturnType<typeof judge> =>
  judge(findings.filter((finding) => finding.kind === kind && finding.key === key));

interface Comparison {
  label: string;
  base: ServerPin;
  surface: Surface;
  changes: Change[];
  findings: readonly Finding[];
  stopped: string | undefined;
  isLocked: boolean;
}

function admissionOf(comparison: Comparison): Admission {
  const { base, surface, changes, findings, stopped, isLocked } = comparison;
  const tools: ToolDefinition[] = [];
  const withheld: Admission['withheld'] = [];
  const facts = new Map<string, { digest: Digest; labels: readonly ToolLabel[] }>();
  const others = {} as Admission['others'];
  for (const { kind, list, key: member } of KINDS) {
    const shown: JsonObject[] = [];
    const waiting: { key: string; reason: string }[] = [];
    const own = changesBy(kind, changes);
    const told = new Set<string>();
    for (const item of surface[list] ?? []) {
      const key = nameOf(item, member);
      if (told.has(key)) continue;
      told.add(key);
      const about = own.get(key) ?? [];
      const pin = pinnedItem(base[list], key);
      if (stopped !== undefined) {
        waiting.push({ key, reason: `the server was stopped: ${stopped}` });
      } else if (
        pin === undefined ||
        worstOf(about) === 'withhold' ||
        // Without a lock nobody has looked: what comes up when another server joins counts, whichever was there first.
        (!isLocked && judgeItem(kind, key, findings) !== 'clear')
      ) {
        waiting.push({ key, reason: reasonOf({ kind, key }, about, comparison) });
      } else {
        shown.push(pin.definition);
        if (kind === 'tool') facts.set(key, { digest: pin.digest, labels: labelsOf(pin, about) });
      }
    }
    if (list === 'tools') {
      tools.push(...(shown as ToolDefinition[]));
      withheld.push(...waiting.map(({ key, reason }) => ({ tool: key, reason })));
    } else others[list] = { shown, withheld: waiting };
  }
  // Without a lock nobody has read them: only the scan speaks for them.
  const spoken = findings.filter(({ kind }) => kind === 'instructions');
  const hasInstructions = stopped === undefined && (isLocked || judge(spoken) === 'clear');
  return {
    tools,
    ...(hasInstructions && base.instructions !== undefined && { instructions: base.instructions.text }),
    withheld,
    others,
    ...(stopped !== undefined && { stopped }),
    changes,
    findings: [...findings],
    facts,
  };
}

function changesBy(kind: ItemKind, changes: readonly Change[]): Map<string, Change[]> {
  const byKey = new Map<string, Change[]>();
  for (const change of changes) {
    if (change.kind !== kind) continue;
    const own = byKey.get(change.key);
    if (own === undefined) byKey.set(change.key, [change]);
    else own.push(change);
  }
  return byKey;
}

const pinnedItem = (pins: { [key: string]: ItemPin }, key: string): ItemPin | undefined =>
  Object.hasOwn(pins, key) ? pins[key] : undefined;

/** What lost its hints counts as one that writes. */
function labelsOf({ labels = [] }: ItemPin, changes: readonly Change[]): readonly ToolLabel[] {
  return changes.some(({ class: name }) => name === 'hints-vanished')
    ? labels.filter((label) => label !== 'reads')
    : labels;
}

function reasonOf(
  { kind, key }: Item,
  changes: readonly Change[],
  { label, findings, isLocked }: Comparison,
): string {
  const named = kind === 'tool' ? ` ${key}` : '';
  const change = changes.find(({ effect }) => effect === 'withhold');
  const digest = change?.nowDigest;
  const approve =
    digest === undefined
      ? `\`midspan diff ${label}\` shows it`
      : `\`midspan diff ${label}\` shows it, \`midspan approve ${label}${named} --digest ${digest}\` approves it`;
  if (isLocked) return `it waits for review, since ${change?.what ?? 'it is not in the lock'}; ${approve}`;
  const rules = [
    ...new Set(
      findings
        .filter((finding) => finding.kind === kind && finding.key === key && finding.tier !== 'note')
        .map(({ rule }) => rule),
    ),
  ];
  if (change === undefined || change.class === 'added')
    return `the scan speaks against it (${rules.join(', ')}); \`midspan scan ${label}\` shows why, \`midspan lock\` reviews it`;
  return `it is not what was listed first: ${change.what}; ${approve}`;
}

/** Digests by content, of what was looked at last: the same bytes are never hashed twice in a row. */
function digestCache(): { of: (kind: string, value: JsonObject) => Digest } {
  let known = new Map<string, Digest>();
  let older = new Map<string, Digest>();
  return {
    of(kind, value) {
      const key = `${kind}\0${JSON.stringify(value)}`;
      let digest = known.get(key);
      if (digest !== undefined) return digest;
      if (known.size >= MOST_DIGESTS) [older, known] = [known, new Map()];
      digest = older.get(key) ?? itemDigest(kind as 'tool', value);
      known.set(key, digest);
      return digest;
    },
  };
}

const MOST_DIGESTS = 2_048;
/** A tool that had so many definitions in one process never ends turning. */
const MOST_FACES = 64;

/** Notices a tool that turns from one definition to another and back. Hints that come and go do not count: flaky servers do that. */
function twoFaces(): {
  look(
    tools: readonly JsonObject[],
    base: ServerPin,
    digest: (kind: 'tool', value: JsonObject) => Digest,
  ): string | undefined;
} {
  const history = new Map<string, { listed: JsonObject; digest: Digest; before: Set<Digest> }>();
  return {
    look(tools, base, digest) {
      const faceOf = ({ annotations: _hints, ...rest }: JsonObject): Digest => digest('tool', rest);
      for (const tool of tools) {
        const name = nameOf(tool, 'name');
        try {
          const now = digest('tool', tool);
          const known = history.get(name);
          if (known === undefined) {
            if (history.size >= MOST_DIGESTS) history.delete(history.keys().next().value ?? '');
            history.set(name, { listed: tool, digest: now, before: new Set() });
          }
          if (known === undefined || known.digest === now) continue;
          const [last, face] = [faceOf(known.listed), faceOf(tool)];
          known.listed = tool;
          known.digest = now;
          if (last === face) continue;
          const turns = known.before.has(face) || known.before.size >= MOST_FACES;
          if (turns && base.tools[name]?.volatile === undefined) return name;
          known.before.add(last);
        } catch {
          continue; // told as malformed by the comparison
        }
      }
      return undefined;
    },
  };
}
