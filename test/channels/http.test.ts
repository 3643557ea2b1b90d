import { connect as tcpConnect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpStatusError } from '../../src/servers/http.ts';
import { failure, until } from './support.ts';
import { call, connect, event, json, result, serve, stopAll, stream } from './web.ts';

afterEach(stopAll);

describe('messages over Streamable HTTP', () => {
  it('delivers a JSON answer as the message of its request', async () => {
    const web = await serve((request, response) =>
      json(response, result(request.json.id ?? 0, { ok: true })),
    );
    const { channel, recorder } = await connect(`${web.origin}/mcp?key=1`, { headers: { 'X-Team': 'blue' } });
    const sent = await channel.send(call(7), { headers: { 'MCP-Protocol-Version': '2025-11-25' } });
    expect(sent.status).toBe(200);
    expect(recorder.messages).toEqual([result(7, { ok: true })]);
    expect(recorder.origins).toEqual([7]);
    expect(web.requests[0]).toMatchObject({
      method: 'POST',
      path: '/mcp?key=1',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2025-11-25',
        'x-team': 'blue',
      },
    });
  });

  it('defect 19: delivers progress that comes in one chunk with the result before it, and both before send resolves', async () => {
    const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } };
    const web = await serve((request, response) =>
      stream(response).end(event(progress) + event(result(request.json.id ?? 0))),
    );
    const { channel, recorder } = await connect(web.origin);
    await channel.send(call(1));
    expect(recorder.messages).toEqual([progress, result(1)]);
    expect(recorder.origins).toEqual([1, 1]);
  });

  it('tells status and headers before the messages', async () => {
    const web = await serve((_, response) => json(response, result(1)));
    const { channel, recorder } = await connect(web.origin);
    const seen: unknown[] = [];
    await channel.send(call(1), {
      started: (sent) => seen.push(sent.status, sent.headers?.['content-type'], recorder.messages.length),
    });
    expect(seen).toEqual([200, 'application/json', 0]);
  });

  it('reads events however they are cut, in the middle of a character too', async () => {
    const text = `: comment\r\nevent: message\r\ndata: ${JSON.stringify(result(1, { text: 'h\u00e9llo \u{1F600}' }))}\r\n\r\n`;
    const web = await serve((_, response) => {
      stream(response);
      const bytes = Buffer.from(text);
      let at = 0;
      const write = () => {
        if (at === bytes.length) response.end();
        else response.write(bytes.subarray(at, (at += 1)), () => setImmediate(write));
      };
      write();
    });
    const { channel, recorder } = await connect(web.origin);
    await channel.send(call(1));
    expect(recorder.messages).toEqual([result(1, { text: 'h\u00e9llo \u{1F600}' })]);
  });

  it('takes 202 for a notification, and an empty answer of any type', async () => {
    const web = await serve((_, response) => response.writeHead(202).end());
    const { channel, recorder } = await connect(web.origin);
    await expect(
      channel.send({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    ).resolves.toMatchObject({ status: 202 });
    expect(recorder.messages).toEqual([]);
  });

  it('delivers the messages of a batch one by one', async () => {
    const web = await serve((_, response) => json(response, [result(1), 5, result(2)]));
    const { channel, recorder } = await connect(web.origin);
    await channel.send(call(1));
    expect(recorder.messages).toEqual([result(1), result(2)]);
    expect(recorder.noises).toHaveLength(1);
  });

  it('runs many requests at once over few sockets, and keeps them alive', async () => {
    const web = await serve((request, response) => json(response, result(request.json.id ?? 0)));
    const { channel, recorder } = await connect(web.origin);
    for (let round = 0; round < 4; round += 1) {
      await Promise.all(Array.from({ length: 50 }, (_, i) => channel.send(call(round * 50 + i))));
    }
    expect(recorder.messages).toHaveLength(200);
    // undici leaves a socket alone for one turn of the event loop after an answer.
    expect(web.sockets.size).toBeLessThanOrEqual(100);
  });

  it('keeps an event stream that is silent, and one bad event does not spoil it', async () => {
    const web = await serve((_, response) => {
      stream(response).write(': hello\n\ndata: not json\n\ndata: 7\n\nevent: other\ndata: {"a":1}\n\n');
      setTimeout(() => response.end(event(result(1))), 50);
    });
    const { channel, recorder } = await connect(web.origin);
    await channel.send(call(1));
    expect(recorder.noises).toEqual(['not json', '7']);
    expect(recorder.messages).toEqual([result(1)]);
  });

  it('lets go of a stream that stays open after its answer', async () => {
    const web = await serve((_, response) => void stream(response).write(event(result(1))));
    const { channel, recorder } = await connect(web.origin);
    await channel.send(call(1));
    expect(recorder.messages).toEqual([result(1)]);
    await until(() => web.sockets.size === 0);
  });
});

