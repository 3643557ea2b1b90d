/** How a run ends, and what it leaves then. */
import { describe, expect, it, vi } from 'vitest';
import { type Api, apis } from '../emulators/apis.ts';
import {
  begin,
  call,
  collect,
  done,
  fakeHost,
  goesOn,
  ofType,
  question,
  textOf,
  untilStopped,
} from './support.ts';
import type { EmulatorScript, EmulatorTurn } from '../emulators/server.ts';

describe.each(apis)('a run on $name', (api) => {
  describe('limits', () => {
    const loop: EmulatorScript = () => ({
      text: 'Again.',
      calls: [call('a__x'), call('a__x')],
      usage: { input: 100, output: 10 },
    });
    const host = () => fakeHost({ a__x: () => done('1') });

    it('ends after the turns that it may take, with the last calls answered', async () => {
      const { started } = await begin(api, loop, host(), { limits: { turns: 2 } });
      const result = await started.result;
      expect(result).toMatchObject({
        reason: 'max-turns',
        detail: 'the limit of 2 turns was reached',
        turns: 2,
        calls: 4,
      });
      await goesOn(api, result.messages, host());
    });

    it('runs the calls that it may make, and answers the rest as not run', async () => {
      const counted = host();
      const { started } = await begin(api, loop, counted, { limits: { calls: 3 } });
      const { result, events } = await collect(started);
      expect(result).toMatchObject({ reason: 'max-calls', turns: 2, calls: 4 });
      expect(counted.ran).toHaveLength(3);
      expect(ofType(events, 'call.finished').find(({ status }) => status === 'refused')).toMatchObject({
        result: { content: [{ text: 'The call was not run: the limit of 3 calls was reached.' }] },
      });
      await goesOn(api, result.messages, host());
    });

    it('stops calling when its tokens are spent', async () => {
      const counted = host();
      const { started } = await begin(api, loop, counted, { limits: { tokens: 200 } });
      const result = await started.result;
      expect(result).toMatchObject({ reason: 'tokens', turns: 2, usage: { input: 200, output: 20 } });
      expect(counted.ran).toHaveLength(2);
      await goesOn(api, result.messages, host());
    });

    it('R11: ends a run that goes in circles, after the model was told once', async () => {
      const { started } = await begin(api, loop, host(), { limits: { rounds: 4 } });
      const { result, events } = await collect(started);
      expect(result).toMatchObject({ reason: 'loop', turns: 2, calls: 4 });
      expect(result.detail).toContain('the same calls');
      expect(ofType(events, 'warning').map(({ message }) => message)).toEqual([
        expect.stringContaining('3 times in a row'),
      ]);
      expect(JSON.stringify(result.messages.at(-1))).toContain('[midspan] Note: the same calls');
      await goesOn(api, result.messages, host());
    });

    it('tells the model once that a limit comes near', async () => {
      let count = 0;
      const counting = fakeHost({ a__x: () => done(`${(count += 1)}`) });
      const { started } = await begin(api, loop, counting, { limits: { turns: 5 } });
      const { result, events } = await collect(started);
      expect(result.reason).toBe('max-turns');
      expect(ofType(events, 'warning').map(({ message }) => message)).toEqual([
        'Note: this run has used 4 of 5 turns. Finish with what you have.',
      ]);
      expect(JSON.stringify(result.messages)).toContain('[midspan] Note: this run has used 4 of 5 turns');
    });

    it('ends when its time is over, in the middle of a call', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const { started } = await begin(api, loop, fakeHost({ a__x: untilStopped }), {
          limits: { milliseconds: 5_000 },
        });
        const { result } = await collect(started, (event) => {
          if (event.type === 'call.started') vi.advanceTimersByTime(2_500);
        });
        expect(result).toMatchObject({
          reason: 'time',
          detail: 'the time limit of 5 s was reached',
          calls: 2,
        });
        await goesOn(api, result.messages, host());
      } finally {
        vi.useRealTimers();
      }
    });
  });

  it('keeps the text of an answer that was cut, and runs none of its calls', async () => {
    const host = fakeHost({ a__x: () => done('1') });
    const stop = api.cut;
    const { started } = await begin(
      api,
      [
        { reasoning: 'Hm.', text: 'I look', calls: [{ id: 'c1', name: 'a__x', arguments: '{"a":' }], stop },
        { text: 'ok' },
      ],
      host,
    );
    const { events, result } = await collect(started);
    expect(result).toMatchObject({ reason: 'max-tokens', text: 'I look' });
    expect(result.messages.at(-1)).toEqual({ role: 'assistant', text: 'I look', calls: [] });
    expect(host.ran).toEqual([]);
    expect(ofType(events, 'warning')[0]?.message).toContain('its calls are left out and not run: a__x');
    await goesOn(api, result.messages, host);
  });

  it('ends with the words of an API that refuses the request, and with a transcript that can be used', async () => {
    const host = fakeHost({ a__x: () => done('1') });
    const fault = {
      kind: 'status',
      status: 400,
      type: 'invalid_request_error',
      message: 'Not like this',
    } as const;
    const { started } = await begin(api, [{ calls: [call('a__x', 'c1')] }, { fault }, { text: 'ok' }], host);
    const { events, result } = await collect(started);
    expect(result.reason).toBe('failed');
    expect(result.error).toMatchObject({ code: 'model', data: { status: 400 } });
    expect(events.at(-1)).toMatchObject({
      type: 'end',
      reason: 'failed',
      detail: expect.stringContaining('Not like this') as string,
    });
    expect(result.messages.at(-1)?.role).toBe('tool');
    await goesOn(api, result.messages, host);
  });

  it.each([
    { kind: 'cut' },
    { kind: 'error-event', type: 'overloaded_error', message: 'Overloaded' },
  ] as const)('keeps the text that came before an answer broke ($kind)', async (kind) => {
    const host = fakeHost({});
    const fault = { ...kind, after: api.opening + 2 };
    const { started, emulator } = await begin(
      api,
      [{ text: 'A text that has more than one delta, really.', fault }, { text: 'ok' }],
      host,
    );
    const { events, result } = await collect(started);
    expect(result.reason).toBe('failed');
    expect(textOf(events).length).toBeGreaterThan(0);
    expect(result.messages.at(-1)).toEqual({ role: 'assistant', text: textOf(events), calls: [] });
    expect(emulator.requests).toHaveLength(1);
    await goesOn(api, result.messages, host);
  });

  describe('aborted', () => {
    const script = (fault: EmulatorTurn['fault']): EmulatorScript => [
      {
        reasoning: 'Hm.',
        text: 'A text that has more than one delta, really.',
        calls: [call('a__x', 'c1', { city: 'x'.repeat(120) }), call('b__x', 'c2')],
        ...(fault && { fault }),
      },
      { text: 'ok' },
      { text: 'ok' },
    ];
    const hold = (after: number, onHeld: () => void) =>
      ({ kind: 'hold', after, until: new Promise<void>(() => undefined), onHeld }) as const;

    it.each([
      ['before the first byte', 0],
      ['in the middle of the reasoning', api.middle.reasoning],
      ['in the middle of the text', api.middle.text],
      ['in the middle of a call', api.middle.call],
    ])('%s, it leaves a transcript that can be continued', async (_, after) => {
      const host = fakeHost({ a__x: () => done('1'), b__x: () => done('2') });
      let abort: () => void = () => undefined;
      const { started } = await begin(api, script(hold(after, () => abort())), host);
      abort = () => started.abort('enough');
      const result = await started.result;
      expect(result).toMatchObject({ reason: 'aborted', detail: 'enough', calls: 0 });
      expect(host.ran).toEqual([]);
      await goesOn(api, result.messages, host);
    });

    it('in the middle of its calls, it answers those that have not ended', async () => {
      const host = fakeHost({ a__x: () => done('1'), b__x: untilStopped });
      const { started } = await begin(api, script(undefined), host);
      const { result } = await collect(started, (event) => {
        if (event.type === 'call.finished') started.abort();
      });
      expect(result).toMatchObject({ reason: 'aborted', detail: 'the run was aborted', turns: 1, calls: 2 });
      const answered = result.messages.at(-1);
      expect(answered?.role === 'tool' && answered.results.map((one) => one.result.isError === true)).toEqual(
        [false, true],
      );
      await goesOn(api, result.messages, host);
    });

    it('between the turn and its calls, it runs none of them', async () => {
      const host = fakeHost({ a__x: () => done('1'), b__x: () => done('2') });
      const controller = new AbortController();
      const catalog = host.catalog();
      const { started } = await begin(
        api,
        script(undefined),
        { ...host, catalog: () => catalog, call: (...args) => host.call(...args) },
        { signal: controller.signal },
      );
      // The reader of the events aborts as soon as it sees the turn; the calls may have begun by then, or not.
      const { result } = await collect(started, (event) => {
        if (event.type === 'turn') controller.abort('stop it');
      });
      expect(result).toMatchObject({ reason: 'aborted', detail: 'stop it' });
      await goesOn(api, result.messages, host);
    });

    it('by a reader that leaves the loop over the events', async () => {
      const host = fakeHost({ a__x: untilStopped, b__x: untilStopped });
      const { started } = await begin(api, script(undefined), host);
      for await (const event of started) if (event.type === 'call.started') break;
      expect(await started.result).toMatchObject({
        reason: 'aborted',
        detail: 'the reader of the events left',
      });
    });

    it('before it starts, it asks nothing', async () => {
      const { started, emulator } = await begin(api, script(undefined), fakeHost({}), {
        signal: AbortSignal.abort('no'),
      });
      expect(await started.result).toMatchObject({ reason: 'aborted', turns: 0, messages: [question] });
      expect(emulator.requests).toHaveLength(0);
    });

    it('while a host does not say how a call ended, it does not wait for it', async () => {
      const host = fakeHost({ a__x: () => new Promise(() => undefined), b__x: () => done('2') });
      const { started } = await begin(api, script(undefined), host);
      const { events, result } = await collect(started, (event) => {
        if (event.type === 'call.finished') started.abort();
      });
      expect(result.reason).toBe('aborted');
      expect(ofType(events, 'call.finished').at(-1)).toMatchObject({
        id: 'c1',
        status: 'unknown',
        isError: true,
      });
      await goesOn(api, result.messages, host);
    });
  });
});

