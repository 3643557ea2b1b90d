/** What happened, written before it happens. */
import type { JsonObject, ToolResult } from '../types.ts';

export { type JournalOptions, openJournal } from './open.ts';
export {
  canGoOn,
  checkResumable,
  type Choices,
  type Counts,
  newRunId,
  type RecordedConversation,
  type RecordedRun,
  recordedRun,
  recordedRuns,
  recordRun,
  type Resumption,
  type RunJournal,
  takeOver,
  type TurnRecord,
  unknownCalls,
} from './runs.ts';
export { redact, redactText } from './redact.ts';

export interface CallStart {
  /** The run it belongs to; undefined for a call outside of a run. */
  run?: string;
  /** The model's id of the call, in a run. */
  call?: string;
  /** The exposed name, when a model called. */
  name?: string;
  label: string | undefined;
  tool: string;
  digest?: string;
  arguments: JsonObject;
  /** What the policy said: `rules[2]`, `default`, ..., and why. */
  rule?: string;
  why?: string;
  /** Who said yes, when somebody was asked. */
  by?: string;
}

export interface CallEnd {
  /** As in CallOutcome of host/. */
  status: 'done' | 'refused' | 'failed' | 'cancelled' | 'unknown' | 'asked';
  milliseconds: number;
  result: ToolResult;
  error?: string;
  /** What the run has seen by now, for whoever goes on with it. */
  taint?: TaintRecord;
}

/** As in Taint of trust/. */
export interface TaintRecord {
  untrusted: readonly string[];
  private: readonly string[];
  suspicious: readonly string[];
}

/** One line of the audit. Arguments are redacted by the journal before they are written. */
export interface AuditEvent {
  what:
    | 'definition' // shown, withheld, drifted, approved, locked
    | 'ask' // asked, answered
    | 'call' // allowed, refused, ended
    | 'server'; // stopped, changed identity
  label?: string;
  item?: string;
  digest?: string;
  decision: string;
  rule?: string;
  why?: string;
  who?: string;
  run?: string;
  milliseconds?: number;
  resultBytes?: number;
  detail?: JsonObject;
}

export interface Journal {
  /**
   * Resolves when it is written, together with all others of this turn of the event loop; the call goes out after that. Its
   * end is written some milliseconds after it is told. A call that never ends is `unknown` after a crash; one whose end
   * cannot be written stays without one, and that is told aside: `ended` never throws.
   * @throws MidspanError when it cannot be written; then the call must not go out.
   */
  callStarted(start: CallStart): Promise<{ ended(end: CallEnd): void }>;
  /** A call that was refused before it started. Written some milliseconds later; never throws. */
  callRefused(start: CallStart, end: CallEnd): void;
  /** @throws MidspanError when it cannot be written. */
  audit(event: AuditEvent): void;
}
