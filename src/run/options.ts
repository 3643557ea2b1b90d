/** What a run is given. */
import type { Choice, Compiled, ExposedTool, Message, ResultOptions } from '../dialects/dialect.ts';
import type { Answer } from '../asks/asks.ts';
import type { CallToApprove } from '../host/approval.ts';
import type { CallOutcome } from '../host/call.ts';
import type { Delegation, DelegationOptions } from '../host/delegation.ts';
import type { Resumption, RunJournal } from '../journal/journal.ts';
import type { Model } from '../models/model.ts';
import type { JsonObject, Progress, ToolResult } from '../types.ts';
import type { Limits } from './budget.ts';

/** A tool as the run needs it: what the model is shown, and whose it is for the events. */
export interface RunTool extends ExposedTool {
  label?: string | undefined;
  tool?: string;
}

/** What a run needs of the host. */
export interface RunHost {
  /** Taken once, when the run starts: what a model is shown never changes in the middle of a run. */
  catalog(): { tools: readonly RunTool[] };
  /** Calls back whenever the catalog has changed, until the returned function is called. */
  onCatalog?(changed: () => void): () => void;
  /** Which servers the model's provider connects to itself in this run. Absent: none. */
  delegate?(model: Model, options: DelegationOptions): Promise<Delegation>;
  /** What a call brought in that the provider made itself. */
  saw?(call: { label: string; tool: string }, result: ToolResult): void;
  /** A person's word on a call that the provider waits with. Never rejects. Absent: all of them are declined. */
  approve?(call: CallToApprove, options: { signal: AbortSignal }): Promise<Answer>;
  /** Never rejects: every failure is a result that the model can read, with its status. */
  call(
    call: { id: string; name: string; arguments: JsonObject },
    options: { signal: AbortSignal; onProgress?: (progress: Progress) => void; compiled?: Compiled },
  ): Promise<CallOutcome>;
}

export interface RunOptions {
  model: Model;
  system?: string;
  /** The conversation so far: a first question, or the transcript of an earlier run with a new message after it. */
  messages: readonly Message[];
  /** Globs over exposed names; `'none'` or an empty list offers no tools. Default: all. */
  tools?: readonly string[] | 'none';
  /** `host`: no server is left to the model's provider in this run, whatever the configuration says. */
  via?: 'host';
  /**
   * Which calls the model may or must make. A choice that forces a call holds until the model has made one; after that
   * the model may answer, or it could never end.
   */
  choice?: Choice;
  /** Several calls in one turn, run at the same time. Default true; false also runs one at a time what comes anyway. */
  parallel?: boolean;
  /** Output tokens per turn. */
  maxTokens?: number;
  limits?: Partial<Limits>;
  signal?: AbortSignal;
  /** Extra members for every request to the model, in the words of its API. */
  extra?: JsonObject;
  /** How results are put to the model. */
  results?: ResultOptions;
  /** Where the run is recorded while it goes on. What cannot be recorded ends it. Default: nowhere. */
  journal?: RunJournal;
  /** Where a recorded run goes on; its messages take the place of `messages`. */
  resumption?: Resumption;
}
