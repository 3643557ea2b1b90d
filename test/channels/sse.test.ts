import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { failure, until } from './support.ts';
import { call, connect, event, result, serve, stopAll, stream } from './web.ts';

vi.mock('../../src/mcp/limits.ts', async (original) => ({
  ...(await original<object>()),
  ENDPOINT_MS: 200,
}));

afterEach(stopAll);

const endpoint = (url: string) => `event: endpoint\ndata: ${url}\n\n`;

/** A server of revision 2024-11-05 that answers every request on its event stream. */
async function oldServer() {
  let events: ServerResponse | undefined;
  const web = await serve((request, response) => {
    if (request.method === 'GET') {
      events = stream(response);
      events.write(endpoint('/messages?session=abc'));
    } else {
      events?.write(event(result(request.json.id ?? 0)));
      response.writeHead(202).end('Accepted');
    }
  });
  return { web, events: () => events };
}

describe('HTTP+SSE', () => {
  it('posts messages to the endpoint and delivers what the stream brings, with no origin', async () => {
    const { web } = await oldServer();
    const { channel, recorder } = await connect(
      `${web.origin}/sse`,
      { headers: { authorization: 'Bearer x' } },
      'sse',
    );
    expect(await channel.send(call(1))).toMatchObject({ status: 202 });
    await until(() => recorder.messages.length === 1);
    expect(recorder.messages).toEqual([result(1)]);
    expect(recorder.origins).toEqual([undefined]);
    expect(web.requests.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
      ['GET', '/sse', 'Bearer x'],
      ['POST', '/messages?session=abc', 'Bearer x'],
    ]);
  });

  it('reports the end of the stream once', async () => {
    const { web, events } = await oldServer();
    const { channel, recorder } = await connect(web.origin, {}, 'sse');
    events()?.end();
    expect((await recorder.ending()).code).toBe('closed');
    expect((await failure(channel.send(call(1)))).code).toBe('closed');
    expect(recorder.endings).toHaveLength(1);
  });

  it('reports a stream that breaks, and nothing after close', async () => {
    const { web, events } = await oldServer();
    const first = await connect(web.origin, {}, 'sse');
    events()?.destroy();
    expect((await first.recorder.ending()).code).toBe('closed');
    const second = await connect(web.origin, {}, 'sse');
    await second.channel.close();
    expect(second.recorder.endings).toEqual([]);
    await until(() => web.sockets.size === 0);
  });

  it('fails a message that the server refuses', async () => {
    const web = await serve((request, response) => {
      if (request.method === 'GET') stream(response).write(endpoint('messages'));
      else response.writeHead(400).end('bad');
    });
    const { channel } = await connect(`${web.origin}/a/sse`, {}, 'sse');
    expect(await failure(channel.send(call(1)))).toMatchObject({ status: 400 });
    expect(web.requests[1]?.path).toBe('/a/messages');
  });

  it.each([
    [
      'names an endpoint elsewhere',
      'protocol',
      (response: ServerResponse) => stream(response).write(endpoint('http://evil.test/m')),
    ],
    [
      'names an endpoint that is no URL',
      'protocol',
      (response: ServerResponse) => stream(response).write(endpoint('http://')),
    ],
    ['names none in time', 'timeout', (response: ServerResponse) => stream(response).write(': hello\n\n')],
    ['ends before it names one', 'closed', (response: ServerResponse) => stream(response).end()],
    [
      'is no event stream',
      'protocol',
      (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end('hi'),
    ],
    ['wants a sign-in', 'sign-in', (response: ServerResponse) => response.writeHead(401).end()],
  ])('does not open when the server %s', async (_, code, respond) => {
    const web = await serve((_, response) => void respond(response));
    expect((await failure(connect(web.origin, {}, 'sse'))).code).toBe(code);
    await until(() => web.sockets.size === 0);
  });

  it('can be cancelled while it opens', async () => {
    const web = await serve(() => {});
    const { sseChannel } = await import('../../src/servers/sse.ts');
    const { Recorder } = await import('./support.ts');
    const abort = new AbortController();
    const opening = failure(
      sseChannel({ label: 'old', url: web.origin, headers: {} }).open(new Recorder(), abort.signal),
    );
    await until(() => web.requests.length === 1);
    abort.abort();
    expect((await opening).code).toBe('cancelled');
    await until(() => web.sockets.size === 0);
  });
});
