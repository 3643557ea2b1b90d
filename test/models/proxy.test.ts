/** Requests to a model API go through the proxy that the environment names. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { MidspanError } from '../../src/errors.ts';
import { openModel } from '../../src/models/index.ts';
import { startResponses } from '../emulators/openai-responses.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return (server.address() as AddressInfo).port;
}

/** A proxy that takes every tunnel to one port, whatever address was asked for. */
async function proxyTo(port: number, refuse?: RequestListener): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(refuse);
  server.on('connect', (request, client) => {
    asked.push(request.url ?? '');
    const target = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(client);
      client.pipe(target);
    });
    for (const socket of [target, client])
      socket.on('error', () => [target, client].map((one) => one.destroy()));
    closers.push(async () => void [target, client].map((one) => one.destroy()));
  });
  return { url: `http://user:pass-word@127.0.0.1:${await listening(server)}`, asked };
}

async function ask(env: Record<string, string>, baseUrl: string, key: string) {
  const model = openModel('openai:gpt-6-astra', { env: { OPENAI_API_KEY: key, ...env }, baseUrl });
  const request = {
    messages: [{ role: 'user' as const, content: 'Hi' }],
    tools: model.dialect.definitions([]),
  };
  const stream = model.stream(request, { signal: new AbortController().signal });
  for (;;) {
    const step = await stream.next();
    if (step.done === true) return step.value.message.text;
  }
}

describe('a model behind a proxy', () => {
  it.each(['HTTP_PROXY', 'http_proxy'])('is reached through %s', async (variable) => {
    const emulator = await startResponses([{ text: 'Hello.' }]);
    closers.push(() => emulator.close());
    const proxy = await proxyTo(Number(new URL(emulator.url).port));
    expect(await ask({ [variable]: proxy.url }, 'http://model.invalid/v1', emulator.key)).toBe('Hello.');
    expect(proxy.asked).toEqual(['model.invalid:80']);
  });

  it('is reached without one on this machine, and where NO_PROXY says so', async () => {
    const emulator = await startResponses([{ text: 'Hello.' }]);
    closers.push(() => emulator.close());
    const proxy = await proxyTo(9);
    expect(await ask({ HTTP_PROXY: proxy.url }, `${emulator.url}/v1`, emulator.key)).toBe('Hello.');
    const excepted = ask({ HTTP_PROXY: proxy.url, NO_PROXY: '.invalid' }, 'http://model.invalid/v1', 'k');
    await expect(excepted).rejects.toMatchObject({ code: 'unreachable' });
    expect(proxy.asked).toEqual([]);
  });

  it('is told from a proxy that is none, without saying its password', async () => {
    for (const url of ['nonsense', 'ftp://user:pass-word@127.0.0.1:9']) {
      const error = await ask({ HTTP_PROXY: url }, 'http://model.invalid/v1', 'k').then(
        () => undefined,
        (thrown: MidspanError) => thrown,
      );
      expect(error).toMatchObject({
        code: expect.stringMatching(/config|unreachable/),
        label: 'openai:gpt-6-astra',
      });
      expect(String(error?.message)).not.toContain('pass-word');
    }
  });
});
