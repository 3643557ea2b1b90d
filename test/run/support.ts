/** A host with a few tools, runs on it against the emulated model APIs, and their events. */
import { afterEach, expect } from 'vitest';
import type { Message } from '../../src/dialects/index.ts';
import type { CallOutcome } from '../../src/host/call.ts';
import type { RunEvent, RunResult, Run } from '../../src/run/events.ts';
import type { RunHost, RunOptions } from '../../src/run/options.ts';
import { run } from '../../src/run/run.ts';
import type { JsonObject, Progress } from '../../src/types.ts';
import type { Api } from '../emulators/apis.ts';
import type { Emulator, EmulatorScript } from '../emulators/server.ts';

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

const emulators: Emulator[] = [];
afterEach(async () => {
  await Promise.all(emulators.splice(0).map((emulator) => emulator.close()));
});

export const question: Message = { role: 'user', content: 'Go.' };

export async function begin(
  api: Api,
  script: EmulatorScript,
  host: FakeHost,
  options: Partial<RunOptions> = {},
) {
  // A list is followed by plain answers, for the conversation that goes on.
  const turns: EmulatorScript =
    typeof script === 'function' ? script : (_, index) => script[index] ?? { text: 'ok' };
  const emulator = await api.start(turns);
  emulators.push(emulator);
  const started = run(host, { model: api.model(emulator), messages: [question], ...options });
  return { emulator, started };
}

export const call = (name: string, id?: string, args?: JsonObject) => ({
  name,
  ...(id !== undefined && { id }),
  ...(args && { arguments: args }),
});

/** The strict emulator of the test takes the transcript, with a new message after it. */
export async function goesOn(
  api: Api,
  messages: readonly Message[],
  host: FakeHost,
  options: Partial<RunOptions> = {},
): Promise<void> {
  const emulator = emulators.at(-1) as Emulator;
  const before = emulator.requests.length;
  const plain = JSON.parse(JSON.stringify(messages)) as Message[];
  const again = run(host, {
    model: api.model(emulator),
    messages: [...plain, { role: 'user', content: 'And?' }],
    limits: { turns: 1 },
    ...options,
  });
  await again.result;
  expect(emulator.requests.slice(before).map(({ refusal }) => refusal)).not.toContainEqual(
    expect.stringMatching(/[a-z]/),
  );
  expect(emulator.requests.length).toBe(before + 1);
}
