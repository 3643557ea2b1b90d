import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openHost } from '../../src/index.ts';
import {
  newRunId,
  openJournal,
  recordedRun,
  recordedRuns,
  recordRun,
  takeOver,
  unknownCalls,
} from '../../src/journal/journal.ts';
import { sqlite } from '../../src/store/sqlite.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import type { JsonObject } from '../../src/types.ts';

const folderOf = (): string => path.join(mkdtempSync(path.join(tmpdir(), 'midspan-journal-')), '.midspan');

function storeIn(folder: string): Store {
  const store = openStore(folder);
  onTestFinished(() => store.close());
  return store;
}

const result = { content: [{ type: 'text', text: 'it is done' }] };
const counts = { turns: 1, calls: 0, usage: { input: 3, output: 4 } };
const call = { label: 'files', tool: 'write', digest: 'd', arguments: { path: 'a', token: 'abc' } };
const audited = (store: Store): JsonObject[] =>
  [...store.audit.rows()].map(({ body }) => JSON.parse(body) as JsonObject);

describe('a call', () => {
  it('is there before it ends, running, and done with its length afterwards', async () => {
    const store = storeIn(folderOf());
    const started = await openJournal(store).callStarted({
      ...call,
      rule: 'rules[0]',
      why: 'it says so',
      by: 'ann',
    });
    expect(store.calls.list(undefined)).toMatchObject([{ tool: 'write', status: 'running', by: 'ann' }]);
    started.ended({ status: 'done', milliseconds: 12, result });
    const bytes = JSON.stringify(result).length;
    expect(store.calls.list(undefined)).toMatchObject([{ status: 'done', milliseconds: 12, bytes }]);
    expect(audited(store)).toMatchObject([
      {
        what: 'call',
        label: 'files',
        item: 'write',
        digest: 'd',
        decision: 'started',
        rule: 'rules[0]',
        why: 'it says so',
        who: 'ann',
      },
      {
        what: 'call',
        label: 'files',
        item: 'write',
        digest: 'd',
        decision: 'done',
        milliseconds: 12,
        resultBytes: bytes,
      },
    ]);
    expect(store.audit.verify()).toMatchObject({ intact: true, rows: 2 });
  });

  it('is recorded without what looks like a secret or was named, with the digest of all of it', () => {
    const folder = folderOf();
    const store = storeIn(folder);
    const journal = openJournal(store, { redact: ['note'] });
    const args = { path: 'a', token: 'hunter2', note: 'my diary', url: 'https://u:hunter2@h/p' };
    for (const given of [args, { ...args, token: 'other' }])
      journal.callRefused(
        { ...call, arguments: given },
        { status: 'refused', milliseconds: 0, result, error: 'password=hunter2' },
      );
    const [first, second] = audited(store);
    expect(first?.['arguments']).toEqual({
      path: 'a',
      token: '[redacted]',
      note: '[redacted]',
      url: 'https://u:[redacted]@h/p',
    });
    expect(first?.['arguments']).toEqual(second?.['arguments']);
    expect(first?.['argumentsDigest']).not.toBe(second?.['argumentsDigest']);
    expect(store.calls.list(undefined)).toMatchObject([{ status: 'refused' }, { status: 'refused' }]);
    store.close();
    const bytes = readFileSync(path.join(folder, 'midspan.db'), 'latin1');
    for (const secret of ['hunter2', 'my diary']) expect(bytes).not.toContain(secret);
  });

  it('is unknown when the process that made it is gone', async () => {
    const folder = folderOf();
    const other = openStore(folder);
    await openJournal(other).callStarted(call);
    expect(storeIn(folder).calls.list(undefined)).toMatchObject([{ status: 'running' }]);
    other.close();
    expect(storeIn(folder).calls.list(undefined)).toMatchObject([{ status: 'unknown' }]);
  });

  it('does not start when it cannot be recorded, and says why', async () => {
    const folder = folderOf();
    const first = openStore(folder);
    await openJournal(first).callStarted(call);
    first.close();
    // As a full disk or a lost permission would be, and for root, too.
    const broken = sqlite(path.join(folder, 'midspan.db'), () => undefined);
    broken.run('DROP TABLE calls');
    broken.close();
    const store = storeIn(folder);
    await expect(openJournal(store).callStarted(call)).rejects.toThrow(/the store .*midspan\.db failed/);
    // Nothing of it is there, not even in the audit.
    expect(store.audit.head().seq).toBe(1);
  });

  it('that ran gives its result even when its end cannot be recorded, and that is told', async () => {
    const folder = folderOf();
    const store = openStore(folder);
    let tell: (problem: string) => void = () => undefined;
    const told = new Promise<string>((resolve) => (tell = resolve));
    const started = await openJournal(store, { onProblem: (problem) => tell(problem) }).callStarted(call);
    store.close();
    expect(() => started.ended({ status: 'done', milliseconds: 1, result })).not.toThrow();
    expect(await told).toContain('The end of a call of write could not be recorded');
    expect(storeIn(folder).calls.list(undefined)).toMatchObject([{ status: 'unknown' }]);
  });
});

