/** One request on its way to a server: input rounds, the repairs that it may need, and the reading of its result. */
import { MidspanError } from '../errors.ts';
import { INPUT_ROUNDS_MAX, REQUEST_STATE_MAX } from '../mcp/protocol-limits.ts';
import { HEADER_MISMATCH, UNSUPPORTED_VERSION, URL_ELICITATION_REQUIRED, isObject } from '../mcp/message.ts';
import {
  TASKS_MISSING,
  isTasksMissing,
  servesTasks,
  takesTasks,
  taskFault,
  taskQuestions,
  withTasks,
} from '../mcp/tasks.ts';
import { readToolResult, resultFault } from '../mcp/results.ts';
import { onAbort, untilAbort } from './abort.ts';
import { broken, expired, outcomeUnknown, rpcFailure } from './failure.ts';
import { driveTask } from './tasks.ts';
import { pause } from './watch.ts';
import type { Connection } from './connection.ts';
import type { Questions } from './questions.ts';
import type { Relayed, RelayOptions } from './server.ts';
import type { TaskDriving } from './tasks.ts';
import type { Answer, Asking } from '../mcp/codec.ts';
import type { InputRequest } from '../mcp/input.ts';
import type { TaskSupport } from '../mcp/tasks.ts';
import type { JsonObject } from '../types.ts';

export interface RelaySetup {
  label: string;
  connection: Connection;
  tools: ToolFacts;
  questions: Questions;
  /** What the request says of whoever asks. */
  asking: Asking;
  /** The client capabilities that it declares, or that the connection does. */
  declared: JsonObject;
  /** Hears what the server logs about this request. */
  log: ((params: JsonObject) => void) | undefined;
  /** Milliseconds. */
  timeout: number;
  timeoutMax: number;
  retryState: number;
  /** Aborts when the server is closed. */
  closing: AbortSignal;
  warning: (message: string) => void;
}

/** What a call must know of the tool that it calls. */
export interface ToolFacts {
  /** The headers that a call needs besides the usual ones. */
  mirrored(name: string, args: JsonObject): Record<string, string> | undefined;
  /** Lists the tools anew. */
  relist(): Promise<unknown>;
  /** Whether a tool is called as a task only, or may be (2025-11-25). */
  taskSupport(name: string): TaskSupport | undefined;
}

/** @throws MidspanError as `Server.relay` */
export async function relay(
  setup: RelaySetup,
  method: string,
  params: JsonObject,
  options: RelayOptions,
): Promise<Relayed> {
  const { label, connection, questions, timeout, asking } = setup;
  const since = performance.now();
  /** All rounds together have the time of one call; waiting for a person is not the server's time. */
  const left = (): number => setup.timeoutMax + questions.waited - (performance.now() - since);
  let relisted = false;
  // Whoever asks takes no tasks, and gets the result of one all the same.
  const support = taskSupportOf(setup, method, params);
  if (support === 'required' && options.drivesTasks === false) throw rpcFailure(label, method, TASKS_MISSING);
  let drives = support === 'required' || (support === 'optional' && options.asTask === true);
  if (drives) params = { ...params, task: { ttl: setup.timeoutMax } };
  for (let round = 0; ; round += 1) {
    let answer: Answer;
    try {
      answer = await connection.request(method, params, {
        signal: options.signal,
        timeout,
        timeoutMax: round === 0 ? setup.timeoutMax : Math.max(1, left()),
        onProgress: options.onProgress,
        mirrored: connection.mirrors ? mirrored(setup, method, params) : undefined,
        asker: questions,
        owner: options.owner,
        asking,
        log: setup.log,
      });
    } catch (error) {
      const code = error instanceof MidspanError && error.code === 'rpc' ? error.data.code : undefined;
      if (
        !drives &&
        method === 'tools/call' &&
        options.drivesTasks !== false &&
        isTasksMissing(code, (error as MidspanError).data.data) &&
        !takesTasks(setup.declared)
      ) {
        drives = true;
        asking.capabilities = withTasks(setup.declared);
        continue;
      }
      if (code === HEADER_MISMATCH && connection.mirrors && !relisted && method === 'tools/call') {
        // The tool may want other headers than when it was listed.
        relisted = true;
        await between(setup, method, 'the list of its tools', options, () => setup.tools.relist());
        continue;
      }
      // What this connection alone is about is of no use to whoever made the request.
      if (code === HEADER_MISMATCH || code === UNSUPPORTED_VERSION)
        throw broken(label, (error as MidspanError).what, error as MidspanError);
      if (
        code === URL_ELICITATION_REQUIRED &&
        round < INPUT_ROUNDS_MAX &&
        (await between(setup, method, 'an address to be opened', options, (stop) =>
          openedAll(setup, error as MidspanError, stop),
        ))
      )
        continue;
      if (round > 0 && error instanceof MidspanError && error.code === 'closed' && error.data.sent === false)
        throw outcomeUnknown(label, `the connection ended between two rounds of ${method}`, error);
      throw error;
    }
    switch (answer.kind) {
      case 'complete':
        return completed(setup, method, answer);
      case 'task':
        if (drives) {
          options.onTask?.();
          const result = await driveTask(answer.task, drivingOf(setup, method, options, left));
          return completed(setup, method, { kind: 'complete', result });
        }
        if (takesTasks(setup.declared)) return answer;
        throw broken(label, `the server answered ${method} with a "task", which was not asked for`);
      case 'invalid':
        throw broken(label, answer.problem);
    }
    const { requests, state } = answer;
    if (state !== undefined && state.length > REQUEST_STATE_MAX)
      throw tooMuch(label, `its requestState is longer than ${REQUEST_STATE_MAX} characters`);
    if (options.rounds === true) {
      for (const asked of Object.values(requests)) {
        try {
          questions.check(asked.method, asked.params);
        } catch (error) {
          throw unanswerable(label, error);
        }
      }
      return answer;
    }
    if (round >= INPUT_ROUNDS_MAX) {
      throw tooMuch(
        label,
        `${what(method, params)} asked for input more than ${INPUT_ROUNDS_MAX} times`,
        'Call it again with everything it needs, or report this to the author of the server',
      );
    }
    asking.round = await between(setup, method, 'input', options, (stop) =>
      nextRound(setup, answer, round, stop),
    );
  }
}

