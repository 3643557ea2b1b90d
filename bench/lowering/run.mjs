// `npm run bench:lowering`: what compiling 1,000 tools for one dialect costs, the first time in a process and after that.
// Each measurement has a process of its own, for nothing may be warm. Writes its part of docs/performance.md.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { generateTools } from './tools.mjs';

const TOOLS = 1_000;
const PROCESSES = 7;
const GOAL = 150;
const DIALECTS = ['anthropic', 'openai-responses', 'openai-chat', 'gemini', 'gemini-interactions'];
const [task] = process.argv.slice(2);

if (task === undefined) await main();
else process.stdout.write(JSON.stringify(await measure(...task.split(' '))));

async function measure(id, strict) {
  const { dialectOf } = await import('../../dist/dialects/index.js');
  const tools = generateTools(TOOLS).map((tool) => (strict === 'strict' ? { ...tool, strict: true } : tool));
  const dialect = dialectOf(id);
  // Limits of one request are another matter: every tool is lowered.
  const compile = (list) => list.map((tool) => dialect.definitions([tool]));
  const time = (work) => {
    const [start, used] = [performance.now(), process.cpuUsage()];
    const result = work();
    const { user, system } = process.cpuUsage(used);
    return [performance.now() - start, result, (user + system) / 1000];
  };
  const [first, compiled, processor] = time(() => compile(tools));
  // Other objects with the same content, as after a server has listed its tools again.
  const copies = structuredClone(tools);
  const [again] = time(() => compile(copies));
  const report = compiled.flatMap((one) => one.report);
  return { first, processor, again, leftOut: report.filter(({ status }) => status === 'left out').length };
}

async function main() {
  const rows = [];
  for (const id of DIALECTS) {
    for (const strict of id.startsWith('gemini') ? ['usual'] : ['usual', 'strict']) {
      const runs = Array.from({ length: PROCESSES }, () => child(`${id} ${strict}`)).sort(
        (a, b) => a.first - b.first,
      );
      const { first, processor, again, leftOut } = runs[Math.floor(PROCESSES / 2)];
      const name = strict === 'strict' ? `${id}, strict asked for` : id;
      rows.push({ name, first, processor, again, leftOut, best: runs[0].first });
      console.log(
        `${name}: ${first.toFixed(0)} ms once (${runs[0].first.toFixed(0)} at best, ${processor.toFixed(0)} of processor time), ${again.toFixed(0)} ms afterwards, ${leftOut} left out`,
      );
    }
  }
  const verdict = verdictOn(rows);
  console.log(verdict);
  write(rows, verdict);
}

/** The goal is about the clock; on a busy machine it may be missed for want of a processor. */
function verdictOn(rows) {
  const named = (list) => list.map(({ name }) => name).join(', ') || 'none';
  const over = rows.filter(({ first }) => first >= GOAL);
  return over.length === 0
    ? `The goal holds for all: every median is under ${GOAL} ms.`
    : `The goal holds for: ${named(rows.filter((row) => !over.includes(row)))}. It does not for: ${named(over)}.`;
}

function child(argument) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), argument], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

function write(rows, verdict) {
  const bytes = JSON.stringify(generateTools(TOOLS)).length;
  const [load] = loadavg();
  const cores = cpus().length;
  const section = `## Lowering

\`npm run bench:lowering\` compiles ${TOOLS.toLocaleString('en')} generated tools (${(bytes / 1e6).toFixed(1)} MB of definitions, no two schemas alike), each run in a
process of its own, so that nothing is warm; the median of ${PROCESSES}. The tools have the size, shape and keywords of 1,700 tools of public
servers. "Afterwards" is the same content in other objects, as after a server has listed its tools again. "Processor" is
the time that the threads of the process took, compiling and collecting included: on a busy machine the clock says more. Node ${process.versions.node}, ${cpus()[0]?.model.trim() ?? 'unknown processor'},
${cores} cores; load average at the end ${load.toFixed(1)}${load > cores ? ', so the machine was busy with other work' : ''}.

Goal: under ${GOAL} ms once. ${verdict}

Most schemas need no change for an API: one walk finds that out, and they go out as they came in. The rest is copied and rewritten, which
is most of the cost for Gemini, whose reader knows the fewest keywords, and for strict modes.

| dialect | once, ms | best, ms | processor, ms | afterwards, ms | left out |
|---|---:|---:|---:|---:|---:|
${rows.map(({ name, first, best, processor, again, leftOut }) => `| ${name} | ${first.toFixed(0)} | ${best.toFixed(0)} | ${processor.toFixed(0)} | ${again.toFixed(0)} | ${leftOut} |`).join('\n')}
`;
  const file = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '# Performance\n';
  const others = text.replace(/\n## Lowering\n[\s\S]*?(?=\n## |$)/, '\n');
  writeFileSync(file, `${others.trimEnd()}\n\n${section}`);
}
