import { expect, test, vi } from 'vitest';
import { endpoint, legacy, methods } from './http-server.ts';
import { http, open, until } from './support.ts';

vi.mock('../../src/mcp/limits.ts', async (original) => ({
  ...(await original<object>()),
  NOTICE_MS: 50,
}));

test('a notice that the server does not take is given up, and its socket freed', async () => {
  let busy = 0;
  const { url, received } = await endpoint((each, answer) => {
    const { method } = each.message;
    if (method !== 'tools/call' && method !== 'notifications/cancelled') return legacy(each, answer);
    busy += 1;
    answer.response.on('close', () => (busy -= 1));
  });
  const { server } = open(http('web', url, { era: 'legacy' }));
  await server.ready();
  const notices = (): number =>
    methods(received).filter((method) => method === 'notifications/cancelled').length;
  // Some may be given up before they got there.
  while (notices() < 3)
    await expect(server.callTool('echo', {}, { timeout: 20 })).rejects.toMatchObject({ code: 'timeout' });
  await until(() => busy === 0, 'the end of the sockets');
});