describe('answers that are lost', () => {
  it('defect 9: an event stream that ends without the answer ends the exchange', async () => {
    const web = await serve((_, response) => stream(response).end(event({ jsonrpc: '2.0', method: 'x' })));
    const { channel, recorder } = await connect(web.origin);
    await channel.send(call(1));
    expect(recorder.messages).toHaveLength(1);
  });

  it.each(['text/event-stream', 'application/json'])(
    'defect 9: a server that breaks off in the middle of %s',
    async (type) => {
      const web = await serve((_, response) => {
        response.writeHead(200, { 'content-type': type, 'content-length': '1000' });
        response.write('data: {"half"', () => response.destroy());
      });
      const { channel } = await connect(web.origin);
      expect(await failure(channel.send(call(1)))).toMatchObject({ code: 'closed', label: 'web' });
    },
  );

  it('a server that closes without an answer', async () => {
    const web = await serve((_, response) => void response.destroy());
    const { channel } = await connect(web.origin);
    expect((await failure(channel.send(call(1)))).code).toBe('closed');
  });

  it('close rejects what is under way', async () => {
    const web = await serve((_, response) => void stream(response));
    const { channel } = await connect(web.origin);
    const lost = failure(channel.send(call(1)));
    await until(() => web.requests.length === 1);
    await channel.close();
    expect((await lost).code).toBe('closed');
    expect((await failure(channel.send(call(2)))).code).toBe('closed');
    await until(() => web.sockets.size === 0);
  });
});

