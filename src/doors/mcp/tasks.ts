/**
 * Tasks of clients, in every form. Those of servers pass through: their ids lead back to the server, for the principal alone
 * that they were given to. A slow call of any server becomes a task of the gateway's own for a client that takes tasks, and so
 * does a call that asks to be one.
 */
import { messageOf } from '../../errors.ts';
import type { CoreHost } from '../../host/host.ts';
import { ruleAgainstInput } from '../../host/input.ts';
import type { RelayRequest } from '../../host/relay.ts';
import type { InputRequest } from '../../mcp/input.ts';
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  TOO_MANY_REQUESTS,
  isObject,
} from '../../mcp/message.ts';
import type { RpcErrorObject } from '../../mcp/message.ts';
import type { Served } from '../../mcp/serving.ts';
import {
  RELATED_TASK,
  TASKS_MISSING,
  TASK_ID_MAX,
  askedTask,
  forbidsTask,
  isSettled,
  pollInterval,
  startedTask,
  taskForm,
  taskQuestions,
  takesTasks,
} from '../../mcp/tasks.ts';
import { pause } from '../../servers/watch.ts';
import type { JsonObject, ToolResult } from '../../types.ts';
import { type SealKeys, closeBox, openBox } from './box.ts';
import type { Exchange } from './client.ts';
import { type Minted, type MintedBounds, MintedTasks, type OpenQuestion, type TaskOwner } from './minted.ts';
import { type Mint, type Run, runAsTask, runUntil } from './long-calls.ts';
import { roundOf } from './questions.ts';
import { shownResult } from './rewrite.ts';
import type { View } from './view.ts';

/** How long a call may run before it becomes a task, for clients that take tasks. Milliseconds. */
export const TASK_AFTER = 30_000;
/** Kind of the boxes that ids of servers' tasks are. */
const BOX = 't1';
/** Characters of one: three times those of a server's id, and ours around it. */
const BOX_MAX = 4 * TASK_ID_MAX;

/** Tasks of servers that one principal follows at a time: they are asked for again and again. */
export const WATCHED_MAX = 256;

/** A task of a server, as an id leads to it. */
interface ServersTask {
  label: string;
  /** By the server's own name. */
  tool: string;
  taskId: string;
}

export interface TasksOptions {
  host: Pick<CoreHost, 'saw'>;
  keys: SealKeys;
  /** Milliseconds; default TASK_AFTER. */
  after?: number;
  bounds?: Partial<MintedBounds>;
}

/** Sends a request about a server's task on; the result is the server's, cleaned. */
export type RelayTask = (request: RelayRequest, exchange: Exchange) => Promise<Served>;

/** Who follows a task, and how it may be asked for. */
export type TaskFollower = Pick<Exchange, 'client' | 'capabilities' | 'signal'>;

export interface Tasks {
  /** A call, or the task that it becomes. @param run the call itself. */
  call(exchange: Exchange, view: View, run: Run): Promise<Served>;
  /** What a client is told of a server's task that its call became. */
  started(task: JsonObject, of: Omit<ServersTask, 'taskId'>, exchange: Exchange, view: View): Served;
  /** `tasks/*`. */
  answer(exchange: Exchange, view: View, relay: RelayTask): Promise<Served>;
  /**
   * Hears of each new state of a task, in neutral form, the present one first and soon after; undefined when there is no such
   * task.
   */
  follow(
    taskId: string,
    follower: TaskFollower,
    view: View,
    relay: RelayTask,
    listener: (task: JsonObject) => void,
  ): (() => void) | undefined;
}

const METHODS = {
  declared: new Set(['tasks/get', 'tasks/update', 'tasks/cancel']),
  asked: new Set(['tasks/get', 'tasks/list', 'tasks/result', 'tasks/cancel']),
} as const;

