// The tour: what `npm start` shows. Opens the servers of midspan.json, shows what was found, and lets a model do a task
// that needs several of them.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chooseModel, MODEL_VARIABLES, openHost, openModel } from 'midspan';

const here = fileURLToPath(new URL('./', import.meta.url));
const task =
  'Read ideas.txt and shopping.txt in my notes, count the words of each, add the two numbers up, remember the notes, ' +
  'and tell me the numbers and what time it is.';

/** A real model where one is configured or runs on this machine, else the scripted one. */
async function modelOrScript() {
  const chosen = await chooseModel();
  return (
    chosen ?? {
      model: openModel(`script:${join(here, 'start.json')}`),
      why: `scripted: no local server answers, and none of ${MODEL_VARIABLES.join(', ')} is set`,
    }
  );
}

/** A native function: it stands beside the servers' tools. */
const localTime = {
  name: 'local_time',
  description: 'The time of day, as hours and minutes.',
  run: () => new Date().toTimeString().slice(0, 5),
};

// Each tour begins with an empty memory.
const memory = join(tmpdir(), `midspan-demo-${process.pid}.jsonl`);
const host = await openHost(join(here, 'midspan.json'), {
  natives: [localTime],
  env: { ...process.env, MIDSPAN_DEMO_MEMORY: memory },
  startWithin: 60_000,
  onEvent: (event) => event.type === 'warning' && console.error(`warning: ${event.message}`),
});
try {
  const { model, why } = await modelOrScript();
  showServers(model.dialect.id);
  console.log(`\nModel: ${model.name.replace(here, 'examples/demo/')} (${why})\nTask:  ${task}\n`);
  process.exitCode = await showRun(host.run({ model, messages: task }));
} finally {
  await host.close();
  rmSync(memory, { force: true });
}

function showServers(dialect) {
  const { report } = host.tools(dialect);
  const tokensOf = (label) =>
    host
      .catalog()
      .entries.reduce((sum, entry, index) => sum + (entry.label === label ? report[index].tokens : 0), 0);
  const rows = host
    .servers()
    .map(({ label, state, info, tools, error }) => [
      label,
      state === 'ready' ? info.era : `${state}: ${error?.message ?? ''}`,
      info?.protocolVersion ?? '',
      String(tools ?? 0),
      `~${tokensOf(label)}`,
    ]);
  rows.push([
    '(native)',
    '',
    '',
    String(host.catalog().entries.filter(({ label }) => label === undefined).length),
    `~${tokensOf(undefined)}`,
  ]);
  const table = [['SERVER', 'ERA', 'VERSION', 'TOOLS', 'TOKENS'], ...rows];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
}

async function showRun(run) {
  let inText = false;
  const line = (text) => {
    console.log(`${inText ? '\n' : ''}${text}`);
    inText = false;
  };
  const short = (value) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.length > 90 ? `${text.slice(0, 87)}...` : text;
  };
  for await (const event of run) {
    if (event.type === 'text') {
      process.stdout.write(event.delta);
      inText = true;
    } else if (event.type === 'call.started') {
      line(`  -> ${event.name} ${short(event.arguments)}`);
    } else if (event.type === 'call.finished') {
      const text = event.result.content.map((block) => block.text ?? `(${block.type})`).join(' ');
      line(
        `  <- ${event.name} ${event.isError ? 'ERROR ' : ''}${short(JSON.stringify(text))} ${event.milliseconds} ms`,
      );
    } else if (event.type === 'end') {
      line(
        `\nEnd: ${event.reason}${event.detail === undefined ? '' : ` (${event.detail})`}; ${event.turns} turns, ${event.calls} calls`,
      );
      return event.reason === 'complete' ? 0 : 1;
    }
  }
  return 1;
}