describe('cancelling', () => {
  it('defect 12: aborted requests leave no socket open, before and after the answer began', async () => {
    const web = await serve((request, response) => {
      if ((request.json.id ?? 0) % 2 === 0) stream(response).write(': waiting\n\n');
    });
    const { channel } = await connect(web.origin);
    const aborts = Array.from({ length: 20 }, () => new AbortController());
    const lost = aborts.map((abort, id) => failure(channel.send(call(id), { signal: abort.signal })));
    await until(() => web.requests.length === 20);
    expect(web.sockets.size).toBe(20);
    for (const abort of aborts) abort.abort();
    expect((await Promise.all(lost)).map((error) => error.code)).toEqual(
      Array.from({ length: 20 }, () => 'cancelled'),
    );
    await until(() => web.sockets.size === 0);
  });

  it('defect 13: a signal that many requests share gathers no listeners', async () => {
    const web = await serve((request, response) => json(response, result(request.json.id ?? 0)));
    const { channel } = await connect(web.origin);
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    for (let i = 0; i < 40; i += 1)
      await Promise.all(Array.from({ length: 50 }, (_, j) => channel.send(call(i * 50 + j))));
    await new Promise((resolve) => setImmediate(resolve));
    process.removeListener('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('a request that was cancelled before it was sent is not sent', async () => {
    const web = await serve((_, response) => json(response, result(1)));
    const { channel } = await connect(web.origin);
    expect((await failure(channel.send(call(1), { signal: AbortSignal.abort() }))).code).toBe('cancelled');
    expect(web.requests).toEqual([]);
  });
});

describe('statuses', () => {
  it('tells everything about an error answer', async () => {
    const error = { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } };
    const web = await serve((_, response) => json(response, error, 404));
    const { channel } = await connect(`${web.origin}/mcp`);
    const thrown = await failure(channel.send(call(1)));
    expect(thrown).toBeInstanceOf(HttpStatusError);
    expect(thrown).toMatchObject({ status: 404, json: error, code: 'protocol', label: 'web' });
    expect(thrown.message).toContain(`${web.origin}/mcp answered with HTTP status 404 (Session not found)`);
  });

  it('keeps the challenge of a 401', async () => {
    const challenge = 'Bearer resource_metadata="https://x.test/.well-known/oauth-protected-resource"';
    const web = await serve((_, response) =>
      response.writeHead(401, { 'www-authenticate': challenge }).end(),
    );
    const { channel } = await connect(web.origin);
    expect(await failure(channel.send(call(1)))).toMatchObject({
      status: 401,
      code: 'sign-in',
      wwwAuthenticate: challenge,
    });
  });

  it('shows no token, user or query in an error, even when the server repeats them', async () => {
    const web = await serve((request, response) => {
      response
        .writeHead(500, { 'content-type': 'text/plain' })
        .end(`no: ${request.headers.authorization} ${String(request.headers['x-api'])}`);
    });
    const url = `${web.origin.replace('//', '//ann:pass-word@')}/mcp?key=query-secret`;
    const { channel } = await connect(url, { headers: { 'X-Api': 'plain-secret' } });
    const error = await failure(channel.send(call(1), { headers: { authorization: 'Bearer token-secret' } }));
    expect(web.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer token-secret',
      'x-api': 'plain-secret',
    });
    const shown = error.message + JSON.stringify(error) + (error as HttpStatusError).body;
    expect(shown).not.toMatch(/-secret|ann|pass-word/);
    expect(error.message).toContain('[redacted]');
  });

  it('sends the user information of a URL as Basic credentials', async () => {
    const web = await serve((_, response) => json(response, result(1)));
    const { channel } = await connect(web.origin.replace('//', '//ann:p%40ss@'));
    await channel.send(call(1));
    expect(web.requests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('ann:p@ss').toString('base64')}`,
    );
  });

  it('says what came instead of MCP', async () => {
    const web = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
    );
    const { channel } = await connect(web.origin);
    const error = await failure(channel.send(call(1)));
    expect(error.code).toBe('protocol');
    expect(error.message).toContain('"text/html"');
  });

  it.each(['{"half":', 'null'])('refuses the JSON answer %s', async (body) => {
    const web = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    );
    const { channel } = await connect(web.origin);
    expect((await failure(channel.send(call(1)))).code).toBe('protocol');
  });
});

describe('redirects', () => {
  it('are followed within the origin, the message kept', async () => {
    const web = await serve((request, response) => {
      if (request.path === '/mcp') response.writeHead(307, { location: '/mcp/' }).end('moved');
      else json(response, result(1));
    });
    const { channel, recorder } = await connect(`${web.origin}/mcp`);
    await channel.send(call(1));
    expect(recorder.messages).toEqual([result(1)]);
    expect(web.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/mcp', JSON.stringify(call(1))],
      ['POST', '/mcp/', JSON.stringify(call(1))],
    ]);
  });

  it('are not followed to another origin', async () => {
    const other = await serve((_, response) => json(response, result(1)));
    const web = await serve((_, response) =>
      response.writeHead(308, { location: `${other.origin}/x?token=1` }).end(),
    );
    const { channel } = await connect(web.origin, { headers: { authorization: 'Bearer secret-token' } });
    const error = await failure(channel.send(call(1)));
    expect(error).toMatchObject({ status: 308 });
    expect(error.message).toContain(`redirects to ${other.origin}/x, which is not followed`);
    expect(other.requests).toEqual([]);
  });

  it('end somewhere', async () => {
    const web = await serve((request, response) =>
      response.writeHead(307, { location: `${request.path}a` }).end(),
    );
    const { channel } = await connect(`${web.origin}/`);
    expect(await failure(channel.send(call(1)))).toMatchObject({ status: 307 });
    expect(web.requests).toHaveLength(6);
  });
});

describe('proxies', () => {
  it('of the environment carry the exchange, and cancelling closes their sockets too', async () => {
    const web = await serve((request, response) => {
      if (request.json.id === 1) json(response, result(1));
    });
    const tunnels: string[] = [];
    const proxy = await serve(() => {});
    proxy.server.on('connect', ({ url }: { url: string }, socket: Socket) => {
      tunnels.push(url);
      const upstream = tcpConnect(Number(new URL(web.origin).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
    });
    const environment = { HTTP_PROXY: proxy.origin, NO_PROXY: 'other.test' };
    const { channel, recorder } = await connect('http://midspan.test/mcp', { environment });
    await channel.send(call(1));
    expect(recorder.messages).toEqual([result(1)]);
    expect(tunnels).toEqual(['midspan.test:80']);
    const abort = new AbortController();
    const lost = failure(channel.send(call(2), { signal: abort.signal }));
    await until(() => web.requests.length === 2);
    abort.abort();
    expect((await lost).code).toBe('cancelled');
    await until(() => web.sockets.size === 0 && proxy.sockets.size === 0);
  });

  it('are not used for this machine', async () => {
    const web = await serve((_, response) => json(response, result(1)));
    const { channel } = await connect(web.origin, { environment: { HTTP_PROXY: 'http://127.0.0.1:1' } });
    await expect(channel.send(call(1))).resolves.toMatchObject({ status: 200 });
  });
});

describe('resuming', () => {
  it('goes on after a connection that was lost, with the id of the last event', async () => {
    const web = await serve((request, response) => {
      if (request.method === 'POST') {
        stream(response).write(`retry: 20\n${event({ jsonrpc: '2.0', method: 'first' }, 'e1')}`, () =>
          setImmediate(() => response.destroy()),
        );
      } else stream(response).end(event(result(1), 'e2'));
    });
    const { channel, recorder } = await connect(web.origin);
    await channel.send(call(1), { resumable: true, headers: { 'mcp-session-id': 's1' } });
    expect(recorder.messages).toEqual([{ jsonrpc: '2.0', method: 'first' }, result(1)]);
    expect(recorder.origins).toEqual([1, 1]);
    expect(web.requests[1]).toMatchObject({
      method: 'GET',
      headers: { 'last-event-id': 'e1', 'mcp-session-id': 's1' },
    });
    expect(web.requests[1]?.headers['content-type']).toBeUndefined();
  });

  it('defect 16: polls a server that closes early, for as long as it brings events, each time from the last one', async () => {
    let count = 0;
    const web = await serve((_, response) => {
      count += 1;
      if (count < 9) stream(response).end(`id: ${count}\nretry: 20\ndata:\n\n`);
      else stream(response).write(event(result(1), 'end'));
    });
    const { channel, recorder } = await connect(web.origin);
    await channel.send(call(1), { resumable: true });
    expect(recorder.messages).toEqual([result(1)]);
    expect(web.requests.map((request) => request.headers['last-event-id'])).toEqual([
      undefined,
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
    ]);
  });

  it('gives up when attempts bring nothing, and says that the request may have run', async () => {
    const web = await serve((request, response) => {
      if (request.method === 'POST') stream(response).end('id: 1\nretry: 1\ndata:\n\n');
      else response.writeHead(503).end();
    });
    const { channel } = await connect(web.origin);
    const error = await failure(channel.send(call(1), { resumable: true }));
    expect(error.code).toBe('closed');
    expect(error.message).toContain('may have been carried out');
    expect(web.requests).toHaveLength(6);
  });

  it('gives up at once when the server cannot resume', async () => {
    const web = await serve((request, response) => {
      if (request.method === 'POST') stream(response).end('id: 1\nretry: 1\ndata:\n\n');
      else response.writeHead(405).end();
    });
    const { channel } = await connect(web.origin);
    expect((await failure(channel.send(call(1), { resumable: true }))).code).toBe('closed');
    expect(web.requests).toHaveLength(2);
  });

  it('can be cancelled while it waits, and ends with the channel', async () => {
    const web = await serve((_, response) => stream(response).end('id: 1\nretry: 20000\ndata:\n\n'));
    const { channel } = await connect(web.origin);
    const abort = new AbortController();
    const lost = [
      failure(channel.send(call(1), { resumable: true, signal: abort.signal })),
      failure(channel.send(call(2), { resumable: true })),
    ];
    await until(() => web.requests.length === 2);
    abort.abort();
    expect((await lost[0])?.code).toBe('cancelled');
    await channel.close();
    expect((await lost[1])?.code).toBe('closed');
  });

  it('does not happen unasked', async () => {
    const web = await serve((_, response) => stream(response).end('id: 1\nretry: 1\ndata:\n\n'));
    const { channel } = await connect(web.origin);
    await channel.send(call(1));
    expect(web.requests).toHaveLength(1);
  });
});

describe('the GET stream', () => {
  it('defect 11: brings messages of no request, and reports its end and the time to wait', async () => {
    const note = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    const web = await serve((_, response) => stream(response).end(`retry: 250\n${event(note, 'n1')}`));
    const { channel, recorder } = await connect(web.origin);
    const sent = await channel.listen?.({ headers: { 'mcp-session-id': 's' } });
    expect(sent).toMatchObject({ status: 200, retry: 250 });
    expect(recorder.origins).toEqual([undefined]);
    await channel.listen?.({ resumable: true });
    await channel.listen?.();
    expect(web.requests.map(({ method, headers }) => [method, headers['last-event-id']])).toEqual([
      ['GET', undefined],
      ['GET', 'n1'],
      ['GET', undefined],
    ]);
  });

  it('defect 11: reports a server that has none, and one that breaks it', async () => {
    const web = await serve((request, response) => {
      if (web.requests.length === 1) response.writeHead(405).end();
      else stream(response).write(': open\n\n', () => setImmediate(() => response.destroy()));
      void request;
    });
    const { channel } = await connect(web.origin);
    expect(await failure(channel.listen?.() ?? Promise.resolve())).toMatchObject({ status: 405 });
    expect((await failure(channel.listen?.() ?? Promise.resolve())).code).toBe('closed');
  });
});

describe('the end of a session', () => {
  it('defect 15: is a DELETE that never fails', async () => {
    const web = await serve((_, response) => response.writeHead(405).end());
    const { channel } = await connect(web.origin);
    await channel.endSession?.({ 'Mcp-Session-Id': 's1' });
    expect(web.requests[0]).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 's1' } });
    await web.stop();
    await channel.endSession?.({ 'Mcp-Session-Id': 's1' });
  });
});
