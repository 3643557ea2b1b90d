/**
 * Defects of common clients that have no better place. The others are named where they belong: 3, 13, 19 to 24 and 27 in
 * peer-stdio.test.ts, 9 to 12, 15, 17 and 28 in http.test.ts; those of processes and sockets in test/channels.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { EVERYTHING, fixture, open, stdio } from './support.ts';

test('defect 4: finding the era of a server that answers costs one process', async () => {
  const counter = join(mkdtempSync(join(tmpdir(), 'midspan-')), 'starts');
  for (const behavior of ['legacy', 'modern', 'discover -32000', 'discover silent']) {
    const { server } = open(stdio('raw', [fixture('raw'), behavior, counter]), { timing: { probe: 300 } });
    await server.ready();
    await server.close();
  }
  expect(readFileSync(counter, 'utf8')).toBe('....');
});

test('defect 7: a failed start leaves no unhandled rejection, also when nobody waits for it', async () => {
  const rejections: unknown[] = [];
  const listen = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', listen);
  for (const behavior of ['dies at import', 'unknown version', 'never answers']) {
    const { server } = open(stdio('raw', [fixture('raw'), behavior]), { timing: { start: 400 } });
    await new Promise<void>((resolve) => {
      server.on((event) => event.type === 'state' && event.state === 'failed' && resolve());
    });
    await server.close();
  }
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  process.off('unhandledRejection', listen);
  expect(rejections).toEqual([]);
});

test('defect 18: many calls at once do not open a server twice', async () => {
  const counter = join(mkdtempSync(join(tmpdir(), 'midspan-')), 'starts');
  const { server } = open(stdio('raw', [fixture('raw'), 'legacy', counter]));
  await Promise.all(Array.from({ length: 20 }, () => server.callTool('echo', {})));
  expect(readFileSync(counter, 'utf8')).toBe('.');
});

test('defect 25: listing compiles no schema, so a broken one costs nothing until it is used', async () => {
  const { server } = open(stdio('raw', [fixture('raw'), 'odd schemas'], { era: 'legacy' }));
  const tools = await server.listTools();
  expect(tools[0]!.outputSchema).toEqual({
    type: 'object',
    properties: { a: { pattern: '(a+)+$(' } },
    $ref: 'https://example.com/none',
  });
  expect(await server.callTool('echo', { a: 1 })).toMatchObject({ content: [{ text: '{"a":1}' }] });
});

test('defect 26: nothing is ever printed', async () => {
  const out = vi.spyOn(process.stdout, 'write');
  const err = vi.spyOn(process.stderr, 'write');
  const logs = (['log', 'debug', 'info', 'warn', 'error'] as const).map((method) =>
    vi.spyOn(console, method),
  );
  const { server } = open(stdio('everything', [EVERYTHING]));
  await server.listTools();
  await server.callTool('echo', { message: 'quiet' });
  const bad = open(stdio('raw', [fixture('raw'), 'odd tools'], { era: 'legacy' }));
  await bad.server.listTools();
  await expect(open(stdio('raw', [fixture('raw'), 'dies at import'])).server.ready()).rejects.toThrow();
  const calls = [out, err, ...logs].map((spy) => spy.mock.calls.length);
  vi.restoreAllMocks();
  expect(calls).toEqual([0, 0, 0, 0, 0, 0, 0]);
});
