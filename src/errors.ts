/**
 * The one base error. Its message always says which server (by label), what happened, and what to do next.
 * A denial or a failed tool is a value (a ToolResult with `isError`), never one of these.
 */
export type ErrorCode =
  | 'config' // a configuration file is wrong
  | 'usage' // the caller asked for something that makes no sense
  | 'unreachable' // a server or model cannot be reached
  | 'sign-in' // a server wants authorization
  | 'protocol' // the peer broke the protocol
  | 'rpc' // the peer answered with a JSON-RPC error
  | 'timeout'
  | 'cancelled'
  | 'closed' // the connection or process ended
  | 'limit' // one of our limits was reached
  | 'unknown-tool'
  | 'unknown-item' // no prompt, resource or template of this name is shown
  | 'denied' // a person, the policy, or the lack of a person said no to a call
  | 'unapproved' // a definition or a server waits for review
  | 'model' // a model API refused or failed
  | 'internal';

export interface ErrorDetails {
  code: ErrorCode;
  /** What happened, in one sentence without the label. */
  what: string;
  /** The server's label, when one server is concerned. */
  label?: string;
  /** What to do next, in one sentence. */
  next?: string;
  cause?: unknown;
  /** Facts for programs: status codes, JSON-RPC code and data. Never a secret. */
  data?: Record<string, unknown>;
}

export class MidspanError extends Error {
  readonly code: ErrorCode;
  readonly what: string;
  readonly label: string | undefined;
  readonly next: string | undefined;
  readonly data: Record<string, unknown>;

  constructor(details: ErrorDetails) {
    const { code, what, label, next, cause, data } = details;
    super(
      `${label === undefined ? '' : `${label}: `}${what}${next === undefined ? '' : `${/[.?!]$/.test(what) ? '' : '.'} ${next}`}`,
      { cause },
    );
    this.name = 'MidspanError';
    this.code = code;
    this.what = what;
    this.label = label;
    this.next = next;
    this.data = data ?? {};
  }
}

/** The text of anything thrown, for messages. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