export function openTasks({ host, keys, after = TASK_AFTER, bounds }: TasksOptions): Tasks {
  const table = new MintedTasks(bounds);
  /** How many tasks of servers each principal follows. */
  const watched = new Map<string, number>();

  const minting = (exchange: Exchange, view: View, ttlMs: number | undefined): Mint => ({
    open: (stop) => table.open(ownerOf(exchange, view), stop, ttlMs),
    drop: (task) => table.drop(task),
  });

  const find = (taskId: string, exchange: TaskFollower, view: View): Minted | ServersTask | undefined => {
    const minted = table.find(taskId, ownerOf(exchange, view));
    if (minted !== undefined && minted.adopted === undefined) return minted;
    if (taskForm(exchange.client.serving) !== 'declared' || taskId.length > BOX_MAX) return undefined;
    const text = openBox(keys, BOX, minted?.adopted ?? taskId, boundOf(exchange, view));
    if (text === undefined) return undefined;
    const [label, tool, own] = JSON.parse(text) as [string, string, string];
    return exchange.client.principal.allows(label, tool) ? { label, tool, taskId: own } : undefined;
  };

  /** A server's task as it is now. */
  const look = async (
    { label, tool, taskId }: ServersTask,
    shownId: string,
    exchange: Exchange,
    view: View,
    relay: RelayTask,
  ): Promise<Served> => {
    const served = await relay({ label, method: 'tasks/get', params: { taskId } }, exchange);
    if (served.kind !== 'complete') return served;
    const task: JsonObject = { ...served.result, taskId: shownId };
    if (isObject(task['result'])) {
      host.saw({ label, tool }, task['result'] as ToolResult, exchange.client.session);
      if (view.label === undefined)
        task['result'] = shownResult(task['result'], (uri) => view.shownUri(label, uri));
    }
    if (task['inputRequests'] === undefined) return { kind: 'complete', result: task };
    const context = { label, tool, signal: exchange.signal };
    const questions = taskQuestions(task);
    const isForbidden = (request: InputRequest): boolean => ruleAgainstInput(request, context) !== undefined;
    const forbidden = questions.filter(([, request]) => isForbidden(request));
    const asked = questions.filter(([, request]) => !isForbidden(request));
    if (forbidden.length > 0) {
      // Nobody is asked what no server may ask for.
      const inputResponses = Object.fromEntries(forbidden.map(([key]) => [key, { action: 'decline' }]));
      await relay({ label, method: 'tasks/update', params: { taskId, inputResponses } }, exchange);
    }
    task['inputRequests'] = plain(roundOf(Object.fromEntries(asked), label, view));
    if (asked.length > 0) return { kind: 'complete', result: task };
    const { inputRequests: _none, ...working } = task;
    return { kind: 'complete', result: { ...working, status: 'working' } };
  };

  return {
    async call(exchange, view, run) {
      const { client, capabilities, request } = exchange;
      const form = taskForm(client.serving);
      const { name } = request.params;
      // It is refused for that.
      if (typeof name !== 'string') return run(exchange, {});
      if (form === 'declared' && takesTasks(capabilities))
        return runUntil(after, exchange, minting(exchange, view, undefined), run);
      // One server as it is refuses what it refuses; beside others, and to older clients, that would say nothing.
      if (form === 'declared') return run(exchange, view.label === undefined ? {} : { drivesTasks: false });
      const asked = form === 'asked' ? askedTask(request.params['task']) : undefined;
      if (asked === undefined) return run(exchange, {});
      const definition = view.tool(name, client.principal)?.definition;
      if (definition !== undefined && forbidsTask(definition))
        return failed(METHOD_NOT_FOUND, `${name} cannot be called as a task`);
      const served = await runAsTask(exchange, minting(exchange, view, asked.ttlMs), run);
      if (served !== undefined) return served;
      return failed(TOO_MANY_REQUESTS, 'Too many tasks are running: let some end, or cancel some');
    },

    started(task, { label, tool }, exchange, view) {
      const text = JSON.stringify([label, tool, task['taskId']]);
      const taskId = closeBox(keys, BOX, text, boundOf(exchange, view));
      return { kind: 'task', task: { ...startedTask(task), taskId } };
    },

    async answer(exchange, view, relay) {
      const { client, capabilities, request } = exchange;
      const { method, params } = request;
      const form = taskForm(client.serving);
      if (form === undefined || !METHODS[form].has(method))
        return failed(METHOD_NOT_FOUND, `Method not found: ${method}`);
      if (form === 'declared' && !takesTasks(capabilities)) return { kind: 'error', error: TASKS_MISSING };
      if (method === 'tasks/list') return listOf(table.list(ownerOf(exchange, view)), params);
      const { taskId, inputResponses } = params;
      if (typeof taskId !== 'string') return failed(INVALID_PARAMS, 'params.taskId must be a string');
      if (method === 'tasks/update' && !isObject(inputResponses))
        return failed(INVALID_PARAMS, 'params.inputResponses must be an object');
      const found = find(taskId, exchange, view);
      if (found === undefined)
        return failed(INVALID_PARAMS, 'There is no such task: it has expired, or it never was');
      if (!('label' in found)) return answerOf(found, exchange, form);
      if (method === 'tasks/get') return shownTo(await look(found, taskId, exchange, view, relay), exchange);
      const served = await relay(
        {
          label: found.label,
          method: method === 'tasks/update' ? method : 'tasks/cancel',
          params: { taskId: found.taskId, ...(method === 'tasks/update' && { inputResponses }) },
        },
        exchange,
      );
      return served.kind === 'complete' ? { kind: 'complete', result: {} } : served;
    },

    follow(taskId, follower, view, relay, listener) {
      const found = find(taskId, follower, view);
      if (found === undefined) return undefined;
      if (!('label' in found)) {
        let isOver = false;
        const tell = (): void => {
          if (!isOver) listener(shownTask(found.task, follower));
        };
        queueMicrotask(tell);
        const off = found.on(tell);
        return () => {
          isOver = true;
          off();
        };
      }
      const { id } = follower.client.principal;
      const others = watched.get(id) ?? 0;
      if (others >= WATCHED_MAX) return undefined;
      watched.set(id, others + 1);
      const stop = new AbortController();
      const exchange = asking(follower, taskId, AbortSignal.any([stop.signal, follower.signal]));
      const seen = async () => shownTo(await look(found, taskId, exchange, view, relay), exchange);
      void watch(seen, exchange.signal, listener).finally(() => {
        const left = (watched.get(id) ?? 1) - 1;
        if (left === 0) watched.delete(id);
        else watched.set(id, left);
      });
      return () => stop.abort();
    },
  };
}

