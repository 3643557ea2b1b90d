/** The scan over a corpus: what it may not do to benign servers, and that it finds no less than it did before. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { readScanCorpus, type ScanCorpus } from '../../src/cli/scan-corpus.ts';
import { type Found, measure, type Measured, verdictOf } from '../../src/cli/scan-measure.ts';
import { isDistinctive } from '../../src/trust/scan/across-names.ts';
import { scanAcross, type Scanned, scanServer } from '../../src/trust/scan/scan.ts';
import type { JsonObject } from '../../src/types.ts';
import { MUTATIONS, mutated } from './mutations.ts';

/** What an empty, cut or misread corpus does not have. */
const LEAST = {
  servers: 50,
  tools: 1_600,
  sets: 7,
  malicious: 250,
  hardNegatives: 40,
  surfaces: 98,
  results: 35,
  texts: 140,
};
/** Of the benign tools, or of the hard negatives. */
const MOST = { review: 0.005, across: 0.003, hardNegatives: 0.1 };

const BASELINE = new URL('trust-baseline.json', import.meta.url);

interface Counts {
  n: number;
  found: number;
}
/** By set or disguise. Counts alone: nothing of a corpus is kept. */
type Baseline = Record<string, Counts>;

export async function checkTrust(folder: string, problems: string[]): Promise<void> {
  const corpus = await readScanCorpus(folder);
  for (const { file, reason } of corpus.skipped) problems.push(`${file}: ${reason}`);
  const measured = measure(corpus);
  const texts = poisonedTexts(corpus);
  checkCounts(measured, texts, problems);
  checkBenign(measured, problems);

  const counts: Baseline = {
    ...Object.fromEntries(Object.entries(measured.sets).map(([name, found]) => [name, caught(found)])),
    'results that raise suspicion': { n: measured.results.n, found: measured.results.suspicious },
    'texts beside the tool that they name': injected(corpus, texts),
    ...Object.fromEntries(MUTATIONS.map((mutation) => [`texts, ${mutation}`, disguised(texts, mutation)])),
  };
  print(measured, counts);
  compareCounts(counts, problems);
}

const caught = ({ n, hard, review }: Found): Counts => ({ n, found: hard + review });

function checkCounts(
  { benign, sets, hardNegatives, surfaces, results }: Measured,
  texts: readonly string[],
  problems: string[],
): void {
  const malicious = Object.values(sets).reduce((sum, { n }) => sum + n, 0);
  const found: Record<keyof typeof LEAST, number> = {
    servers: benign.servers,
    tools: benign.tools,
    sets: Object.keys(sets).length,
    malicious,
    hardNegatives: hardNegatives.n,
    surfaces: surfaces.n,
    results: results.n,
    texts: texts.length,
  };
  for (const [what, least] of Object.entries(LEAST) as [keyof typeof LEAST, number][]) {
    if (found[what] < least)
      problems.push(`trust: ${found[what]} ${what}, and a whole corpus has at least ${least}`);
  }
}

function checkBenign({ benign, hardNegatives, misses }: Measured, problems: string[]): void {
  if (benign.hard > 0) problems.push(`trust: ${benign.hard} benign items are withheld`);
  if (benign.review > MOST.review * benign.tools)
    problems.push(`trust: ${benign.review} benign tools are sent to review`);
  if (benign.hard > 0 || benign.review > MOST.review * benign.tools) problems.push(...misses.benign);
  if (benign.across > MOST.across * benign.tools)
    problems.push(
      `trust: with all servers connected, ${benign.across} benign tools have a finding across servers`,
    );
  if (hardNegatives.hard > MOST.hardNegatives * hardNegatives.n)
    problems.push(
      `trust: ${hardNegatives.hard} of ${hardNegatives.n} hard negatives are withheld: ${misses.hardNegatives.join(', ')}`,
    );
  if (misses.surfaces.length > 0)
    problems.push(`trust: surfaces where nothing is found: ${misses.surfaces.join(', ')}`);
}

/** Descriptions that are poisoned: of definitions that show it, once each. */
function poisonedTexts({ sets }: ScanCorpus): string[] {
  const texts = sets.flatMap(({ entries }) =>
    entries.flatMap(({ label, category, from, content }) => {
      if (label !== 'malicious' || from !== 'definition' || category === 'openly_malicious_capability')
        return [];
      if (!('server' in content)) return [];
      const { tools = [], prompts = [], resources = [], instructions } = content.server.surface;
      return [instructions, ...[...tools, ...prompts, ...resources].map(({ description }) => description)];
    }),
  );
  return [...new Set(texts)].filter((text) => typeof text === 'string').filter((text) => text.length >= 40);
}

