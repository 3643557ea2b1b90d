/** The first look at a server: exactly what a model would be shown of it, and how it is reached, on one screen. */
import type { JsonObject, Surface, ToolLabel } from '../../types.ts';
import { type Finding, judge } from '../findings.ts';
import { itemDigest } from '../lock/digest.ts';
import type { Change, Digest, Identity } from '../lock/lock.ts';
import { detailLines, findingLines, fit, type Shown, WIDTH } from './blocks.ts';
import { detailsOf, textDetail } from './details.ts';
import { counted, drawn, type Line, named, rowsOf } from './lines.ts';
import { readable, tokensOf } from './review.ts';

export interface FirstUse {
  label: string;
  identity: Identity;
  surface: Surface;
  findings: readonly Finding[];
  /** What the host suggests for a tool, and a person confirms by approving. */
  labels: (tool: JsonObject) => readonly ToolLabel[];
}

const LISTS = [
  ['prompt', 'prompts', 'name'],
  ['resource', 'resources', 'uri'],
  ['template', 'templates', 'uriTemplate'],
] as const;

export function firstUseText(first: FirstUse, shown: Shown = {}): Line[] {
  const { label, identity, surface, findings } = first;
  const { tools = [], instructions, serverInfo } = surface;
  const total = [instructions, ...tools].reduce<number>((sum, value) => sum + tokensOf(value), 0);
  const itself = ({ kind }: Finding): boolean => kind === 'server';
  const lines: Line[] = [
    [
      { style: 'bold', text: named(label) },
      '  seen for the first time: this is all that a model would be shown of it',
    ],
    ...identityLines(identity, shown),
    ...facts(
      'it says it is',
      [serverInfo['name'], serverInfo['version']].filter(isText).map(drawn).join(' '),
      shown,
    ),
    ...findingLines(findings.filter(itself), shown),
    ...instructionLines(first, shown),
    [],
    [
      { style: 'bold', text: counted(tools.length, 'tool') },
      `, about ${counted(total, 'token')} in every request`,
    ],
    ...tools.flatMap((tool) => [[], ...toolLines(tool, first, shown)]),
    ...LISTS.flatMap(([kind, member, key]) => nameLines(kind, surface[member], key, findings, shown)),
    [],
  ];
  return lines.flatMap((line) => fit(line, shown));
}

/** The same as changes, everything new: for JSON, Markdown and SARIF. */
export function firstChanges({ identity, surface, findings }: Omit<FirstUse, 'label' | 'labels'>): Change[] {
  const change = (kind: Change['kind'], key: string, now: JsonObject | string, digest?: Digest): Change => ({
    kind,
    key,
    class: 'added',
    effect: 'withhold',
    what: digest === undefined ? NO_DIGEST : 'nobody has approved it yet',
    facets: [],
    now,
    ...(digest !== undefined && { nowDigest: digest }),
    findings: findings.filter((finding) => finding.kind === kind && finding.key === key),
  });
  const { instructions, tools } = surface;
  const items = (kind: Change['kind'], list: readonly JsonObject[] = [], member: string): Change[] =>
    list.map((item) => change(kind, keyOf(item, member), item, digestOf(kind, item)));
  return [
    change('server', '', { ...identity }, identity.digest),
    ...(instructions === undefined
      ? []
      : [change('instructions', '', instructions, digestOf('instructions', instructions))]),
    ...items('tool', tools, 'name'),
    ...LISTS.flatMap(([kind, member, key]) => items(kind, surface[member], key)),
  ];
}

const NO_DIGEST = 'it holds half a character, which has no digest, so that it cannot be approved';

/** Undefined for what RFC 8785 has no form for: it can be read, but not approved. */
function digestOf(kind: Change['kind'], value: JsonObject | string): Digest | undefined {
  try {
    return itemDigest(kind, value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function identityLines(identity: Identity, shown: Shown): Line[] {
  const { command, url, cwd, env, headers, issuer, package: artifact } = readable({ ...identity });
  const list = (names: unknown): string =>
    Array.isArray(names) ? names.map((name) => named(String(name))).join(', ') : '';
  const at = (value: unknown): string => (isText(value) ? drawn(value) : '');
  return [
    ...facts('starts', at(command), shown),
    ...facts('connects to', at(url), shown),
    ...facts('in', at(cwd), shown),
    ...facts('environment', list(env), shown),
    ...facts('headers', list(headers), shown),
    ...facts('signs in at', at(issuer), shown),
    ...facts(
      'package',
      typeof artifact === 'object' && artifact !== null
        ? Object.values(artifact).filter(isText).map(drawn).join(' ')
        : '',
      shown,
    ),
  ];
}

/** A fact of ours and its value, the whole of it. */
function facts(name: string, value: string, { width = WIDTH }: Shown): Line[] {
  if (value === '') return [];
  return rowsOf(value, width - 18).map((row, index) => [
    { style: 'dim', text: `  ${(index === 0 ? name : '').padEnd(14)}` },
    ` ${row}`,
  ]);
}

function instructionLines({ surface, findings }: FirstUse, shown: Shown): Line[] {
  const { instructions } = surface;
  if (instructions === undefined) return [];
  const about = `, about ${counted(tokensOf(instructions), 'token')}`;
  return [
    [],
    [{ style: 'bold', text: 'instructions' }, about],
    ...detailLines([textDetail('', undefined, instructions)], shown, 'plain'),
    ...findingLines(
      findings.filter(({ kind }) => kind === 'instructions'),
      shown,
    ),
  ];
}

const WARNINGS = {
  withhold: [{ style: 'red', text: 'WITHHELD ' }],
  review: [{ style: 'yellow', text: 'LOOK TWICE ' }],
  clear: [],
} as const;

function toolLines(tool: JsonObject, { findings, labels }: FirstUse, shown: Shown): Line[] {
  const key = keyOf(tool, 'name');
  const found = findings.filter((finding) => finding.kind === 'tool' && finding.key === key);
  const { name: _, ...rest } = tool;
  const suggested = labels(tool);
  return [
    [
      ...WARNINGS[judge(found)],
      { style: 'bold', text: named(key) },
      `  about ${counted(tokensOf(tool), 'token')}`,
      suggested.length === 0 ? '' : `; suggested labels: ${suggested.join(', ')}`,
    ],
    ...detailLines(detailsOf(undefined, rest), shown, 'plain').map((line): Line => ['  ', ...line]),
    ...findingLines(found, shown).map((line): Line => ['  ', ...line]),
  ];
}

function nameLines(
  kind: Finding['kind'],
  items: readonly JsonObject[] | undefined,
  key: string,
  findings: readonly Finding[],
  shown: Shown,
): Line[] {
  if (items === undefined || items.length === 0) return [];
  const names = items.map((item) => named(keyOf(item, key)));
  return [
    [],
    [{ style: 'bold', text: counted(items.length, kind) }],
    ...rowsOf(names.join(', '), shown.width ?? WIDTH).map((row): Line => [`  ${row}`]),
    ...findingLines(
      findings.filter((finding) => finding.kind === kind),
      shown,
    ),
  ];
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function keyOf(item: JsonObject, member: string): string {
  const key = item[member];
  return typeof key === 'string' ? key : '';
}
