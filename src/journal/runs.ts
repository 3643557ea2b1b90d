/** Runs in the store: written while they go on, and read so that one that was interrupted can go on. */
import { randomBytes } from 'node:crypto';
import type { Message, Stop, Usage } from '../dialects/dialect.ts';
import { MidspanError } from '../errors.ts';
import type { StoredCall } from '../store/calls.ts';
import type { RunCounts, StoredRun } from '../store/runs.ts';
import type { Store } from '../store/store.ts';
import type { JsonObject, ToolResult } from '../types.ts';
import type { TaintRecord } from './journal.ts';
import { redactText } from './redact.ts';

/** What a run tells while it goes on, before it acts on it. What throws ends the run. */
export interface RunJournal {
  readonly id: string;
  started(messages: readonly Message[]): void;
  appended(message: Message, counts: Counts, turn?: TurnRecord): void;
  ended(ending: { reason: string; detail?: string }, counts: Counts): void;
}

export interface Counts {
  turns: number;
  calls: number;
  usage: Usage;
}

export interface TurnRecord {
  stop: Stop;
}

/** Where a run goes on that was interrupted. */
export interface Resumption {
  /** The conversation so far. Calls of its last message that have no result yet are answered first. */
  messages: Message[];
  /** How the last turn ended, where the last message is one. */
  stop: Stop | undefined;
  /** Results by call id, of calls that are not to be run: they have ended, or a person chose to skip them. */
  answered: ReadonlyMap<string, ToolResult>;
  spent: Counts;
}

export function newRunId(): string {
  return randomBytes(6).toString('hex');
}

export function recordRun(
  store: Store,
  { id, model, options }: { id: string; model: string; options: JsonObject },
): RunJournal {
  return {
    id,
    started(messages) {
      const run = { id, model, prompt: promptOf(messages), options: JSON.stringify(options) };
      store.runs.start(
        run,
        messages.map((message) => JSON.stringify(message)),
      );
    },
    appended(message, counts, turn) {
      store.runs.append(
        id,
        {
          message: JSON.stringify(message),
          turn: turn && JSON.stringify(turn),
          ...(message.role === 'tool' && { answered: message.results.map(({ call }) => call.id) }),
        },
        inJson(counts),
      );
    },
    ended: (ending, counts) => store.runs.end(id, ending, inJson(counts)),
  };
}

const inJson = ({ turns, calls, usage }: Counts): RunCounts => ({
  turns,
  calls,
  usage: JSON.stringify(usage),
});

/** A run as it stands in the store. */
export interface RecordedRun extends Omit<StoredRun, 'options' | 'usage' | 'taint'> {
  options: JsonObject;
  usage: Usage;
  taint: TaintRecord;
}

export const recordedRuns = (store: Store, limit: number): RecordedRun[] =>
  store.runs.list(limit).map(recorded);

export interface RecordedConversation {
  run: RecordedRun;
  messages: Message[];
  /** Every call that passed the host, oldest first; a call that was run again stands there twice. */
  calls: StoredCall[];
}

/** @throws MidspanError `usage` for an id of no run. */
export function recordedRun(store: Store, id: string): RecordedConversation {
  const run = recorded(store.runs.read(id));
  const messages = store.runs.messages(run.id).map(({ message }) => JSON.parse(message) as Message);
  return { run, messages, calls: store.calls.list(run.id) };
}

function recorded({ options, usage, taint, ...run }: StoredRun): RecordedRun {
  return {
    ...run,
    options: JSON.parse(options) as JsonObject,
    usage: usage === undefined ? { input: 0, output: 0 } : (JSON.parse(usage) as Usage),
    taint: taint === undefined ? NO_TAINT : (JSON.parse(taint) as TaintRecord),
  };
}

const NO_TAINT: TaintRecord = { untrusted: [], private: [], suspicious: [] };

/** What a person says of calls of which nobody knows whether they ran: by call id, or for all others. */
export interface Choices {
  retry?: readonly string[];
  skip?: readonly string[];
  others?: 'retry' | 'skip';
  /** Who chose, for the record. */
  by?: string;
}

/**
 * Calls of the last turn that were started and have no end, and wait for a person's choice. Those of earlier turns were
 * answered: the model was told that their outcome is unknown.
 */
export function unknownCalls({ messages, calls }: Omit<RecordedConversation, 'run'>): StoredCall[] {
  const last = messages.at(-1);
  const ids = new Set(last?.role === 'assistant' ? last.calls.map(({ id }) => id) : []);
  return [...latest(calls)].flatMap(([id, call]) =>
    ids.has(id) && isOpen(call) && call.choice === undefined ? [call] : [],
  );
}

/**
 * Whether a run can go on with these choices.
 * @throws MidspanError `usage` when it cannot, `unapproved` when a call is unknown and nobody chose.
 */
export function checkResumable(found: RecordedConversation, choices: Choices): void {
  const { run } = found;
  if (run.status === 'running') throw busy(run);
  if (!canGoOn(run)) {
    throw new MidspanError({
      code: 'usage',
      what: `the run ${run.id} has ended (${run.reason})`,
      next: 'Only a run that was interrupted, aborted, failed or ran out of time can go on',
    });
  }
  const unknown = unknownCalls(found);
  checkNamed(run, unknown, choices);
  const open = unknown.filter((call) => choiceOf(call, choices) === undefined);
  if (open.length > 0) throw undecided(run, open);
}

/**
 * Takes over a run that was interrupted, or that was aborted, failed or ran out of time.
 * @throws MidspanError as `checkResumable`.
 */