/** What answers the questions of a round, with its exact state. */
async function nextRound(
  setup: RelaySetup,
  { requests, state }: Answer & { kind: 'input' },
  round: number,
  stop: AbortSignal,
): Promise<Asking['round']> {
  const entries = Object.entries(requests);
  if (entries.length === 0) await pause(setup.retryState * 2 ** round, stop);
  const responses = await answersOf(setup, entries, stop);
  return {
    ...(entries.length === 0 ? {} : { responses }),
    ...(state === undefined ? {} : { state }),
  };
}

async function answersOf(
  { label, questions }: RelaySetup,
  entries: readonly [key: string, request: InputRequest][],
  stop: AbortSignal,
): Promise<JsonObject> {
  const answered: [string, JsonObject][] = [];
  // One after another: a person answers one question at a time.
  for (const [key, { method, params }] of entries) {
    try {
      answered.push([key, await questions.answer(method, params, stop)]);
    } catch (error) {
      throw unanswerable(label, error);
    }
  }
  return Object.fromEntries(answered);
}

/** What a request waits for between two rounds. Cancelling it, or closing the server, ends the wait. */
async function between<T>(
  { label, closing }: RelaySetup,
  method: string,
  what: string,
  { signal }: RelayOptions,
  wait: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  const stopListening = [closing, signal].map((each) =>
    each === undefined ? undefined : onAbort(each, abort),
  );
  const ended = (): MidspanError =>
    new MidspanError({
      code: closing.aborted ? 'closed' : 'cancelled',
      label,
      what: `${method} was ${closing.aborted ? 'ended by closing the server' : 'cancelled'} while it waited for ${what}`,
      data: { sent: true },
    });
  try {
    return await untilAbort(wait(stop.signal), stop.signal, ended);
  } finally {
    for (const each of stopListening) each?.();
  }
}

/** `-32042` of 2025-11-25: true when every address that the error lists was opened, so that the request is worth repeating. */
async function openedAll(
  { label, questions }: RelaySetup,
  { data: { data } }: MidspanError,
  stop: AbortSignal,
): Promise<boolean> {
  const listed = (data as JsonObject | undefined)?.elicitations;
  const elicitations = Array.isArray(listed) ? listed.filter(isObject) : [];
  for (const params of elicitations) {
    try {
      const { action } = await questions.answer('elicitation/create', { mode: 'url', ...params }, stop);
      if (action !== 'accept') {
        questions.note(`${label} needs an address opened before it can do this; that was declined`);
        return false;
      }
    } catch {
      return false;
    }
  }
  return elicitations.length > 0;
}

