/** The scan of one server: every leaf, every item, and what its texts say one after the other. */
import type { Finding } from '../findings.ts';
import { messageOf } from '../../errors.ts';
import type { Item, Json, JsonObject } from '../../types.ts';
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
/** Servers whose last listing is remembered, the oldest forgotten first. */
const MOST_SERVERS = 1_000;
const MOST_DEPTH = 200;
/** What was found in each item when the server listed it last, by label, then by kind and key. */
const known = new Map<string, Map<string, { value: JsonObject; scan: ItemScan }>>();

/** The rules that need one server only: bytes, phrases, decoded text, schemas, orders spread over its texts. What did not change since the last listing is not read again. */
export function scanServer({ label, surface }: Scanned): Finding[] {
  const findings: Finding[] = [];
  const texts: (Text & { leaf: Leaf })[] = [];
  let left = MOST_IN_SERVER;
  const before = known.get(label);
  const now: NonNullable<typeof before> = new Map();
  for (const item of surfaceItems(surface)) {
    if (left < 0) {
      findings.push(degraded(item, 'the server has more text than is read'));
      continue;
    }
    const name = `${item.kind} ${item.key}`;
    const last = before?.get(name);
    const scan = last !== undefined && isSame(last.value, item.value) ? last.scan : scanItem(item, label);
    now.set(name, { value: item.value, scan });
    left -= scan.size;
    findings.push(...scan.findings);
    texts.push(...scan.texts);
  }
  known.delete(label);
  known.set(label, now);
  if (known.size > MOST_SERVERS) known.delete(known.keys().next().value!);
  for (const { at, start, end, evidence } of splitOrders(texts)) {
    const { kind, key, pointer } = texts[at]!.leaf;
    const { id, tier, severity } = SPLIT;
    findings.push({ rule: id, kind, key, tier, severity, pointer, start, end, evidence });
  }
  return findings;
}

/** Whether two values say the same in the same order. */
function isSame(a: Json | undefined, b: Json | undefined, depth: number = 0): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (depth > MOST_DEPTH || Array.isArray(a) !== Array.isArray(b)) return false;
  const [names, others] = [Object.keys(a), Object.keys(b)];
  if (names.length !== others.length) return false;
  for (let at = 0; at < names.length; at++) {
    const name = names[at]!;
    if (name !== others[at]) return false;
    if (!isSame((a as JsonObject)[name], (b as JsonObject)[name], depth + 1)) return false;
  }
  return true;
}

function scanItem(item: SurfaceItem, label: string): ItemScan {
  const findings: Finding[] = [];
  const texts: (Text & { leaf: Leaf })[] = [];
  let size = 0;
  for (const leaf of leavesOf(item)) {
    const { kind, key, pointer, inKey, raw, place } = leaf;
    size += raw.length + 4;
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
