/** Prints what a run tells while it goes on. */
import type { Run } from '../index.ts';
import { canGoOn } from '../journal/journal.ts';
import type { RunEvent } from '../run/events.ts';
import type { CommonOptions } from './context.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { cut, type Printer } from './print.ts';

/** To the end of the run; returns the exit code. */
export async function follow(running: Run, { json }: CommonOptions, print: Printer): Promise<number> {
  for await (const event of running) {
    if (json === true) print.json(event);
    else show(event, print);
  }
  const { reason, error } = await running.result;
  if (reason === 'complete') return EXIT.good;
  if (running.id !== undefined && json !== true && canGoOn({ status: 'ended', reason }))
    print.note({ style: 'dim', text: 'next ' }, ` \`midspan runs resume ${running.id}\` goes on from here`);
  return error === undefined ? EXIT.failed : exitCodeOf(error);
}

function show(event: RunEvent, print: Printer): void {
  switch (event.type) {
    case 'text':
      return print.text(event.delta);
    case 'reasoning':
      return print.status('Thinking');
    case 'turn':
      if (event.text !== '' && !event.text.endsWith('\n')) print.text('\n');
      return undefined;
    case 'call.started':
      return print.note(
        { style: 'dim', text: 'call ' },
        ` ${event.name} ${cut(JSON.stringify(event.arguments), 100)}${event.via === undefined ? '' : ', by the provider'}`,
      );
    case 'call.progress':
      return print.status(
        `${event.id}: ${event.progress}${event.total === undefined ? '' : ` of ${event.total}`} ${event.message ?? ''}`,
      );
    case 'call.finished':
      return print.note(
        event.isError ? { style: 'red', text: 'error' } : { style: 'green', text: 'done ' },
        ` ${event.name}, ${event.milliseconds} ms`,
      );
    case 'warning':
      return print.note({ style: 'yellow', text: 'warning' }, ` ${event.message}`);
    case 'usage':
      return undefined;
    case 'end': {
      const { usage, turns, calls, reason, detail } = event;
      if (reason !== 'complete') {
        print.note({ style: 'red', text: 'ended' }, ` ${reason}${detail === undefined ? '' : `: ${detail}`}`);
      }
      return print.note({
        style: 'dim',
        text: `${turns} turns, ${calls} calls, ${usage.input} tokens in, ${usage.output} out`,
      });
    }
    default:
      return event satisfies never;
  }
}
