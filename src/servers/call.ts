/** One call of one tool: input rounds, the repairs that a call may need, and the reading of its result. */
import { MidspanError } from '../errors.ts';
import { INPUT_ROUNDS_MAX, REQUEST_STATE_MAX } from '../mcp/protocol-limits.ts';
import { HEADER_MISMATCH, URL_ELICITATION_REQUIRED, isObject } from '../mcp/message.ts';
import { readToolResult } from '../mcp/results.ts';
import { pause } from './watch.ts';
import type { Connection } from './connection.ts';
import type { Questions } from './questions.ts';
import type { CallOptions } from './server.ts';
import type { ToolList } from './tool-list.ts';
import type { Answer } from '../mcp/codec.ts';
import type { JsonObject, ToolResult } from '../types.ts';

export interface CallSetup {
  label: string;
  connection: Connection;
  tools: ToolList;
  questions: Questions;
  /** Milliseconds. */
  timeout: number;
  timeoutMax: number;
  retryState: number;
  warning: (message: string) => void;
}

/** Never aborts: for waits that nobody may cut short. */
const NEVER = new AbortController().signal;

export async function callTool(
  setup: CallSetup,
  name: string,
  args: JsonObject,
  options: CallOptions,
): Promise<ToolResult> {
  const { label, connection, tools, questions, timeout } = setup;
  const since = performance.now();
  let params: JsonObject = { name, arguments: args };
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
        mirrored: connection.mirrors ? tools.mirrored(name, args) : undefined,
        asker: questions,
      });
    } catch (error) {
      const code = error instanceof MidspanError && error.code === 'rpc' ? error.data.code : undefined;
      if (code === HEADER_MISMATCH && connection.mirrors && !relisted) {
        // The tool may want other headers than when it was listed.
        relisted = true;
        await tools.get(true);
        continue;
      }
      if (
        code === URL_ELICITATION_REQUIRED &&
        round < INPUT_ROUNDS_MAX &&
        (await openedAll(setup, error as MidspanError, options))
      )
        continue;
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
    params = await nextRound(setup, answer, { name, arguments: args }, round, options.signal ?? NEVER);
  }
}

/** The params of the retry: the same call, with every answer and the exact state. */
async function nextRound(
  { label, questions, retryState }: CallSetup,
  { requests, state }: Answer & { kind: 'input' },
  call: JsonObject,
  round: number,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (state !== undefined && state.length > REQUEST_STATE_MAX) {
    throw new MidspanError({
      code: 'limit',
      label,
      what: `its requestState is longer than ${REQUEST_STATE_MAX} characters`,
    });
  }
  const entries = Object.entries(requests);
  if (entries.length === 0) await pause(retryState * 2 ** round, signal);
  const answered: [string, JsonObject][] = [];
  // One after another: a person answers one question at a time.
  for (const [key, { method, params }] of entries) {
    try {
      answered.push([key, await questions.answer(method, params, signal)]);
    } catch (error) {
      if (signal.aborted) break;
      throw new MidspanError({
        code: 'protocol',
        label,
        what: `it asked for input that cannot be given: ${(error as Error).message}`,
        next: 'Call it without what makes it ask',
        cause: error,
      });
    }
  }
  if (signal.aborted)
    throw new MidspanError({
      code: 'cancelled',
      label,
      what: 'tools/call was cancelled while it waited for input',
      data: { sent: true },
    });
  return {
    ...call,
    ...(entries.length === 0 ? {} : { inputResponses: Object.fromEntries(answered) }),
    ...(state === undefined ? {} : { requestState: state }),
  };
}

/** `-32042` of 2025-11-25: true when every address that the error lists was opened, so that the call is worth repeating. */
async function openedAll(
  { label, questions }: CallSetup,
  { data: { data } }: MidspanError,
  { signal = NEVER }: CallOptions,
): Promise<boolean> {
  const listed = (data as JsonObject | undefined)?.elicitations;
  const elicitations = Array.isArray(listed) ? listed.filter(isObject) : [];
  for (const params of elicitations) {
    try {
      const { action } = await questions.answer('elicitation/create', { mode: 'url', ...params }, signal);
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
