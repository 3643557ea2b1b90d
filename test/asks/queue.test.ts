import { describe, expect, it, vi } from 'vitest';
import type { Answer, Ask } from '../../src/asks/asks.ts';
import { type Answerer, type AskEvent, askQueue, PENDING_MAX } from '../../src/asks/queue.ts';
import { type AskRows, memoryRows, settle, shownRow } from '../../src/asks/rows.ts';

const ASK: Ask & { kind: 'approve' } = {
  kind: 'approve',
  label: 'mail',
  tool: 'send',
  message: 'A model wants to call send of mail.',
  arguments: { to: 'a@example.com', text: 'hi' },
  digest: 'sha256-x',
  rule: 'default',
  why: 'It is not labeled as reading.',
  run: 'r1',
};
const open = (): AbortSignal => new AbortController().signal;
const silent: Answerer = { name: 'silent', answer: () => new Promise(() => undefined) };
const saying = (name: string, answer: Answer | undefined): Answerer => ({ name, answer: async () => answer });

describe('the queue of asks', () => {
  it('gives the first answer to the asker, says who gave it, and tells the other answerers to stop', async () => {
    let stopped = false;
    const slow: Answerer = {
      name: 'slow',
      answer: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            stopped = true;
            reject(signal.reason as Error);
          });
        }),
    };
    const queue = askQueue({ answerers: [slow, saying('program', { action: 'accept', remember: 'run' })] });
    expect(await queue.ask(ASK, { signal: open() })).toEqual({
      action: 'accept',
      remember: 'run',
      by: 'program',
    });
    expect(stopped).toBe(true);
    expect(queue.pending()).toEqual([]);
  });

  it('takes an answer only for the digest of what was shown, and only once', async () => {
    const queue = askQueue({ waits: true });
    const asked = queue.ask(ASK, { signal: open() });
    const [pending] = queue.pending();
    const { id, digest } = pending ?? { id: '', digest: '' };
    expect(queue.answer('other', digest, { action: 'accept' }, 'me')).toEqual({
      settled: false,
      why: 'unknown',
    });
    expect(queue.answer(id, `${digest}0`, { action: 'accept' }, 'me')).toEqual({
      settled: false,
      why: 'changed',
    });
    expect(queue.answer(id, digest, { action: 'decline', reason: 'no' }, 'me')).toEqual({ settled: true });
    expect(queue.answer(id, digest, { action: 'accept' }, 'you')).toEqual({
      settled: false,
      why: 'answered',
      by: 'me',
    });
    expect(await asked).toEqual({ action: 'decline', reason: 'no', by: 'me' });
  });

  it('holds a digest of all that is shown: any change of it is another digest', async () => {
    const digests = new Set<string>();
    const queue = askQueue({ waits: true });
    const changes: Partial<Ask & { kind: 'approve' }>[] = [
      {},
      { label: 'm' },
      { tool: 'x' },
      { message: 'y' },
      { arguments: { to: 'b@example.com', text: 'hi' } },
      { digest: 'sha256-y' },
      { rule: 'taint' },
      { why: 'z' },
      { run: 'r2' },
    ];
    for (const change of changes) void queue.ask({ ...ASK, ...change }, { signal: open() });
    for (const { digest } of queue.pending()) digests.add(digest);
    expect(digests.size).toBe(changes.length);
    queue.close();
  });

  it('shows what was asked, whatever its asker or an answerer does to the object afterwards', async () => {
    const queue = askQueue({ waits: true });
    const mine = structuredClone(ASK);
    void queue.ask(mine, { signal: open() });
    mine.arguments['to'] = 'evil@example.com';
    const shown = queue.pending()[0]?.ask as Ask & { kind: 'approve' };
    expect(shown.arguments['to']).toBe('a@example.com');
    expect(() => {
      shown.arguments['to'] = 'evil@example.com';
    }).toThrow(TypeError);
    queue.close();
  });

  it('declines after the deadline, and says so', async () => {
    vi.useFakeTimers();
    try {
      const queue = askQueue({ answerers: [silent], now: () => 1000 });
      const asked = queue.ask(ASK, { signal: open() });
      expect(queue.pending()[0]?.deadline).toBe(1000 + 300_000);
      await vi.advanceTimersByTimeAsync(300_000);
      expect(await asked).toEqual({
        action: 'decline',
        reason: 'nobody answered within 5 minutes',
        by: 'deadline',
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it('takes no answer after the deadline, even before its asker has noticed', () => {
    const rows = memoryRows();
    rows.insert({ id: 'a', digest: 'd', ask: '{}', created: 0, deadline: 10 });
    const answer = { id: 'a', digest: 'd', answer: { action: 'accept' } as const, by: 'me' };
    expect(settle(rows, { ...answer, now: 10 })).toEqual({ settled: false, why: 'expired' });
    expect(settle(rows, { ...answer, now: 9 })).toEqual({ settled: true });
  });

  it('declines at once when nobody is there, when nobody answers such asks, and when asking fails', async () => {
    const ask = (answerers: Answerer[]): Promise<Answer> =>
      askQueue({ answerers }).ask(ASK, { signal: open() });
    const nobody = { action: 'decline', reason: 'nobody was there to answer', by: 'host' };
    expect(await ask([])).toEqual(nobody);
    expect(await ask([saying('forms', undefined)])).toEqual(nobody);
    const broken: Answerer = {
      name: 'terminal',
      answer: () => Promise.reject(new Error('the terminal is gone')),
    };
    expect(await ask([broken, saying('forms', undefined)])).toMatchObject({
      action: 'decline',
      reason: 'terminal could not ask: the terminal is gone',
    });
  });

  it('cancels when its asker goes away, and the ask waits no longer anywhere', async () => {
    const store = memoryRows();
    const queue = askQueue({ store, answerers: [silent] });
    const asker = new AbortController();
    const asked = queue.ask(ASK, { signal: asker.signal });
    expect(store.pending(Date.now())).toHaveLength(1);
    asker.abort(new Error('stop'));
    expect(await asked).toMatchObject({ action: 'cancel', reason: 'the call was canceled' });
    expect(store.pending(Date.now())).toEqual([]);
    await expect(queue.ask(ASK, { signal: asker.signal })).rejects.toThrow('stop');
  });

  it('cancels everything that waits when it is closed', async () => {
    const queue = askQueue({ waits: true });
    const asked = [1, 2].map(() => queue.ask(ASK, { signal: open() }));
    queue.close();
    expect(await Promise.all(asked)).toMatchObject([{ action: 'cancel' }, { action: 'cancel' }]);
  });

  it('hears an answer that another process wrote into the store', async () => {
    const store = memoryRows();
    const queue = askQueue({ store });
    const events: AskEvent['type'][] = [];
    queue.on(({ type }) => events.push(type));
    const asked = queue.ask(ASK, { signal: open() });
    const [row] = store.pending(Date.now());
    const shown = row && shownRow(row);
    expect(shown?.ask).toEqual(ASK);
    const { id, digest } = shown ?? { id: '', digest: '' };
    expect(
      settle(store, {
        id,
        digest,
        answer: { action: 'accept', remember: 'always' },
        by: 'ann',
        now: Date.now(),
      }),
    ).toEqual({ settled: true });
    expect(await asked).toEqual({ action: 'accept', remember: 'always', by: 'ann' });
    expect(events).toEqual(['asked', 'settled']);
  });

  it.each([
    ['no JSON', '{'],
    ['no answer', '"yes"'],
    ['an unknown action', '{"action":"yes"}'],
    ['an unknown time', '{"action":"accept","remember":"ever"}'],
  ])('takes %s in the store as a decline', async (_, text) => {
    const store = memoryRows();
    const queue = askQueue({ store });
    const asked = queue.ask(ASK, { signal: open() });
    const [row] = store.pending(Date.now());
    expect(store.answer(row?.id ?? '', row?.digest ?? '', text, 'x', 1)).toBe(true);
    expect(await asked).toEqual({ action: 'decline', reason: 'the answer in the store cannot be read' });
  });

  it('declines with the reason when the store fails, before and while it waits', async () => {
    const broken = (method: keyof AskRows): AskRows => ({
      ...memoryRows(),
      [method]: () => {
        throw new Error('the disk is full');
      },
    });
    expect(await askQueue({ store: broken('insert') }).ask(ASK, { signal: open() })).toEqual({
      action: 'decline',
      reason: 'it could not be asked: the disk is full',
    });
    for (const method of ['answer', 'read'] as const) {
      const answer = await askQueue({
        store: broken(method),
        answerers: [saying('program', { action: 'accept' })],
      }).ask(ASK, { signal: open() });
      expect(answer.action).toBe('decline');
      expect(JSON.stringify(answer)).toContain('the disk is full');
    }
  });

  it('shows no row whose text is not what its digest says', () => {
    const row = { id: 'a', digest: 'd', ask: JSON.stringify(ASK), created: 0, deadline: 1 };
    expect(shownRow(row)).toBeUndefined();
    expect(shownRow({ ...row, ask: 'no JSON' })).toBeUndefined();
  });

  it('declines what is too large to be shown, what cannot be shown exactly, and more than can wait', async () => {
    const queue = askQueue({ waits: true });
    const ask = (text: string): Promise<Answer> =>
      queue.ask({ ...ASK, arguments: { text } }, { signal: open() });
    expect(await ask('x'.repeat(4 * 1024 * 1024))).toMatchObject({ reason: 'it is too large to be shown' });
    expect((await ask('\uD800')).action).toBe('decline');
    const waiting = Array.from({ length: PENDING_MAX }, () => ask('x'));
    expect(await ask('x')).toMatchObject({
      action: 'decline',
      reason: `${PENDING_MAX} questions wait already`,
    });
    queue.close();
    await Promise.all(waiting);
  });

  it('goes on when a listener fails', async () => {
    const queue = askQueue({ answerers: [saying('program', { action: 'accept' })] });
    queue.on(() => {
      throw new Error('broken');
    });
    const heard: string[] = [];
    const off = queue.on(({ type }) => heard.push(type));
    expect((await queue.ask(ASK, { signal: open() })).action).toBe('accept');
    off();
    await queue.ask(ASK, { signal: open() });
    expect(heard).toEqual(['asked', 'settled']);
  });
});
