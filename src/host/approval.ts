/** A call of a model that a provider waits with. */
import type { JsonObject } from '../types.ts';

export interface CallToApprove {
  label: string;
  /** The server's own name of the tool. */
  tool: string;
  arguments: JsonObject;
}
