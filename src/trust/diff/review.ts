/** What a person reviews, in the order of reading: changes of one item together, each difference once, what it costs. */
import { dialectOf, estimateTokens } from '../../dialects/index.ts';
import type { Item, ItemKind, JsonObject, ToolDefinition } from '../../types.ts';
import type { Finding, Severity } from '../findings.ts';
import type { Change, Digest, Effect, ServerPin } from '../lock/lock.ts';
import { type Detail, detailsOf, textDetail } from './details.ts';
import { drawn } from './lines.ts';

/** What changed of one server. */
export interface ServerChanges {
  label: string;
  changes: readonly Change[];
  /** When and how it was last approved. */
  reviewed?: ServerPin['reviewed'] | undefined;
  /** Something a person must know of how this was found, in the host's words. */
  note?: string | undefined;
  /** Nothing of it is in the lock, so that it is approved whole. */
  isNew?: boolean;
}

/** All that changed of one item. */
export interface Reviewed extends Item {
  /** The worst of its changes. */
  effect: Effect;
  verdicts: { class: string; effect: Effect; what: string }[];
  facets: string[];
  details: Detail[];
  findings: Finding[];
  /** Estimated tokens in every request of a model; where the item costs any. */
  tokens?: { was: number; now: number };
  renamedFrom?: string;
  wasDigest?: Digest;
  nowDigest?: Digest;
  /** The command that approves exactly this; of a server that is not in the lock, the one that reviews it whole. */
  approve?: string;
}

export interface Review {
  label: string;
  reviewed: ServerPin['reviewed'] | undefined;
  note: string | undefined;
  /** The server itself, its instructions, tools by risk, prompts, resources, templates. */
  items: Reviewed[];
  /** No longer there, which nobody has to approve. */
  gone: Item[];
  /** How many items wait for a person. */
  waiting: number;
}

const KINDS: readonly ItemKind[] = ['server', 'instructions', 'tool', 'prompt', 'resource', 'template'];
/** Worst first. */
const EFFECTS: readonly Effect[] = ['stop', 'withhold', 'serve-pinned', 'inform'];
const SEVERITIES: readonly Severity[] = ['critical', 'high', 'medium', 'low'];

export function reviewOf({ label, changes, reviewed, note, isNew = false }: ServerChanges): Review {
  const groups = new Map<string, [Change, ...Change[]]>();
  for (const change of changes) {
    const id = JSON.stringify([change.kind, change.key]);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [change]);
    else group.push(change);
  }
  const all = [...groups.values()].map((group) => reviewedItem(label, group, isNew));
  const isGone = ({ effect, verdicts }: Reviewed): boolean =>
    effect === 'inform' && verdicts.some((verdict) => verdict.class === 'removed');
  const items = all.filter((item) => !isGone(item)).sort(byRisk);
  return {
    label,
    reviewed,
    note,
    items,
    gone: all.filter(isGone).map(({ kind, key }) => ({ kind, key })),
    waiting: items.filter(({ effect }) => effect !== 'inform').length,
  };
}

function reviewedItem(label: string, group: readonly [Change, ...Change[]], isNew: boolean): Reviewed {
  const sorted = [...group].sort((a, b) => EFFECTS.indexOf(a.effect) - EFFECTS.indexOf(b.effect));
  const [worst = group[0]] = sorted;
  const { kind, key } = worst;
  const first = <K extends keyof Change>(member: K): Change[K] | undefined =>
    sorted.find((change) => change[member] !== undefined)?.[member];
  const [wasDigest, nowDigest, renamedFrom] = [first('wasDigest'), first('nowDigest'), first('renamedFrom')];
  const tokens =
    kind === 'tool' || kind === 'instructions'
      ? { was: tokensOf(first('was')), now: tokensOf(first('now')) }
      : undefined;
  return {
    kind,
    key,
    effect: worst.effect,
    verdicts: sorted.map(({ class: name, effect, what }) => ({ class: name, effect, what: drawn(what) })),
    facets: [...new Set(sorted.flatMap(({ facets }) => facets))],
    // Several verdicts on one difference show it once; the server itself can differ in more than one way.
    details: distinct(sorted.map(({ was, now }) => [was, now] as const)).flatMap(([was, now]) =>
      difference(kind, was, now),
    ),
    findings: distinct(sorted.flatMap(({ findings = [] }) => findings)).sort(bySeverity),
    ...(tokens !== undefined && { tokens }),
    ...(renamedFrom !== undefined && { renamedFrom }),
    ...(wasDigest !== undefined && { wasDigest }),
    ...(nowDigest !== undefined && {
      nowDigest,
      approve: isNew ? `midspan lock ${shellWord(label)}` : approveCommand(label, { kind, key }, nowDigest),
    }),
  };
}

const distinct = <T>(values: readonly T[]): T[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];

function difference(kind: ItemKind, was: Change['was'], now: Change['now']): Detail[] {
  if (typeof was === 'string' || typeof now === 'string') {
    const text = (value: Change['was']): string | undefined =>
      value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
    return [textDetail('', text(was), text(now))];
  }
  if (kind === 'server') return detailsOf(was && readable(was), now && readable(now));
  return detailsOf(was, now);
}

/** What a definition or text adds to every request, as `midspan cost` estimates it. */
export function tokensOf(value: JsonObject | string | undefined): number {
  if (value === undefined) return 0;
  if (typeof value === 'string') return estimateTokens(value);
  const { name, inputSchema } = value;
  const isTool = typeof name === 'string' && typeof inputSchema === 'object' && !Array.isArray(inputSchema);
  // What is no tool reaches no model as one; its bytes are counted, so that a growing one shows.
  if (!isTool || inputSchema === null) return estimateTokens(JSON.stringify(value));
  const { report } = dialectOf('anthropic').definitions([{ name, definition: value as ToolDefinition }]);
  return report[0]?.tokens ?? 0;
}

/**
 * `midspan approve <label> [tool] --digest sha256-...`. The digest says which item is meant; a name that a shell or an
 * eye could take for something else is left out.
 */
export function approveCommand(label: string, { kind, key }: Item, digest: Digest): string {
  const name = kind === 'tool' && /^\w[\w./:@-]*$/.test(key) ? [key] : [];
  return ['midspan', 'approve', shellWord(label), ...name, '--digest', digest].join(' ');
}

/** For a POSIX shell. */
export const shellWord = (word: string): string =>
  /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** How a server is reached, to be read: its whole command as one text. */
export function readable(identity: JsonObject): JsonObject {
  const { argv, digest: _, ...rest } = identity;
  return Array.isArray(argv)
    ? {
        command: argv
          .map((word) => shellWord(typeof word === 'string' ? word : JSON.stringify(word)))
          .join(' '),
        ...rest,
      }
    : rest;
}

function byRisk(a: Reviewed, b: Reviewed): number {
  const ranks = (item: Reviewed): number[] => [
    KINDS.indexOf(item.kind),
    EFFECTS.indexOf(item.effect),
    item.findings[0] === undefined ? SEVERITIES.length : SEVERITIES.indexOf(item.findings[0].severity),
  ];
  const [first, second] = [ranks(a), ranks(b)];
  const index = first.findIndex((rank, place) => rank !== second[place]);
  if (index !== -1) return (first[index] ?? 0) - (second[index] ?? 0);
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

const bySeverity = (a: Finding, b: Finding): number =>
  SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity);