describe('calls of one turn', () => {
  it('are written together, each with its own end, in one chain', async () => {
    const store = storeIn(folderOf());
    const journal = openJournal(store);
    const tools = Array.from({ length: 77 }, (_, index) => `tool-${index}`);
    const started = await Promise.all(tools.map((tool) => journal.callStarted({ ...call, tool })));
    const times = new Map(tools.map((tool, index) => [tool, (index * 31) % 77]));
    for (const [index, each] of [...started.entries()].toReversed())
      each.ended({ status: 'done', milliseconds: times.get(`tool-${index}`) ?? -1, result });
    const rows = store.calls.list(undefined);
    expect(rows.map(({ tool }) => tool)).toEqual(tools);
    expect(
      rows.every(({ tool, status, milliseconds }) => status === 'done' && milliseconds === times.get(tool)),
    ).toBe(true);
    expect(audited(store).map(({ item }) => item)).toEqual([...tools, ...tools.toReversed()]);
    expect(store.audit.verify()).toMatchObject({ intact: true, rows: 154 });
  });

  it('do not share the fate of one whose run belongs to another process by now', async () => {
    const folder = folderOf();
    const [first, second] = [storeIn(folder), storeIn(folder)];
    recordRun(first, { id: 'theirs', model: 'm', options: {} }).started([
      { role: 'user', content: 'Do it.' },
    ]);
    const journal = openJournal(second);
    const outcomes = await Promise.allSettled(
      [undefined, 'theirs', 'of-a-client', undefined].map((run) =>
        journal.callStarted({ ...call, ...(run !== undefined && { run }) }),
      ),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(second.calls.list('theirs')).toEqual([]);
    expect(audited(second).map(({ run }) => run)).toEqual([undefined, 'of-a-client', undefined]);
  });

  it.each([
    [{ content: [] }],
    [
      {
        content: [{ type: 'text', text: 'Zoë is 学' }],
        structuredContent: { a: [1, true, null, {}], b: 'c' },
      },
    ],
    [{ content: [{ type: 'image', data: 'A'.repeat(100_000), mimeType: 'image/png' }], isError: true }],
  ])('have the size of their results', async (given) => {
    const store = storeIn(folderOf());
    const started = await openJournal(store).callStarted(call);
    started.ended({ status: 'done', milliseconds: 1, result: given });
    expect(store.calls.list(undefined)).toMatchObject([{ bytes: Buffer.byteLength(JSON.stringify(given)) }]);
  });
});

describe('a host', () => {
  it('refuses a call that cannot be recorded, and the function is not run', async () => {
    const folder = folderOf();
    const store = openStore(folder);
    store.audit.append({});
    store.close();
    let ran = 0;
    const host = await openHost(
      { mcpServers: {} },
      {
        store,
        natives: [
          {
            name: 'count',
            description: 'Counts.',
            inputSchema: { type: 'object' },
            run: () => {
              ran += 1;
              return 'counted';
            },
          },
        ],
      },
    );
    const { status, result: answer } = await host.call({ name: 'count' });
    await host.close();
    expect([status, ran]).toEqual(['refused', 0]);
    expect(JSON.stringify(answer)).toContain('could not be recorded');
  });
});

describe('a run', () => {
  const user = { role: 'user', content: 'Do it.' } as const;
  const asking = (id: string) =>
    ({ role: 'assistant', text: '', calls: [{ id, name: 'files__write', arguments: {} }] }) as const;

  /** A run whose process has gone in the middle of a call, after another one has ended. */
  async function left(folder: string): Promise<string> {
    const store = openStore(folder);
    const run = recordRun(store, { id: newRunId(), model: 'script:x', options: { system: 'Be brief.' } });
    run.started([user]);
    const journal = openJournal(store);
    const calls = [...asking('a').calls, ...asking('b').calls, ...asking('c').calls];
    run.appended({ role: 'assistant', text: 'I go.', calls }, counts, { stop: 'calls' });
    const taint = { untrusted: ['files/write'], private: [], suspicious: [] };
    const first = await journal.callStarted({ ...call, run: run.id, call: 'a' });
    first.ended({ status: 'done', milliseconds: 1, result, taint });
    await journal.callStarted({ ...call, run: run.id, call: 'b' });
    store.close();
    return run.id;
  }

  it('goes on with what it had, what it had seen, and only what has not ended', async () => {
    const folder = folderOf();
    const id = await left(folder);
    const store = storeIn(folder);
    expect(unknownCalls(recordedRun(store, id))).toMatchObject([{ call: 'b', tool: 'write' }]);
    const { run, resumption } = takeOver(store, id, { skip: ['b'] });
    expect(run.taint.untrusted).toEqual(['files/write']);
    expect(run.options).toEqual({ system: 'Be brief.' });
    expect(resumption.messages).toHaveLength(2);
    expect(resumption.spent).toEqual(counts);
    // `c` was never started: it is neither unknown nor answered.
    expect([...resumption.answered.keys()]).toEqual(['a', 'b']);
    expect(resumption.answered.get('a')).toEqual(result);
    expect(JSON.stringify(resumption.answered.get('b'))).toContain('It was not repeated');
  });

  it.each([
    [{ retry: ['b'], skip: ['b'] }, 'two choices were made for the call "b"'],
    [{ retry: ['a'] }, '"a" is no call of the run'],
    [{}, 'nobody knows whether they did: b (files/write)'],
  ])('stays where it is with the choices %j', async (choices, words) => {
    const folder = folderOf();
    const id = await left(folder);
    const store = storeIn(folder);
    expect(() => takeOver(store, id, choices)).toThrow(words);
    expect(recordedRuns(store, 1)).toMatchObject([{ id, status: 'interrupted' }]);
  });

  it('belongs to one process: who was taken for dead and is not makes no call beside its successor', async () => {
    const folder = folderOf();
    const id = await left(folder);
    const [first, second] = [storeIn(folder), storeIn(folder)];
    takeOver(first, id, { others: 'skip' });
    expect(() => takeOver(second, id, { others: 'skip' })).toThrow('still going on in another process');
    const late = openJournal(second);
    await expect(late.callStarted({ ...call, run: id, call: 'c' })).rejects.toThrow(
      `another process has taken over the run ${id}`,
    );
    const run = recordRun(second, { id, model: 'script:x', options: {} });
    expect(() => run.appended(user, counts)).toThrow('has taken over');
    await openJournal(first).callStarted({ ...call, run: id, call: 'c' });
  });

  it('is found by the beginning of its id, when no other begins so', () => {
    const store = storeIn(folderOf());
    for (const id of ['aa1', 'aa2', 'b1']) recordRun(store, { id, model: 'm', options: {} }).started([user]);
    expect(recordedRun(store, 'b').run.id).toBe('b1');
    expect(recordedRun(store, 'aa2').run.id).toBe('aa2');
    expect(() => recordedRun(store, 'aa')).toThrow('several runs begin with "aa"');
    expect(() => recordedRun(store, '%')).toThrow('there is no run "%"');
    expect(() => recordedRun(store, '')).toThrow('several runs');
  });

  it('is deleted when it began long ago and nobody drives it, and the audit stays', async () => {
    let now = 1_000;
    const folder = folderOf();
    const store = openStore(folder, () => now);
    onTestFinished(() => store.close());
    for (const id of ['old', 'live', 'new']) {
      now += 1_000;
      const run = recordRun(store, { id, model: 'm', options: {} });
      run.started([user]);
      const started = await openJournal(store).callStarted({ ...call, run: id, call: 'a' });
      started.ended({ status: 'done', milliseconds: 1, result });
      if (id !== 'live') run.ended({ reason: 'complete' }, counts);
    }
    openJournal(store).callRefused(call, { status: 'refused', milliseconds: 0, result });
    store.asks.insert({ id: 'x', digest: 'd', ask: '{}', created: 1, deadline: 2 });
    expect(store.runs.prune(4_000)).toEqual({ runs: 1, calls: 0, asks: 1 });
    expect(recordedRuns(store, 9).map(({ id }) => id)).toEqual(['new', 'live']);
    expect(store.runs.messages('old')).toEqual([]);
    expect(store.runs.prune(9_000)).toEqual({ runs: 1, calls: 1, asks: 0 });
    expect(store.audit.verify()).toMatchObject({ intact: true, rows: 7 });
  });
});
