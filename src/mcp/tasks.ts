/**
 * Tasks: those of the extension `io.modelcontextprotocol/tasks`, and those of 2025-11-25. The neutral form is the flat object
 * of the extension, with the questions, result or error of its status in it; the result has no `resultType`.
 */
import { MISSING_CAPABILITY, isObject } from './message.ts';
import type { RpcErrorObject } from './message.ts';
import type { InputRequest } from './input.ts';
import type { Era, Json, JsonObject } from '../types.ts';

export const TASKS = 'io.modelcontextprotocol/tasks';
/** 2025-11-25: key of `_meta` that says which task a message is about. */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** Characters of a server's task id. */
export const TASK_ID_MAX = 1024;
/** Questions that a task has open at a time. */
export const TASK_QUESTIONS_MAX = 64;
/** How often a task is asked for, whatever a server would like. Milliseconds. */
const POLL = { least: 100, usual: 1_000, most: 60_000 };

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

const SETTLED: ReadonlySet<unknown> = new Set<TaskStatus>(['completed', 'failed', 'cancelled']);
const STATUSES: ReadonlySet<unknown> = new Set<TaskStatus>([
  'working',
  'input_required',
  'completed',
  'failed',
  'cancelled',
]);

/** Whether nothing will change any more. */
export const isSettled = (status: unknown): boolean => SETTLED.has(status);

/** Whether these client or server capabilities declare the extension. */
export function takesTasks(capabilities: JsonObject | undefined): boolean {
  const extensions = capabilities?.extensions;
  return isObject(extensions) && isObject(extensions[TASKS]);
}

export function withTasks(capabilities: JsonObject): JsonObject {
  const { extensions } = capabilities;
  return { ...capabilities, extensions: { ...(isObject(extensions) ? extensions : {}), [TASKS]: {} } };
}

/** The same object where there are none. */
export function withoutTasks(capabilities: JsonObject): JsonObject {
  if (!takesTasks(capabilities)) return capabilities;
  const { extensions, ...others } = capabilities;
  const { [TASKS]: _tasks, ...kept } = extensions as JsonObject;
  return Object.keys(kept).length === 0 ? others : { ...others, extensions: kept };
}

/** What a request is refused with whose client would have to declare the extension. */
export const TASKS_MISSING: RpcErrorObject = {
  code: MISSING_CAPABILITY,
  message: `Missing required client capability: ${TASKS}`,
  data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
};

/** Whether an error says that. */
export function isTasksMissing(code: unknown, data: unknown): boolean {
  if (code !== MISSING_CAPABILITY || !isObject(data)) return false;
  const { requiredCapabilities } = data;
  return isObject(requiredCapabilities) && takesTasks(requiredCapabilities);
}

/**
 * How clients of a revision come to tasks: by declaring the extension with a request, or by asking for one with a call
 * (2025-11-25); undefined: not at all.
 */
export function taskForm({ era, version }: { era: Era; version: string }): 'declared' | 'asked' | undefined {
  if (era === 'modern') return 'declared';
  return version === TASKS_SINCE ? 'asked' : undefined;
}

/** How a tool of 2025-11-25 is called: as a task only, or either way. */
export type TaskSupport = 'required' | 'optional';

/** Undefined: never as a task. */
export function taskSupport(definition: JsonObject): TaskSupport | undefined {
  const support = isObject(definition.execution) ? definition.execution.taskSupport : undefined;
  return support === 'required' || support === 'optional' ? support : undefined;
}

/** Whether a tool says that it is never called as a task. */
export const forbidsTask = ({ execution }: JsonObject): boolean =>
  isObject(execution) && execution.taskSupport === 'forbidden';

/** A tool as it may be called where every call may be a task; what it says itself of tasks stays. */
export function withTaskSupport(definition: JsonObject): JsonObject {
  const { execution } = definition;
  if (isObject(execution) && execution.taskSupport !== undefined) return definition;
  return { ...definition, execution: { ...(isObject(execution) ? execution : {}), taskSupport: 'optional' } };
}

