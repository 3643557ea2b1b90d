/** Runs every check over a corpus and prints what was found; the exit code says whether all of it holds. */
import { checkArguments } from './arguments.ts';
import { checkNames, checkTools } from './definitions.ts';
import { type CapturedServer, readCorpus } from './folder.ts';
import { checkRequests } from './requests.ts';
import { SUBJECTS } from './subjects.ts';
import { checkTrust } from './trust.ts';
import { checkUpgrades } from './upgrades.ts';

const MOST_SHOWN = 40;
/** Tools that no generated arguments fit, at most: a sampler that finds nothing checks nothing. */
const MOST_UNSAMPLED = 10;
const HEAD = ['', 'exact', 'adapted', 'left out', 'strict', 'tokens', 'requests', 'most tools', 'over limit'];

/** @returns the exit code. */
export async function main(folder: string): Promise<number> {
  const started = Date.now();
  let servers: CapturedServer[];
  try {
    servers = readCorpus(folder);
  } catch (error) {
    console.error(`The corpus cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
  const problems: string[] = [];
  const { entries } = checkNames(servers, problems);
  console.log(`${servers.length} servers, ${entries.length} tools`);

  const rows: (string | number)[][] = [];
  for (const subject of SUBJECTS) {
    const counts = checkTools(subject, entries, problems);
    const sent = await checkRequests(subject, entries, problems);
    const { exact, adapted, leftOut, strict, tokens } = counts;
    rows.push([
      subject.name,
      exact,
      adapted,
      leftOut,
      strict,
      tokens,
      sent.requests,
      sent.mostTools,
      sent.overLimit,
    ]);
    console.log(`${subject.name}: ${counts.tools} tools compiled, ${sent.requests} requests sent`);
  }
  const { samples, unsampled } = checkArguments(SUBJECTS, entries, problems);
  if (unsampled.length > MOST_UNSAMPLED)
    problems.push(
      `no arguments were found for ${unsampled.length} tools: ${unsampled.slice(0, 5).join(', ')}, ...`,
    );

  console.log(`\n${table([HEAD, ...rows])}\n`);
  console.log(
    `Each tool alone, all of each server, all together: "most tools" went in one accepted request, "over limit" were left out of one and reported.`,
  );
  console.log(`${samples} arguments there and back; none were generated for ${unsampled.length} tools.`);
  await checkTrust(folder, problems);
  checkUpgrades(folder, problems);
  for (const problem of problems.slice(0, MOST_SHOWN)) console.log(`  ${problem}`);
  if (problems.length > MOST_SHOWN) console.log(`  ... and ${problems.length - MOST_SHOWN} more`);
  const seconds = Math.round((Date.now() - started) / 1000);
  console.log(
    problems.length === 0
      ? `corpus: passed, ${servers.length} servers, ${entries.length} tools, ${SUBJECTS.length} ways to compile, ${seconds} s`
      : `corpus: FAILED, ${problems.length} problems, ${seconds} s`,
  );
  return problems.length === 0 ? 0 : 1;
}

function table(rows: (string | number)[][]): string {
  const widths = HEAD.map((_, at) => Math.max(...rows.map((row) => String(row[at]).length)));
  return rows
    .map((row) =>
      row
        .map((cell, at) =>
          at === 0 ? String(cell).padEnd(widths[at] ?? 0) : String(cell).padStart(widths[at] ?? 0),
        )
        .join('  '),
    )
    .join('\n');
}
