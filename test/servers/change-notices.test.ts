/** A server may say that its list changed as often as it likes. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LIST_CHANGED_DEBOUNCE, LIST_CHANGED_PER_MINUTE } from '../../src/mcp/protocol-limits.ts';
import { ChangeNotices } from '../../src/servers/change-notices.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const MINUTE = 60_000;

/** When changes were passed on that came at these times. */
function toldOf(changes: readonly number[]): number[] {
  const begin = Date.now();
  const told: number[] = [];
  const notices = new ChangeNotices(() => told.push(Date.now() - begin), Date.now);
  for (const at of changes) {
    vi.advanceTimersByTime(at - (Date.now() - begin));
    notices.changed();
  }
  vi.advanceTimersByTime(2 * MINUTE);
  notices.close();
  return told;
}

test('a storm of ten minutes is passed on six times a minute, as if the list were polled', () => {
  const told = toldOf(Array.from({ length: 6000 }, (_, index) => index * 100));
  expect(told[0]).toBe(LIST_CHANGED_DEBOUNCE);
  expect(told.length).toBeGreaterThan(9 * LIST_CHANGED_PER_MINUTE);
  expect(told.length).toBeLessThanOrEqual(11 * LIST_CHANGED_PER_MINUTE);
});

test('whatever the schedule, no minute has more than six, and the last change is always passed on', () => {
  const schedule = fc
    .array(fc.oneof(fc.nat(1000), fc.nat(20_000)), { minLength: 1, maxLength: 60 })
    .map((waits) => waits.reduce<number[]>((times, wait) => [...times, (times.at(-1) ?? 0) + wait], []));
  fc.assert(
    fc.property(schedule, (changes) => {
      const told = toldOf(changes);
      for (const [index, at] of told.entries())
        expect((told[index + LIST_CHANGED_PER_MINUTE] ?? Infinity) - at).toBeGreaterThanOrEqual(MINUTE);
      expect(told.at(-1)!).toBeGreaterThanOrEqual(changes.at(-1)!);
    }),
    { numRuns: 50 },
  );
});

test('nothing is passed on once it is closed', () => {
  const told: number[] = [];
  const notices = new ChangeNotices(() => told.push(1), Date.now);
  notices.changed();
  notices.close();
  vi.advanceTimersByTime(MINUTE);
  expect(told).toEqual([]);
});
