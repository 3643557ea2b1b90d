/** Waits for a server's task until it has ended, for a caller that takes none: asks for it, answers what it asks, fetches its result. */
import { MidspanError, messageOf } from '../errors.ts';
import { INVALID_PARAMS, isObject } from '../mcp/message.ts';
import { NOTIFICATION_TEXT_MAX } from '../mcp/protocol-limits.ts';
import { isSettled, pollInterval, taskFault, taskQuestions } from '../mcp/tasks.ts';
import { broken, outcomeUnknown, rpcFailure } from './failure.ts';
import type { InputRequest } from '../mcp/input.ts';
import type { JsonObject, Progress } from '../types.ts';

/** Failures in a row after which a task is given up that may still be running. */
const FAILURES_MAX = 3;
/** How long the word to give a task up may take. Milliseconds. */
const CANCEL_WITHIN = 5_000;

export interface TaskDriving {
  label: string;
  /** True: the result comes by a request of its own, which waits for it and on which the server asks (2025-11-25). */
  fetched: boolean;
  /**
   * Sends a request about the task; `asks`: the server may ask during it. Ends with the caller, except for the one that gives
   * the task up. `within`: milliseconds; default what is left of the call.
   */
  request(
    method: string,
    params: JsonObject,
    options: { asks?: true; within?: number; detached?: true },
  ): Promise<JsonObject>;
  /** Rejects when the caller gives up, the server is closed, or the time of the call is over. */
  pause(milliseconds: number): Promise<void>;
  /** Answers questions, one after the other. */
  answers(questions: readonly [key: string, request: InputRequest][]): Promise<JsonObject>;
  onProgress: ((progress: Progress) => void) | undefined;
}

/**
 * Resolves with the result of the request that the task is of. Whatever ends the wait before the task has ended gives it up.
 * @throws MidspanError `rpc` (the task failed, or was cancelled by the server), `timeout`, `cancelled`, `closed`, `protocol`.
 */
export async function driveTask(task: JsonObject, driving: TaskDriving): Promise<JsonObject> {
  const taskId = task.taskId as string;
  try {
    return await driven(task, driving);
  } catch (error) {
    // What the server said of the task itself was its end.
    if (!(error instanceof MidspanError && error.code === 'rpc')) giveUp(taskId, driving);
    throw error;
  }
}

async function driven(first: JsonObject, driving: TaskDriving): Promise<JsonObject> {
  const { label, fetched } = driving;
  const taskId = first.taskId as string;
  const tell = teller(driving.onProgress);
  const answered = new Set<string>();
  let failures = 0;
  for (let task = first; ;) {
    const fault = taskFault(task);
    if (fault !== undefined || task.taskId !== taskId)
      throw broken(label, `the server answered with ${fault ?? 'another task than it was asked for'}`);
    tell(task.statusMessage);
    if (fetched && (task.status === 'input_required' || isSettled(task.status)))
      return await driving.request('tasks/result', { taskId }, { asks: true });
    if (isSettled(task.status)) return endOf(task, label);
    const open = taskQuestions(task).filter(([key]) => !answered.has(key));
    if (task.status === 'input_required' && open.length > 0) {
      const inputResponses = await driving.answers(open);
      for (const [key] of open) answered.add(key);
      await driving.request('tasks/update', { taskId, inputResponses }, {});
    }
    await driving.pause(pollInterval(task));
    try {
      task = await driving.request('tasks/get', { taskId }, {});
      failures = 0;
    } catch (error) {
      if (!isPassing(error) || (failures += 1) >= FAILURES_MAX) throw lost(error, label);
    }
  }
}

function endOf(task: JsonObject, label: string): JsonObject {
  const { status, result, error, statusMessage } = task;
  if (status === 'completed' && isObject(result)) return result;
  if (status === 'completed') throw broken(label, 'the server completed a task without a result');
  const said = isObject(error) ? error : {};
  const message =
    typeof said.message === 'string'
      ? said.message
      : typeof statusMessage === 'string'
        ? statusMessage
        : `the task was ${status as string}`;
  const code = typeof said.code === 'number' ? said.code : INVALID_PARAMS;
  throw rpcFailure(label, 'tools/call', {
    code,
    message,
    ...(said.data !== undefined && { data: said.data }),
  });
}

/** What may be over by the next time that the task is asked for. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof MidspanError &&
    (error.code === 'unreachable' || (error.code === 'timeout' && error.data.sent === true))
  );
}

/** A task that cannot be asked for any more may have done its work. */
function lost(error: unknown, label: string): unknown {
  if (error instanceof MidspanError && (error.code === 'cancelled' || error.code === 'closed')) return error;
  if (error instanceof MidspanError && error.code === 'timeout') return error;
  const reason = error instanceof MidspanError ? error : undefined;
  return outcomeUnknown(label, `the server does not tell of its task any more: ${messageOf(error)}`, reason);
}

function giveUp(taskId: string, driving: TaskDriving): void {
  driving
    .request('tasks/cancel', { taskId }, { within: CANCEL_WITHIN, detached: true })
    .catch(() => undefined);
}

/** Each new status message is one step of progress. */
function teller(onProgress: TaskDriving['onProgress']): (message: unknown) => void {
  let progress = 0;
  let last: unknown;
  return (message) => {
    if (typeof message !== 'string' || message === last) return;
    last = message;
    progress += 1;
    try {
      onProgress?.({ progress, message: message.slice(0, NOTIFICATION_TEXT_MAX) });
    } catch {
      // What a listener does with progress is not the call's business.
    }
  };
}
