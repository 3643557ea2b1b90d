/** The one gate that every call passes, whoever asks. It never rejects: whatever fails becomes a result that a model can read. */
import type { Asks } from '../asks/asks.ts';
import type { Compiled } from '../dialects/dialect.ts';
import { type ErrorCode, MidspanError, messageOf } from '../errors.ts';
import { validate, type Verdict } from '../schema/index.ts';
import type { Server } from '../servers/server.ts';
import type { ContentBlock, JsonObject, Progress, ToolDefinition, ToolResult } from '../types.ts';
import { askApproval, declined } from './approval.ts';
import type { CatalogEntry } from './catalog.ts';
import { answerInput } from './input.ts';
import { type NativeFunction, runNative } from './natives.ts';

export interface CallRequest {
  /** The exposed name; or `label` and `tool`, the server's own names. */
  name?: string;
  label?: string;
  tool?: string;
  /** Nothing, or null, means none. */
  arguments?: JsonObject | null;
  id?: string;
}

export interface CallSettings {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** The definitions the model saw: arguments are restored by their inverse before anything else. */
  compiled?: Compiled;
  /** Milliseconds without progress; default the server's. */
  timeout?: number;
  /** A person makes this call, so that nobody needs to be asked. Default: asked where the configuration says so. */
  approved?: boolean;
}

export interface CallOutcome {
  /** What a model is given. `isError` for everything that went wrong. */
  result: ToolResult;
  /**
   * done: the tool answered (perhaps with `isError`). refused: it was not run. failed: it could not be reached or the server
   * refused. cancelled: by the caller. unknown: it was started and its outcome is not known; it is never run again unseen.
   */
  status: 'done' | 'refused' | 'failed' | 'cancelled' | 'unknown';
  label?: string;
  tool?: string;
  /** Why, for programs, where the status is not `done`. */
  error?: MidspanError;
  milliseconds: number;
}

export interface CallDeps {
  /** At once where the owner is known, which is nearly always. */
  find(
    request: CallRequest,
    signal: AbortSignal | undefined,
  ): CatalogEntry | Promise<CatalogEntry | { missing: string }>;
  server(label: string): Server | undefined;
  native(name: string): NativeFunction | undefined;
  asks: Asks;
  /** Whether a person is asked before each call of a server. */
  asksFirst(label: string): boolean;
  /** A call got as far as its server, by the server's own names. */
  reached(label: string, tool: string): void;
  warn(label: string | undefined, message: string): void;
}

export async function passCall(
  request: CallRequest,
  settings: CallSettings,
  deps: CallDeps,
): Promise<CallOutcome> {
  const started = performance.now();
  const found = deps.find(request, settings.signal);
  const entry = found instanceof Promise ? await found : found;
  // Plain assignments from here on: this is the path that every call takes, and spreads are what it would cost most.
  const end = (outcome: Ended): CallOutcome => {
    const ended = outcome as CallOutcome;
    if (!('missing' in entry)) {
      if (entry.label !== undefined) ended.label = entry.label;
      ended.tool = entry.tool;
    }
    ended.milliseconds = Math.round(performance.now() - started);
    return ended;
  };
  if ('missing' in entry) {
    return end(refusal(new MidspanError({ code: 'unknown-tool', what: entry.missing })));
  }
  const given = request.arguments ?? {};
  const restored = settings.compiled?.restore(entry.name, given) ?? given;
  const { args, problem, dropped } = checkArguments(entry, restored);
  if (dropped !== undefined && dropped.length > 0) {
    deps.warn(
      entry.label,
      `${entry.name}: null for ${dropped.join(', ')} was left out; its schema does not allow null there`,
    );
  }
  if (problem !== undefined) return end(refusal(problem));
  if (entry.label !== undefined && settings.approved !== true && deps.asksFirst(entry.label)) {
    const denial = await denialOf(entry.label, entry.tool, args, settings, deps);
    if (denial !== undefined) return end(refusal(denial));
  }
  const notes: string[] = [];
  try {
    const result = await execute(entry, args, settings, deps, (note) => notes.push(note));
    if (entry.label !== undefined) deps.reached(entry.label, entry.tool);
    const mismatch = outputProblem(entry.definition, result);
    if (mismatch !== undefined) {
      notes.push(mismatch);
      deps.warn(entry.label, mismatch);
    }
    return end({ result: withNotes(result, notes), status: 'done' });
  } catch (error) {
    const outcome = failure(error, entry, settings.signal);
    if (entry.label !== undefined && !NOT_REACHED.has(outcome.error?.code))
      deps.reached(entry.label, entry.tool);
    outcome.result = withNotes(outcome.result, notes);
    return end(outcome);
  }
}

/** An outcome before it is known whose it is and how long it took. */
type Ended = Pick<CallOutcome, 'result' | 'status' | 'error'>;

interface Checked {
  args: JsonObject;
  problem?: MidspanError;
  /** Names of arguments that were null and are left out. */
  dropped?: string[];
}

