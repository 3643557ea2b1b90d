import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fixture, open, stdio, verdictsInMemory } from './support.ts';
import type { EraVerdicts } from '../../src/servers/index.ts';

const raw = (behavior: string, ...rest: string[]): string[] => [fixture('raw'), behavior, ...rest];

const methods = async (server: {
  callTool: ReturnType<typeof open>['server']['callTool'];
}): Promise<string> => {
  const [block] = (await server.callTool('seen', {})).content;
  return block!.text as string;
};

describe('R9: a legacy stdio server that answers server/discover awkwardly is found in its one process', () => {
  test.each([
    ['(a) with -32601', 'discover -32601'],
    ['(b) with -32602', 'discover -32602'],
    ['(c) with -32000', 'discover -32000'],
    ['with a result that is none', 'discover nonsense'],
    ['with a null result', 'discover null'],
    ['(g) and would call tools before initialize', 'call before initialize'],
  ])('%s', async (_what, behavior) => {
    const { server } = open(stdio('odd', raw(behavior)));
    await server.ready();
    expect(server.info).toMatchObject({ era: 'legacy', protocolVersion: '2025-11-25' });
    expect(await methods(server)).toBe('server/discover,initialize,notifications/initialized,tools/call');
  });

  test('(d) with silence, at the cost of one probe', async () => {
    const { server } = open(stdio('odd', raw('discover silent')), { timing: { probe: 50 } });
    await server.ready();
    expect(server.info).toMatchObject({ era: 'legacy' });
    expect(await methods(server)).toBe('server/discover,initialize,notifications/initialized,tools/call');
  });

  test('(f) with legacy revisions only, of which the best is initialized', async () => {
    const { server } = open(stdio('odd', raw('discover legacy only')));
    await server.ready();
    expect(server.info).toMatchObject({ era: 'legacy', protocolVersion: '2025-06-18' });
  });
});

test('R9 (e): a server that exits on server/discover is started again with initialize, and remembered', async () => {
  const counter = join(mkdtempSync(join(tmpdir(), 'midspan-')), 'starts');
  const verdicts = verdictsInMemory();
  const spec = stdio('odd', raw('discover exit', counter));
  const first = open(spec, { verdicts });
  await first.server.ready();
  expect(await methods(first.server)).toBe('initialize,notifications/initialized,tools/call');
  expect(readFileSync(counter, 'utf8')).toBe('..');
  await first.server.close();
  const second = open(spec, { verdicts });
  await second.server.ready();
  expect(readFileSync(counter, 'utf8')).toBe('...');
});

test('R9 (h): of a known and a future revision the known one is taken', async () => {
  const { server } = open(stdio('odd', raw('discover future')));
  await server.ready();
  expect(server.info).toMatchObject({ era: 'modern', protocolVersion: '2026-07-28' });
  expect(await methods(server)).toBe('server/discover,tools/call');
});

test('a server with no revision in common is refused, naming both sides', async () => {
  const { server } = open(stdio('odd', raw('discover unknown')));
  await expect(server.ready()).rejects.toThrow(/odd: the server speaks 2099-01-01.*2026-07-28, 2025-11-25/);
});

test('a modern error to server/discover is repaired and not answered with initialize', async () => {
  const { server } = open(stdio('odd', raw('discover -32021 once')));
  await server.ready();
  expect(await methods(server)).toBe('server/discover,server/discover,tools/call');
});

test.each(['modern late', 'modern late, silent initialize'])(
  'a late modern answer to the probe is accepted after initialize was sent (%s)',
  async (behavior) => {
    const { server } = open(stdio('odd', raw(behavior)), { timing: { probe: 50, late: 50 } });
    await server.ready();
    expect(server.info).toMatchObject({ era: 'modern' });
    expect(await server.callTool('echo', { a: 1 })).toMatchObject({ content: [{ text: '{"a":1}' }] });
  },
);

