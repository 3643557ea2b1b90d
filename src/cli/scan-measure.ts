/** What the scan makes of a corpus: false alarms among what is benign, and what it finds of what is not. */
import { type Finding, judge, type Judgement } from '../trust/findings.ts';
import { scanAsk } from '../trust/scan/ask.ts';
import { collisionKey } from '../trust/scan/across-names.ts';
import { cleanResultText, scanAcross, type Scanned, scanServer } from '../trust/scan/scan.ts';
import type { JsonObject } from '../types.ts';
import type { CorpusSet, Entry, ScanCorpus } from './scan-corpus.ts';

export interface Found {
  n: number;
  /** Withheld. */
  hard: number;
  /** Sent to a person. */
  review: number;
  /** With any finding that is more than a note. */
  any: number;
}

export interface Measured {
  benign: { servers: number; tools: number; hard: number; review: number; soft: number; across: number };
  /** Benign entries of poisoned sets. */
  hardNegatives: Found;
  /** Malicious entries that a definition shows, by set. */
  sets: Record<string, Found>;
  /** Tools that openly do harm: a matter of the policy. */
  capability: Found;
  /** Texts of results: those that raise suspicion, malicious and benign ones. */
  results: { n: number; suspicious: number; benign: { n: number; suspicious: number } };
  /** Entries that each stand for one place of a server's surface. */
  surfaces: Found;
  /** What was not as it should be, by name. */
  misses: { benign: string[]; hardNegatives: string[]; surfaces: string[] };
  unread: number;
}

/** Sets whose benign entries quote attacks on purpose. */
const QUOTES = /mcpm|mcpproxy/;
const SURFACES = /surfaces/;

export function measure({ benign, sets }: ScanCorpus): Measured {
  const measured: Measured = {
    benign: { ...benignOf(benign) },
    hardNegatives: none(),
    sets: {},
    capability: none(),
    results: { n: 0, suspicious: 0, benign: { n: 0, suspicious: 0 } },
    surfaces: none(),
    misses: { benign: missesOf(benign), hardNegatives: [], surfaces: [] },
    unread: sets.reduce((sum, { unread }) => sum + unread, 0),
  };
  for (const set of sets) for (const entry of set.entries) score(measured, set, entry, benign);
  return measured;
}

const none = (): Found => ({ n: 0, hard: 0, review: 0, any: 0 });

/** Withheld items of any kind, and tools to review; with all servers connected, tools that a rule across servers asks about. */
function benignOf(servers: readonly Scanned[]): Measured['benign'] {
  const items = servers.flatMap((server) => [...judged(scanServer(server)).values()]);
  const tools = items.filter(({ kind }) => kind === 'tool');
  const across = [...scanAcross(servers).values()].flatMap((findings) => [...judged(findings).values()]);
  return {
    servers: servers.length,
    tools: servers.reduce((sum, { surface }) => sum + (surface.tools?.length ?? 0), 0),
    hard: items.filter(({ judgement }) => judgement === 'withhold').length,
    review: tools.filter(({ judgement }) => judgement === 'review').length,
    soft: tools.filter(({ isAny }) => isAny).length,
    across: across.filter(({ kind, isAny }) => kind === 'tool' && isAny).length,
  };
}

function missesOf(servers: readonly Scanned[]): string[] {
  return servers.flatMap((server) =>
    [...judged(scanServer(server)).values()]
      .filter(({ judgement }) => judgement !== 'clear')
      .map(
        ({ kind, key, judgement, rules }) =>
          `${server.label} ${kind} ${key}: ${judgement} ${rules.join(' ')}`,
      ),
  );
}

interface Judged {
  kind: Finding['kind'];
  key: string;
  judgement: Judgement;
  isAny: boolean;
  rules: string[];
}

/** By item. */
export function judged(findings: readonly Finding[]): Map<string, Judged> {
  const byItem = new Map<string, Finding[]>();
  for (const finding of findings) {
    const item = `${finding.kind} ${finding.key}`;
    const own = byItem.get(item);
    if (own === undefined) byItem.set(item, [finding]);
    else own.push(finding);
  }
  return new Map(
    [...byItem].map(([item, own]) => [
      item,
      {
        kind: own[0]!.kind,
        key: own[0]!.key,
        judgement: judge(own),
        isAny: own.some(({ tier }) => tier !== 'note'),
        rules: [
          ...new Set(own.filter(({ tier }) => tier !== 'note').map(({ rule, tier }) => `${rule}:${tier}`)),
        ],
      },
    ]),
  );
}

