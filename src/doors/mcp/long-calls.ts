/** Calls that become tasks of the gateway's own: from the beginning on, or when they take long. */
import { messageOf } from '../../errors.ts';
import type { Relaying } from '../../host/call.ts';
import { INTERNAL_ERROR } from '../../mcp/message.ts';
import { INPUT_ROUNDS_MAX } from '../../mcp/protocol-limits.ts';
import type { Served } from '../../mcp/serving.ts';
import { startedTask, taskForm } from '../../mcp/tasks.ts';
import { pause } from '../../servers/watch.ts';
import type { Progress } from '../../types.ts';
import type { Exchange } from './client.ts';
import type { Minted } from './minted.ts';

/** Wait before a call goes on whose server asked for nothing but another round. Milliseconds. */
const NEXT_ROUND = 250;

/** How a call goes on to its server. */
export type CallForm = Pick<Relaying, 'asTask' | 'drivesTasks' | 'onTask'>;

/** The call itself. */
export type Run = (exchange: Exchange, form: CallForm) => Promise<Served>;

/** Where the tasks of one call are kept. */
export interface Mint {
  /** Undefined where there are too many. @param stop ends the call. */
  open(stop: AbortController): Minted | undefined;
  drop(task: Minted): void;
}

/** The call as a task from its beginning on; undefined where there are too many tasks. */
export async function runAsTask(exchange: Exchange, mint: Mint, run: Run): Promise<Served | undefined> {
  const stop = new AbortController();
  const minted = mint.open(stop);
  if (minted === undefined) return undefined;
  const keepsProgress = taskForm(exchange.client.serving) === 'asked';
  const ask: Exchange['ask'] = (request, context) => minted.ask(request, context);
  const running: Running = { exchange, stop, task: () => minted, ask };
  // As it begins, whatever comes of it meanwhile.
  const served: Served = { kind: 'task', task: startedTask(minted.task) };
  void rounds(running, run, { asTask: true }, keepsProgress).then((served) => minted.settle(served));
  // What is refused at once was never a task.
  await new Promise((resolve) => setImmediate(resolve));
  if (minted.served?.kind !== 'error') return served;
  mint.drop(minted);
  return minted.served;
}

/**
 * The call, or the task that it becomes: when it takes longer, or when its server says that it is one. The time stands still
 * while the client is asked something.
 * @param after milliseconds.
 */
export function runUntil(after: number, exchange: Exchange, mint: Mint, run: Run): Promise<Served> {
  const stop = new AbortController();
  const leave = (): void => stop.abort();
  if (exchange.signal.aborted) leave();
  exchange.signal.addEventListener('abort', leave, { once: true });
  let minted: Minted | undefined;
  let open = 0;
  let isOver = false;
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const become = (): void => {
      clearTimeout(timer);
      minted ??= mint.open(stop);
      // A place short, it is waited for here.
      if (minted === undefined) return;
      exchange.signal.removeEventListener('abort', leave);
      resolve({ kind: 'task', task: startedTask(minted.task) });
    };
    const arm = (): void => {
      timer = setTimeout(become, after).unref();
    };
    const ask: Exchange['ask'] = async (request, context) => {
      if (minted !== undefined) return minted.ask(request, context);
      open += 1;
      clearTimeout(timer);
      try {
        return await exchange.ask(request, context);
      } finally {
        open -= 1;
        if (open === 0 && !isOver && minted === undefined) arm();
      }
    };
    arm();
    const form: CallForm = { asTask: true, onTask: become };
    void rounds({ exchange, stop, task: () => minted, ask }, run, form, false).then((served) => {
      isOver = true;
      clearTimeout(timer);
      exchange.signal.removeEventListener('abort', leave);
      if (minted === undefined) resolve(served);
      else minted.settle(served);
    });
  });
}

/** A call that runs, and the task that it has become. */
interface Running {
  exchange: Exchange;
  stop: AbortController;
  task: () => Minted | undefined;
  ask: Exchange['ask'];
}

/** The rounds of a call: once it is a task, its questions are answered with the task. Never rejects. */
async function rounds(running: Running, run: Run, form: CallForm, keepsProgress: boolean): Promise<Served> {
  const { exchange, stop, task } = running;
  let { round } = exchange;
  for (let count = 0; ; count += 1) {
    try {
      const served = await run(detached(running, round, keepsProgress), form);
      const minted = task();
      if (served.kind !== 'input' || minted === undefined) return served;
      if (count >= INPUT_ROUNDS_MAX)
        return failed(`The call asked for input more than ${INPUT_ROUNDS_MAX} times`);
      const { requests, state, digest } = served;
      const context = { label: '', signal: stop.signal };
      const answers = Object.entries(requests).map(
        async ([key, request]) => [key, await minted.ask(request, context)] as const,
      );
      if (answers.length === 0) await pause(NEXT_ROUND, stop.signal);
      round = {
        digest,
        ...(answers.length > 0 && { responses: Object.fromEntries(await Promise.all(answers)) }),
        ...(state !== undefined && { state }),
      };
    } catch (error) {
      return failed(messageOf(error));
    }
  }
}

/** The exchange as the call knows it, which goes on when the request has been answered. */
function detached(
  { exchange, stop, task, ask }: Running,
  round: Exchange['round'],
  keepsProgress: boolean,
): Exchange {
  const { client, request, capabilities, progress, log, rounds: givesRounds } = exchange;
  return {
    client,
    request,
    capabilities,
    round,
    rounds: givesRounds,
    signal: stop.signal,
    ask,
    progress(step: Progress) {
      const minted = task();
      minted?.say(step.message);
      if (minted === undefined || (keepsProgress && !minted.isSettled)) progress?.(step);
    },
    log: log && {
      level: log.level,
      // A task does not log.
      write: (message) => void (task() === undefined && log.write(message)),
    },
  };
}

const failed = (message: string): Served => ({ kind: 'error', error: { code: INTERNAL_ERROR, message } });
