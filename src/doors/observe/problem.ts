import type { Served } from '../../mcp/serving.ts';

/** Clients name what they like. */
export const NAME_LONGEST = 128;

/** `error.type` of the semantic conventions: a JSON-RPC code, or what else kept a request from a good end. */
export function problemOf(served: Served, isAborted: boolean): string | undefined {
  if (isAborted) return 'cancelled';
  if (served.kind === 'error') return String(served.error.code);
  return served.kind === 'complete' && served.result['isError'] === true ? 'tool_error' : undefined;
}
