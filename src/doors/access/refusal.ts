import type { Principal } from './principal.ts';

/** Why a request goes no further, as HTTP says it. */
export interface Refusal {
  status: 401 | 403 | 429 | 503;
  message: string;
  /** For `WWW-Authenticate`; undefined where no credential would help. */
  challenge?: string | undefined;
  /** Seconds, for `Retry-After`. */
  retryAfter?: number;
}

export const isRefusal = (checked: Principal | Refusal): checked is Refusal => 'status' in checked;
