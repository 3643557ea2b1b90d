import { Command } from 'commander';
import { MidspanError } from '../errors.ts';
import { type Finding, judge, type Judgement } from '../trust/findings.ts';
import type { ServerSpec } from '../types.ts';
import { VERSION } from '../version.ts';
import { type CommonOptions, configOf, type Context, examples, withCommonOptions } from './context.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { findingsOf, lookAt, serversOf } from './live.ts';
import type { Part, Printer } from './print.ts';
import type { Found, Measured } from './scan-measure.ts';

interface ScanOptions extends CommonOptions {
  explain?: string;
  corpus?: string;
}

/** `midspan scan`: what the rules find in how servers are started and in everything they list, as if nothing were approved. */
export function scanCommand(context: Context, exit: (code: number) => void): Command {
  return withCommonOptions(new Command('scan'))
    .description('look for hidden, deceptive and dangerous texts in everything that servers list')
    .argument('[labels...]', 'servers to report; default: all (rules across servers always see all)')
    .option('--explain <rule>', 'say what a rule looks for, why, and what to do')
    .option('--corpus <folder>', 'scan captured servers and labeled entries instead, and print the counts')
    .addHelpText(
      'after',
      examples(
        'scan',
        'scan files --json',
        'scan --explain X01',
        "scan --corpus ./corpus --json | jq '.benign'",
      ),
    )
    .action(async (labels: string[], options: ScanOptions) => {
      exit(await scan(context, labels, options));
    });
}

async function scan(context: Context, labels: readonly string[], options: ScanOptions): Promise<number> {
  if (options.explain !== undefined)
    return explainRule(context.print, options.explain, options.json === true);
  if (options.corpus !== undefined) return scanCorpus(context.print, options.corpus, options.json === true);
  return scanServers(context, labels, options);
}

async function explainRule(print: Printer, name: string, asJson: boolean): Promise<number> {
  const { explain, RULES } = await import('../trust/scan/scan.ts');
  const rule = explain(name.toUpperCase()) ?? explain(name);
  if (rule === undefined) {
    throw new MidspanError({
      code: 'usage',
      what: `there is no rule ${JSON.stringify(name)}`,
      next: `There are: ${RULES.map((known) => known.rule).join(', ')}`,
    });
  }
  if (asJson) print.json(rule);
  else {
    print.line({ style: 'bold', text: rule.rule }, `  ${rule.title} (${rule.tier})`);
    print.line(`why      ${rule.why}`);
    print.line(`example  ${rule.example}`);
    print.line(`advice   ${rule.advice}`);
  }
  return EXIT.good;
}

/** What was found of one thing that a server lists, or of how it is started. */
interface ItemReport {
  kind: Finding['kind'] | 'configuration';
  key: string;
  judgement: Judgement;
  findings: Finding[];
}

interface ServerReport {
  label: string;
  judgement: Judgement;
  items: ItemReport[];
}

async function scanServers(
  context: Context,
  labels: readonly string[],
  options: ScanOptions,
): Promise<number> {
  const { print, env } = context;
  const { scanConfig } = await import('../trust/scan/config.ts');
  const config = await configOf(context, options);
  const wanted = serversOf(config, labels);
  // Texts about other servers show only beside them.
  const specs = serversOf(config, []);
  const looked = await lookAt(context, specs, { name: 'midspan', version: VERSION });
  const listed = await findingsOf(
    looked.flatMap((look) => ('error' in look ? [] : [{ spec: look.spec, surface: look.surfaces[1] }])),
  );
  const reports = wanted.map((spec) => report(spec, scanConfig(spec, env), listed.get(spec.label) ?? []));
  const failures = looked.flatMap((look) =>
    'error' in look && wanted.includes(look.spec) ? [look.error] : [],
  );
  if (options.json === true) {
    const failed = failures.map(({ label, code, message }) => ({ label, error: { code, message } }));
    print.json({ servers: reports, failed, totals: totalsOf(reports) });
  } else await printReports(print, reports);
  for (const failure of failures) print.note({ style: 'red', text: 'failed' }, ` ${failure.message}`);
  if (reports.some(({ judgement }) => judgement !== 'clear')) return EXIT.needsApproval;
  return failures[0] === undefined ? EXIT.good : exitCodeOf(failures[0]);
}

