// What a running tool or prompt is given, apart from how it asks.
import { setTimeout as sleep } from 'node:timers/promises';

/** `notify(method, params)` sends to whoever called; `ask` and `closeStream` are the era's. */
export function createCall({
  params,
  capabilities,
  features,
  signal,
  notify,
  log,
  ask,
  closeStream = () => {},
}) {
  const progressToken = params._meta?.progressToken;
  return {
    arguments: params.arguments ?? {},
    capabilities,
    features,
    ask,
    log,
    closeStream,
    sleep: (milliseconds) => sleep(milliseconds, undefined, { signal }),
    progress(progress, total) {
      if (progressToken !== undefined) notify('notifications/progress', { progressToken, progress, total });
    },
  };
}

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** Whether a message at `level` goes to somebody who asked for `threshold` and above. */
export const isLogged = (level, threshold) => LEVELS.indexOf(level) >= LEVELS.indexOf(threshold);
