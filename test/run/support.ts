/** A host with a few tools, and the events of runs on it. */
import type { CallOutcome } from '../../src/host/call.ts';
import type { RunEvent, RunResult, Run } from '../../src/run/events.ts';
import type { RunHost } from '../../src/run/options.ts';
import type { JsonObject, Progress } from '../../src/types.ts';

type Handler = (
  args: JsonObject,
  options: { signal: AbortSignal; onProgress?: (progress: Progress) => void },
) => Promise<CallOutcome> | CallOutcome;

export interface FakeHost extends RunHost {
  /** Names of the calls that were run, in the order in which they were started. */
  readonly ran: string[];
}

export const done = (text: string, more: Partial<CallOutcome> = {}): CallOutcome => ({
  result: { content: [{ type: 'text', text }] },
  status: 'done',
  milliseconds: 1,
  ...more,
});

/** A tool's answer that does not come before the run is stopped. */
export const untilStopped: Handler = (_, { signal }) =>
  new Promise((resolve) => {
    const stop = (): void =>
      resolve({
        result: { content: [{ type: 'text', text: 'The call was canceled.' }], isError: true },
        status: 'cancelled',
        milliseconds: 1,
      });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });

/** As a host does, it refuses a name that it does not know. */
export function fakeHost(handlers: Record<string, Handler>): FakeHost {
  const ran: string[] = [];
  return {
    ran,
    catalog: () => ({
      tools: Object.keys(handlers).map((name) => ({
        name,
        label: name.split('__')[0],
        tool: name.split('__')[1] ?? name,
        definition: {
          name,
          description: `The tool ${name}`,
          inputSchema: { type: 'object', properties: {} },
        },
      })),
    }),
    async call({ name, arguments: args }, options) {
      const handler = handlers[name];
      if (handler === undefined) {
        return {
          result: { content: [{ type: 'text', text: `there is no tool ${name}` }], isError: true },
          status: 'refused',
          milliseconds: 0,
        };
      }
      ran.push(name);
      return handler(args, options);
    },
  };
}

export async function collect(
  run: Run,
  onEvent: (event: RunEvent) => void = () => undefined,
): Promise<{ events: RunEvent[]; result: RunResult }> {
  const events: RunEvent[] = [];
  for await (const event of run) {
    events.push(event);
    onEvent(event);
  }
  return { events, result: await run.result };
}

export function ofType<T extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: T,
): Extract<RunEvent, { type: T }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type);
}

export function textOf(events: readonly RunEvent[]): string {
  return ofType(events, 'text')
    .map(({ delta }) => delta)
    .join('');
}
