import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { closeBox, openBox } from '../../../src/doors/mcp/box.ts';
import type { Exchange } from '../../../src/doors/mcp/client.ts';
import { type Mint, type Run, runAsTask, runUntil } from '../../../src/doors/mcp/long-calls.ts';
import { type Minted, MintedTasks, TASK_KEPT } from '../../../src/doors/mcp/minted.ts';
import type { Served } from '../../../src/mcp/serving.ts';
import { servingFor } from '../../../src/mcp/serving.ts';
import { gatewayFile } from '../../../src/store/gateway.ts';
import { LEGACY, MODERN } from './tasks.support.ts';

const ada = { principal: 'ada', endpoint: undefined };
const eve = { principal: 'eve', endpoint: undefined };
const done = (text = 'done'): Served & { kind: 'complete' } => ({
  kind: 'complete',
  result: { content: [{ type: 'text', text }] },
});
const form = { method: 'elicitation/create', params: { mode: 'form', message: 'Which?' } };
const during = { label: 'one', signal: new AbortController().signal };

function opened(table: MintedTasks, owner = ada, askedMs?: number): Minted {
  const task = table.open(owner, new AbortController(), askedMs);
  if (task === undefined) throw new Error('there are too many');
  return task;
}

describe('The table of tasks', () => {
  it('has room for so many that run, of one principal and of all', () => {
    const table = new MintedTasks({ running: 2, runningOfAll: 3 });
    const first = opened(table);
    opened(table);
    expect(table.open(ada, new AbortController(), undefined)).toBeUndefined();
    opened(table, eve);
    expect(table.open({ ...ada, principal: 'bob' }, new AbortController(), undefined)).toBeUndefined();
    first.settle(done());
    opened(table);
  });

  it('drops what ended first where there are too many, or their results are too large', () => {
    const table = new MintedTasks({ kept: 3, size: 300, sizeOfAll: 450 });
    const tasks = [opened(table), opened(table), opened(table)];
    tasks[1]?.settle(done());
    opened(table);
    expect(tasks.map(({ id }) => table.find(id, ada) !== undefined)).toEqual([true, false, true]);
    tasks[2]?.settle(done('x'.repeat(200)));
    tasks[0]?.settle(done('x'.repeat(200)));
    // What has just ended stays.
    expect(tasks.map(({ id }) => table.find(id, ada) !== undefined)).toEqual([true, false, false]);
    const other = opened(table, eve);
    other.settle(done('x'.repeat(200)));
    expect(table.find(other.id, eve)).toBe(other);
    expect(table.find(tasks[0]?.id ?? '', ada)).toBeUndefined();
  });

  it('gives each principal its own alone, at their endpoint', () => {
    const table = new MintedTasks();
    const task = opened(table);
    for (const other of [eve, { principal: 'ada', endpoint: 'one' }]) {
      expect(table.find(task.id, other)).toBeUndefined();
      expect(table.list(other)).toEqual([]);
    }
    expect(table.list(ada)).toEqual([task]);
  });
});

describe('The time of a task', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is the one that was asked for, within a day, and ends what runs', () => {
    const table = new MintedTasks();
    const stop = new AbortController();
    const task = table.open(ada, stop, 5_000) as Minted;
    expect(task.task).toMatchObject({ status: 'working', ttlMs: 5_000 });
    vi.advanceTimersByTime(4_999);
    expect(table.find(task.id, ada)).toBe(task);
    vi.advanceTimersByTime(1);
    expect(table.find(task.id, ada)).toBeUndefined();
    expect(stop.signal.aborted).toBe(true);
    expect(opened(table, ada, 1e12).ttlMs).toBe(TASK_KEPT.most);
  });

  it('grows where nobody asked for one while the call is at work', async () => {
    const table = new MintedTasks();
    const [working, ended, waiting] = [opened(table), opened(table), opened(table)];
    ended.settle(done());
    const answer = waiting.ask(form, during);
    vi.advanceTimersByTime(TASK_KEPT.usual);
    expect(table.find(working.id, ada)?.ttlMs).toBe(2 * TASK_KEPT.usual);
    expect(table.find(ended.id, ada)).toBeUndefined();
    expect(table.find(waiting.id, ada)).toBeUndefined();
    await expect(answer).rejects.toThrow('the task has ended');
    vi.advanceTimersByTime(TASK_KEPT.most);
    expect(table.find(working.id, ada)).toBeUndefined();
  });
});

