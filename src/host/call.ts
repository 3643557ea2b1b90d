/** The one gate that every call passes, whoever asks. It never rejects: whatever fails becomes a result that a model can read. */
import type { Asks } from '../asks/asks.ts';
import type { Compiled } from '../dialects/dialect.ts';
import type { CallEnd, CallStart, Journal } from '../journal/journal.ts';
import { type ErrorCode, MidspanError, messageOf } from '../errors.ts';
import { validate } from '../schema/index.ts';
import type { InputRequest } from '../mcp/input.ts';
import type { Relayed, RelayOptions, Round, Server } from '../servers/server.ts';
import type { ContentBlock, JsonObject, Progress, ToolDefinition, ToolLabel, ToolResult } from '../types.ts';
import type { ToolFacts } from './admission.ts';
import { checkArguments } from './arguments.ts';
import type { CatalogEntry } from './catalog.ts';
import { cleanResult } from './clean.ts';
import { answerInput } from './input.ts';
import { type NativeFunction, runNative } from './natives.ts';
import { type Permission, permission, type PermissionDeps } from './permission.ts';
import type { Session } from './session.ts';

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
  /** A person makes this call, so that nobody needs to be asked. What the policy denies stays denied. */
  approved?: boolean;
  /** The run or the client's session that it belongs to: what was seen in it counts. Default: one for the whole host. */
  session?: Session;
  /** Who is asked whether this call may run, and what its server asks. Default: the host's asks. */
  asks?: Asks;
  /** Which tools whoever calls may call, by the servers' own names; others are as if they were not there. Default: all. */
  allows?: (label: string, tool: string) => boolean;
  /** How it goes on to the server for a client of the gateway. */
  relay?: Relaying;
  /** Hears what the host would add to the result for its reader, instead of adding it. */
  onNote?: (note: string) => void;
}

/** What a client of the gateway brings along with a request. */
export interface Relaying extends Pick<
  RelayOptions,
  | 'capabilities'
  | 'owner'
  | 'rounds'
  | 'logLevel'
  | 'onLog'
  | 'meta'
  | 'onInput'
  | 'drivesTasks'
  | 'asTask'
  | 'onTask'
> {
  /** `digest`: of the definition that the earlier rounds were approved for, where there were any; another one now is refused. */
  round?: (Round & { digest: string | undefined }) | undefined;
}

/** Why nothing can be called under a name. */
export interface Missing {
  missing: string;
  /** It is there, and waits for review. */
  isWithheld?: boolean;
}

export interface CallOutcome {
  /** What a model is given. `isError` for everything that went wrong. */
  result: ToolResult;
  /**
   * done: the tool answered (perhaps with `isError`). refused: it was not run. failed: it could not be reached or the server
   * refused. cancelled: by the caller. unknown: it was started and its outcome is not known; it is never run again unseen.
   * asked: it goes on in a next round or as a task.
   */
  status: 'done' | 'refused' | 'failed' | 'cancelled' | 'unknown' | 'asked';
  label?: string;
  tool?: string;
  /** Why, for programs, where the status is not `done`. */
  error?: MidspanError;
  /** The server wants these answered in a next round (status `asked`, only where `relay.rounds` was set). */
  input?: { requests: Record<string, InputRequest>; state: string | undefined; digest: string };
  /** The server made a task of it (status `asked`, only where `relay.capabilities` declare tasks). */
  task?: JsonObject;
  milliseconds: number;
}