function completed(setup: RelaySetup, method: string, answer: Answer & { kind: 'complete' }): Relayed {
  const { label } = setup;
  if (method === 'tools/call') {
    answer.result = toolResult(setup, method, answer.result);
    return answer;
  }
  if (method === 'tasks/get') {
    readTask(setup, answer.result);
    return answer;
  }
  const fault = resultFault(method, answer.result);
  if (fault === undefined) return answer;
  if ('none' in fault)
    throw broken(label, `the server answered ${method} with something that is no result of it`);
  throw tooMuch(
    label,
    `its answer to ${method} has ${fault.excess}, which is more than is let through`,
    'Ask it for less',
  );
}

function toolResult({ label, questions, warning }: RelaySetup, method: string, raw: JsonObject): JsonObject {
  const result = readToolResult(raw, (text) => {
    warning(text);
    questions.note(`${label}: ${text}`);
  });
  if (result === undefined)
    throw broken(label, `the server answered ${method} with something that is not a tool result`);
  return result;
}

/** A task is checked as what it stands for would be: its result as that of the call, its questions as rounds. */
function readTask(setup: RelaySetup, task: JsonObject): void {
  const { label, questions } = setup;
  const fault = taskFault(task);
  if (fault !== undefined) throw broken(label, `the server answered tasks/get with ${fault}`);
  if (isObject(task.result)) task.result = toolResult(setup, 'tasks/get', task.result);
  const asked = taskQuestions(task);
  if (task.inputRequests !== undefined)
    task.inputRequests = Object.fromEntries(asked.map(([key, request]) => [key, { ...request }]));
  for (const [, request] of asked) {
    try {
      questions.check(request.method, request.params);
    } catch (error) {
      throw unanswerable(label, error);
    }
  }
}

function mirrored(
  { tools }: RelaySetup,
  method: string,
  params: JsonObject,
): Record<string, string> | undefined {
  const { name, arguments: args } = params;
  if (method !== 'tools/call' || typeof name !== 'string') return undefined;
  return tools.mirrored(name, isObject(args) ? args : {});
}

function taskSupportOf(
  { connection, tools }: RelaySetup,
  method: string,
  { name }: JsonObject,
): TaskSupport | undefined {
  const isServed =
    method === 'tools/call' &&
    connection.peer.codec.fetchesTaskResults &&
    servesTasks(connection.info.capabilities);
  return isServed ? tools.taskSupport(name as string) : undefined;
}

function drivingOf(
  setup: RelaySetup,
  method: string,
  options: RelayOptions,
  left: () => number,
): TaskDriving {
  const { label, connection, questions, asking, timeout, timeoutMax } = setup;
  const { capabilities, meta } = asking;
  return {
    label,
    fetched: connection.peer.codec.fetchesTaskResults,
    async request(about, params, { asks, within, detached }) {
      const most = within ?? Math.max(1, left());
      const answer = await connection.request(about, params, {
        signal: detached === true ? undefined : options.signal,
        // What waits for the end of the task has the time of the call.
        timeout: asks === true ? most : Math.min(timeout, most),
        timeoutMax: most,
        asking: { capabilities, meta },
        ...(asks === true && { asker: questions, owner: options.owner }),
      });
      if (answer.kind !== 'complete')
        throw broken(label, `the server answered ${about} with something that is no result of it`);
      return answer.result;
    },
    async pause(milliseconds) {
      if (left() <= 0) throw expired(label, method, { timeout: timeoutMax }, true, true);
      await between(setup, method, 'its task', options, (stop) =>
        pause(Math.min(milliseconds, left()), stop),
      );
    },
    answers: (asked) => between(setup, method, 'input', options, (stop) => answersOf(setup, asked, stop)),
    onProgress: options.onProgress,
  };
}

function what(method: string, { name }: JsonObject): string {
  return method === 'tools/call' && typeof name === 'string' ? `the call of ${name}` : method;
}

function tooMuch(label: string, what: string, next?: string): MidspanError {
  return new MidspanError({ code: 'limit', label, what, ...(next === undefined ? {} : { next }) });
}

function unanswerable(label: string, cause: unknown): MidspanError {
  return new MidspanError({
    code: 'protocol',
    label,
    what: `it asked for input that cannot be given: ${(cause as Error).message}`,
    next: 'Call it without what makes it ask',
    cause,
  });
}