export function takeOver(
  store: Store,
  id: string,
  choices: Choices = {},
): { run: RecordedRun; resumption: Resumption } {
  return store.write(() => {
    const found = recordedRun(store, id);
    checkResumable(found, choices);
    const { run, messages } = found;
    for (const call of unknownCalls(found)) {
      const choice = choiceOf(call, choices);
      if (choice === undefined) continue;
      store.calls.settle(call.id, choice);
      const { label, tool: item, digest, call: callId } = call;
      const decision = choice === 'retry' ? 'run again' : 'skipped';
      store.audit.append({
        what: 'call',
        label,
        item,
        digest,
        run: run.id,
        call: callId,
        decision,
        who: choices.by,
      });
    }
    if (!store.runs.take(run.id)) throw busy(run);
    return { run, resumption: resumptionOf(store, run, messages) };
  });
}

/** Whether nothing in the conversation of a run is final, so that it may go on. */
export const canGoOn = ({ status, reason }: Pick<RecordedRun, 'status' | 'reason'>): boolean =>
  status === 'interrupted' || (status === 'ended' && GOES_ON.has(reason));

const GOES_ON: ReadonlySet<string | undefined> = new Set(['aborted', 'failed', 'time']);

function resumptionOf(store: Store, run: RecordedRun, messages: Message[]): Resumption {
  const answered = new Map<string, ToolResult>();
  for (const [id, call] of latest(store.calls.list(run.id))) {
    if (call.result !== undefined) answered.set(id, JSON.parse(call.result) as ToolResult);
    else if (call.choice === 'skip') answered.set(id, SKIPPED);
  }
  // An answer that broke off is no part of the conversation when the model is asked again.
  const isBroken = run.status === 'ended' && isAnswer(messages.at(-1));
  if (isBroken) store.runs.dropLast(run.id);
  const turn = isBroken ? undefined : store.runs.messages(run.id).at(-1)?.turn;
  const { turns, calls, usage } = run;
  return {
    messages: isBroken ? messages.slice(0, -1) : messages,
    stop: turn === undefined ? undefined : (JSON.parse(turn) as TurnRecord).stop,
    answered,
    spent: { turns, calls, usage },
  };
}

const isAnswer = (message: Message | undefined): boolean =>
  message?.role === 'assistant' && message.calls.length === 0 && (message.approvals ?? []).length === 0;

const SKIPPED: ToolResult = {
  content: [
    {
      type: 'text',
      text: 'The outcome of this call is not known: the host stopped while it ran. It may have taken effect, fully or in part. It was not repeated. See how things stand before you repeat it.',
    },
  ],
  isError: true,
};

/** The last row of each call, by the id that the model gave it. */
function latest(calls: readonly StoredCall[]): Map<string, StoredCall> {
  return new Map(calls.flatMap((call) => (call.call === undefined ? [] : [[call.call, call] as const])));
}

/** It was started and nothing was written of its end; an end that is `unknown` to the host has a result that says so. */
const isOpen = ({ status, milliseconds }: StoredCall): boolean =>
  status === 'unknown' && milliseconds === undefined;

function choiceOf({ call = '' }: StoredCall, { retry, skip, others }: Choices): 'retry' | 'skip' | undefined {
  if (retry?.includes(call) === true) return 'retry';
  return skip?.includes(call) === true ? 'skip' : others;
}

function checkNamed(
  run: RecordedRun,
  unknown: readonly StoredCall[],
  { retry = [], skip = [] }: Choices,
): void {
  const named = [...retry, ...skip];
  const wrong = named.find(
    (id, index) => named.indexOf(id) !== index || !unknown.some(({ call }) => call === id),
  );
  if (wrong === undefined) return;
  throw new MidspanError({
    code: 'usage',
    what:
      named.indexOf(wrong) === named.lastIndexOf(wrong)
        ? `${JSON.stringify(wrong)} is no call of the run ${run.id} whose outcome is unknown`
        : `two choices were made for the call ${JSON.stringify(wrong)}`,
    next: `\`midspan runs show ${run.id}\` shows its calls`,
  });
}

const busy = ({ id }: RecordedRun): MidspanError =>
  new MidspanError({
    code: 'usage',
    what: `the run ${id} is still going on in another process`,
    next: 'Wait for its end, or end that process',
  });

function undecided({ id }: RecordedRun, calls: readonly StoredCall[]): MidspanError {
  const words = calls.map(
    ({ call, label, tool }) => `${call} (${label === undefined ? '' : `${label}/`}${tool})`,
  );
  const [first = ''] = calls.map(({ call = '' }) => call);
  return new MidspanError({
    code: 'unapproved',
    what: `the run ${id} stopped while these calls ran, so that nobody knows whether they did: ${words.join(', ')}`,
    next: `Choose for each: \`--retry ${first}\` runs it again, \`--skip ${first}\` tells the model that its outcome is unknown; \`--retry-all\` and \`--skip-all\` choose for all`,
    data: { run: id, calls: calls.map(({ call }) => call) },
  });
}

/** The last thing that the user said, in short. */
function promptOf(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'user');
  const content = last?.role === 'user' ? last.content : '';
  const text =
    typeof content === 'string'
      ? content
      : content
          .map((block) => (typeof block['text'] === 'string' ? block['text'] : `[${block.type}]`))
          .join(' ');
  return redactText(text.replaceAll(/\s+/g, ' ').trim().slice(0, LONGEST_PROMPT));
}

const LONGEST_PROMPT = 200;