/** The worst of all items. */
export function verdictOf(findings: readonly Finding[]): { judgement: Judgement; isAny: boolean } {
  const all = [...judged(findings).values()];
  const judgement =
    (['withhold', 'review'] as const).find((worst) => all.some((item) => item.judgement === worst)) ??
    'clear';
  return { judgement, isAny: all.some(({ isAny }) => isAny) };
}

function score(measured: Measured, set: CorpusSet, entry: Entry, benign: readonly Scanned[]): void {
  const isMalicious = entry.label === 'malicious';
  if (!isMalicious && entry.label !== 'benign') return;
  if ('text' in entry.content) {
    const texts = isMalicious ? measured.results : measured.results.benign;
    texts.n++;
    if (cleanResultText(entry.content.text).suspicious) texts.suspicious++;
    return;
  }
  if (entry.from === 'behaviour') return;
  const isSurface = isMalicious && SURFACES.test(set.name);
  const findings =
    'ask' in entry.content
      ? scanAsk(entry.content.ask)
      : findingsOf(entry, entry.content.server, set, isSurface ? benign : []);
  const verdict = verdictOf(findings);
  if (isMalicious) {
    count(
      entry.category === 'openly_malicious_capability'
        ? measured.capability
        : (measured.sets[set.name] ??= none()),
      verdict,
    );
    if (isSurface) count(measured.surfaces, verdict);
    if (isSurface && verdict.judgement === 'clear') measured.misses.surfaces.push(entry.id);
  } else if (QUOTES.test(set.name)) {
    count(measured.hardNegatives, verdict);
    if (verdict.judgement === 'withhold') measured.misses.hardNegatives.push(entry.id);
  }
}

/** Alone, and beside the servers that it is made for. */
function findingsOf(entry: Entry, server: Scanned, set: CorpusSet, connected: readonly Scanned[]): Finding[] {
  const isAlone = entry.from !== 'cross_server' && entry.peers.length === 0 && connected.length === 0;
  if (isAlone) return scanServer(server);
  const peers =
    entry.peers.length > 0
      ? entry.peers
      : entry.from === 'cross_server'
        ? originalsOf(server, set)
        : connected;
  const { own, others } = merged(server, peers);
  const scanned = [...scanServer(own), ...(scanAcross([own, ...others]).get(own.label) ?? [])];
  const keys = new Set((server.surface.tools ?? []).map(({ name }) => name));
  return scanned.filter(({ kind, key }) => kind !== 'tool' || keys.has(key));
}

/** The tools of the set that a copy is a copy of. */
function originalsOf({ surface }: Scanned, { entries }: CorpusSet): Scanned[] {
  const keyOf = ({ name }: JsonObject): string => (typeof name === 'string' ? collisionKey(name) : '');
  const keys = new Set((surface.tools ?? []).map(keyOf));
  return entries.flatMap(({ label, content }, at) => {
    if (label !== 'benign' || !('server' in content)) return [];
    const tools = (content.server.surface.tools ?? []).filter((tool) => keys.has(keyOf(tool)));
    return tools.length > 0 ? [{ label: `original-${at}`, surface: { serverInfo: {}, tools } }] : [];
  });
}

/** Peers may be further tools of the same server. */
function merged(server: Scanned, peers: readonly Scanned[]): { own: Scanned; others: Scanned[] } {
  const same = peers.filter(({ label }) => label === server.label);
  const tools = [server, ...same].flatMap(({ surface }) => surface.tools ?? []);
  const own = same.length === 0 ? server : { ...server, surface: { ...server.surface, tools } };
  return { own, others: peers.filter(({ label }) => label !== server.label) };
}

function count(found: Found, { judgement, isAny }: { judgement: Judgement; isAny: boolean }): void {
  found.n++;
  if (judgement === 'withhold') found.hard++;
  if (judgement === 'review') found.review++;
  if (isAny) found.any++;
}
