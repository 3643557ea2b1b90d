/**
 * Legitimate upgrades of real servers, each graded as if the older version had been pinned: the summaries are kept beside this
 * file and read by people; none of the servers' own words stand in them. `MIDSPAN_UPDATE=1` writes them anew.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { compareSchemas } from '../../src/trust/lock/compare-schema.ts';
import { nameOf } from '../../src/trust/lock/facets.ts';
import { type Change, compare, pinServer, worstOf } from '../../src/trust/lock/index.ts';
import type { JsonObject, ServerSpec, Surface } from '../../src/types.ts';

/** Fewer pairs than these are no corpus. */
const LEAST_PAIRS = 9;
const GOLDEN = new URL('upgrades/', import.meta.url);

export function checkUpgrades(folder: string, problems: string[]): void {
  const files = readdirSync(join(folder, 'upgrades'))
    .filter((file) => file.endsWith('--old.json'))
    .sort();
  if (files.length < LEAST_PAIRS)
    problems.push(`there are ${files.length} upgrades, and a whole corpus has at least ${LEAST_PAIRS}`);
  let items = 0;
  for (const file of files) {
    const name = file.slice(0, -'--old.json'.length);
    const before = read(join(folder, 'upgrades', file));
    const after = read(join(folder, 'benign', `${name}.json`));
    const pin = pinServer(SPEC, undefined, before.surface, { at: '2026-01-01', how: 'review' });
    const changes = compare(pin, { surface: after.surface });
    for (const { kind, key, class: grade, effect, findings = [] } of changes) {
      if (effect === 'stop' || grade === 'text-hostile' || findings.some(({ tier }) => tier === 'hard'))
        problems.push(`upgrade of ${name}: ${kind} ${key} is graded hostile (${grade}, ${effect})`);
    }
    items += new Set(changes.map(({ kind, key }) => `${kind} ${key}`)).size;
    checkGolden(name, summaryOf(name, before, after, changes), problems);
  }
  console.log(`${files.length} legitimate upgrades: ${items} items changed, none of them hostile`);
}

const SPEC: ServerSpec = {
  label: 'server',
  transport: { type: 'stdio', command: 'server', args: [], env: {} },
};

interface Version {
  version: string;
  surface: Surface;
}

function read(file: string): Version {
  const { source, initialize, tools, prompts, resources, resourceTemplates } = JSON.parse(
    readFileSync(file, 'utf8'),
  ) as { [member: string]: JsonObject | JsonObject[] | null };
  const { serverInfo, instructions } = initialize as { serverInfo: JsonObject; instructions?: string };
  const list = (items: unknown): JsonObject[] | undefined => (Array.isArray(items) ? items : undefined);
  const lists = {
    tools: list(tools),
    prompts: list(prompts),
    resources: list(resources),
    templates: list(resourceTemplates),
  };
  return {
    version: nameOf(source as JsonObject, 'version'),
    surface: {
      serverInfo,
      ...(instructions !== undefined && { instructions }),
      ...(Object.fromEntries(
        Object.entries(lists).filter(([, items]) => items !== undefined),
      ) as Partial<Surface>),
    },
  };
}

function summaryOf(name: string, before: Version, after: Version, changes: readonly Change[]): string {
  const groups = new Map<string, Change[]>();
  for (const change of changes) {
    const id = `${change.kind}${change.key === '' ? '' : ` ${change.key}`}`;
    groups.set(id, [...(groups.get(id) ?? []), change]);
  }
  const pinned = after.surface.tools?.length ?? 0;
  const unchanged = (after.surface.tools ?? []).filter(
    (tool) => !groups.has(`tool ${nameOf(tool, 'name')}`),
  ).length;
  return [
    `${name}: ${before.version} to ${after.version}`,
    `${pinned} tools now, ${unchanged} of them unchanged`,
    '',
    ...[...groups].flatMap(([id, own]) => [
      `${(worstOf(own) ?? '').padEnd(12)} ${id}${sizesOf(own)}`,
      ...own.map(
        ({ class: grade, what, renamedFrom }) =>
          `             ${grade}: ${what}${renamedFrom === undefined ? '' : ` (${renamedFrom})`}`,
      ),
      ...schemaLines(own),
      ...findingLine(own),
    ]),
    '',
  ].join('\n');
}

function sizesOf([change]: readonly Change[]): string {
  const length = (value: JsonObject | string | undefined): number | undefined => {
    const text = typeof value === 'object' ? value['description'] : value;
    return typeof text === 'string' ? text.length : undefined;
  };
  const [was, now] = [length(change?.was), length(change?.now)];
  if (was === undefined || now === undefined || was === now) return '';
  return `, description ${was} to ${now} characters`;
}

function schemaLines([change]: readonly Change[]): string[] {
  if (typeof change?.was !== 'object' || typeof change.now !== 'object' || change.kind !== 'tool') return [];
  return compareSchemas(change.was['inputSchema'], change.now['inputSchema'], '').map(
    ({ class: grade, pointer, what }) => `             ${grade.padEnd(14)} ${pointer}: ${what}`,
  );
}

function findingLine(own: readonly Change[]): string[] {
  const rules = own.flatMap(({ findings = [] }) => findings.map(({ rule, tier }) => `${rule} (${tier})`));
  return rules.length === 0
    ? []
    : [`             findings in new words: ${[...new Set(rules)].sort().join(', ')}`];
}

function checkGolden(name: string, summary: string, problems: string[]): void {
  const file = new URL(`${name}.txt`, GOLDEN);
  if (process.env['MIDSPAN_UPDATE'] === '1') writeFileSync(file, summary);
  else if (!existsSync(file))
    problems.push(`upgrade of ${name}: there is no summary in test/corpus/upgrades`);
  else if (readFileSync(file, 'utf8') !== summary)
    problems.push(`upgrade of ${name}: it is not graded as test/corpus/upgrades/${name}.txt says`);
}
