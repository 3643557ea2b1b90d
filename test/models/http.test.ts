import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { MidspanError } from '../../src/errors.ts';
import type { Message, Turn, TurnDelta } from '../../src/dialects/index.ts';
import { LARGEST_EVENT } from '../../src/models/http.ts';
import { type Model, openModel } from '../../src/models/index.ts';
import { type Api, apis } from '../emulators/apis.ts';
import type { EmulatorScript } from '../emulators/server.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function start(one: Api, script: EmulatorScript) {
  const emulator = await one.start(script);
  closers.push(() => emulator.close());
  return { emulator, model: one.model(emulator) };
}

async function serve(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const question: Message[] = [{ role: 'user', content: 'Hello?' }];

async function take(
  model: Model,
  signal = new AbortController().signal,
  onDelta: (delta: TurnDelta) => void = () => undefined,
) {
  const stream = model.stream({ messages: question, tools: model.dialect.definitions([]) }, { signal });
  for (;;) {
    const step = await stream.next();
    if (step.done === true) return step.value;
    onDelta(step.value);
  }
}

const failureOf = (model: Model, signal?: AbortSignal): Promise<MidspanError> =>
  take(model, signal).then(
    (turn: Turn) => Promise.reject(new Error(`it answered: ${turn.message.text}`)),
    (error: MidspanError) => error,
  );

const soon = { 'retry-after-ms': '1' };

describe.each(apis)('the $name model', (one) => {
  it('streams a turn', async () => {
    const { model, emulator } = await start(one, [
      {
        reasoning: 'Say it.',
        text: 'Hello – to you, whoever you are.',
        calls: [{ id: 'call_1', name: 'f', arguments: { a: 1 } }],
        usage: { input: 7, output: 5 },
      },
    ]);
    const deltas: TurnDelta[] = [];
    const turn = await take(model, undefined, (delta) => deltas.push(delta));
    const textOf = (type: 'text' | 'reasoning') =>
      deltas.map((delta) => (delta.type === type ? delta.delta : '')).join('');
    expect(textOf('reasoning')).toBe('Say it.');
    expect(textOf('text')).toBe('Hello – to you, whoever you are.');
    expect(deltas.at(-1)).toEqual({ type: 'call', id: 'call_1', name: 'f' });
    expect(turn).toMatchObject({
      stop: 'calls',
      message: {
        text: 'Hello – to you, whoever you are.',
        calls: [{ id: 'call_1', name: 'f', arguments: { a: 1 } }],
      },
      usage: { input: 7, output: 5 },
    });
    expect(emulator.requests).toHaveLength(1);
  });

  it('repeats a request that was not answered, and waits as long as it is asked to', async () => {
    const { model, emulator } = await start(one, [
      { fault: { kind: 'status', status: 429, headers: { 'retry-after': '0' } } },
      { fault: { kind: 'status', status: 500, headers: soon } },
      { text: 'at last' },
    ]);
    expect((await take(model)).message.text).toBe('at last');
    expect(emulator.requests.map(({ status }) => status)).toEqual([429, 500, 200]);
  });

  it('repeats a request whose connection was closed', async () => {
    const { model, emulator } = await start(one, [{ fault: { kind: 'hang-up' } }, { text: 'at last' }]);
    expect((await take(model)).message.text).toBe('at last');
    expect(emulator.requests).toHaveLength(2);
  });

  it('gives up after three attempts, with the words of the API', async () => {
    const busy = {
      fault: { kind: 'status', status: 529, message: 'Overloaded, come back', headers: soon },
    } as const;
    const { model, emulator } = await start(one, [busy, busy, busy, { text: 'too late' }]);
    const error = await failureOf(model);
    expect(error).toMatchObject({ code: 'model', label: model.name, data: { status: 529 } });
    expect(error.message).toContain(
      `${model.name}: the model's API refused the request with status 529: Overloaded, come back`,
    );
    expect(emulator.requests).toHaveLength(3);
  });

  it('does not repeat when the API says not to, or asks for a wait that is too long', async () => {
    const { model, emulator } = await start(one, [
      { fault: { kind: 'status', status: 500, headers: { 'x-should-retry': 'false' } } },
      { fault: { kind: 'status', status: 429, headers: { 'retry-after': '3600' } } },
    ]);
    expect((await failureOf(model)).data.status).toBe(500);
    expect((await failureOf(model)).data.status).toBe(429);
    expect(emulator.requests).toHaveLength(2);
  });

  it('never repeats a request after the first byte of its answer', async () => {
    const script = (fault: object) => ({ text: 'a text that is long enough', fault }) as never;
    const { model, emulator } = await start(one, [
      script({ kind: 'cut', after: 3 }),
      script({ kind: 'short', after: 3 }),
      script({ kind: 'error-event', after: 3, type: 'overloaded_error', message: 'Overloaded' }),
      script({ kind: 'garbage', after: 3, data: '{"type":' }),
    ]);
    const words = [
      /broke off/,
      /stream ended before the turn did/,
      /Overloaded/,
      /the answer cannot be read: an event is not a JSON object/,
    ];
    for (const expected of words) {
      const error = await failureOf(model);
      expect(error.message).toMatch(expected);
      expect(error).toMatchObject({ code: 'model', label: model.name });
    }
    expect(emulator.requests).toHaveLength(4);
  });

  it('names what to do about a wrong key, and never prints it', async () => {
    const { emulator } = await start(one, []);
    const model = one.model({ url: emulator.url, key: 'sk-secret-1234567890' });
    const error = await failureOf(model);
    expect(error.data.status).toBe({ gemini: 400, 'gemini-interactions': 403 }[one.name as string] ?? 401);
    expect(error.message).toMatch(/Check (ANTHROPIC|OPENAI|GEMINI)_API_KEY/);
    expect(JSON.stringify(error) + error.message + String(error.stack)).not.toContain('secret');
  });

  it.each([0, 3])('is canceled while the answer is awaited or comes (after %i events)', async (after) => {
    const controller = new AbortController();
    const hold = {
      kind: 'hold',
      after,
      until: new Promise<void>(() => undefined),
      onHeld: () => controller.abort(),
    } as const;
    const { model } = await start(one, [{ text: 'a text that is long enough', fault: hold }]);
    expect(await failureOf(model, controller.signal)).toMatchObject({ code: 'cancelled', label: model.name });
  });

  it('is canceled while it waits to try again', async () => {
    const controller = new AbortController();
    const { model, emulator } = await start(one, () => {
      setImmediate(() => controller.abort());
      return { fault: { kind: 'status', status: 429, headers: { 'retry-after': '30' } } };
    });
    expect(await failureOf(model, controller.signal)).toMatchObject({ code: 'cancelled' });
    expect(emulator.requests).toHaveLength(1);
  });
});

describe('a model API that is none', () => {
  const open = (url: string): Model => openModel('openai:gpt-6', { env: {}, baseUrl: url });

  it('is unreachable when nothing listens', async () => {
    const error = await failureOf(open('http://127.0.0.1:9/v1'));
    expect(error).toMatchObject({ code: 'unreachable', label: 'openai:gpt-6' });
    expect(error.message).toContain('http://127.0.0.1:9/v1/responses cannot be reached');
  });

  it('is named when it answers with a page', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>\u001b[31mHi</h1>'),
    );
    const error = await failureOf(open(url));
    expect(error.message).toContain(
      'answered with text/html and not with a stream of events: <h1> [31mHi</h1>. Check the base URL',
    );
  });

  it('is not followed elsewhere', async () => {
    const url = await serve((_, response) =>
      response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
    );
    expect((await failureOf(open(url))).message).toContain('status 307');
  });

  it('is cut off when an event has no end', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.on('error', () => undefined);
      const piece = 'x'.repeat(1024 * 1024);
      const more = (): void => {
        while (!response.destroyed && response.write(piece)) {
          // until the reader has enough
        }
        if (!response.destroyed) response.once('drain', more);
      };
      response.write('data: ');
      more();
    });
    expect((await failureOf(open(url))).message).toContain(
      `an event is longer than ${LARGEST_EVENT} characters`,
    );
  });

  it.each([
    ['{"error":"model \\"x\\" not found"}', 'model "x" not found'],
    ['{"object":"error","message":"no parser","code":400}', 'no parser'],
    ['[{"error":{"code":400,"message":"Unknown name","status":"INVALID_ARGUMENT"}}]', 'Unknown name'],
    ['plain words', 'plain words'],
  ])('has its words read from %s', async (body, words) => {
    const url = await serve((_, response) => response.writeHead(400).end(body));
    expect((await failureOf(open(url))).message).toContain(`with status 400: ${words}.`);
  });
});
