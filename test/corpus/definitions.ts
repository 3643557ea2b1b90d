/** Every tool for every dialect: carried, accepted by an independent reading of the API's rules, the same twice. */
import { buildCatalog } from '../../src/host/catalog.ts';
import type { Catalog, CatalogEntry } from '../../src/host/catalog.ts';
import { isExposedName } from '../../src/host/names.ts';
import { check } from '../schema/profiles.ts';
import type { CapturedServer } from './folder.ts';
import { compileFor, definitionsIn, isStrict, schemaIn, type Subject } from './subjects.ts';

export interface Counts {
  tools: number;
  exact: number;
  adapted: number;
  leftOut: number;
  /** Tools whose strict form was asked for and given. */
  strict: number;
  tokens: number;
}

export function catalogOf(servers: readonly CapturedServer[]): Catalog {
  return buildCatalog(
    servers.map(({ label, tools }) => ({
      spec: { label, transport: { type: 'stdio', command: 'none', args: [], env: {} } },
      tools,
      state: () => 'ready',
    })),
    [],
  );
}

/** Names valid everywhere, all different, found again, and the same in whatever company and order the servers come. */
export function checkNames(servers: readonly CapturedServer[], problems: string[]): Catalog {
  const catalog = catalogOf(servers);
  const total = servers.reduce((sum, { tools }) => sum + tools.length, 0);
  if (catalog.entries.length !== total)
    problems.push(`the catalog has ${catalog.entries.length} of ${total} tools`);
  const names = new Set(catalog.entries.map(({ name }) => name.toLowerCase()));
  if (names.size !== total) problems.push(`${total - names.size} exposed names are not unique`);
  const reversed = catalogOf([...servers].reverse());
  const alone = new Map(servers.map((server) => [server.label, catalogOf([server])]));
  for (const entry of catalog.entries) {
    const { name, label = '', tool } = entry;
    const where = `${label} ${tool}`;
    if (!isExposedName(name)) problems.push(`${where}: the exposed name ${name} is not valid`);
    if (catalog.find(name) !== entry || catalog.owned(label, tool) !== entry)
      problems.push(`${where}: ${name} does not lead back to it`);
    for (const other of [reversed, alone.get(label)])
      if (other?.owned(label, tool)?.name !== name)
        problems.push(`${where}: the name depends on the company`);
  }
  return catalog;
}

/** Each tool alone. */
export function checkTools(subject: Subject, entries: readonly CatalogEntry[], problems: string[]): Counts {
  const counts: Counts = { tools: 0, exact: 0, adapted: 0, leftOut: 0, strict: 0, tokens: 0 };
  for (const entry of entries) {
    const say = (text: string): void => void problems.push(`${subject.name}: ${entry.name}: ${text}`);
    const compiled = compileFor(subject, [entry]);
    const [report, ...others] = compiled.report;
    const [definition, ...more] = definitionsIn(compiled);
    counts.tools++;
    if (report === undefined || others.length + more.length > 0) {
      say('one tool gave not one report and definition');
      continue;
    }
    if (report.status === 'left out' || definition === undefined) {
      counts.leftOut++;
      say(`left out: ${report.changes.join('; ')}`);
      continue;
    }
    counts[report.status]++;
    counts.tokens += report.tokens;
    if (isStrict(definition)) counts.strict++;
    if (!(report.tokens > 0)) say(`${report.tokens} tokens`);
    if ((report.status === 'exact') !== (report.changes.length === 0))
      say(`${report.status} with ${report.changes.length} changes`);
    if (
      subject.strict &&
      !isStrict(definition) &&
      !report.changes.some((change) => change.includes('strict mode'))
    )
      say('not strict, and the report does not say why');
    for (const objection of check(subject.profileOf(definition), schemaIn(definition))) say(objection);
    if (JSON.stringify(compileFor(subject, [structuredClone(entry)])) !== JSON.stringify(compiled))
      say('compiled to other bytes the second time');
  }
  return counts;
}