/**
 * Models say `null` for an optional argument that they leave open, and servers reject it: where that alone is wrong, it is
 * left out.
 */
function checkArguments({ name, label, definition }: CatalogEntry, args: JsonObject): Checked {
  const schema = definition.inputSchema;
  const verdict = validate(schema, args);
  if (verdict.ok === true) return { args };
  const open = Object.keys(args).filter((key) => args[key] === null);
  const closed = without(args, open);
  if (open.length > 0 && validate(schema, closed).ok === true) {
    const dropped = open.filter((key) => validate(schema, { ...closed, [key]: null }).ok !== true);
    const kept = without(args, dropped);
    if (validate(schema, kept).ok === true) return { args: kept, dropped };
  }
  return { args, problem: argumentProblem(name, label, verdict) };
}

const without = (args: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([key]) => !keys.includes(key)));

function argumentProblem(
  name: string,
  owner: string | undefined,
  verdict: Exclude<Verdict, { ok: true }>,
): MidspanError {
  const label = owner === undefined ? {} : { label: owner };
  return verdict.ok === false
    ? new MidspanError({
        ...label,
        code: 'usage',
        what: `${name} was not run: ${verdict.problem}`,
        next: 'Correct the arguments and call it again',
      })
    : new MidspanError({
        ...label,
        code: 'limit',
        what: `${name} was not run: its arguments cannot be checked (${verdict.reason})`,
        next: 'Use another tool, or ask the maintainer of the server to mend its schema',
      });
}

async function denialOf(
  label: string,
  tool: string,
  args: JsonObject,
  { signal }: CallSettings,
  deps: CallDeps,
): Promise<MidspanError | undefined> {
  const answer = await askApproval(deps.asks, { label, tool, arguments: args }, signal);
  if (answer.action === 'accept') return undefined;
  return new MidspanError({ label, code: 'denied', what: `${tool} was not run: ${declined(answer)}` });
}

function execute(
  entry: CatalogEntry,
  args: JsonObject,
  settings: CallSettings,
  deps: CallDeps,
  onNote: (note: string) => void,
): Promise<ToolResult> {
  const { signal, onProgress, timeout } = settings;
  if (entry.label === undefined) {
    const native = deps.native(entry.name);
    if (native === undefined)
      throw new MidspanError({ code: 'internal', what: `the native function ${entry.name} is gone` });
    return runNative(native, args, {
      signal: signal ?? new AbortController().signal,
      onProgress: onProgress ?? (() => undefined),
    });
  }
  const server = deps.server(entry.label);
  if (server === undefined)
    throw new MidspanError({ label: entry.label, code: 'closed', what: 'the server is gone' });
  return server.callTool(entry.tool, args, {
    onNote,
    onInput: answerInput(deps.asks, onNote),
    signal,
    onProgress,
    timeout,
  });
}

/** A server that declares an output schema and does not keep it is passed on, but never in silence. */
function outputProblem({ name, outputSchema }: ToolDefinition, result: ToolResult): string | undefined {
  if (outputSchema === undefined || result.isError === true) return undefined;
  if (result.structuredContent === undefined) {
    return `${name} declares an output schema but gave no structured content.`;
  }
  const verdict = validate(outputSchema, result.structuredContent);
  if (verdict.ok === true) return undefined;
  const reason = verdict.ok === false ? verdict.problem : verdict.reason;
  return `The structured content of ${name} does not fit its output schema: ${reason}.`;
}

function refusal(error: MidspanError): Ended {
  return { result: errorResult(error.message), status: 'refused', error };
}

function failure(thrown: unknown, entry: CatalogEntry, signal: AbortSignal | undefined): Ended {
  const error =
    thrown instanceof MidspanError
      ? thrown
      : new MidspanError({
          ...(entry.label !== undefined && { label: entry.label }),
          code: signal?.aborted === true ? 'cancelled' : 'internal',
          what: signal?.aborted === true ? `the call to ${entry.tool} was canceled` : messageOf(thrown),
          cause: thrown,
        });
  const status = error.code === 'cancelled' ? 'cancelled' : outcomeUnknown(error) ? 'unknown' : 'failed';
  return { result: errorResult(error.message), status, error };
}

const NOT_REACHED: ReadonlySet<ErrorCode | undefined> = new Set<ErrorCode>(['unreachable', 'sign-in']);

/** After a time-out or a broken connection the server may still have done it. */
const outcomeUnknown = ({ code }: MidspanError): boolean => code === 'timeout' || code === 'closed';

const errorResult = (message: string): ToolResult => ({ content: [textBlock(message)], isError: true });

const textBlock = (text: string): ContentBlock => ({ type: 'text', text });

function withNotes(result: ToolResult, notes: readonly string[]): ToolResult {
  if (notes.length === 0) return result;
  return { ...result, content: [...result.content, ...notes.map((note) => textBlock(`[midspan] ${note}`))] };
}
