/** Durations in milliseconds. Tests shorten them; `timeouts` of a server's configuration goes before `start`, `call` and `callMax`. */
export const TIMING = {
  /** From the first attempt's beginning to a usable server. */
  start: 60_000,
  /** stdio: how long `server/discover` may stay unanswered before `initialize` is sent on the same pipe. */
  probe: 3_000,
  /** How long a late answer to `initialize` is waited for once `server/discover` has been answered. */
  late: 2_000,
  /** A call without progress. */
  call: 60_000,
  /** A call whatever its progress. */
  callMax: 600_000,
  /** Any other request. */
  request: 60_000,
  /** All pages of one list together. */
  listing: 120_000,
  /** First and longest wait before a process is started again. */
  restart: 500,
  restartMax: 30_000,
  /** Up this long, and earlier crashes are forgotten. */
  stable: 60_000,
  /** First and longest wait before a change stream is opened again. */
  relisten: 1_000,
  relistenMax: 30_000,
  /** How long a subscription may stay unacknowledged. */
  acknowledge: 10_000,
  /** How long a connection beside the first one stays open while nothing runs on it. */
  branch: 30 * 60_000,
  /** First wait before a call is retried for a server that gave only a requestState. */
  retryState: 250,
  /** How long an era verdict is believed. */
  verdict: 24 * 60 * 60 * 1000,
};

export type Timing = typeof TIMING;

/** Restarts in a row before a server is given up until somebody calls it. */
export const RESTARTS_MAX = 5;

/** Exponential back-off with jitter: half of the wait is certain, half is chance, so that servers do not come back in step. */
export function backOff(first: number, longest: number, attempt: number, random: () => number): number {
  const full = Math.min(longest, first * 2 ** Math.min(attempt, 20));
  return full / 2 + (full / 2) * random();
}
