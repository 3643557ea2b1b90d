/** What a model gets wrong is answered, so that the loop goes on (R6). */
import { describe, expect, it } from 'vitest';
import { type Api, apis } from '../emulators/apis.ts';
import { REPAIRS } from '../../src/run/run.ts';
import type { EmulatorTurn } from '../emulators/server.ts';
import { begin, call, collect, done, fakeHost, goesOn, ofType } from './support.ts';

/** Runs one turn of calls; afterwards the model has seen every answer and says so. */
async function answering(api: Api, calls: NonNullable<EmulatorTurn['calls']>) {
  const host = fakeHost({ a__x: () => done('fine'), b__x: () => done('good') });
  const { started, emulator } = await begin(api, [{ calls }, { text: 'I see.' }], host);
  const { events, result } = await collect(started);
  expect([result.reason, result.text]).toEqual(['complete', 'I see.']);
  expect(emulator.requests.map(({ status }) => status)).toEqual([200, 200]);
  await goesOn(api, result.messages, host);
  const finished = ofType(events, 'call.finished');
  const statuses = Object.fromEntries(finished.map(({ id, status }) => [id, status]));
  return { ran: host.ran, finished, statuses, told: JSON.stringify(emulator.requests[1]?.body) };
}

describe.each(apis)('R6: a model on $name', (api) => {
  it('that calls an unknown name is told that there is no such tool', async () => {
    const { ran, statuses, told } = await answering(api, [call('nothing__here', 'c1'), call('a__x', 'c2')]);
    expect(statuses).toEqual({ c1: 'refused', c2: 'done' });
    expect(ran).toEqual(['a__x']);
    expect(told).toContain('there is no tool nothing__here');
  });

  it('that uses one id twice has both calls answered', async () => {
    const { ran, finished, told } = await answering(api, [call('a__x', 'same'), call('b__x', 'same')]);
    expect(new Set(finished.map(({ id }) => id)).size).toBe(2);
    expect(ran).toEqual(['a__x', 'b__x']);
    expect(told).toMatch(/fine.*good/);
  });

  it('that gives no ids has its calls answered in order', async () => {
    const { ran, finished, told } = await answering(api, [call('a__x', ''), call('b__x', '')]);
    expect(finished.every(({ id }) => /^[A-Za-z0-9_-]{1,64}$/.test(id))).toBe(true);
    expect(new Set(finished.map(({ id }) => id)).size).toBe(2);
    expect(ran).toEqual(['a__x', 'b__x']);
    expect(told).toMatch(/fine.*good/);
  });
});

// Gemini's generateContent gives arguments as an object, and a reason of its own when they are broken.
describe.each(apis.filter(({ name }) => name !== 'gemini'))('R6: a model on $name', (api) => {
  it('that breaks the JSON of its arguments is told so', async () => {
    const { ran, statuses, told } = await answering(api, [
      { id: 'c1', name: 'a__x', arguments: '{"city": "Os' },
      { id: 'c2', name: 'a__x', arguments: '["Oslo"]' },
      { id: 'c3', name: 'b__x', arguments: '' },
    ]);
    expect(statuses).toEqual({ c1: 'refused', c2: 'refused', c3: 'done' });
    expect(ran).toEqual(['b__x']);
    expect(told).toContain('The arguments are not valid JSON');
    expect(told).toContain('The arguments must be a JSON object');
  });
});

describe('an answer that even its API could not read', () => {
  const broken: [Api['name'], EmulatorTurn, RegExp][] = [
    ['gemini', { stop: 'MALFORMED_FUNCTION_CALL' }, /MALFORMED_FUNCTION_CALL/],
    ['gemini', { text: 'Let me', stop: 'UNEXPECTED_TOOL_CALL' }, /UNEXPECTED_TOOL_CALL/],
    ['openai-chat', { text: 'Hm.', stop: 'tool_calls' }, /announces calls and has none/],
  ];

  it.each(broken)('is told to the model, and the loop goes on (%s, %j)', async (name, turn, words) => {
    const api = apis.find((each) => each.name === name) as Api;
    const host = fakeHost({ a__x: () => done('fine') });
    const script = [{ calls: [call('a__x', 'c1')] }, turn, { calls: [call('a__x', 'c2')] }, { text: 'ok' }];
    const { started, emulator } = await begin(api, script, host);
    const { events, result } = await collect(started);
    expect([result.reason, result.turns, result.calls]).toEqual(['complete', 4, 2]);
    expect(ofType(events, 'warning')).toMatchObject([{ message: expect.stringMatching(words) }]);
    expect(JSON.stringify(emulator.requests[2]?.body)).toContain('[midspan] You');
    await goesOn(api, result.messages, host);
  });

  it.each(broken)('ends the run when it comes again and again (%s, %j)', async (name, turn, words) => {
    const api = apis.find((each) => each.name === name) as Api;
    const { started, emulator } = await begin(api, () => turn, fakeHost({ a__x: () => done('fine') }));
    const result = await started.result;
    expect(result.reason).toBe('failed');
    expect(result.detail).toMatch(words);
    expect(emulator.requests).toHaveLength(1 + REPAIRS);
  });
});