describe('The questions of a task', () => {
  it('have keys of their own, and each is answered once', async () => {
    const task = opened(new MintedTasks());
    const answers = [task.ask(form, during), task.ask({ method: 'roots/list', params: {} }, during)];
    expect(task.task).toMatchObject({
      status: 'input_required',
      inputRequests: { 'input-1': form, 'input-2': { method: 'roots/list' } },
    });
    task.answer({
      'input-1': { action: 'maybe' },
      'input-2': { roots: 'none' },
      'input-3': {},
    });
    expect(task.questions).toHaveLength(2);
    task.answer({ 'input-1': { action: 'decline' } });
    expect(task.task).toMatchObject({ status: 'input_required' });
    expect(task.task['inputRequests']).not.toHaveProperty('input-1');
    task.answer({ 'input-1': { action: 'accept' }, 'input-2': { roots: [] } });
    expect(await Promise.all(answers)).toEqual([{ action: 'decline' }, { roots: [] }]);
    expect(task.task).toMatchObject({ status: 'working' });
    void task.ask(form, during);
    expect(Object.keys(task.task['inputRequests'] as object)).toEqual(['input-3']);
  });

  it('are taken back by whoever asked, and end with the task', async () => {
    const task = opened(new MintedTasks());
    const given = new AbortController();
    const asked = task.ask(form, { label: 'one', signal: given.signal });
    const [question] = task.questions;
    given.abort();
    await expect(asked).rejects.toThrow('taken back');
    expect(question?.closed.aborted).toBe(true);
    expect(task.task).toMatchObject({ status: 'working' });
    const other = task.ask(form, during);
    task.cancel();
    await expect(other).rejects.toThrow('has ended');
    await expect(task.ask(form, during)).rejects.toThrow('taken back');
  });

  it('are not more than 64 at a time', async () => {
    const task = opened(new MintedTasks());
    for (let count = 0; count < 64; count += 1) task.ask(form, during).catch(() => undefined);
    await expect(task.ask(form, during)).rejects.toThrow('too many');
  });
});

it('A task ends once, whatever comes after', () => {
  const step = fc.constantFrom('settle', 'fail', 'cancel', 'say', 'ask');
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const task = opened(new MintedTasks());
      const statuses: unknown[] = [];
      task.on(() => statuses.push(task.task['status']));
      for (const each of steps) {
        if (each === 'settle') task.settle(done());
        else if (each === 'fail') task.settle({ kind: 'error', error: { code: -1, message: 'no' } });
        else if (each === 'cancel') task.cancel();
        else if (each === 'say') task.say('going on');
        else task.ask(form, during).catch(() => undefined);
      }
      const end = steps.find((each) => each === 'settle' || each === 'fail' || each === 'cancel');
      const last = { settle: 'completed', fail: 'failed', cancel: 'cancelled' };
      const { status } = task.task;
      if (end !== undefined) expect(status).toBe(last[end]);
      else expect(status).toBe(steps.includes('ask') ? 'input_required' : 'working');
      const ended = statuses.filter((each) => Object.values(last).includes(each as string));
      expect(ended).toHaveLength(end === undefined ? 0 : 1);
      if (end !== undefined) expect(statuses.at(-1)).toBe(status);
    }),
  );
});

