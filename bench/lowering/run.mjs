// `npm run bench:lowering`: what compiling 1,000 tools for one dialect costs, the first time in a process and after that.
// Each measurement has a process of its own, for nothing may be warm. Writes its part of docs/performance.md.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { generateTools } from './tools.mjs';

const TOOLS = 1_000;
const PROCESSES = 5;
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
  const slow = rows.filter(({ first, name }) => first > GOAL && !name.includes('strict'));
  console.log(
    slow.length === 0
      ? `All are under ${GOAL} ms.`
      : `Over ${GOAL} ms: ${slow.map(({ name }) => name).join(', ')}`,
  );
  write(rows);
}

function child(argument) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), argument], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

function write(rows) {
  const bytes = JSON.stringify(generateTools(TOOLS)).length;
  const section = `## Lowering

\`npm run bench:lowering\` compiles ${TOOLS.toLocaleString('en')} generated tools (${(bytes / 1e6).toFixed(1)} MB of definitions, no two schemas alike), each run in a
process of its own, so that nothing is warm; the median of ${PROCESSES}. "Afterwards" is the same content in other objects, as after a
server has listed its tools again. Goal: under ${GOAL} ms once. "Processor" is
the time that the threads of the process took, compiling and collecting included: on a busy machine the clock says more. Node ${process.versions.node}, ${cpus()[0]?.model.trim() ?? 'unknown processor'}.

| dialect | once, ms | best, ms | processor, ms | afterwards, ms | left out |
|---|---:|---:|---:|---:|---:|
${rows.map(({ name, first, best, processor, again, leftOut }) => `| ${name} | ${first.toFixed(0)} | ${best.toFixed(0)} | ${processor.toFixed(0)} | ${again.toFixed(0)} | ${leftOut} |`).join('\n')}
`;
  const file = fileURLToPath(new URL('../../docs/performance.md', import.meta.url));
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '# Performance\n';
  const others = text.replace(/\n## Lowering\n[\s\S]*?(?=\n## |$)/, '\n');
  writeFileSync(file, `${others.trimEnd()}\n\n${section}`);
}
