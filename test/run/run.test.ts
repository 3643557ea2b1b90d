/** What a run does with turns and calls. */
import { describe, expect, it } from 'vitest';
import { apis } from '../emulators/apis.ts';
import type { Message } from '../../src/dialects/index.ts';
import type { MidspanError } from '../../src/errors.ts';
import type { RunOptions } from '../../src/run/options.ts';
import { run } from '../../src/run/run.ts';
import type { JsonObject } from '../../src/types.ts';
import { begin, call, collect, done, fakeHost, goesOn, ofType, question, textOf } from './support.ts';

describe.each(apis)('a run on $name', (api) => {
  it('calls tools until the model answers, and tells everything as it happens', async () => {
    const host = fakeHost({
      demo__add: (_, { onProgress }) => {
        onProgress?.({ progress: 1, total: 2, message: 'half' });
        return done('3');
      },
    });
    const { started, emulator } = await begin(
      api,
      [
        {
          reasoning: 'I must add.',
          text: 'Adding. ',
          calls: [call('demo__add', 'call_1')],
          usage: { input: 10, output: 5 },
        },
        { text: 'It is three.', usage: { input: 20, output: 5 } },
      ],
      host,
      { system: 'Be brief.' },
    );
    const { events, result } = await collect(started);
    expect(events.filter(({ type }) => type !== 'text' && type !== 'reasoning')).toMatchObject([
      {
        type: 'turn',
        index: 0,
        stop: 'calls',
        text: 'Adding. ',
        calls: [{ id: 'call_1', name: 'demo__add' }],
      },
      { type: 'usage', turn: { input: 10, output: 5 }, total: { input: 10, output: 5 } },
      { type: 'call.started', id: 'call_1', name: 'demo__add', label: 'demo', tool: 'add', arguments: {} },
      { type: 'call.progress', id: 'call_1', progress: 1, total: 2, message: 'half' },
      {
        type: 'call.finished',
        id: 'call_1',
        name: 'demo__add',
        label: 'demo',
        tool: 'add',
        isError: false,
        status: 'done',
        milliseconds: 1,
        result: { content: [{ text: '3' }] },
      },
      { type: 'turn', index: 1, stop: 'complete', text: 'It is three.', calls: [] },
      { type: 'usage', total: { input: 30, output: 10 } },
      { type: 'end', reason: 'complete', usage: { input: 30, output: 10 }, turns: 2, calls: 1 },
    ]);
    expect(textOf(events)).toBe('Adding. It is three.');
    expect(
      ofType(events, 'reasoning')
        .map(({ delta }) => delta)
        .join(''),
    ).toBe('I must add.');
    expect(result).toMatchObject({ reason: 'complete', text: 'It is three.', turns: 2, calls: 1 });
    expect(result.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(JSON.parse(JSON.stringify(result.messages))).toEqual(result.messages);
    expect(JSON.stringify(events.concat())).toBe(JSON.stringify(JSON.parse(JSON.stringify(events))));
    const [first, second] = emulator.requests;
    expect(JSON.stringify(second?.body.tools)).toBe(JSON.stringify(first?.body.tools));
    await goesOn(api, result.messages, host, { system: 'Be brief.' });
  });

  it('runs the calls of one turn at the same time, and answers them in call order', async () => {
    const waiting: (() => void)[] = [];
    const order: string[] = [];
    const meet = (name: string) => () =>
      new Promise<ReturnType<typeof done>>((resolve) => {
        waiting.push(() => {
          order.push(name);
          resolve(done(name));
        });
        // The last to come lets all of them go, itself first: none could end if they ran one by one.
        if (waiting.length === 3) for (const go of waiting.reverse()) go();
      });
    const host = fakeHost({ a__x: meet('a'), b__x: meet('b'), c__x: meet('c') });
    const { started, emulator } = await begin(
      api,
      [{ calls: [call('a__x', 'c1'), call('b__x', 'c2'), call('c__x', 'c3')] }, { text: 'ok' }],
      host,
    );
    const { result } = await collect(started);
    expect(order).toEqual(['c', 'b', 'a']);
    const answered = result.messages[2];
    expect(
      answered?.role === 'tool' && answered.results.map((one) => [one.call.id, one.result.content[0]?.text]),
    ).toEqual([
      ['c1', 'a'],
      ['c2', 'b'],
      ['c3', 'c'],
    ]);
    expect(emulator.requests.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('runs calls one by one when parallel calls are off', async () => {
    let running = 0;
    let most = 0;
    const slow = async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => setImmediate(resolve));
      running -= 1;
      return done('x');
    };
    const { started } = await begin(
      api,
      [{ calls: [call('a__x', 'c1'), call('a__x', 'c2')] }, { text: 'ok' }],
      fakeHost({ a__x: slow }),
      {
        parallel: false,
      },
    );
    expect((await started.result).reason).toBe('complete');
    expect(most).toBe(1);
  });

  it('answers a call that cannot be run, so that the loop goes on', async () => {
    const host = fakeHost({ a__x: () => done('fine'), b__hidden: () => done('never') });
    const { started } = await begin(
      api,
      [
        {
          calls: [
            // Gemini's arguments are never text, so that it has another call that cannot be run.
            api.name === 'gemini'
              ? { id: 'c1', name: 'b__hidden' }
              : { id: 'c1', name: 'a__x', arguments: '{"city": "Os' },
            { id: 'c2', name: 'nothing__here' },
            { id: 'c3', name: 'b__hidden' },
            { id: 'c4', name: 'a__x' },
          ],
        },
        { text: 'I see.' },
      ],
      host,
      { tools: ['a__*', 'nothing__*'] },
    );
    const { events, result } = await collect(started);
    expect(result.reason).toBe('complete');
    const byId = Object.fromEntries(
      ofType(events, 'call.finished').map(({ id, isError, status }) => [id, { isError, status }]),
    );
    const refused = { isError: true, status: 'refused' };
    expect(byId).toEqual({ c1: refused, c2: refused, c3: refused, c4: { isError: false, status: 'done' } });
    expect(host.ran).toEqual(['a__x']);
    expect(ofType(events, 'warning').map(({ message }) => message)).toContain(
      'No tool matches "nothing__*".',
    );
    await goesOn(api, result.messages, host);
  });

  it('shows the model an error result that has nothing but structured content, and goes on (R12)', async () => {
    const host = fakeHost({
      a__x: () =>
        done('', { result: { content: [], structuredContent: { reason: 'no such city' }, isError: true } }),
    });
    const { started, emulator } = await begin(api, [{ calls: [call('a__x', 'c1')] }, { text: 'ok' }], host);
    expect((await started.result).reason).toBe('complete');
    expect(JSON.stringify(emulator.requests[1]?.body)).toContain('no such city');
  });

  it('gives the later of two calls with one id an id of its own', async () => {
    const host = fakeHost({ a__x: () => done('1'), b__x: () => done('2') });
    const { started, emulator } = await begin(
      api,
      [
        { calls: [call('a__x', 'same'), call('b__x', 'same')] },
        { calls: [call('a__x', 'same')] },
        { text: 'ok' },
      ],
      host,
    );
    const { events, result } = await collect(started);
    const ids = ofType(events, 'call.started').map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(ids[0]).toBe('same');
    expect(result.reason).toBe('complete');
    expect(emulator.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
    await goesOn(api, result.messages, host);
  });

  it('offers what the globs select, and nothing when there is to be none', async () => {
    const host = fakeHost({ a__x: () => done('1'), a__y: () => done('1'), b__x: () => done('2') });
    const { started, emulator } = await begin(api, [{ text: 'ok' }], host, { tools: ['*__x'] });
    await started.result;
    expect(JSON.stringify(emulator.requests[0]?.body.tools).match(/"\w__\w"/g)).toEqual(['"a__x"', '"b__x"']);
    const none = await begin(api, [{ text: 'ok' }], host, { tools: 'none', choice: 'required' });
    expect((await none.started.result).reason).toBe('complete');
    expect(none.emulator.requests[0]?.body.tools).toBeUndefined();
  });

  it('lets the model answer once it has made the call that it was forced to', async () => {
    const host = fakeHost({ a__x: () => done('1') });
    const { started, emulator } = await begin(api, [{ calls: [call('a__x', 'c1')] }, { text: 'ok' }], host, {
      choice: 'required',
    });
    const { events, result } = await collect(started);
    expect(result.reason).toBe('complete');
    const choices = emulator.requests.map(({ body }) =>
      JSON.stringify(body.tool_choice ?? body.toolConfig ?? body.generation_config),
    );
    // The newest Claude models take no forced calls: that is told, not hidden.
    if (api.name === 'anthropic') expect(ofType(events, 'warning')).toHaveLength(1);
    else expect(choices).toEqual([expect.stringMatching(/required|any/i), expect.stringMatching(/auto/i)]);
  });

  it('passes on extra members and the output limit', async () => {
    const extras: Partial<Record<string, JsonObject>> = {
      gemini: { labels: { user: 'u' } },
      'gemini-interactions': { service_tier: 'flex' },
    };
    const extra: JsonObject = extras[api.name] ?? { metadata: { user: 'u' } };
    const { started, emulator } = await begin(api, [{ text: 'ok' }], fakeHost({}), { maxTokens: 77, extra });
    await started.result;
    expect(emulator.requests[0]?.body).toMatchObject(extra);
    expect(JSON.stringify(emulator.requests[0]?.body)).toMatch(/"max\w*[tT]okens":77/);
  });

  it('answers calls that an earlier conversation left open', async () => {
    const host = fakeHost({ a__x: () => done('1') });
    const open: Message[] = [
      question,
      { role: 'assistant', text: '', calls: [{ id: 'c1', name: 'a__x', arguments: {} }] },
      { role: 'assistant', text: '', calls: [] },
      { role: 'user', content: 'Well?' },
    ];
    const { started, emulator } = await begin(api, [{ text: 'ok' }], host, { messages: open });
    const result = await started.result;
    expect(result.reason).toBe('complete');
    expect(emulator.requests[0]?.status).toBe(200);
    expect(result.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
    ]);
    expect(open).toHaveLength(4);
  });

  it('needs no reader', async () => {
    const host = fakeHost({ a__x: () => done('1') });
    const { started } = await begin(api, [{ calls: [call('a__x')] }, { text: 'ok' }], host);
    expect((await started.result).reason).toBe('complete');
    // Who comes late still gets everything.
    expect((await collect(started)).events.at(-1)).toMatchObject({ type: 'end' });
  });

  it('refuses options that make no sense', () => {
    const model = api.model({ url: 'http://127.0.0.1:9', key: 'x' });
    const thrown = (options: Partial<RunOptions>) => {
      try {
        run(fakeHost({}), { model, messages: [question], ...options });
      } catch (error) {
        return (error as MidspanError).code;
      }
      return 'it was taken';
    };
    expect(thrown({ messages: [] })).toBe('usage');
    expect(thrown({ limits: { turns: -1 } })).toBe('usage');
    expect(thrown({ limits: { tokens: Number.NaN } })).toBe('usage');
  });
});
