/** The calls of one turn: run at the same time, answered in call order, each with its events. */
import type { Call, CallResult, Compiled } from '../dialects/dialect.ts';
import { messageOf } from '../errors.ts';
import type { CallOutcome } from '../host/call.ts';
import type { ToolResult } from '../types.ts';
import type { CallIdentity, RunEvent } from './events.ts';
import type { RunHost, RunTool } from './options.ts';
import type { Stop } from './stop.ts';
import { errorResult } from './transcript.ts';

/** Calls of one turn that run at the same time, at most; the others wait for a place. */
export const CONCURRENT_CALLS = 16;

/** How long a stopped run waits for a running call to say how it ended. Milliseconds. */
export const LAST_WORD = 1_000;

export interface CallsContext {
  host: RunHost;
  compiled: Compiled;
  /** The tools that the model was shown, by exposed name. */
  shown: ReadonlyMap<string, RunTool>;
  /** Whether this run may use a name, shown or not. */
  permits: (name: string) => boolean;
  /** Results of an interrupted run, by call id: those calls are not run again, and not told again. */
  answered: ReadonlyMap<string, ToolResult>;
  concurrent: number;
  stop: Stop;
  /** Why calls from the given position on are not run, where a limit says so. */
  limit: { from: number; reason: string } | undefined;
  emit: (event: RunEvent) => void;
}

export async function answerCalls(calls: readonly Call[], context: CallsContext): Promise<CallResult[]> {
  const results: CallResult[] = [];
  const lastWord = lastWordAfter(context.stop.signal);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < calls.length; index = next++) {
      const call = calls[index] as Call;
      const known = context.answered.get(call.id);
      results[index] = { call, result: known ?? (await answer(call, index, lastWord.promise, context)) };
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(context.concurrent, calls.length) }, work));
  } finally {
    lastWord.dispose();
  }
  return results;
}

async function answer(call: Call, index: number, lastWord: Promise<void>, context: CallsContext) {
  const { emit, shown } = context;
  const tool = shown.get(call.name);
  const identity: CallIdentity = {
    id: call.id,
    name: call.name,
    ...(tool?.label !== undefined && { label: tool.label }),
    ...(tool?.tool !== undefined && { tool: tool.tool }),
  };
  emit({ type: 'call.started', ...identity, arguments: call.arguments });
  const outcome = refusal(call, index, context) ?? (await pass(call, lastWord, context));
  const { result, status, milliseconds } = outcome;
  emit({
    type: 'call.finished',
    ...identity,
    isError: result.isError === true,
    status,
    milliseconds,
    result,
  });
  return result;
}

/** The answer to a call that is not to be run at all. */
function refusal(call: Call, index: number, { limit, permits, stop }: CallsContext): CallOutcome | undefined {
  const because = (status: 'refused' | 'cancelled', reason: string): CallOutcome => ({
    result: errorResult(`The call was not run: ${reason}.`),
    status,
    milliseconds: 0,
  });
  if (stop.cause !== undefined) return because('cancelled', stop.cause.detail);
  if (limit !== undefined && index >= limit.from) return because('refused', limit.reason);
  if (call.problem !== undefined) {
    return because(
      'refused',
      `${call.problem}. Call ${call.name} again with arguments that are one JSON object`,
    );
  }
  if (!permits(call.name))
    return because('refused', `there is no tool named ${JSON.stringify(call.name)} in this conversation`);
  return undefined;
}

/** Through the host's gate. A name that the model was not shown goes there too: only the host knows what became of it. */
async function pass(
  call: Call,
  lastWord: Promise<void>,
  { host, compiled, stop, emit }: CallsContext,
): Promise<CallOutcome> {
  let open = true;
  const { id, name } = call;
  const outcome = host
    .call(
      { id, name, arguments: call.arguments },
      {
        signal: stop.signal,
        compiled,
        onProgress({ progress, total, message }) {
          if (!open) return;
          emit({
            type: 'call.progress',
            id,
            progress,
            ...(total !== undefined && { total }),
            ...(message !== undefined && { message }),
          });
        },
      },
    )
    .catch((error: unknown): CallOutcome => ({
      result: errorResult(`The call failed inside the host: ${messageOf(error)}`),
      status: 'failed',
      milliseconds: 0,
    }));
  const unheard = lastWord.then((): CallOutcome => ({
    result: errorResult(
      `Whether the call ran is not known: it was running when ${stop.cause?.detail ?? 'the run ended'}.`,
    ),
    status: 'unknown',
    milliseconds: 0,
  }));
  try {
    return await Promise.race([outcome, unheard]);
  } finally {
    open = false;
  }
}

/** A promise that resolves LAST_WORD after the signal aborts, and never while it does not. */
function lastWordAfter(signal: AbortSignal): { promise: Promise<void>; dispose: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let wait: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    wait = () => {
      timer = setTimeout(resolve, LAST_WORD);
    };
  });
  if (signal.aborted) wait();
  else signal.addEventListener('abort', wait, { once: true });
  return {
    promise,
    dispose() {
      clearTimeout(timer);
      signal.removeEventListener('abort', wait);
    },
  };
}
