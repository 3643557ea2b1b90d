import { expect, test } from 'vitest';
import { EVERYTHING, open, stdio } from './support.ts';
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