describe('the stop reasons of Anthropic', () => {
  const api = apis[0] as Api;
  it.each([
    ['refusal', 'refusal', { stopDetails: { type: 'refusal', category: 'cyber', explanation: 'No.' } }],
    ['model_context_window_exceeded', 'context-window', {}],
    ['stop_sequence', 'complete', {}],
    ['a_new_one', 'failed', {}],
  ])('%s ends the run with %s', async (stop, reason, more) => {
    const host = fakeHost({});
    const { started } = await begin(api, [{ text: 'Some', stop, ...more }, { text: 'ok' }], host);
    const result = await started.result;
    expect(result.reason).toBe(reason);
    if (reason === 'refusal') expect(result.detail).toContain('cyber');
    await goesOn(api, result.messages, host);
  });

  it('pause_turn sends the conversation again as it is', async () => {
    const items = [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }];
    const host = fakeHost({});
    const { started, emulator } = await begin(
      api,
      [{ text: 'Searching', items, stop: 'pause_turn' }, { text: 'Found.' }],
      host,
    );
    const result = await started.result;
    expect(result).toMatchObject({ reason: 'complete', text: 'Found.', turns: 2 });
    const messages = emulator.requests[1]?.body.messages as { role: string; content: { type: string }[] }[];
    expect(messages.at(-1)?.role).toBe('assistant');
    expect(messages.at(-1)?.content).toContainEqual(items[0]);
    expect(messages.at(-1)?.content).toHaveLength(2);
  });

  it('an empty answer is not kept, for no API takes it back', async () => {
    const host = fakeHost({});
    const { started } = await begin(api, [{}, { text: 'ok' }], host);
    const result = await started.result;
    expect(result).toMatchObject({ reason: 'complete', text: '', messages: [question] });
    await goesOn(api, result.messages, host);
  });
});

describe('the ends of OpenAI Responses', () => {
  const api = apis[1] as Api;
  it.each([
    ['content_filter', 'content-filter'],
    ['failed', 'failed'],
  ])('%s ends the run with %s', async (stop, reason) => {
    const host = fakeHost({});
    const { started } = await begin(api, [{ reasoning: 'Hm.', text: 'Some', stop }, { text: 'ok' }], host);
    const result = await started.result;
    expect(result.reason).toBe(reason);
    await goesOn(api, result.messages, host);
  });
});