/** Each text as a server of its own, beside a server that owns a tool it names; a text that names none is left out. */
function injected({ benign }: ScanCorpus, texts: readonly string[]): Counts {
  const counts = { n: 0, found: 0 };
  const owners = new Map<string, Scanned>();
  for (const server of benign)
    for (const { name } of server.surface.tools ?? []) if (typeof name === 'string') owners.set(name, server);
  for (const text of texts) {
    const names = [...text.matchAll(/(?<![\w/|~.-])[A-Za-z0-9][A-Za-z0-9_.-]{4,60}[A-Za-z0-9](?![\w|:-])/g)]
      .map(([word]) => word)
      .filter(isToolName);
    const name = names.find((word) => owners.has(word)) ?? names[0];
    if (name === undefined) continue;
    counts.n++;
    const owner = owners.get(name) ?? one('owner', { name, description: 'Does its work.', inputSchema: {} });
    const findings = scanAcross([owner, one('poisoned', mutated(text, 'as it is'))]).get('poisoned') ?? [];
    if (findings.some(({ rule, tier }) => rule === 'X01' && tier === 'hard')) counts.found++;
  }
  return counts;
}

/** Not a hyphenated word; files, markers and arguments that are explained were left out before. */
const isToolName = (word: string): boolean =>
  isDistinctive(word) && /^[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+$|^[a-z]+[A-Z][A-Za-z]+$/.test(word);

const one = (label: string, tool: JsonObject): Scanned => ({
  label,
  surface: { serverInfo: {}, tools: [tool] },
});

function disguised(texts: readonly string[], mutation: string): Counts {
  const found = texts.filter(
    (text) => verdictOf(scanServer(one('poisoned', mutated(text, mutation)))).judgement !== 'clear',
  ).length;
  return { n: texts.length, found };
}

function print(
  { benign, hardNegatives, sets, capability, surfaces, results }: Measured,
  counts: Baseline,
): void {
  const { servers, tools, hard, review, soft, across } = benign;
  console.log(
    `\nscan: ${servers} benign servers, ${tools} tools: ${hard} withheld, ${review} to review, ${soft} with a soft finding; ${across} with one across servers`,
  );
  const row = (name: string, { n, hard, review, any }: Found): string =>
    `  ${name.padEnd(40)} ${String(n).padStart(5)} ${String(hard).padStart(9)} ${String(review).padStart(7)} ${String(any).padStart(5)}`;
  console.log(`  ${''.padEnd(40)}     n  withheld  review   any`);
  for (const [name, found] of Object.entries(sets)) console.log(row(name, found));
  console.log(row('hard negatives', hardNegatives));
  console.log(row('openly malicious tools (policy)', capability));
  console.log(row('every surface', surfaces));
  console.log(
    `  results that raise suspicion: ${results.suspicious} of ${results.n}, and ${results.benign.suspicious} of ${results.benign.n} benign ones`,
  );
  for (const [name, { n, found }] of Object.entries(counts))
    if (name.startsWith('texts')) console.log(`  ${name}: ${found} of ${n}`);
}

/** Never lower than what is committed. `UPDATE_BASELINE=1` writes what was found. */
function compareCounts(counts: Baseline, problems: string[]): void {
  if (process.env['UPDATE_BASELINE'] === '1') {
    writeFileSync(BASELINE, `${JSON.stringify(counts, null, 2)}\n`);
    return;
  }
  if (!existsSync(BASELINE)) {
    problems.push('trust: there is no baseline to compare with');
    return;
  }
  const baseline = JSON.parse(readFileSync(BASELINE, 'utf8')) as Baseline;
  const compared = Object.entries(counts).filter(([name]) => baseline[name] !== undefined);
  if (compared.length < LEAST.sets)
    problems.push(`trust: only ${compared.length} sets can be compared with the baseline`);
  for (const [name, { n, found }] of compared) {
    const before = baseline[name]!;
    if (found / n < before.found / before.n)
      problems.push(`trust: ${name}: ${found} of ${n} found, and ${before.found} of ${before.n} before`);
  }
}
