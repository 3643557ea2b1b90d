/** Exit codes: what a script learns without reading a word. */
import type { ErrorCode, MidspanError } from '../errors.ts';

export const EXIT = {
  good: 0,
  failed: 1,
  usage: 2,
  signIn: 3,
  unreachable: 4,
  toolError: 5,
  needsApproval: 6,
  /** As shells report a program that ended by Ctrl-C. */
  interrupted: 130,
} as const;

const BY_CODE: Readonly<Record<ErrorCode, number>> = {
  config: EXIT.usage,
  usage: EXIT.usage,
  'unknown-tool': EXIT.usage,
  'unknown-item': EXIT.usage,
  'sign-in': EXIT.signIn,
  denied: EXIT.needsApproval,
  unapproved: EXIT.needsApproval,
  unreachable: EXIT.unreachable,
  closed: EXIT.unreachable,
  rpc: EXIT.toolError,
  cancelled: EXIT.interrupted,
  protocol: EXIT.failed,
  timeout: EXIT.failed,
  limit: EXIT.failed,
  model: EXIT.failed,
  internal: EXIT.failed,
};

export function exitCodeOf(error: MidspanError): number {
  return BY_CODE[error.code];
}
