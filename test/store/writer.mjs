// Writes records of every kind to a store until it is ended, and notes each in a file of its own once it is acknowledged.
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { openJournal } from '../../dist/journal/journal.js';
import { newRunId, recordRun } from '../../dist/journal/runs.js';
import { openStore } from '../../dist/store/store.js';

const [, , folder, log, name] = process.argv;
const store = openStore(folder);
const journal = openJournal(store);
const note = (...fields) => appendFileSync(log, `${fields.join(' ')}\n`);
const digest = (text) => createHash('sha256').update(text).digest('hex');
/** Texts of very different sizes, told apart by their writer and number. */
const textOf = (index) => `${name}-${index} `.repeat(1 + ((index * 7919) % (index % 40 === 0 ? 20_000 : 50)));

for (let index = 0; ; index += 1) {
  const id = `${name}-${index}`;
  const text = textOf(index);
  const run = recordRun(store, { id: newRunId(), model: 'script:x', options: {} });
  const counts = { turns: 1, calls: 1, usage: { input: 1, output: 1 } };
  run.started([{ role: 'user', content: text }]);
  note('message', run.id, 0, digest(text));
  const call = { id, name: 't', arguments: {} };
  run.appended({ role: 'assistant', text, calls: [call] }, counts, { stop: 'calls' });
  note('message', run.id, 1, digest(text));
  const start = { run: run.id, call: id, label: 'test', tool: 't', arguments: { text: digest(text) } };
  const started = await journal.callStarted(start);
  note('started', id);
  const result = { content: [{ type: 'text', text }] };
  started.ended({ status: 'done', milliseconds: 1, result });
  // Beside it, as those of several clients are.
  const others = await Promise.all(
    Array.from({ length: index % 8 }, async (_, other) => {
      const beside = { call: `${id}+${other}`, label: 'test', tool: 't', arguments: {} };
      const started = await journal.callStarted(beside);
      note('started', beside.call);
      started.ended({ status: 'done', milliseconds: 1, result });
      return beside.call;
    }),
  );
  store.asks.insert({ id, digest: digest(text), ask: text, created: index, deadline: index });
  // The end of a call is written before whatever is written next.
  for (const call of [id, ...others]) note('ended', call, digest(text));
  note('ask', id, digest(text));
  store.asks.answer(id, digest(text), text, name, index);
  note('answer', id, digest(text));
  store.remembered.set({ label: name, tool: 't', digest: id, action: 'allow', by: name });
  note('remembered', id);
  journal.audit({ what: 'definition', item: id, decision: 'shown' });
  note('audit', id);
  if (index === 0) process.stdout.write('writing\n');
  if (index % 3 !== 0) continue;
  run.appended({ role: 'tool', results: [{ call, result }] }, counts);
  note('answered', id);
  run.ended({ reason: 'complete' }, counts);
  note('finished', run.id);
}
