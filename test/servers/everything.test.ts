import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { EVERYTHING, open, stdio } from './support.ts';
import type { ChildProcess } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import type { Progress } from '../../src/types.ts';

test('the official everything server is reached over stdio, listed and called', async () => {
  const { server } = open(stdio('everything', [EVERYTHING]));
  await server.ready();
  expect(server.info).toMatchObject({ era: 'legacy', protocolVersion: '2025-11-25', transport: 'stdio' });
  const tools = await server.listTools();
  expect(tools.map((tool) => tool.name)).toContain('echo');
  expect(await server.callTool('echo', { message: 'hi' })).toEqual({
    content: [{ type: 'text', text: 'Echo: hi' }],
  });
  const progress: Progress[] = [];
  await server.callTool(
    'trigger-long-running-operation',
    { duration: 0.3, steps: 3 },
    { onProgress: (seen) => progress.push(seen) },
  );
  expect(progress.map((seen) => seen.progress)).toEqual([1, 2, 3]);
});

describe('the official everything server over HTTP', () => {
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill());

  async function serve(way: string, path: string): Promise<string> {
    const port = await freePort();
    child = spawn(process.execPath, [EVERYTHING, way], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await new Promise<void>((resolve) => {
      child!.stderr!.on('data', (chunk: Buffer) => /listening|running/i.test(String(chunk)) && resolve());
    });
    return `http://127.0.0.1:${port}${path}`;
  }

  test.each([
    ['streamableHttp', '/mcp', 'http'],
    ['sse', '/sse', 'sse'],
  ] as const)('%s is reached, called, and asked back', async (way, path, transport) => {
    const url = await serve(way, path);
    const { server } = open({ label: 'everything', transport: { type: transport, url, headers: {} } });
    await server.ready();
    expect(server.info).toMatchObject({ era: 'legacy', protocolVersion: '2025-11-25', transport });
    const progress: Progress[] = [];
    await server.callTool(
      'trigger-long-running-operation',
      { duration: 0.3, steps: 3 },
      { onProgress: (seen) => progress.push(seen) },
    );
    expect(progress.map((seen) => seen.progress)).toEqual([1, 2, 3]);
    expect(await server.callTool('get-tiny-image', {})).toMatchObject({
      content: [{}, { type: 'image' }, {}],
    });
    const names = (await server.listTools()).map((tool) => tool.name);
    expect(names).toContain('trigger-elicitation-request');
    const asked: string[] = [];
    await server.callTool(
      'trigger-elicitation-request',
      {},
      {
        onInput: async ({ method }) => {
          asked.push(method);
          return { action: 'decline' };
        },
      },
    );
    expect(asked).toEqual(['elicitation/create']);
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
