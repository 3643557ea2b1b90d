/** What a run tells while it goes on, and what is left of it at the end. All of it is plain JSON, but for `RunResult.error`. */
import type { Message, Stop, Usage } from '../dialects/dialect.ts';
import type { MidspanError } from '../errors.ts';
import type { CallOutcome } from '../host/call.ts';
import type { JsonObject, Progress, ToolResult } from '../types.ts';

/**
 * Why a run ended.
 * - `complete`: the model gave its answer.
 * - `max-turns`, `max-calls`, `time`, `tokens`: a limit of the run was reached; what was still to be called is answered as not run.
 * - `loop`: the same calls brought the same results again and again; `detail` says which.
 * - `aborted`: by `abort()`, by the caller's signal, or because the reader of the events left.
 * - `max-tokens`: the answer was cut at the output limit of a turn. Calls of that turn were not run.
 * - `refusal`, `content-filter`: the model, or a filter of its API, would not answer.
 * - `context-window`: the conversation does not fit into the model.
 * - `failed`: the model could not be reached, refused the request, or broke its answer; `detail` has the words.
 */
export type EndReason =
  | 'complete'
  | 'max-turns'
  | 'max-calls'
  | 'time'
  | 'tokens'
  | 'loop'
  | 'aborted'
  | 'max-tokens'
  | 'refusal'
  | 'content-filter'
  | 'context-window'
  | 'failed';

/** Whose call it is. `label` and `tool` are absent for a name that no server owns; a native function has no `label`. */
export interface CallIdentity {
  id: string;
  /** The exposed name. */
  name: string;
  label?: string;
  tool?: string;
  /** The model's provider makes this call itself, through its own connector. */
  via?: 'provider';
}

export type RunEvent =
  | { type: 'text'; delta: string }
  | { type: 'reasoning'; delta: string }
  /** One answer of the model is whole. `index` counts from 0. */
  | {
      type: 'turn';
      index: number;
      stop: Stop;
      detail?: string;
      text: string;
      calls: { id: string; name: string }[];
    }
  | { type: 'usage'; turn: Usage; total: Usage }
  | ({ type: 'call.started'; arguments: JsonObject } & CallIdentity)
  | ({ type: 'call.progress'; id: string } & Progress)
  | ({
      type: 'call.finished';
      isError: boolean;
      status: CallOutcome['status'];
      milliseconds: number;
      result: ToolResult;
    } & CallIdentity)
  /** Something was lost, left out or repaired on the way. Each is told once. */
  | { type: 'warning'; message: string }
  /** Always the last. `turns` and `calls` are counts. */
  | { type: 'end'; reason: EndReason; detail?: string; usage: Usage; turns: number; calls: number };

export interface RunResult {
  reason: EndReason;
  detail?: string;
  /** The text of the model's last turn in this run. */
  text: string;
  /**
   * The whole conversation, plain JSON. Every call in it has its result, so that it can be given back as `messages`
   * with a new message after it, whatever the reason of the end and whatever the model.
   */
  messages: Message[];
  usage: Usage;
  turns: number;
  calls: number;
  /** Behind a `failed`, for programs. */
  error?: MidspanError;
}

export interface Run extends AsyncIterable<RunEvent> {
  /** Under which it is recorded; undefined when it is not. */
  readonly id: string | undefined;
  /** Resolves at the end, whether or not anybody reads the events; never rejects. */
  readonly result: Promise<RunResult>;
  /** Ends the run: running calls are canceled, the transcript is completed. */
  abort(reason?: string): void;
}
