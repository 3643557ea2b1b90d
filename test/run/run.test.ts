import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from '../../src/dialects/index.ts';
import type { MidspanError } from '../../src/errors.ts';
import { run } from '../../src/run/run.ts';
import type { RunOptions } from '../../src/run/options.ts';
import type { JsonObject } from '../../src/types.ts';
import type { Emulator, EmulatorScript, EmulatorTurn } from '../emulators/server.ts';
import { type Api, apis } from '../emulators/apis.ts';
import { collect, done, fakeHost, type FakeHost, ofType, textOf, untilStopped } from './support.ts';

const emulators: Emulator[] = [];
afterEach(async () => {
  await Promise.all(emulators.splice(0).map((emulator) => emulator.close()));
});

const question: Message = { role: 'user', content: 'Go.' };

async function begin(api: Api, script: EmulatorScript, host: FakeHost, options: Partial<RunOptions> = {}) {
  // A list is followed by plain answers, for the conversation that goes on.
  const turns: EmulatorScript =
    typeof script === 'function' ? script : (_, index) => script[index] ?? { text: 'ok' };
  const emulator = await api.start(turns);
  emulators.push(emulator);
  const started = run(host, { model: api.model(emulator), messages: [question], ...options });
  return { emulator, started };
}

const call = (name: string, id?: string, args?: JsonObject) => ({
  name,
  ...(id !== undefined && { id }),
  ...(args && { arguments: args }),
});

/** The strict emulator takes the transcript, with a new message after it. */
async function goesOn(
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
    const choices = emulator.requests.map(({ body }) => JSON.stringify(body.tool_choice ?? body.toolConfig));
    // The newest Claude models take no forced calls: that is told, not hidden.
    if (api.name === 'anthropic') expect(ofType(events, 'warning')).toHaveLength(1);
    else expect(choices).toEqual([expect.stringMatching(/required|ANY/), expect.stringMatching(/auto|AUTO/)]);
  });

  it('passes on extra members and the output limit', async () => {
    const extra: JsonObject = api.name === 'gemini' ? { labels: { user: 'u' } } : { metadata: { user: 'u' } };
    const { started, emulator } = await begin(api, [{ text: 'ok' }], fakeHost({}), { maxTokens: 77, extra });
    await started.result;
    expect(emulator.requests[0]?.body).toMatchObject(extra);
    expect(JSON.stringify(emulator.requests[0]?.body)).toMatch(/"max\w*[tT]okens":77/);
  });

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

    it('ends when its time is over, in the middle of a call', async () => {
      const { started } = await begin(api, loop, fakeHost({ a__x: untilStopped }), {
        limits: { milliseconds: 100 },
      });
      const result = await started.result;
      expect(result).toMatchObject({
        reason: 'time',
        detail: 'the time limit of 0.1 s was reached',
        calls: 2,
      });
      await goesOn(api, result.messages, host());
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

  it('refuses options that make no sense', async () => {
    const emulator = await api.start([]);
    emulators.push(emulator);
    const model = api.model(emulator);
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
