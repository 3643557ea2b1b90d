/** What ends a command early: Ctrl-C and other signals, or a reader that left the pipe. */
import type { EventEmitter } from 'node:events';
import { EXIT } from './exit.ts';
import type { Printer } from './print.ts';

export interface Stop {
  readonly signal: AbortSignal;
  /** The exit code, once something has ended the command early. */
  code(): number | undefined;
  /** For a command that lasts until it is ended: a signal is its usual end, and SIGHUP tells it to look at its configuration. */
  lasts(onHangup: () => void): void;
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * The first signal cancels what is running, so that servers hear of it and close; the second leaves at once.
 * A reader that leaves (`| head -1`) ends the command quietly; stdout that cannot be written to for another reason, with a word.
 */
export function watchStop(
  process: EventEmitter & { exit(code: number): never; stdout: EventEmitter; stderr: EventEmitter },
  print: Printer,
): Stop {
  const controller = new AbortController();
  let code: number | undefined;
  let isLasting = false;
  let hangup: (() => void) | undefined;
  for (const [name, exitCode] of Object.entries(SIGNALS)) {
    process.on(name, () => {
      if (name === 'SIGHUP' && hangup !== undefined) return hangup();
      if (code !== undefined) process.exit(exitCode);
      code = isLasting ? EXIT.good : exitCode;
      if (!isLasting)
        print.note(name === 'SIGINT' ? 'Canceling. Press Ctrl-C again to leave at once.' : 'Canceling.');
      controller.abort();
    });
  }
  const outEnded = (error: NodeJS.ErrnoException): void => {
    if (code !== undefined) return;
    code = error.code === 'EPIPE' ? EXIT.good : EXIT.failed;
    if (code === EXIT.failed) {
      print.note({ style: 'red', text: 'error' }, ` the result cannot be written: ${error.message}`);
    }
    controller.abort();
  };
  const ignored = (): void => undefined;
  process.stdout.on('error', outEnded);
  process.stderr.on('error', ignored);
  return {
    signal: controller.signal,
    code: () => code,
    lasts(onHangup) {
      isLasting = true;
      hangup = onHangup;
    },
  };
}