/** Whether a server of 2025-11-25 says that its tools may be called as tasks. */
export function servesTasks({ tasks }: JsonObject): boolean {
  const requests = isObject(tasks) ? tasks.requests : undefined;
  return isObject(requests) && isObject(requests.tools) && isObject(requests.tools.call);
}

/** What keeps an object from being a task, in words; undefined: it is one. */
export function taskFault(task: JsonObject): string | undefined {
  const { taskId, status, result, error } = task;
  if (typeof taskId !== 'string' || taskId === '') return 'a task without a taskId';
  if (taskId.length > TASK_ID_MAX) return `a task whose id has more than ${TASK_ID_MAX} characters`;
  if (!STATUSES.has(status)) return 'a task without a status that we know';
  if (result !== undefined && !isObject(result)) return 'a task whose result is not an object';
  if (error !== undefined && !isObject(error)) return 'a task whose error is not an object';
  return undefined;
}

/** The questions of a task that waits for input, malformed ones left out. */
export function taskQuestions({ inputRequests }: JsonObject): [key: string, request: InputRequest][] {
  if (!isObject(inputRequests)) return [];
  const questions: [string, InputRequest][] = [];
  for (const [key, request] of Object.entries(inputRequests)) {
    if (questions.length >= TASK_QUESTIONS_MAX) break;
    if (!isObject(request) || typeof request.method !== 'string') continue;
    questions.push([key, { method: request.method, params: isObject(request.params) ? request.params : {} }]);
  }
  return questions;
}

/** How long to wait before asking for a task again. Milliseconds. */
export function pollInterval({ pollIntervalMs }: JsonObject): number {
  if (typeof pollIntervalMs !== 'number' || !(pollIntervalMs >= 0)) return POLL.usual;
  return Math.min(Math.max(pollIntervalMs, POLL.least), POLL.most);
}

/** A task of 2025-11-25 in neutral form. Its questions and its result come by `tasks/result`. */
export function fromLegacyTask({ ttl, pollInterval: interval, ...task }: JsonObject): JsonObject {
  delete task._meta;
  task.ttlMs = ttl ?? null;
  if (typeof interval === 'number') task.pollIntervalMs = interval;
  return task;
}

/** What the answer to a call says of the task that it became: nothing yet of questions, result or error. */
export function startedTask(task: JsonObject): JsonObject {
  const { inputRequests: _requests, result: _result, error: _error, requestState: _state, ...started } = task;
  return started;
}

/** A neutral task as 2025-11-25 has it: a result that is an error is a failure there. */
export function toLegacyTask(task: JsonObject): JsonObject {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs, result } = task;
  const isError = isObject(result) && result.isError === true;
  return {
    taskId,
    status: isError ? 'failed' : status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttl: ttlMs ?? null,
    ...(pollIntervalMs !== undefined && { pollInterval: pollIntervalMs }),
  };
}

/** A neutral task as the extension has it: the result is whole. */
export function toModernTask(task: JsonObject): JsonObject {
  const { result } = task;
  return isObject(result) ? { ...task, result: { resultType: 'complete', ...result } } : task;
}

/** What a server says of tasks in `initialize` of 2025-11-25, from what it says in neutral form (the extension). */
export function legacyCapabilities(capabilities: JsonObject, version: string): JsonObject {
  const { extensions: _extensions, ...others } = capabilities;
  if (version !== TASKS_SINCE || !takesTasks(capabilities)) return others;
  return { ...others, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
}

/** The one legacy revision that has tasks. */
export const TASKS_SINCE = '2025-11-25';

/** The time that a `task` member of a call asks for, where it is one. */
export function askedTask(task: Json | undefined): { ttlMs: number | undefined } | undefined {
  if (!isObject(task)) return undefined;
  const { ttl } = task;
  return { ttlMs: typeof ttl === 'number' && ttl > 0 ? ttl : undefined };
}
