import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  TASKS,
  TASK_QUESTIONS_MAX,
  askedTask,
  forbidsTask,
  fromLegacyTask,
  isTasksMissing,
  legacyCapabilities,
  startedTask,
  takesTasks,
  taskFault,
  taskForm,
  taskQuestions,
  taskSupport,
  toLegacyTask,
  toModernTask,
  withTaskSupport,
  withTasks,
  withoutTasks,
} from '../../src/mcp/tasks.ts';
import type { Json, JsonObject } from '../../src/types.ts';

const object = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
const legacyTask = fc.record({
  taskId: fc.string({ minLength: 1 }),
  status: fc.constantFrom('working', 'input_required', 'completed', 'failed', 'cancelled'),
  createdAt: fc.string(),
  lastUpdatedAt: fc.string(),
  ttl: fc.option(fc.nat()),
  pollInterval: fc.nat(),
}) as fc.Arbitrary<JsonObject>;

describe('Capabilities', () => {
  it('take the extension on and put it off, and leave the rest as it is', () => {
    fc.assert(
      fc.property(object, (capabilities) => {
        const taking = withTasks(capabilities);
        expect(takesTasks(taking)).toBe(true);
        expect(takesTasks(withoutTasks(taking))).toBe(false);
        const { extensions: _with, ...others } = taking;
        const { extensions: _without, ...rest } = withoutTasks(taking);
        expect(rest).toEqual(others);
      }),
    );
  });

  it('are said in the words of 2025-11-25 to its clients alone', () => {
    const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
    const own = { tools: {}, extensions: { [TASKS]: {} } };
    expect(legacyCapabilities(own, '2025-11-25')).toEqual({ tools: {}, tasks });
    expect(legacyCapabilities(own, '2025-06-18')).toEqual({ tools: {} });
    expect(legacyCapabilities({ tools: {} }, '2025-11-25')).toEqual({ tools: {} });
  });

  it('come with a request or with a call, by the revision', () => {
    expect(taskForm({ era: 'modern', version: '2026-07-28' })).toBe('declared');
    expect(taskForm({ era: 'legacy', version: '2025-11-25' })).toBe('asked');
    expect(taskForm({ era: 'legacy', version: '2025-06-18' })).toBeUndefined();
  });

  it('are named by the error that misses them', () => {
    const data = { requiredCapabilities: { extensions: { [TASKS]: {} } } };
    expect(isTasksMissing(-32021, data)).toBe(true);
    expect(isTasksMissing(-32602, data)).toBe(false);
    for (const other of [undefined, null, 'tasks', {}, { requiredCapabilities: { sampling: {} } }])
      expect(isTasksMissing(-32021, other)).toBe(false);
  });
});

describe('Tools', () => {
  it.each([
    [undefined, 'optional'],
    [{}, 'optional'],
    [{ other: 1 }, 'optional'],
    [{ taskSupport: 'required' }, 'required'],
    [{ taskSupport: 'forbidden' }, undefined],
  ] as [JsonObject | undefined, string | undefined][])(
    'of execution %j may be called as tasks: %s',
    (execution, support) => {
      const shown = withTaskSupport({ name: 'tool', ...(execution && { execution }) });
      expect(taskSupport(shown)).toBe(support);
      expect(forbidsTask(shown)).toBe(support === undefined);
      expect(shown).toMatchObject({ name: 'tool', ...(execution && { execution }) });
    },
  );

  it.each([
    [{}, { ttlMs: undefined }],
    [{ ttl: 5 }, { ttlMs: 5 }],
    [{ ttl: -5 }, { ttlMs: undefined }],
    [{ ttl: '5' }, { ttlMs: undefined }],
    [undefined, undefined],
    [true, undefined],
    [[], undefined],
  ] as [Json | undefined, unknown][])('are called with %j', (task, asked) => {
    expect(askedTask(task)).toEqual(asked);
  });
});

describe('Tasks', () => {
  it('go from one form to the other and back', () => {
    fc.assert(
      fc.property(legacyTask, (task) => {
        expect(toLegacyTask(fromLegacyTask({ ...task }))).toEqual(task);
      }),
    );
  });

  it('begin without what they end with', () => {
    fc.assert(
      fc.property(object, (task) => {
        const started = startedTask({ ...task, result: {}, error: {}, inputRequests: {}, requestState: 's' });
        for (const member of ['result', 'error', 'inputRequests', 'requestState'])
          expect(started).not.toHaveProperty([member]);
      }),
    );
  });

  it('fail in 2025-11-25 where their result is an error, and have whole results later', () => {
    const task = { taskId: 'a', status: 'completed', result: { isError: true, content: [] } };
    expect(toLegacyTask(task)).toMatchObject({ status: 'failed' });
    expect(toModernTask(task)).toMatchObject({ status: 'completed', result: { resultType: 'complete' } });
  });

  it('are none, or have a fault, or can be read, whatever a server says', () => {
    fc.assert(
      fc.property(object, fc.jsonValue(), (task, inputRequests) => {
        const said = { ...task, inputRequests } as JsonObject;
        const fault = taskFault(said);
        expect(fault === undefined || fault.startsWith('a task')).toBe(true);
        for (const [, { method, params }] of taskQuestions(said)) {
          expect(typeof method).toBe('string');
          expect(params).toBeTypeOf('object');
        }
      }),
    );
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, key) => [`k${key}`, { method: 'roots/list' }]),
    );
    expect(taskQuestions({ inputRequests: many })).toHaveLength(TASK_QUESTIONS_MAX);
  });
});
