/** The journal in the store. */
import { canonicalJson, sha256Hex } from '../canonical.ts';
import { messageOf } from '../errors.ts';
import type { CallBeginning, CallEnding } from '../store/calls.ts';
import type { CallRecord, RecordedCall } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { Json, JsonObject } from '../types.ts';
import type { CallEnd, CallStart, Journal } from './journal.ts';
import { redact, redactText } from './redact.ts';

export interface JournalOptions {
  /** Names of arguments that are never recorded, beside those that look like it. */
  redact?: readonly string[];
  /** Told when the end of a call could not be written. */
  onProblem?: (message: string) => void;
}

export function openJournal(store: Store, { redact: names = [], onProblem }: JournalOptions = {}): Journal {
  const secret = new Set(names);
  const begun = (start: CallStart): { call: CallBeginning; event: JsonObject } => {
    const args = redact(start.arguments, secret);
    const { label, tool, digest, rule, why, by, run, call } = start;
    const event: JsonObject = {
      what: 'call',
      label,
      item: tool,
      digest,
      rule,
      why,
      who: by,
      run,
      call,
      arguments: args,
      argumentsDigest: digestOf(start.arguments),
      decision: 'started',
    };
    return { call: { ...start, arguments: JSON.stringify(args) }, event };
  };
  /** Nobody waits for it, so that what fails is told aside. */
  const afterwards = async (tool: string, record: () => CallRecord): Promise<void> => {
    try {
      await store.record(record());
    } catch (error) {
      onProblem?.(`The end of a call of ${tool} could not be recorded: ${messageOf(error)}`);
    }
  };

  return {
    async callStarted(start) {
      const call = await store.record(begun(start));
      return {
        ended: (end) => void afterwards(start.tool, () => endOf(start, call, end)),
      };
    },
    callRefused(start, end) {
      void afterwards(start.tool, () => {
        const { call, event } = begun(start);
        const ending = endingOf(end, true);
        return { call, ending, event: { ...event, decision: end.status, error: ending.error } };
      });
    },
    audit(event) {
      const { detail, ...rest } = event;
      store.audit.append({ ...rest, ...(detail !== undefined && { detail: redact(detail, secret) }) });
    },
  };
}

function endOf(start: CallStart, call: RecordedCall, end: CallEnd): CallRecord {
  const { label, tool, digest, run, call: id } = start;
  const { status, milliseconds, taint } = end;
  const ending = endingOf(end, call.keepsResult);
  const event: JsonObject = {
    what: 'call',
    label,
    item: tool,
    digest,
    run,
    call: id,
    decision: status,
    milliseconds,
    resultBytes: ending.bytes,
    error: ending.error,
  };
  return {
    call,
    ending,
    event,
    taint: call.keepsResult && taint !== undefined ? JSON.stringify(taint) : undefined,
  };
}

function endingOf({ status, milliseconds, result, error }: CallEnd, keepsResult: boolean): CallEnding {
  const ending: CallEnding = { status, milliseconds, bytes: jsonBytes(result) };
  if (error !== undefined) ending.error = redactText(error);
  if (keepsResult) ending.result = JSON.stringify(result);
  return ending;
}

/** How long a value is as JSON in UTF-8, but for what is escaped in its texts: found without writing it. */
export function jsonBytes(value: Json | undefined): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  let bytes = 1;
  if (Array.isArray(value)) for (const item of value) bytes += jsonBytes(item) + 1;
  else {
    for (const name in value) {
      const member = value[name];
      if (member !== undefined) bytes += Buffer.byteLength(name) + 3 + jsonBytes(member) + 1;
    }
  }
  return Math.max(bytes, 2);
}

/** Of the full arguments. Those that RFC 8785 has no form for have no digest. */
function digestOf(args: JsonObject): string | undefined {
  try {
    return sha256Hex('midspan-arguments/1', canonicalJson(args));
  } catch {
    return undefined;
  }
}