describe('A box', () => {
  const file = gatewayFile(undefined);
  const keys = () => file.sealKeys();
  const other = gatewayFile(undefined);

  it('opens with the words that it was closed with, and with no others', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.string(), (text, bound, wrong) => {
        const box = closeBox(keys, 't1', text, bound);
        expect(openBox(keys, 't1', box, bound)).toBe(text);
        if (wrong !== bound) expect(openBox(keys, 't1', box, wrong)).toBeUndefined();
        expect(openBox(keys, 'v1', box, bound)).toBeUndefined();
        expect(openBox(() => other.sealKeys(), 't1', box, bound)).toBeUndefined();
      }),
    );
  });

  it('does not open when anything of it is another', () => {
    const box = closeBox(keys, 't1', 'a task', 'ada');
    fc.assert(
      fc.property(fc.nat(box.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (place, letter) => {
        const changed = box.slice(0, place) + letter + box.slice(place + 1);
        if (changed !== box) expect(openBox(keys, 't1', changed, 'ada')).toBeUndefined();
        expect(openBox(keys, 't1', box.slice(0, place), 'ada')).toBeUndefined();
        expect(openBox(keys, 't1', box + letter, 'ada')).toBeUndefined();
      }),
    );
  });
});

/** An exchange, and what its client was asked through it. */
function exchanging(version = MODERN, ask?: Exchange['ask']) {
  const given = new AbortController();
  const serving = servingFor(version);
  const exchange = {
    client: { principal: { id: 'ada' }, id: 'ada', serving },
    request: { method: 'tools/call', params: { name: 'tool' } },
    capabilities: {},
    signal: given.signal,
    progress: vi.fn<() => void>(),
    log: { level: 'info', write: vi.fn<() => void>() },
    ask: ask ?? (() => Promise.reject(new Error('nobody is asked'))),
    rounds: true,
    round: undefined,
  } as unknown as Exchange & { progress: ReturnType<typeof vi.fn> };
  return { exchange, given };
}

function minting() {
  const table = new MintedTasks({ running: 1 });
  const tasks: Minted[] = [];
  const mint: Mint = {
    open(stop) {
      const task = table.open(ada, stop, undefined);
      if (task !== undefined) tasks.push(task);
      return task;
    },
    drop: (task) => table.drop(task),
  };
  return { mint, tasks, table };
}

