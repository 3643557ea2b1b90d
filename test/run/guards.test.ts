import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../src/dialects/dialect.ts';
import { LONGEST_ROUND, loopGuard, TOLD_AFTER } from '../../src/run/guards.ts';
import type { JsonObject } from '../../src/types.ts';

let serial = 0;
const step = (name: string, args: JsonObject, text: string, problem?: string): CallResult => ({
  call: { id: `c${(serial += 1)}`, name, arguments: args, ...(problem !== undefined && { problem }) },
  result: { content: [{ type: 'text', text }] },
});

/** Puts one turn after another to a guard; which turn was told of, which ended it (counted from 1). */
function drive(
  rounds: number,
  turn: (index: number) => CallResult[],
  turns = 60,
): { told: number[]; ended?: number } {
  const guard = loopGuard(rounds);
  const told: number[] = [];
  for (let index = 1; index <= turns; index += 1) {
    const verdict = guard(turn(index));
    if (verdict.tell !== undefined) told.push(index);
    if (verdict.end !== undefined) return { told, ended: index };
  }
  return { told };
}

describe('R11: runs that go in circles', () => {
  it('the same search with the same hits: told once, then ended', () => {
    expect(drive(8, () => [step('search', { q: 'x' }, '3 hits')])).toEqual({ told: [TOLD_AFTER], ended: 8 });
  });

  it('the same malformed call again and again', () => {
    expect(drive(8, () => [step('search', {}, 'broken JSON', 'broken JSON')])).toEqual({
      told: [TOLD_AFTER],
      ended: 8,
    });
  });

  it('A-B-A-B, in one turn or over several', () => {
    const a = () => step('a', {}, 'A');
    const b = () => step('b', {}, 'B');
    expect(drive(8, (index) => [index % 2 === 0 ? b() : a()])).toEqual({ told: [TOLD_AFTER * 2], ended: 16 });
    expect(drive(8, () => [a(), b()])).toEqual({ told: [TOLD_AFTER], ended: 8 });
  });

  it('a search that finds nothing whatever it is asked', () => {
    const run = drive(8, (index) => [step('search', { q: `try ${index}` }, 'no hits')]);
    expect(run).toEqual({ told: [6], ended: 16 });
  });

  it('rounds longer than the longest are not noticed, but by their results', () => {
    const names = ['a', 'b', 'c', 'd', 'e'].slice(0, LONGEST_ROUND + 1);
    expect(
      drive(8, (index) => [step(names[index % names.length] ?? '', {}, `${index % names.length}`)]),
    ).toEqual({ told: [] });
  });

  it('calls that bring something new go on for ever, and so does waiting for a job whose state changes', () => {
    expect(drive(8, (index) => [step('read', { page: index }, `page ${index}`)])).toEqual({ told: [] });
    expect(drive(8, (index) => [step('status', {}, `${index} %`)])).toEqual({ told: [] });
  });

  it('key order and call ids make no difference; other arguments do', () => {
    const guard = loopGuard(2);
    expect(guard([step('a', { x: 1, y: 2 }, 'r')])).toEqual({});
    expect(guard([step('a', { y: 2, x: 1 }, 'r')]).end).toContain('2 times in a row');
    const other = loopGuard(3);
    for (const x of [1, 2, 3, 4]) expect(other([step('a', { x }, `r${x}`)])).toEqual({});
  });

  it('is off with 0, and takes text that has no canonical form', () => {
    expect(drive(0, () => [step('a', {}, 'same')])).toEqual({ told: [] });
    expect(drive(8, () => [step('a', { q: '\ud800' }, '\udfff')]).ended).toBe(8);
  });
});