test('an older legacy revision that the server chooses is spoken, an unknown one is refused', async () => {
  const old = open(stdio('old', raw('old version')));
  await old.server.ready();
  expect(old.server.info).toMatchObject({ protocolVersion: '2025-03-26' });
  const unknown = open(stdio('unknown', raw('unknown version')));
  await expect(unknown.server.ready()).rejects.toMatchObject({ code: 'protocol' });
});

describe('the era of the configuration', () => {
  test('legacy sends no probe', async () => {
    const { server } = open(stdio('plain', raw('legacy'), { era: 'legacy' }));
    await server.ready();
    expect(await methods(server)).toBe('initialize,notifications/initialized,tools/call');
  });

  test('modern refuses a legacy server instead of falling back', async () => {
    const { server } = open(stdio('plain', raw('legacy'), { era: 'modern' }));
    await expect(server.ready()).rejects.toMatchObject({ code: 'protocol' });
  });

  test('legacy refuses a modern-only server', async () => {
    const { server } = open(stdio('plain', raw('modern'), { era: 'legacy' }));
    await expect(server.ready()).rejects.toThrow(/-32022/);
  });

  test('a revision is offered, and must be the one agreed on', async () => {
    const pinned = open(stdio('plain', raw('legacy'), { era: '2025-06-18' }));
    await pinned.server.ready();
    expect(pinned.server.info).toMatchObject({ protocolVersion: '2025-06-18' });
    const other = open(stdio('plain', raw('old version'), { era: '2025-06-18' }));
    await expect(other.server.ready()).rejects.toThrow(/answered with 2025-03-26/);
  });

  test('nonsense is named with what is allowed', async () => {
    const { server } = open(stdio('plain', raw('legacy'), { era: '1999' }));
    await expect(server.ready()).rejects.toThrow(/plain: "era" is "1999".*auto, legacy, modern/);
  });
});

describe('the verdict', () => {
  test('is remembered for a day, per configuration, and saves the probe', async () => {
    const verdicts = verdictsInMemory();
    let time = 1_000_000;
    const now = (): number => time;
    const reach = async (behavior: string): Promise<string> => {
      const { server } = open(stdio('plain', raw(behavior)), { verdicts, now });
      await server.ready();
      const seen = await methods(server);
      await server.close();
      return seen;
    };
    expect(await reach('legacy')).toMatch(/^server\/discover/);
    expect(verdicts.all.size).toBe(1);
    expect(await reach('legacy')).toMatch(/^initialize/);
    expect(await reach('discover -32602')).toMatch(/^server\/discover/);
    time += 24 * 60 * 60 * 1000 + 1;
    expect(await reach('legacy')).toMatch(/^server\/discover/);
  });

  test('is dropped when it fails, and the server is asked anew', async () => {
    const steps: string[] = [];
    const verdicts: EraVerdicts = {
      get: () => ({ era: 'legacy', protocolVersion: '2025-11-25', transport: 'stdio', at: Date.now() }),
      set: () => steps.push('set'),
      delete: () => steps.push('delete'),
    };
    const { server } = open(stdio('plain', raw('unknown version')), { verdicts });
    await expect(server.ready()).rejects.toMatchObject({ code: 'protocol' });
    expect(steps).toEqual(['delete']);
  });

  test('gives way to -32022: modern after all', async () => {
    const verdicts = verdictsInMemory();
    const reached = open(stdio('plain', raw('modern')), { verdicts });
    await reached.server.ready();
    const [key] = [...verdicts.all.keys()];
    verdicts.set(key!, { era: 'legacy', protocolVersion: '2025-11-25', transport: 'stdio', at: Date.now() });
    const { server } = open(stdio('plain', raw('modern')), { verdicts });
    await server.ready();
    expect(server.info).toMatchObject({ era: 'modern' });
    expect(verdicts.all.get(key!)).toMatchObject({ era: 'modern' });
  });
});
