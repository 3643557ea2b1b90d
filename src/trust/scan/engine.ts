/** The scan of one server: every leaf, every item, and what its texts say one after the other. */
import type { Finding } from '../findings.ts';
import { messageOf } from '../../errors.ts';
import type { Item } from '../../types.ts';
import { drawHidden } from './draw.ts';
import { readText, roleOf } from './leaf.ts';
import type { Leaf } from './rule.ts';
import { DEGRADED, SPLIT } from './rules.ts';
import type { Scanned } from './scan.ts';
import { SCHEMA_RULES } from './schema.ts';
import { splitOrders, type Text } from './split.ts';
import { leavesOf, surfaceItems, type SurfaceItem } from './walk.ts';

interface ItemScan {
  findings: readonly Finding[];
  texts: readonly (Text & { leaf: Leaf })[];
  size: number;
}

/** Characters of one server that are read. */
export const MOST_IN_SERVER = 32 * 1024 * 1024;
const MOST_KNOWN = 32 * 1024 * 1024;
const byObject = new WeakMap<object, ItemScan>();
let byContent = new Map<string, ItemScan>();
let known = 0;

/** The rules that need one server only: bytes, phrases, decoded text, schemas, orders spread over its texts. Remembered by content. */
export function scanServer({ label, surface }: Scanned): Finding[] {
  const findings: Finding[] = [];
  const texts: (Text & { leaf: Leaf })[] = [];
  let left = MOST_IN_SERVER;
  for (const item of surfaceItems(surface)) {
    if (left < 0) {
      findings.push(degraded(item, 'the server has more text than is read'));
      continue;
    }
    const scan = scanItem(item, label);
    left -= scan.size;
    findings.push(...scan.findings);
    texts.push(...scan.texts);
  }
  for (const { at, start, end, evidence } of splitOrders(texts)) {
    const { kind, key, pointer } = texts[at]!.leaf;
    const { id, tier, severity } = SPLIT;
    findings.push({ rule: id, kind, key, tier, severity, pointer, start, end, evidence });
  }
  return findings;
}

function scanItem(item: SurfaceItem, label: string): ItemScan {
  // The object of the instructions is made anew each time.
  const object = item.kind === 'instructions' ? undefined : item.value;
  const seen = object && byObject.get(object);
  if (seen !== undefined) return seen;
  const content = `${label} ${item.kind} ${JSON.stringify(item.value)}`;
  let scan = byContent.get(content);
  if (scan === undefined) {
    scan = scanNew(item, label, content.length);
    if ((known += content.length) > MOST_KNOWN) [byContent, known] = [new Map(), content.length];
    byContent.set(content, scan);
  }
  if (object !== undefined) byObject.set(object, scan);
  return scan;
}

function scanNew(item: SurfaceItem, label: string, size: number): ItemScan {
  const findings: Finding[] = [];
  const texts: (Text & { leaf: Leaf })[] = [];
  for (const leaf of leavesOf(item)) {
    const { kind, key, pointer, inKey, raw, place } = leaf;
    const read = readText(raw, roleOf(leaf));
    for (const found of read.findings)
      findings.push({ kind, key, pointer, ...(inKey && { inKey }), ...found });
    if (place === 'text' && !inKey) texts.push({ raw, leaf });
  }
  for (const rule of SCHEMA_RULES) {
    try {
      for (const found of rule.find(item, { label }))
        findings.push({ rule: rule.id, kind: item.kind, key: item.key, ...found });
    } catch (error) {
      findings.push(degraded(item, `${rule.id}: ${messageOf(error)}`));
    }
  }
  return { findings, texts, size };
}

function degraded({ kind, key }: Item, reason: string): Finding {
  const { id, tier, severity } = DEGRADED;
  const evidence = drawHidden(reason.slice(0, 200)).slice(0, 200);
  return { rule: id, kind, key, tier, severity, pointer: '', start: 0, end: 0, evidence };
}
