/** The journal in the store. */
import { canonicalJson, sha256Hex } from '../canonical.ts';
import { messageOf } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { JsonObject } from '../types.ts';
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
  const recorded = (start: CallStart): { args: JsonObject; facts: JsonObject } => {
    const args = redact(start.arguments, secret);
    const { label, tool, digest, rule, why, by, run, call } = start;
    const facts = {
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
    };
    return { args, facts };
  };
  const begin = (start: CallStart, args: JsonObject): number =>
    store.calls.start({ ...start, arguments: JSON.stringify(args) });

  return {
    callStarted(start) {
      const { args, facts } = recorded(start);
      const id = store.write(() => {
        store.audit.append({ ...facts, decision: 'started' });
        return begin(start, args);
      });
      return {
        ended(end) {
          try {
            store.write(() => {
              const bytes = finish(store, id, end);
              if (start.run !== undefined && end.taint !== undefined)
                store.runs.saw(start.run, JSON.stringify(end.taint));
              const { label, item, digest, run, call } = facts;
              const { milliseconds, error } = end;
              const own = { what: 'call', label, item, digest, run, call, decision: end.status };
              store.audit.append({ ...own, milliseconds, resultBytes: bytes, error: worded(error) });
            });
          } catch (error) {
            onProblem?.(`The end of a call of ${start.tool} could not be recorded: ${messageOf(error)}`);
          }
        },
      };
    },
    callRefused(start, end) {
      const { args, facts } = recorded(start);
      store.write(() => {
        finish(store, begin(start, args), end);
        store.audit.append({ ...facts, decision: end.status, error: worded(end.error) });
      });
    },
    audit(event) {
      const { detail, ...rest } = event;
      store.audit.append({ ...rest, ...(detail !== undefined && { detail: redact(detail, secret) }) });
    },
  };
}

/** Returns the bytes of the result. */
function finish(store: Store, id: number, end: CallEnd): number {
  const result = JSON.stringify(end.result);
  const bytes = Buffer.byteLength(result);
  const { status, milliseconds, error } = end;
  store.calls.end(id, { status, milliseconds, bytes, error: worded(error), result });
  return bytes;
}

/** Errors quote servers and arguments. */
const worded = (error: string | undefined): string | undefined => error && redactText(error);

/** Of the full arguments. Those that RFC 8785 has no form for have no digest. */
function digestOf(args: JsonObject): string | undefined {
  try {
    return sha256Hex('midspan-arguments/1', canonicalJson(args));
  } catch {
    return undefined;
  }
}