describe('A call that takes long', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is a task from then on: its client may leave, and hears of it by the task alone', async () => {
    const { exchange, given } = exchanging();
    const { mint, tasks } = minting();
    let finish: (served: Served) => void = () => undefined;
    let running: Exchange | undefined;
    const run: Run = (each) => {
      running = each;
      return new Promise((resolve) => (finish = resolve));
    };
    const served = runUntil(1_000, exchange, mint, run);
    running?.progress?.({ progress: 1, message: 'begins' });
    expect(exchange.progress).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await served).toMatchObject({ kind: 'task', task: { status: 'working' } });
    given.abort();
    expect(running?.signal.aborted).toBe(false);
    running?.progress?.({ progress: 2, message: 'goes on' });
    running?.log?.write({ level: 'info', data: 'x' });
    expect(exchange.progress).toHaveBeenCalledTimes(1);
    expect(exchange.log?.write).not.toHaveBeenCalled();
    expect(tasks[0]?.task).toMatchObject({ statusMessage: 'goes on' });
    finish(done());
    await vi.waitFor(() =>
      expect(tasks[0]?.task).toMatchObject({ status: 'completed', result: done().result }),
    );
  });

  it('ends with its client before that', async () => {
    const { exchange, given } = exchanging();
    const run: Run = (each) =>
      new Promise((resolve) => each.signal.addEventListener('abort', () => resolve(done('ended'))));
    const served = runUntil(1_000, exchange, minting().mint, run);
    given.abort();
    expect(await served).toEqual(done('ended'));
  });

  it('waits while its client is asked through it, and asks through the task later', async () => {
    let answer: (given: { action: string }) => void = () => undefined;
    const { exchange } = exchanging(MODERN, () => new Promise((resolve) => (answer = resolve)));
    const { mint, tasks } = minting();
    const answers: unknown[] = [];
    const run: Run = async (each) => {
      answers.push(await each.ask(form, during));
      await new Promise((resolve) => void setTimeout(resolve, 2_000));
      answers.push(await each.ask(form, during));
      return done();
    };
    const served = runUntil(1_000, exchange, mint, run);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(tasks).toEqual([]);
    answer({ action: 'accept' });
    await vi.advanceTimersByTimeAsync(999);
    expect(tasks).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await served).toMatchObject({ kind: 'task' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(tasks[0]?.task).toMatchObject({ status: 'input_required' });
    tasks[0]?.answer({ 'input-1': { action: 'cancel' } });
    await vi.waitFor(() => expect(tasks[0]?.task).toMatchObject({ status: 'completed' }));
    expect(answers).toEqual([{ action: 'accept' }, { action: 'cancel' }]);
  });

  it('goes through the rounds of its server as a task does', async () => {
    const { exchange } = exchanging();
    const { mint, tasks } = minting();
    const rounds: Exchange['round'][] = [];
    const run: Run = async (each): Promise<Served> => {
      rounds.push(each.round);
      await new Promise((resolve) => void setTimeout(resolve, 2_000));
      if (rounds.length === 1)
        return { kind: 'input', requests: { a: form, b: form }, state: 's', digest: 'd' };
      if (rounds.length === 2) return { kind: 'input', requests: {}, state: undefined, digest: 'd' };
      return done();
    };
    const served = runUntil(1_000, exchange, mint, run);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await served).toMatchObject({ kind: 'task' });
    expect(tasks[0]?.questions).toHaveLength(2);
    tasks[0]?.answer({ 'input-1': { action: 'decline' }, 'input-2': { action: 'accept' } });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(tasks[0]?.task).toMatchObject({ status: 'completed' });
    expect(rounds).toEqual([
      undefined,
      { digest: 'd', state: 's', responses: { a: { action: 'decline' }, b: { action: 'accept' } } },
      { digest: 'd' },
    ]);
  });

  it('gives a round back that comes before that', async () => {
    const { exchange } = exchanging();
    const round: Served = { kind: 'input', requests: { a: form }, state: undefined, digest: 'd' };
    expect(await runUntil(1_000, exchange, minting().mint, async () => round)).toBe(round);
  });

  it('is waited for where there is no place, and is a task when its server makes one', async () => {
    const { mint, tasks } = minting();
    const quick: Run = async (each, { onTask }) => {
      void each;
      onTask?.();
      await new Promise((resolve) => void setTimeout(resolve, 2_000));
      return done();
    };
    expect(await runUntil(1_000, exchanging().exchange, mint, quick)).toMatchObject({ kind: 'task' });
    const other = runUntil(1_000, exchanging().exchange, mint, quick);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await other).toEqual(done());
    expect(tasks).toHaveLength(1);
  });

  it('fails as a task when the call breaks', async () => {
    const { mint, tasks } = minting();
    const run: Run = async () => {
      await new Promise((resolve) => void setTimeout(resolve, 2_000));
      throw new Error('it broke');
    };
    const served = runUntil(1_000, exchanging().exchange, mint, run);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await served).toMatchObject({ kind: 'task' });
    expect(tasks[0]?.task).toMatchObject({ status: 'failed', error: { code: -32603, message: 'it broke' } });
  });
});

describe('A call that is a task from the beginning', () => {
  it('begins at work, whatever it asks at once, and keeps its progress', async () => {
    const { exchange } = exchanging(LEGACY);
    const { mint, tasks } = minting();
    const run: Run = async (each) => {
      each.progress?.({ progress: 1 });
      await each.ask(form, during);
      return done();
    };
    expect(await runAsTask(exchange, mint, run)).toMatchObject({ kind: 'task', task: { status: 'working' } });
    expect(tasks[0]?.task).toMatchObject({ status: 'input_required' });
    expect(exchange.progress).toHaveBeenCalledTimes(1);
    expect(await runAsTask(exchange, mint, run)).toBeUndefined();
  });

  it('is none where it is refused at once', async () => {
    const { mint, table } = minting();
    const refused: Served = { kind: 'error', error: { code: -32602, message: 'Unknown tool' } };
    expect(await runAsTask(exchanging(LEGACY).exchange, mint, async () => refused)).toBe(refused);
    expect(table.list(ada)).toEqual([]);
  });
});
