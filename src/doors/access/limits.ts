/** How much one principal may ask for: requests at a time, and requests in a minute. */
import type { Principal } from './principal.ts';
import type { Refusal } from './refusal.ts';

/** Requests of one principal that run at a time. Everybody with the local token is one principal. */
export const IN_FLIGHT = 256;
/** Principals that are kept count of. Beyond, those without requests are forgotten. */
const PRINCIPALS_MAX = 10_000;
const MINUTE = 60_000;

export interface Limits {
  /** Counts a request in, or says why it must wait. Whoever was counted in must be counted out. */
  enter(principal: Principal): Refusal | undefined;
  leave(principal: Principal): void;
}

interface Use {
  running: number;
  /** Requests that may still be made now; grows again with time. */
  left: number;
  /** When `left` was true. Milliseconds. */
  at: number;
}

/** @param now milliseconds on a clock that never goes back. */
export function limitsOf(
  { inFlight = IN_FLIGHT, perMinute }: { inFlight?: number; perMinute?: number | undefined },
  now: () => number = () => performance.now(),
): Limits {
  const uses = new Map<string, Use>();
  const useOf = (id: string): Use => {
    let use = uses.get(id);
    if (use === undefined) {
      if (uses.size >= PRINCIPALS_MAX) forget(uses);
      uses.set(id, (use = { running: 0, left: perMinute ?? 0, at: now() }));
    }
    return use;
  };
  return {
    enter({ id }) {
      const use = useOf(id);
      if (use.running >= inFlight)
        return { status: 429, retryAfter: 1, message: `The limit is ${inFlight} requests at a time` };
      if (perMinute !== undefined) {
        const time = now();
        use.left = Math.min(perMinute, use.left + ((time - use.at) * perMinute) / MINUTE);
        use.at = time;
        if (use.left < 1) {
          const retryAfter = Math.ceil(((1 - use.left) * 60) / perMinute);
          return { status: 429, retryAfter, message: `The limit is ${perMinute} requests in a minute` };
        }
        use.left -= 1;
      }
      use.running += 1;
      return undefined;
    },
    leave({ id }) {
      const use = uses.get(id);
      if (use !== undefined) use.running -= 1;
    },
  };
}

/** The oldest half of those that run nothing. */
function forget(uses: Map<string, Use>): void {
  const idle = [...uses].filter(([, { running }]) => running === 0);
  for (const [id] of idle.slice(0, Math.ceil(idle.length / 2))) uses.delete(id);
}