function report({ label }: ServerSpec, config: Finding[], listed: readonly Finding[]): ServerReport {
  const items = new Map<string, ItemReport>();
  if (config.length > 0)
    items.set('', { kind: 'configuration', key: '', judgement: judge(config), findings: config });
  for (const finding of listed) {
    const { kind, key } = finding;
    const item = items.get(`${kind} ${key}`) ?? { kind, key, judgement: 'clear', findings: [] };
    item.findings.push(finding);
    items.set(`${kind} ${key}`, item);
  }
  for (const item of items.values()) item.judgement = judge(item.findings);
  const all = [...items.values()].sort((a, b) => ORDER.indexOf(a.judgement) - ORDER.indexOf(b.judgement));
  return { label, judgement: all[0]?.judgement ?? 'clear', items: all };
}

const ORDER: readonly Judgement[] = ['withhold', 'review', 'clear'];

function totalsOf(reports: readonly ServerReport[]): Record<'withheld' | 'review' | 'notes', number> {
  const items = reports.flatMap((one) => one.items);
  const number = (judgement: Judgement): number =>
    items.filter((item) => item.judgement === judgement).length;
  return { withheld: number('withhold'), review: number('review'), notes: number('clear') };
}

const WORDS: Readonly<Record<Judgement, Part>> = {
  withhold: { style: 'red', text: 'withheld' },
  review: { style: 'yellow', text: 'review' },
  clear: { style: 'dim', text: 'note' },
};

async function printReports(print: Printer, reports: readonly ServerReport[]): Promise<void> {
  const { explain } = await import('../trust/scan/scan.ts');
  for (const { label, judgement, items } of reports) {
    print.line({ style: 'bold', text: label }, judgement === 'clear' ? '  clear' : '');
    for (const item of items) {
      print.line('  ', WORDS[item.judgement], `  ${item.kind}${item.key === '' ? '' : ` ${item.key}`}`);
      for (const finding of item.findings) printFinding(print, finding, explain(finding.rule)?.title ?? '');
    }
  }
  const rules = new Set(
    reports
      .flatMap(({ items }) => items)
      .flatMap(({ judgement, findings }) =>
        judgement === 'clear' ? [] : findings.filter(({ tier }) => tier !== 'note').map(({ rule }) => rule),
      ),
  );
  for (const rule of [...rules].sort())
    print.line({ style: 'dim', text: rule }, `  ${explain(rule)?.advice ?? ''}`);
  const { withheld, review, notes } = totalsOf(reports);
  print.note(
    `${withheld} withheld, ${review} to review, ${notes} with notes only; \`midspan scan --explain <rule>\` says why.`,
  );
}

function printFinding(print: Printer, finding: Finding, title: string): void {
  const { rule, tier, pointer, inKey, evidence, decoded, others = [] } = finding;
  const place = pointer === '' ? '' : ` at ${pointer}${inKey === true ? ' (the name)' : ''}`;
  const beside = others.length > 0 ? `, of ${others.join(', ')}` : '';
  print.line(`    ${rule} ${tier}: ${title}${place}${beside}`);
  if (evidence !== '') print.line('      ', { style: 'dim', text: evidence });
  if (decoded !== undefined) print.line('      it says: ', { style: 'dim', text: decoded });
}

async function scanCorpus(print: Printer, folder: string, asJson: boolean): Promise<number> {
  const { readScanCorpus } = await import('./scan-corpus.ts');
  const { measure } = await import('./scan-measure.ts');
  const corpus = await readScanCorpus(folder);
  const measured = measure(corpus);
  if (asJson) print.json({ ...measured, skipped: corpus.skipped });
  else printMeasured(print, measured);
  for (const { file, reason } of corpus.skipped)
    print.note({ style: 'yellow', text: 'skipped' }, ` ${file}: ${reason}`);
  return EXIT.good;
}

function printMeasured(
  print: Printer,
  { benign, hardNegatives, sets, capability, results, surfaces }: Measured,
): void {
  const { servers, tools, hard, review, soft, across } = benign;
  print.line(
    `benign: ${servers} servers, ${tools} tools; ${hard} withheld, ${review} to review, ${soft} with a soft finding, ${across} across servers`,
  );
  const row = (name: string, { n, hard: withheld, review: asked, any }: Found): Part[] => [
    name,
    ...[n, withheld, asked, any].map(String),
  ];
  print.table([
    ['', 'ENTRIES', 'WITHHELD', 'REVIEW', 'ANY'],
    ...Object.entries(sets).map(([name, found]) => row(name, found)),
    row('hard negatives', hardNegatives),
    row('open capability', capability),
    row('every surface', surfaces),
  ]);
  print.line(
    `results: ${results.suspicious} of ${results.n} suspicious, and ${results.benign.suspicious} of ${results.benign.n} benign ones`,
  );
}
