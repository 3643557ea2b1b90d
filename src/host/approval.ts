/** A person's word on a call of a model. */
import type { Answer, Asks } from '../asks/asks.ts';
import { messageOf } from '../errors.ts';
import type { JsonObject } from '../types.ts';

export interface CallToApprove {
  label: string;
  /** The server's own name of the tool. */
  tool: string;
  arguments: JsonObject;
}

/** Never rejects: whatever goes wrong with asking is a decline. */
export async function askApproval(
  asks: Asks,
  call: CallToApprove,
  signal: AbortSignal = new AbortController().signal,
): Promise<Answer> {
  const message = `A model wants to call ${call.tool} of ${call.label}.`;
  try {
    return await asks.ask({ kind: 'approve', ...call, message }, { signal });
  } catch (error) {
    return { action: 'cancel', reason: signal.aborted ? 'the call was canceled' : messageOf(error) };
  }
}

export function declined(answer: Answer): string {
  const reason = answer.action === 'accept' || answer.reason === undefined ? '' : `: ${answer.reason}`;
  return `the call was not approved${reason}`;
}
