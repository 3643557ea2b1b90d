// Tasks of either era: what runs on after its call was answered. The eras show them differently.
import { randomUUID } from 'node:crypto';
import { CODES, RpcError, isAnswer } from './rpc.mjs';

/** Milliseconds: how long a task is kept, and how often to ask for it. */
export const KEPT = 600_000;
export const POLL = 100;

const now = () => new Date().toISOString();

/** `onChange(task)` hears of every new status. */
export function createTasks(onChange) {
  const tasks = new Map();

  function change(task, status, more = {}) {
    if (task.isSettled) return;
    Object.assign(task, more, { status, lastUpdatedAt: now() });
    task.isSettled = ['completed', 'failed', 'cancelled'].includes(status);
    for (const wake of task.waiting.splice(0)) wake();
    onChange(task);
  }

  /** Keeps the questions with the task until somebody answers them by `answer`. */
  function ask(task, requests) {
    const answers = Object.entries(requests).map(
      ([key, request]) => new Promise((resolve) => task.pending.set(key, { request, resolve })),
    );
    change(task, 'input_required');
    const keys = Object.keys(requests);
    return Promise.all(answers).then((all) =>
      Object.fromEntries(all.map((answer, index) => [keys[index], answer])),
    );
  }

  return {
    all: () => [...tasks.values()],
    get(id) {
      const task = tasks.get(id);
      if (task === undefined) throw new RpcError(CODES.invalidParams, `There is no task ${id}`);
      return task;
    },
    /** `work(task, ask)` runs from now on; what it throws is the task's error. */
    start(work) {
      const id = randomUUID();
      const controller = new AbortController();
      const task = {
        id,
        status: 'working',
        createdAt: now(),
        lastUpdatedAt: now(),
        pending: new Map(),
        waiting: [],
      };
      Object.assign(task, { signal: controller.signal, abort: () => controller.abort(), isSettled: false });
      tasks.set(id, task);
      setTimeout(() => tasks.delete(id), KEPT).unref();
      queueMicrotask(async () => {
        try {
          change(task, 'completed', { result: await work(task, (requests) => ask(task, requests)) });
        } catch (error) {
          change(task, 'failed', { error: { code: error.code ?? CODES.internal, message: error.message } });
        }
      });
      return task;
    },
    /** Unknown keys and answers that fit no question are ignored. */
    answer(task, answers) {
      for (const [key, answer] of Object.entries(answers)) {
        const waiting = task.pending.get(key);
        if (waiting === undefined || !isAnswer(waiting.request, answer)) continue;
        task.pending.delete(key);
        if (task.pending.size === 0) change(task, 'working');
        waiting.resolve(answer);
      }
    },
    cancel(task) {
      change(task, 'cancelled');
      task.abort();
    },
    /** Resolves at the next change of `task`. */
    changed: (task) => new Promise((resolve) => task.waiting.push(resolve)),
  };
}
