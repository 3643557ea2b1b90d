/** Laws of every run, on generated conversations. */
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Message } from '../../src/dialects/index.ts';
import { EventQueue } from '../../src/run/queue.ts';
import { run } from '../../src/run/run.ts';
import type { RunEvent } from '../../src/run/events.ts';
import type { Emulator, EmulatorTurn } from '../emulators/server.ts';
import { type Api, apis } from '../emulators/apis.ts';
import { collect, done, fakeHost, type FakeHost, untilStopped } from './support.ts';

/** Emulators for the whole file; the script of the moment is what they answer. */
const emulators = new Map<string, Emulator>();
let script: (index: number) => EmulatorTurn = () => ({ text: 'ok' });
let asked = 0;
let conversations = 0;
async function emulatorOf(api: Api): Promise<Emulator> {
  const emulator = emulators.get(api.name) ?? (await api.start(() => script(asked++)));
  emulators.set(api.name, emulator);
  return emulator;
}
afterAll(() => Promise.all([...emulators.values()].map((emulator) => emulator.close())));

function host(): FakeHost {
  return fakeHost({
    a__quick: () => done('1'),
    a__failing: () => done('no', { result: { content: [{ type: 'text', text: 'no' }], isError: true } }),
    a__slow: untilStopped,
  });
}

const words = fc.constantFrom(
  'One.',
  'A text that has more than one delta, really.',
  ' \n',
  'Ünïcödé – 😀 and more of it',
);
const aCall = fc.record(
  {
    name: fc.constantFrom('a__quick', 'a__failing', 'nothing__here'),
    id: fc.constantFrom('same', 'other'),
    arguments: fc.constantFrom<
      EmulatorTurn['calls'] extends undefined ? never : string | Record<string, string>
    >({ city: 'Oslo' }, '{"city":', '[]', ''),
  },
  { requiredKeys: ['name'] },
);
const aTurn: fc.Arbitrary<EmulatorTurn> = fc.record(
  {
    text: words,
    reasoning: fc.constant('Hm, let me think.'),
    calls: fc.array(aCall, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ['calls'] },
);
const aFault: fc.Arbitrary<EmulatorTurn['fault']> = fc.oneof(
  fc.record({ kind: fc.constantFrom('cut' as const, 'short' as const), after: fc.nat(25) }),
  fc.record({ kind: fc.constant('status' as const), status: fc.constant(400) }),
  fc.constant(undefined),
);

/** Ids that come twice, but not after reasoning: an API that reasons makes ids of its own, and binds the two. */
function withIds(turn: EmulatorTurn, index: number, conversation: number): EmulatorTurn {
  if (turn.calls === undefined) return turn;
  const own = (id: string | undefined, at: number): string =>
    turn.reasoning === undefined
      ? `${id ?? 'call'}_${conversation}`
      : `thought_${conversation}_${index}_${at}`;
  return { ...turn, calls: turn.calls.map((one, at) => ({ ...one, id: own(one.id, at) })) };
}

/** Asks for one more turn on this transcript. @returns the refusal of the emulator, if there was one. */
async function refusalOf(api: Api, messages: readonly Message[]): Promise<string | undefined> {
  const emulator = await emulatorOf(api);
  script = () => ({ text: 'ok' });
  const plain = JSON.parse(JSON.stringify(messages)) as Message[];
  const before = emulator.requests.length;
  await run(host(), {
    model: api.model(emulator),
    messages: [...plain, { role: 'user', content: 'And?' }],
    limits: { turns: 1 },
  }).result;
  expect(emulator.requests).toHaveLength(before + 1);
  return emulator.requests.at(-1)?.refusal;
}

describe.each(apis)('whenever a run on $name ends', (api) => {
  it('its transcript is accepted back, by the same API and by every other', async () => {
    let aborted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(aTurn, { minLength: 1, maxLength: 3 }),
        aFault,
        fc.nat(40),
        fc.record({ turns: fc.integer({ min: 1, max: 5 }), calls: fc.integer({ min: 0, max: 6 }) }),
        fc.boolean(),
        async (turns, fault, abortAt, limits, hang) => {
          const emulator = await emulatorOf(api);
          asked = 0;
          const last: EmulatorTurn = { text: 'The end.', ...(fault && { fault }) };
          const calls = hang
            ? turns.with(0, { ...turns[0], calls: [...(turns[0]?.calls ?? []), { name: 'a__slow' }] })
            : turns;
          // An emulator remembers what it said under an id: each conversation has ids of its own.
          const conversation = conversations++;
          script = (index) => withIds(calls[index] ?? last, index, conversation);
          const started = run(host(), {
            model: api.model(emulator),
            messages: [{ role: 'user', content: 'Go.' }],
            limits,
          });
          const seen: RunEvent[] = [];
          const { result, events } = await collect(started, (event) => {
            seen.push(event);
            const stuck = event.type === 'call.started' && event.name === 'a__slow';
            if (seen.length > abortAt || stuck) started.abort();
          });
          if (result.reason === 'aborted') aborted += 1;
          expect(events.at(-1)?.type).toBe('end');
          expect(events.filter(({ type }) => type === 'end')).toHaveLength(1);
          const begun = events.flatMap((event) => (event.type === 'call.started' ? [event.id] : []));
          const ended = events.flatMap((event) => (event.type === 'call.finished' ? [event.id] : []));
          expect(ended.toSorted()).toEqual(begun.toSorted());
          for (const reader of apis)
            expect([reader.name, await refusalOf(reader, result.messages)]).toEqual([reader.name, undefined]);
        },
      ),
      { numRuns: 40 },
    );
    expect(aborted).toBeGreaterThan(5);
  });
});

describe('the queue of events', () => {
  const drain = async (queue: EventQueue): Promise<RunEvent[]> => {
    const events: RunEvent[] = [];
    for await (const event of queue) events.push(event);
    return events;
  };

  it('holds no more than the transcript does when nobody reads', async () => {
    const queue = new EventQueue(() => undefined);
    for (let at = 0; at < 10_000; at += 1) {
      queue.push({ type: 'text', delta: 'x' });
      if (at === 5_000) queue.push({ type: 'warning', message: 'w' });
    }
    for (let at = 0; at < 10_000; at += 1)
      queue.push({ type: 'call.progress', id: at % 2 === 0 ? 'a' : 'b', progress: at });
    queue.end();
    const events = await drain(queue);
    expect(events.map(({ type }) => type)).toEqual([
      'text',
      'warning',
      'text',
      'call.progress',
      'call.progress',
    ]);
    expect(events.at(-1)).toEqual({ type: 'call.progress', id: 'b', progress: 9_999 });
  });

  it('loses no text, however it is read', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.string(), fc.boolean())), async (deltas) => {
        const queue = new EventQueue(() => undefined);
        const reading = drain(queue);
        for (const [delta, pause] of deltas) {
          queue.push({ type: 'text', delta });
          if (pause) await Promise.resolve();
        }
        queue.end();
        const text = (await reading).map((event) => (event.type === 'text' ? event.delta : '')).join('');
        expect(text).toBe(deltas.map(([delta]) => delta).join(''));
      }),
    );
  });
});