export interface CallDeps {
  /** At once where the owner is known, which is nearly always. */
  find(request: CallRequest, signal: AbortSignal | undefined): CatalogEntry | Promise<CatalogEntry | Missing>;
  server(label: string): Server | undefined;
  native(name: string): NativeFunction | undefined;
  facts(label: string, tool: string, definition: ToolDefinition): ToolFacts;
  permission: PermissionDeps;
  /** Of calls that name none. */
  session: Session;
  journal: Journal | undefined;
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
  const entry = allowed(found instanceof Promise ? await found : found, request, settings);
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
  // Why a server is not there may be told in its own words, such as the last ones it wrote to stderr.
  if ('missing' in entry) {
    const outcome = end(refusal(missingError(entry)));
    outcome.result = cleanResult(outcome.result).result;
    return outcome;
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
  const session = settings.session ?? deps.session;
  const start: CallStart = { label: entry.label, tool: entry.tool, name: entry.name, arguments: args };
  if (session.id !== undefined) start.run = session.id;
  if (request.id !== undefined) start.call = request.id;
  let labels: readonly ToolLabel[] = [];
  if (entry.label !== undefined) {
    const { label, tool, definition } = entry;
    const facts = deps.facts(label, tool, definition);
    start.digest = facts.digest;
    const approved = settings.relay?.round?.digest;
    if (approved !== undefined && approved !== facts.digest)
      return end(refusal(turnedError(label, tool, 'between two rounds of the call')));
    const asked = permission(
      {
        label,
        tool,
        arguments: args,
        digest: facts.digest,
        labels: facts.labels,
        ...(definition.annotations !== undefined && { hints: definition.annotations }),
      },
      // Who said yes to the first round said it to the whole call.
      { session, approved: settings.approved === true || approved !== undefined, signal: settings.signal },
      settings.asks === undefined ? deps.permission : { ...deps.permission, asks: settings.asks },
    );
    const granted = asked instanceof Promise ? await asked : asked;
    noteDecision(start, granted);
    labels = granted.labels;
    // A person may take minutes: the word was given for this definition, and for no other.
    const denial =
      granted.denial ??
      (asked instanceof Promise ? await turned(entry, facts.digest, settings, deps) : undefined);
    if (denial !== undefined) {
      const outcome = end(refusal(denial));
      deps.journal?.callRefused(start, inRecord(outcome));
      return outcome;
    }
  }
  const recorded = deps.journal === undefined ? undefined : await record(deps.journal, start);
  if (recorded instanceof MidspanError) return end(refusal(recorded));
  const outcome = end(await run(entry, args, { settings, session, labels, deps }));
  recorded?.ended(inRecord(outcome, session));
  return outcome;
}

function allowed(
  entry: CatalogEntry | Missing,
  request: CallRequest,
  { allows }: CallSettings,
): CatalogEntry | Missing {
  if (allows === undefined || 'missing' in entry || entry.label === undefined) return entry;
  if (allows(entry.label, entry.tool)) return entry;
  return { missing: `there is no tool ${request.name ?? request.tool ?? '(none)'}` };
}

/** Why a call may not run whose definition is not shown any more as it was when somebody was asked. */
async function turned(
  { label, tool }: CatalogEntry,
  digest: string,
  { signal }: CallSettings,
  deps: CallDeps,
): Promise<MidspanError | undefined> {
  if (label === undefined) return undefined;
  const now = await deps.find({ label, tool }, signal);
  if ('missing' in now) return missingError(now);
  if (deps.facts(label, tool, now.definition).digest === digest) return undefined;
  return turnedError(label, tool, 'while the call waited for an answer');
}

function turnedError(label: string, tool: string, when: string): MidspanError {
  return new MidspanError({
    label,
    code: 'unapproved',
    what: `${tool} was not run: its definition changed ${when}`,
    next: 'Make the call again',
  });
}

interface Running {
  settings: CallSettings;
  session: Session;
  labels: readonly ToolLabel[];
  deps: CallDeps;
}

/** The call itself. Never rejects. */
async function run(entry: CatalogEntry, args: JsonObject, running: Running): Promise<Ended> {
  const { settings, deps } = running;
  const notes: string[] = [];
  let ended: Ended;
  try {
    const relayed = await execute(entry, args, settings, deps, (note) => notes.push(note));
    if (entry.label !== undefined) deps.reached(entry.label, entry.tool);
    if (relayed.kind !== 'complete') return goesOn(relayed, entry, running);
    const result = relayed.result as ToolResult;
    const mismatch = outputProblem(entry.definition, result);
    if (mismatch !== undefined) {
      notes.push(mismatch);
      deps.warn(entry.label, mismatch);
    }
    ended = { result, status: 'done' };
  } catch (error) {
    ended = failure(error, entry, settings.signal);
    if (entry.label !== undefined && !NOT_REACHED.has(ended.error?.code))
      deps.reached(entry.label, entry.tool);
  }
  // Notes are the host's own words, but for what they quote.
  if (settings.onNote === undefined) ended.result = withNotes(ended.result, notes);
  else for (const note of notes) settings.onNote(note);
  if (entry.label !== undefined) ended.result = taintBy(ended.result, entry.label, entry.tool, running);
  return ended;
}

/** A call that has no result yet: what it waits for is with whoever made it. */
function goesOn(
  relayed: Exclude<Relayed, { kind: 'complete' }>,
  { label, tool, definition }: CatalogEntry,
  { deps }: Running,
): Ended {
  const result = { content: [], isError: false };
  if (relayed.kind === 'task') return { result, status: 'asked', task: relayed.task };
  const { digest } = deps.facts(label ?? '', tool, definition);
  return { result, status: 'asked', input: { requests: relayed.requests, state: relayed.state, digest } };
}

/** Cleans what a server answered and remembers what it brought in. */
function taintBy(
  result: ToolResult,
  label: string,
  tool: string,
  { session, labels, deps }: Running,
): ToolResult {
  const cleaned = cleanResult(result);
  session.taint.saw({ label, tool, labels }, cleaned.result, cleaned.isSuspicious);
  if (cleaned.isSuspicious) {
    deps.warn(
      label,
      `the result of ${tool} speaks to the model (${cleaned.rules.join(', ')}); what follows asks first`,
    );
  }
  return cleaned.result;
}

function missingError({ missing, isWithheld }: Missing): MidspanError {
  return new MidspanError({ code: isWithheld === true ? 'unapproved' : 'unknown-tool', what: missing });
}

function noteDecision(start: CallStart, { rule, why, by }: Permission): void {
  start.rule = rule;
  start.why = why;
  if (by !== undefined) start.by = by;
}

/** What cannot be recorded does not run: nobody could tell afterwards whether it did. */
async function record(
  journal: Journal,
  start: CallStart,
): Promise<Awaited<ReturnType<Journal['callStarted']>> | MidspanError> {
  try {
    return await journal.callStarted(start);
  } catch (error) {
    return new MidspanError({
      ...(start.label !== undefined && { label: start.label }),
      code: 'internal',
      what: `${start.tool} was not run: the call could not be recorded (${messageOf(error)})`,
      next: 'See whether the folder of the store can be written to',
      cause: error,
    });
  }
}

/** @param session of a call that ran: whoever goes on with the run must know what it had seen. */
function inRecord({ status, milliseconds, result, error }: CallOutcome, session?: Session): CallEnd {
  const end: CallEnd = { status, milliseconds, result };
  if (error !== undefined) end.error = error.message;
  if (session?.id !== undefined) {
    const { untrusted, private: secret, suspicious } = session.taint;
    end.taint = { untrusted, private: secret, suspicious };
  }
  return end;
}

/** An outcome before it is known whose it is and how long it took. */
type Ended = Pick<CallOutcome, 'result' | 'status' | 'error' | 'input' | 'task'>;

async function execute(
  entry: CatalogEntry,
  args: JsonObject,
  settings: CallSettings,
  deps: CallDeps,
  onNote: (note: string) => void,
): Promise<Relayed> {
  const { signal, onProgress, timeout, relay, asks = deps.permission.asks } = settings;
  if (entry.label === undefined) {
    const native = deps.native(entry.name);
    if (native === undefined)
      throw new MidspanError({ code: 'internal', what: `the native function ${entry.name} is gone` });
    const result = await runNative(native, args, {
      signal: signal ?? new AbortController().signal,
      onProgress: onProgress ?? (() => undefined),
    });
    return { kind: 'complete', result };
  }
  const server = deps.server(entry.label);
  if (server === undefined)
    throw new MidspanError({ label: entry.label, code: 'closed', what: 'the server is gone' });
  const options: RelayOptions = relay === undefined ? {} : { ...relay };
  options.onNote = onNote;
  options.onInput ??= answerInput(asks, onNote);
  if (signal !== undefined) options.signal = signal;
  if (onProgress !== undefined) options.onProgress = onProgress;
  if (timeout !== undefined) options.timeout = timeout;
  return server.relay('tools/call', { name: entry.tool, arguments: args }, options);
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
