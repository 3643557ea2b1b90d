/**
 * Changes as SARIF 2.1.0 (OASIS), for code scanning: every result points at the lines of the lock file that hold what was
 * approved.
 */
import { type Node, parseTree } from 'jsonc-parser';
import type { Item, JsonObject } from '../../types.ts';
import { VERSION } from '../../version.ts';
import type { Severity } from '../findings.ts';
import type { Effect } from '../lock/lock.ts';
import { explain } from '../scan/scan.ts';
import { drawn } from './lines.ts';
import type { Review, Reviewed } from './review.ts';
import { itemName, VERDICTS } from './text.ts';

type Level = 'error' | 'warning' | 'note';

const BY_EFFECT: Readonly<Record<Effect, Level>> = {
  stop: 'error',
  withhold: 'error',
  'serve-pinned': 'warning',
  inform: 'note',
};
const BY_SEVERITY: Readonly<Record<Severity, Level>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
};

/** @param options.path of the lock file, relative to the root of the repository. @param options.lockText '' without one. */
export function diffSarif(
  reviews: readonly Review[],
  options: { path: string; lockText: string },
): JsonObject {
  const begin = beginOf(options.lockText);
  const results = reviews.flatMap((review) => [
    ...review.items.flatMap((item) => itemResults(review.label, item)),
    ...review.gone.map((item) => result(review.label, item, 'removed', 'note', 'it is no longer there')),
  ]);
  const rules = [...new Set(results.map(({ ruleId }) => ruleId))].sort();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'Midspan', semanticVersion: VERSION, rules: rules.map(descriptor) } },
        columnKind: 'utf16CodeUnits',
        results: results.map(({ path, ...rest }) => ({
          ...rest,
          ruleIndex: rules.indexOf(rest.ruleId),
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: uriOf(options.path), uriBaseId: '%SRCROOT%' },
                region: begin(path),
              },
            },
          ],
        })),
      },
    ],
  };
}

interface Result {
  ruleId: string;
  level: Level;
  message: { text: string };
  partialFingerprints: { 'midspan/v1': string };
  /** Into the lock; what is new goes beyond what is there. */
  path: string[];
}

function itemResults(label: string, item: Reviewed): Result[] {
  const approve = item.approve === undefined ? '' : `. Approve with: ${item.approve}`;
  return [
    ...item.verdicts.map((verdict) =>
      result(
        label,
        item,
        verdict.class,
        BY_EFFECT[verdict.effect],
        `${verdict.what}; ${VERDICTS[verdict.effect].means}${approve}`,
        item.details[0]?.pointer,
      ),
    ),
    ...item.findings.map(({ rule, severity, pointer, evidence, decoded }) =>
      result(
        label,
        item,
        rule,
        BY_SEVERITY[severity],
        `${explain(rule)?.title ?? rule} in added text at ${pointer}: ${evidence}${decoded === undefined ? '' : `; it says: ${decoded}`}`,
        pointer,
      ),
    ),
  ];
}

function result(
  label: string,
  item: Item & { nowDigest?: string },
  ruleId: string,
  level: Level,
  what: string,
  pointer: string = '',
): Result {
  const inDefinition = item.kind === 'server' || item.kind === 'instructions' ? [] : ['definition'];
  const segments = pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  return {
    ruleId: drawn(ruleId),
    level,
    message: { text: message(`${label}: ${itemName(item)}: ${what}`) },
    partialFingerprints: {
      'midspan/v1': [label, item.kind, item.key, ruleId, pointer, item.nowDigest ?? ''].map(drawn).join('|'),
    },
    path: [...placeOf(label, item), ...inDefinition, ...segments],
  };
}

const MEMBERS: Readonly<Record<Item['kind'], string>> = {
  tool: 'tools',
  prompt: 'prompts',
  resource: 'resources',
  template: 'templates',
  instructions: 'instructions',
  server: 'identity',
};

const placeOf = (label: string, { kind, key }: Item): string[] => [
  'servers',
  label,
  MEMBERS[kind],
  ...(kind === 'instructions' || kind === 'server' ? [] : [key]),
];

/** Links and placeholders of a message are written out, as sections 3.11.5 and 3.11.6 of the specification have it. */
const message = (text: string): string =>
  drawn(text)
    .replace(/[\\[\]]/g, String.raw`\$&`)
    .replace(/[{}]/g, '$&$&');

function descriptor(id: string): JsonObject {
  const explained = explain(id);
  return explained === undefined
    ? { id, shortDescription: { text: `A definition differs from the approved one: ${message(id)}` } }
    : {
        id,
        shortDescription: { text: message(explained.title) },
        fullDescription: { text: message(explained.why) },
        help: { text: message(explained.advice) },
      };
}

/** Where a path, or as much of it as the lock has, begins. */
function beginOf(lockText: string): (path: readonly string[]) => JsonObject {
  const root = lockText === '' ? undefined : parseTree(lockText);
  const starts = [0];
  for (let end = lockText.indexOf('\n'); end !== -1; end = lockText.indexOf('\n', end + 1))
    starts.push(end + 1);
  return (path) => {
    const offset = root === undefined ? 0 : offsetOf(root, path);
    const startLine = lineOf(starts, offset);
    return { startLine, startColumn: offset - (starts[startLine - 1] ?? 0) + 1 };
  };
}

function offsetOf(root: Node, path: readonly string[]): number {
  let [node, offset] = [root, root.offset];
  for (const segment of path) {
    const member =
      node.type === 'array'
        ? node.children?.[Number(segment)]
        : node.children?.find(({ children }) => children?.[0]?.value === segment);
    const next = node.type === 'array' ? member : member?.children?.[1];
    if (member === undefined || next === undefined) return offset;
    [node, offset] = [next, member.offset];
  }
  return offset;
}

/** The number, from 1, of the line that an offset is in. */
function lineOf(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}

const uriOf = (path: string): string => path.toWellFormed().split(/[/\\]/).map(encodeURIComponent).join('/');