const ownerOf = ({ client }: TaskFollower, { label }: View): TaskOwner => ({
  principal: client.principal.id,
  endpoint: label,
});

const boundOf = (exchange: TaskFollower, view: View): string =>
  JSON.stringify(['task', exchange.client.principal.id, view.label ?? null]);

/** What is said of a task of ours. */
async function answerOf(minted: Minted, exchange: Exchange, form: 'declared' | 'asked'): Promise<Served> {
  const { method, params } = exchange.request;
  switch (method) {
    case 'tasks/update':
      minted.answer(params['inputResponses'] as JsonObject);
      return { kind: 'complete', result: {} };
    case 'tasks/cancel':
      if (form === 'asked' && minted.isSettled) return failed(INVALID_PARAMS, 'The task has ended');
      minted.cancel();
      return { kind: 'complete', result: form === 'asked' ? minted.task : {} };
    case 'tasks/result':
      return resultOf(minted, exchange);
    default:
      return shownTo({ kind: 'complete', result: minted.task }, exchange);
  }
}

/** Waits for the end of a task, and puts its questions to the client meanwhile (2025-11-25). */
async function resultOf(minted: Minted, exchange: Exchange): Promise<Served> {
  const { signal } = exchange;
  const asked = new Set<string>();
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (minted.isSettled || signal.aborted) {
        off();
        signal.removeEventListener('abort', look);
        return resolve();
      }
      for (const question of minted.questions) {
        if (asked.has(question.key)) continue;
        asked.add(question.key);
        put(question, minted.id, exchange);
      }
      return undefined;
    };
    const off = minted.on(look);
    signal.addEventListener('abort', look);
    look();
  });
  const { served } = minted;
  if (!minted.isSettled) return failed(INTERNAL_ERROR, 'The request was given up');
  if (served === undefined) return failed(INVALID_PARAMS, 'The task was cancelled');
  if (served.kind !== 'complete') return served;
  const { result } = served;
  const meta = isObject(result['_meta']) ? result['_meta'] : {};
  const related = { [RELATED_TASK]: { taskId: minted.id } };
  return { kind: 'complete', result: { ...result, _meta: { ...meta, ...related } } };
}

