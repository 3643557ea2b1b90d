import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Ask } from '../../src/asks/asks.ts';
import { askQueue } from '../../src/asks/queue.ts';
import { settle, shownRow } from '../../src/asks/rows.ts';
import { openStore, type Store } from '../../src/store/store.ts';

const ASK: Ask = { kind: 'url', label: 'shop', message: 'Pay here', url: 'https://pay.example/1' };
const { signal } = new AbortController();

function folder(): () => Store {
  const place = mkdtempSync(path.join(tmpdir(), 'midspan-asks-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  return () => {
    const store = openStore(place);
    onTestFinished(() => store.close());
    return store;
  };
}

describe('a queue over a store of files', () => {
  it('gives the first answer to its asker, however many give one', async () => {
    const open = folder();
    const queue = askQueue({ store: open().asks });
    const others = [open(), open(), open()];
    for (let round = 0; round < 10; round += 1) {
      const asked = queue.ask(ASK, { signal });
      const settled = others.map(({ asks }, index) => {
        const [row] = asks.pending(Date.now());
        const { id, digest } = row ?? queue.pending()[0] ?? { id: '', digest: '' };
        return settle(asks, { id, digest, answer: { action: 'accept' }, by: `p${index}`, now: Date.now() });
      });
      expect(settled).toEqual([
        { settled: true },
        { settled: false, why: 'answered', by: 'p0' },
        { settled: false, why: 'answered', by: 'p0' },
      ]);
      expect(await asked).toEqual({ action: 'accept', by: 'p0' });
    }
  });

  it('shows others exactly what is asked, and nothing that is over', async () => {
    const open = folder();
    const queue = askQueue({ store: open().asks });
    const { asks } = open();
    const first = queue.ask(ASK, { signal });
    const second = queue.ask({ ...ASK, message: 'Pay\u202E there' }, { signal });
    const rows = asks.pending(Date.now());
    expect(rows.map(shownRow)).toEqual(queue.pending());
    queue.answer(rows[0]?.id ?? '', rows[0]?.digest ?? '', { action: 'cancel' }, 'me');
    expect((await first).action).toBe('cancel');
    expect(asks.pending(Date.now()).map(({ id }) => id)).toEqual([rows[1]?.id]);
    queue.close();
    expect((await second).action).toBe('cancel');
    expect(asks.pending(Date.now())).toEqual([]);
  });

  it('declines when the store cannot be written', async () => {
    const store = folder()();
    store.close();
    const answer = await askQueue({ store: store.asks }).ask(ASK, { signal });
    expect(answer).toMatchObject({ action: 'decline', reason: expect.stringContaining('is closed') });
  });
});
