import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { configurationOf, file, light, newMark, processesWith } from './support.ts';

const run = promisify(execFile);
const CYCLES = 200;
/** Bytes that one cycle may leave on the heap, on the average. A leak of one call's objects per cycle is more. */
const PER_CYCLE = 1024;

interface Cycle {
  ready: number;
  status: string;
  heap: number;
  files: number;
  resources: number;
  listeners: number;
}

describe('a host that is opened and closed', () => {
  it(`leaves no processes, no open files and no memory behind in ${CYCLES} cycles with five servers`, async () => {
    const mark = newMark();
    const configuration = configurationOf(Array.from({ length: 5 }, () => light(mark)));
    const { stdout } = await run(process.execPath, [
      '--expose-gc',
      // The code that V8 compiles from warm functions lies on the heap too, and grows for hundreds of cycles.
      '--no-opt',
      '--no-sparkplug',
      file('cycles.mjs'),
      String(CYCLES),
      JSON.stringify(configuration),
    ]);
    expect(processesWith(mark)).toEqual([]);
    const cycles = JSON.parse(stdout) as Cycle[];
    expect(cycles).toHaveLength(CYCLES);
    expect(cycles.filter(({ ready, status }) => ready !== 5 || status !== 'done')).toEqual([]);
    // The first ones fill caches.
    const early = least(cycles.slice(60, 90));
    const late = least(cycles.slice(-30));
    expect(late.files).toBe(early.files);
    expect(late.resources).toBe(early.resources);
    expect(late.listeners).toBe(early.listeners);
    expect((late.heap - early.heap) / (CYCLES - 90)).toBeLessThan(PER_CYCLE);
  }, 300_000);
});

/** The least of each figure in a stretch: what is left when nothing is on its way out. */
function least(cycles: Cycle[]): Pick<Cycle, 'heap' | 'files' | 'resources' | 'listeners'> {
  const of = (figure: 'heap' | 'files' | 'resources' | 'listeners'): number =>
    Math.min(...cycles.map((cycle) => cycle[figure]));
  return { heap: of('heap'), files: of('files'), resources: of('resources'), listeners: of('listeners') };
}