/** Puts a question to the client, which takes it back when it is answered otherwise. */
function put(
  { request, context, closed, resolve, reject }: OpenQuestion,
  taskId: string,
  exchange: Exchange,
): void {
  const meta = isObject(request.params['_meta']) ? request.params['_meta'] : {};
  const params = { ...request.params, _meta: { ...meta, [RELATED_TASK]: { taskId } } };
  exchange
    .ask({ method: request.method, params }, { ...context, signal: closed })
    .then(resolve, (error: unknown) => {
      // Whoever gave the request up has not answered: another may put it again.
      if (!exchange.signal.aborted) reject(new Error(messageOf(error)));
    });
}

function listOf(tasks: readonly Minted[], { cursor }: JsonObject): Served {
  if (cursor !== undefined) return failed(INVALID_PARAMS, 'Invalid cursor: there is one page');
  return { kind: 'complete', result: { tasks: tasks.map(({ task }) => task) } };
}

function shownTo(served: Served, follower: TaskFollower): Served {
  if (served.kind !== 'complete') return served;
  return { ...served, result: shownTask(served.result, follower) };
}

/** Questions and errors in it as the client's revision has them. */
function shownTask(task: JsonObject, { client: { serving } }: TaskFollower): JsonObject {
  const { inputRequests, error } = task;
  const shown = { ...task };
  if (inputRequests !== undefined) {
    const requests = taskQuestions(task).map(([key, request]) => [key, serving.question(request)] as const);
    shown['inputRequests'] = plain(Object.fromEntries(requests));
  }
  if (isObject(error)) shown['error'] = { ...serving.error(error as RpcErrorObject & JsonObject) };
  return shown;
}

const plain = (requests: Record<string, { method: string; params: JsonObject }>): JsonObject =>
  Object.fromEntries(Object.entries(requests).map(([key, request]) => [key, { ...request }]));

/** Asks for a server's task again and again, and tells of each new state, until it has ended or cannot be asked for. */
async function watch(
  look: () => Promise<Served>,
  signal: AbortSignal,
  listener: (task: JsonObject) => void,
): Promise<void> {
  let last = '';
  while (!signal.aborted) {
    const served = await look();
    if (served.kind !== 'complete' || signal.aborted) return;
    const text = JSON.stringify(served.result);
    if (text !== last) listener(served.result);
    last = text;
    if (isSettled(served.result['status'])) return;
    await pause(pollInterval(served.result), signal);
  }
}

/** A request about a task that no client has made. */
const asking = ({ client, capabilities }: TaskFollower, taskId: string, signal: AbortSignal): Exchange => ({
  client,
  capabilities,
  signal,
  progress: undefined,
  log: undefined,
  rounds: false,
  round: undefined,
  ask: () => Promise.reject(new Error('nobody is there to answer')),
  request: {
    id: 0,
    method: 'tasks/get',
    params: { taskId },
    capabilities,
    clientInfo: undefined,
    progressToken: undefined,
    logLevel: undefined,
    round: undefined,
    meta: undefined,
  },
});

function failed(code: number, message: string): Served & { kind: 'error' } {
  return { kind: 'error', error: { code, message } };
}
