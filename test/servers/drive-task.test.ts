import { describe, expect, it, vi } from 'vitest';
import { MidspanError } from '../../src/errors.ts';
import { type TaskDriving, driveTask } from '../../src/servers/tasks.ts';
import type { JsonObject, Progress } from '../../src/types.ts';

type Answer = JsonObject | MidspanError;
const working: JsonObject = { taskId: 'one', status: 'working' };
const done: JsonObject = { taskId: 'one', status: 'completed', result: { content: [] } };
const question = { method: 'elicitation/create', params: { message: 'Which?' } };
const fault = (code: MidspanError['code'], sent = true): MidspanError =>
  new MidspanError({ code, label: 'server', what: 'it went wrong', data: { sent } });

/** A server that answers `tasks/get` with one after the other, and all else with nothing. */
function driving(gets: Answer[], more: Partial<TaskDriving> & { result?: Answer } = {}) {
  const sent: [method: string, params: JsonObject][] = [];
  const paused: number[] = [];
  const progress: Progress[] = [];
  const given = (answer: Answer | undefined): JsonObject => {
    if (answer instanceof MidspanError) throw answer;
    return answer ?? {};
  };
  const { result, ...others } = more;
  const drive: TaskDriving = {
    label: 'server',
    fetched: false,
    async request(method, params) {
      sent.push([method, params]);
      return given(method === 'tasks/get' ? gets.shift() : method === 'tasks/result' ? result : undefined);
    },
    pause: async (milliseconds) => void paused.push(milliseconds),
    answers: async (questions) =>
      Object.fromEntries(questions.map(([key]) => [key, { action: 'accept', content: { key } }])),
    onProgress: (step) => void progress.push(step),
    ...others,
  };
  return { drive, sent, paused, progress, methods: () => sent.map(([method]) => method) };
}

describe('Waiting for a task', () => {
  it('ends with its result, and tells of each new status message once', async () => {
    const said = (message: string): JsonObject => ({ ...working, statusMessage: message });
    const { drive, progress, methods } = driving([said('one'), said('one'), said('two'), done]);
    expect(await driveTask(working, drive)).toEqual(done['result']);
    expect(progress).toEqual([
      { progress: 1, message: 'one' },
      { progress: 2, message: 'two' },
    ]);
    expect(new Set(methods())).toEqual(new Set(['tasks/get']));
  });

  it('asks as often as the server would like, within bounds', async () => {
    const every = (pollIntervalMs: number | string): JsonObject => ({ ...working, pollIntervalMs });
    const { drive, paused } = driving([every(0), every(1e9), every('soon'), every(250), done]);
    await driveTask(every(-1), drive);
    expect(paused).toEqual([1_000, 100, 60_000, 1_000, 250]);
  });

  it('answers each question once, though it may come again', async () => {
    const asks = (...keys: string[]): JsonObject => ({
      ...working,
      status: 'input_required',
      inputRequests: Object.fromEntries(keys.map((key) => [key, question])),
    });
    const { drive, sent } = driving([asks('a'), asks('a', 'b'), done]);
    await driveTask(asks('a'), drive);
    const updates = sent.filter(([method]) => method === 'tasks/update').map(([, params]) => params);
    expect(updates.map(({ inputResponses }) => Object.keys(inputResponses as object))).toEqual([
      ['a'],
      ['b'],
    ]);
  });

  it('fetches the result where it is asked for by a request of its own', async () => {
    const result = { content: [], isError: true };
    for (const status of ['input_required', 'completed', 'failed', 'cancelled']) {
      const { drive, methods } = driving([{ ...working, status }], { fetched: true, result });
      expect(await driveTask(working, drive)).toBe(result);
      expect(methods()).toEqual(['tasks/get', 'tasks/result']);
    }
  });

  it.each([
    [{ status: 'failed', error: { code: -32603, message: 'broken', data: { x: 1 } } }, -32603, 'broken'],
    [{ status: 'failed', statusMessage: 'no luck' }, -32602, 'no luck'],
    [{ status: 'cancelled' }, -32602, 'the task was cancelled'],
  ])('fails as the request would: %j', async (end, code, message) => {
    const { drive, methods } = driving([{ ...working, ...end }]);
    await expect(driveTask(working, drive)).rejects.toMatchObject({ code: 'rpc', data: { code, message } });
    expect(methods()).not.toContain('tasks/cancel');
  });

  it.each([
    { status: 'working' },
    { taskId: 'other', status: 'working' },
    { taskId: 'one', status: 'resting' },
    { taskId: 'one', status: 'completed' },
    { taskId: 'one', status: 'completed', result: 'done' },
  ] as JsonObject[])('ends when the server says what is no task: %j', async (wrong) => {
    const { drive, methods } = driving([wrong]);
    await expect(driveTask(working, drive)).rejects.toMatchObject({ code: 'protocol', label: 'server' });
    expect(methods()).toContain('tasks/cancel');
  });

  it('bears what passes, and does not know what came of a task that it cannot ask for', async () => {
    const passing = [fault('unreachable'), fault('timeout')];
    expect(await driveTask(working, driving([...passing, working, ...passing, done]).drive)).toEqual({
      content: [],
    });
    const { drive, methods } = driving([fault('unreachable'), fault('unreachable'), fault('unreachable')]);
    await expect(driveTask(working, drive)).rejects.toMatchObject({ code: 'closed' });
    expect(methods().at(-1)).toBe('tasks/cancel');
  });

  it.each(['cancelled', 'closed'] as const)('gives the task up when it is %s, once', async (code) => {
    const pause = vi.fn<TaskDriving['pause']>(() => Promise.reject(fault(code)));
    const { drive, methods } = driving([], { pause });
    await expect(driveTask(working, drive)).rejects.toMatchObject({ code });
    expect(methods()).toEqual(['tasks/cancel']);
  });

  it('does not mind a listener that throws', async () => {
    const onProgress = (): void => {
      throw new Error('not my business');
    };
    const { drive } = driving([{ ...working, statusMessage: 'one' }, done], { onProgress });
    expect(await driveTask(working, drive)).toEqual({ content: [] });
  });
});
