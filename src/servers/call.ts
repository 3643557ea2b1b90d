/** One call of one tool: input rounds, the repairs that a call may need, and the reading of its result. */
import { MidspanError } from '../errors.ts';
import { INPUT_ROUNDS_MAX, REQUEST_STATE_MAX } from '../mcp/protocol-limits.ts';
import { HEADER_MISMATCH, URL_ELICITATION_REQUIRED, isObject } from '../mcp/message.ts';
import { readToolResult } from '../mcp/results.ts';
import { onAbort, untilAbort } from './abort.ts';
import { outcomeUnknown } from './failure.ts';
import { pause } from './watch.ts';
import type { Connection } from './connection.ts';
import type { Questions } from './questions.ts';
import type { CallOptions } from './server.ts';
import type { Lists } from './lists.ts';
import type { Answer } from '../mcp/codec.ts';
import type { JsonObject, ToolResult } from '../types.ts';

export interface CallSetup {
  label: string;
  connection: Connection;
  lists: Lists;
  questions: Questions;
  /** Milliseconds. */
  timeout: number;
  timeoutMax: number;
  retryState: number;
  /** Aborts when the server is closed. */
  closing: AbortSignal;
  warning: (message: string) => void;
}

export async function callTool(
  setup: CallSetup,
  name: string,
  args: JsonObject,
  options: CallOptions,
): Promise<ToolResult> {
  const { label, connection, lists, questions, timeout } = setup;
  const since = performance.now();
  const call: JsonObject = { name, arguments: args };
  if (connection.logging !== undefined) call._meta = connection.logging;
  let params = call;
  let relisted = false;
  for (let round = 0; ; round += 1) {
    // All rounds together have the time of one call; waiting for a person is not the server's time.
    const left =
      round === 0
        ? setup.timeoutMax
        : Math.max(1, setup.timeoutMax + questions.waited - (performance.now() - since));
    let answer: Answer;
    try {
      answer = await connection.request('tools/call', params, {
        signal: options.signal,
        timeout,
        timeoutMax: left,
        onProgress: options.onProgress,
        mirrored: connection.mirrors ? lists.mirrored(name, args) : undefined,
        asker: questions,
      });
    } catch (error) {
      const code = error instanceof MidspanError && error.code === 'rpc' ? error.data.code : undefined;
      if (code === HEADER_MISMATCH && connection.mirrors && !relisted) {
        // The tool may want other headers than when it was listed.
        relisted = true;
        await between(setup, 'the list of its tools', options, () => lists.tools(true));
        continue;
      }
      if (
        code === URL_ELICITATION_REQUIRED &&
        round < INPUT_ROUNDS_MAX &&
        (await between(setup, 'an address to be opened', options, (stop) =>
          openedAll(setup, error as MidspanError, stop),
        ))
      )
        continue;
      if (round > 0 && error instanceof MidspanError && error.code === 'closed' && error.data.sent === false)
        throw outcomeUnknown(label, 'the connection ended between two rounds of tools/call', error);
      throw error;
    }
    if (answer.kind === 'complete') return read(setup, answer.result);
    if (answer.kind === 'invalid') throw new MidspanError({ code: 'protocol', label, what: answer.problem });
    if (round >= INPUT_ROUNDS_MAX) {
      throw new MidspanError({
        code: 'limit',
        label,
        what: `the call of ${name} asked for input more than ${INPUT_ROUNDS_MAX} times`,
        next: 'Call it again with everything it needs, or report this to the author of the server',
      });
    }
    params = await between(setup, 'input', options, (stop) => nextRound(setup, answer, call, round, stop));
  }
}

/** The params of the retry: the same call, with every answer and the exact state. */
async function nextRound(
  { label, questions, retryState }: CallSetup,
  { requests, state }: Answer & { kind: 'input' },
  call: JsonObject,
  round: number,
  stop: AbortSignal,
): Promise<JsonObject> {
  if (state !== undefined && state.length > REQUEST_STATE_MAX) {
    throw new MidspanError({
      code: 'limit',
      label,
      what: `its requestState is longer than ${REQUEST_STATE_MAX} characters`,
    });
  }
  const entries = Object.entries(requests);
  if (entries.length === 0) await pause(retryState * 2 ** round, stop);
  const answered: [string, JsonObject][] = [];
  // One after another: a person answers one question at a time.
  for (const [key, { method, params }] of entries) {
    try {
      answered.push([key, await questions.answer(method, params, stop)]);
    } catch (error) {
      throw new MidspanError({
        code: 'protocol',
        label,
        what: `it asked for input that cannot be given: ${(error as Error).message}`,
        next: 'Call it without what makes it ask',
        cause: error,
      });
    }
  }
  return {
    ...call,
    ...(entries.length === 0 ? {} : { inputResponses: Object.fromEntries(answered) }),
    ...(state === undefined ? {} : { requestState: state }),
  };
}

/** What a call waits for between two requests. Cancelling the call, or closing the server, ends the wait. */
async function between<T>(
  { label, closing }: CallSetup,
  what: string,
  { signal }: CallOptions,
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
      what: `tools/call was ${closing.aborted ? 'ended by closing the server' : 'cancelled'} while it waited for ${what}`,
      data: { sent: true },
    });
  try {
    return await untilAbort(wait(stop.signal), stop.signal, ended);
  } finally {
    for (const each of stopListening) each?.();
  }
}

/** `-32042` of 2025-11-25: true when every address that the error lists was opened, so that the call is worth repeating. */
async function openedAll(
  { label, questions }: CallSetup,
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

function read({ label, questions, warning }: CallSetup, raw: JsonObject): ToolResult {
  const result = readToolResult(raw, (text) => {
    warning(text);
    questions.note(`${label}: ${text}`);
  });
  if (result !== undefined) return result;
  throw new MidspanError({
    code: 'protocol',
    label,
    what: 'the server answered tools/call with something that is not a tool result',
    next: 'Report this to the author of the server',
  });
}
