import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  BODY_BYTES,
  COMPRESSION_RATIO,
  CONNECTIONS,
  ERROR_BODY_BYTES,
  EVENT_ID_CHARACTERS,
  EVENTS_PER_REQUEST,
  HEADER_BYTES,
  REDIRECTS,
  RESUME_ATTEMPTS,
} from '../../src/mcp/limits.ts';
import { failure, fixture, until } from './support.ts';
import { call, connect, event, json, result, serve, stopAll, stream } from './web.ts';

vi.mock('../../src/mcp/limits.ts', async (original) => ({
  ...(await original<object>()),
  BODY_BYTES: 4 * 1024 * 1024,
  EVENT_BYTES: 1024 * 1024,
  BODY_IDLE_MS: 150,
  SWEEP_MS: 20,
  RETRY_MAX_MS: 50,
}));

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  await stopAll();
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

/** A server on the bare socket; its origin. */
async function bare(onSocket: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.once('data', () => onSocket(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}
const JSON_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

/** Writes until the socket is gone. */
function flood(socket: Socket, chunk: string | Buffer): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(chunk));
    if (!socket.destroyed) socket.once('drain', write);
  };
  write();
}

async function sendTo(origin: string) {
  const { channel, recorder } = await connect(origin);
  return { error: await failure(channel.send(call(1))), recorder };
}

describe('floods', () => {
  it('of headers', async () => {
    const { error } = await sendTo(
      await bare((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        flood(socket, `x-flood: ${'h'.repeat(HEADER_BYTES / 4)}\r\n`);
      }),
    );
    expect(error).toMatchObject({ code: 'limit', label: 'web' });
    await until(() => sockets.size === 0);
  });

  it('of a JSON body', async () => {
    const { error } = await sendTo(
      await bare((socket) => {
        socket.write(`${JSON_HEAD}transfer-encoding: chunked\r\n\r\n`);
        flood(socket, `10000\r\n${'x'.repeat(0x10000)}\r\n`);
      }),
    );
    expect(error.code).toBe('limit');
    expect(error.message).toContain(String(BODY_BYTES));
    await until(() => sockets.size === 0);
  });

  it('of an error page', async () => {
    const { error } = await sendTo(
      await bare((socket) => {
        socket.write('HTTP/1.1 500 Broken\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n');
        flood(socket, `10000\r\n${'e'.repeat(0x10000)}\r\n`);
      }),
    );
    expect(error).toMatchObject({ status: 500 });
    expect((error as unknown as { body: string }).body.length).toBeLessThanOrEqual(ERROR_BODY_BYTES);
    await until(() => sockets.size === 0);
  });

  it.each(['data: xxxx', ': a comment that does not end ', 'xxxxxxxx'])(
    'of an event that does not end: %s',
    async (text) => {
      const { error } = await sendTo(
        await bare((socket) => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
          flood(socket, text.repeat(1000));
        }),
      );
      expect(error.code).toBe('limit');
      await until(() => sockets.size === 0);
    },
  );

  it('of events', async () => {
    const web = await serve((_, response) => {
      stream(response).write(event({ jsonrpc: '2.0', method: 'x' }).repeat(EVENTS_PER_REQUEST + 1));
    });
    const { channel, recorder } = await connect(web.origin);
    expect((await failure(channel.send(call(1)))).code).toBe('limit');
    expect(recorder.messages).toHaveLength(EVENTS_PER_REQUEST);
    await until(() => web.sockets.size === 0);
  });

  it('of carriage returns are read in linear time', async () => {
    const { eventStream } = await import('../../src/servers/event-stream.ts');
    const scanned = vi.spyOn(String.prototype, 'indexOf');
    const events: string[] = [];
    const feed = eventStream({
      onEvent: ({ data }) => events.push(data),
      error: (code, what) => Object.assign(new Error(what), { code }) as never,
    });
    feed(Buffer.from(`data: 1\r\rdata: 2\r\n\r\ndata: 3\r`));
    feed(Buffer.from('\n\r'));
    feed(Buffer.from('\r'.repeat(10_000)));
    const calls = scanned.mock.calls.filter(([needle]) => needle === '\n').length;
    scanned.mockRestore();
    expect(events).toEqual(['1', '2', '3']);
    expect(calls).toBeLessThan(10_100);
  });
});

describe('compression', () => {
  const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const;

  it.each(Object.entries(encoders))(
    '%s is understood, in JSON and in event streams',
    async (encoding, encode) => {
      const web = await serve((request, response) => {
        const isJson = request.json.id === 1;
        const text = isJson
          ? JSON.stringify(result(1))
          : event({ jsonrpc: '2.0', method: 'p' }) + event(result(2));
        response.writeHead(200, {
          'content-encoding': encoding,
          'content-type': isJson ? 'application/json' : 'text/event-stream',
        });
        response.end(encode(text));
      });
      const { channel, recorder } = await connect(web.origin);
      await channel.send(call(1));
      await channel.send(call(2));
      expect(web.requests[0]?.headers['accept-encoding']).toContain(encoding);
      expect(recorder.messages).toEqual([result(1), { jsonrpc: '2.0', method: 'p' }, result(2)]);
      expect(recorder.origins).toEqual([1, 2, 2]);
    },
  );

  it.each(
    Object.entries(encoders).flatMap(([encoding, encode]) =>
      [' ', '\n', 'data: x\n\n'].map((filling) => [encoding, filling, encode] as const),
    ),
  )('a %s bomb of %j is stopped by its ratio', async (encoding, filling, encode) => {
    const bomb = encode(Buffer.alloc(BODY_BYTES - 1024, filling));
    expect(bomb.length * COMPRESSION_RATIO).toBeLessThan(BODY_BYTES);
    const type = filling === ' ' ? 'application/json' : 'text/event-stream';
    const web = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': encoding, 'content-type': type }).end(bomb),
    );
    const { channel } = await connect(web.origin);
    const error = await failure(channel.send(call(1)));
    expect(error.code).toBe('limit');
    // A bomb of whole events may meet their number first.
    if (!filling.startsWith('data')) expect(error.message).toContain(`${COMPRESSION_RATIO} times`);
  });

  it.each([
    ['damaged', 'gzip', Buffer.from('this is not gzip')],
    ['cut short', 'gzip', gzipSync(JSON.stringify(result(1))).subarray(0, 20)],
    ['not offered', 'zstd', Buffer.from('anything')],
    ['of an encoding that is none', 'constructor', Buffer.from('anything')],
  ])('a body that is %s is refused', async (_, encoding, body) => {
    const web = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': encoding, 'content-type': 'application/json' }).end(body),
    );
    const { channel } = await connect(web.origin);
    expect((await failure(channel.send(call(1)))).code).toBe('protocol');
  });
});

describe('time', () => {
  it('a body that stops in the middle', async () => {
    const { error } = await sendTo(
      await bare((socket) => socket.write(`${JSON_HEAD}content-length: 100\r\n\r\n{"a":`)),
    );
    expect(error.code).toBe('timeout');
    expect(error.message).toContain('fell silent');
    await until(() => sockets.size === 0);
  });

  it('headers or a body that trickle without end', async () => {
    for (const head of ['HTTP/1.1 200 OK\r\n', `${JSON_HEAD}content-length: 100000\r\n\r\n`]) {
      const origin = await bare((socket) => {
        socket.write(head);
        const timer = setInterval(() => socket.write('x'), 20);
        socket.once('close', () => clearInterval(timer));
      });
      const { channel } = await connect(origin, { exchangeTimeout: 400 });
      const error = await failure(channel.send(call(1)));
      expect(error.code).toBe('timeout');
      expect(error.message).toContain('did not complete');
    }
    await until(() => sockets.size === 0);
  });

  it('defect 14: an event stream may be silent for longer than a body, and longer than an exchange', async () => {
    const web = await serve((_, response) => {
      stream(response);
      setTimeout(() => response.end(event(result(1))), 500);
    });
    const { channel, recorder } = await connect(web.origin, { exchangeTimeout: 300 });
    await channel.send(call(1));
    expect(recorder.messages).toEqual([result(1)]);
  });

  it('an endless event stream in answer to a notification is let go', async () => {
    const web = await serve(
      (_, response) => void stream(response).write(event({ jsonrpc: '2.0', method: 'x' })),
    );
    const { channel } = await connect(web.origin, { exchangeTimeout: 300 });
    expect((await failure(channel.send({ jsonrpc: '2.0', method: 'notifications/x' }))).code).toBe('timeout');
    await until(() => web.sockets.size === 0);
  });
});

describe('numbers', () => {
  it('of sockets: more exchanges than that wait for a place', async () => {
    const answers: (() => void)[] = [];
    const web = await serve((request, response) => {
      answers.push(() => json(response, result(request.json.id!)));
    });
    const { channel, recorder } = await connect(web.origin);
    const sends = Array.from({ length: CONNECTIONS + 20 }, (_, id) => channel.send(call(id + 1)));
    await until(() => answers.length === CONNECTIONS);
    expect(web.sockets.size).toBe(CONNECTIONS);
    while (recorder.messages.length < sends.length) {
      for (const answer of answers.splice(0)) answer();
      await until(() => answers.length > 0 || recorder.messages.length === sends.length);
    }
    await Promise.all(sends);
    expect(web.sockets.size).toBeLessThanOrEqual(CONNECTIONS);
  });

  it('of redirects: one more is not followed', async () => {
    const web = await serve((request, response) => {
      const left = Number(request.path.slice(1));
      if (left === 0) json(response, result(1));
      else response.writeHead(307, { location: `/${left - 1}` }).end();
    });
    for (const allowed of [REDIRECTS, REDIRECTS + 1]) {
      const { channel } = await connect(`${web.origin}/${allowed}`);
      const sent = channel.send(call(1));
      if (allowed === REDIRECTS) await sent;
      else expect(await failure(sent)).toMatchObject({ status: 307 });
    }
  });

  it('of attempts to resume an answer that bring nothing', async () => {
    const web = await serve((request, response) => {
      if (request.method === 'POST') stream(response).end('id: 1\nretry: 1\ndata:\n\n');
      else response.writeHead(503).end();
    });
    const { channel } = await connect(web.origin);
    expect((await failure(channel.send(call(1), { resumable: true }))).code).toBe('closed');
    expect(web.requests.filter(({ method }) => method === 'GET')).toHaveLength(RESUME_ATTEMPTS);
  });

  it.each([
    [EVENT_ID_CHARACTERS, 1],
    [EVENT_ID_CHARACTERS + 1, 0],
  ])('of characters of an event id: with %i the answer is resumed %i times', async (length, times) => {
    const web = await serve((request, response) => {
      if (request.method === 'POST') stream(response).end(`id: ${'i'.repeat(length)}\nretry: 1\ndata:\n\n`);
      else stream(response).end(event(result(1)));
    });
    const { channel } = await connect(web.origin);
    await channel.send(call(1), { resumable: true });
    expect(web.requests.filter(({ method }) => method === 'GET')).toHaveLength(times);
  });
});

describe('broken bytes', () => {
  it.each(['application/json', 'text/event-stream'])('half a character in %s', async (type) => {
    const bytes = Buffer.concat([
      Buffer.from('data: {"a":"'),
      Buffer.from([0xf0, 0x9f]),
      Buffer.from('"}\n\n'),
    ]);
    const web = await serve((_, response) => response.writeHead(200, { 'content-type': type }).end(bytes));
    const { channel, recorder } = await connect(web.origin);
    const error = await failure(channel.send(call(1)));
    expect(error.code).toBe('protocol');
    expect(error.message).toContain('not UTF-8');
    expect(recorder.messages).toEqual([]);
  });

  it('a NUL byte in an event is no message', async () => {
    const web = await serve((_, response) =>
      stream(response).end(`data: {"a":"\u0000"}\n\n${event(result(1))}`),
    );
    const { channel, recorder } = await connect(web.origin);
    await channel.send(call(1));
    expect(recorder.messages).toEqual([result(1)]);
    expect(recorder.noises).toEqual(['{"a":""}']);
  });

  it('an event id that cannot be sent back', async () => {
    const web = await serve((request, response) => {
      if (request.method === 'POST')
        stream(response).end(`id: \u00e9\u0001${'i'.repeat(5000)}\nretry: 1\ndata:\n\n`);
    });
    const { channel } = await connect(web.origin);
    await channel.send(call(1), { resumable: true });
    expect(web.requests).toHaveLength(1);
  });

  it('statuses that announce another one are passed over, and one that changes the protocol is an error', async () => {
    const body = JSON.stringify(result(1));
    const { channel, recorder } = await connect(
      await bare((socket) =>
        socket.write(
          `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${JSON_HEAD}content-length: ${body.length}\r\n\r\n${body}`,
        ),
      ),
    );
    await channel.send(call(1));
    expect(recorder.messages).toEqual([result(1)]);
    const { error } = await sendTo(
      await bare((socket) =>
        socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      ),
    );
    expect(error.code).toBe('closed');
    await until(() => sockets.size === 1);
  });

  it.each([
    ['a control character in a session id', 'HTTP/1.1 200 OK\r\nmcp-session-id: a\u0001b\r\n\r\n'],
    ['two lengths', `${JSON_HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
    ['a length that is none', `${JSON_HEAD}content-length: -2\r\n\r\n{}`],
    ['half an answer', `${JSON_HEAD}content-length: 10\r\n\r\n{}`],
  ])('%s is an error, and its socket is closed', async (_what, text) => {
    const { error } = await sendTo(await bare((socket) => socket.end(text)));
    expect(error).toMatchObject({ code: 'closed', label: 'web' });
    await until(() => sockets.size === 0);
  });

  it('more than the length says does not reach the next request', async () => {
    const body = JSON.stringify(result(1));
    let requests = 0;
    const { channel, recorder } = await connect(
      await bare((socket) => {
        const answer = (): void => {
          requests += 1;
          const own = JSON.stringify(result(requests));
          socket.write(
            `${JSON_HEAD}content-length: ${own.length}\r\n\r\n${own}${requests === 1 ? `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}` : ''}`,
          );
        };
        socket.on('data', answer);
        answer();
      }),
    );
    await channel.send(call(1));
    // Whatever becomes of the socket, the second answer is the second request's own or an error.
    await channel.send(call(2)).catch(() => undefined);
    expect(recorder.messages.filter(({ id }) => id === 1)).toHaveLength(1);
  });

  it('a wait of years before an answer is resumed is cut', async () => {
    const web = await serve((request, response) => {
      if (request.method === 'POST') stream(response).end('id: 1\nretry: 99999999999\ndata:\n\n');
      else stream(response).end(event(result(1)));
    });
    const { channel, recorder } = await connect(web.origin);
    await channel.send(call(1), { resumable: true });
    expect(recorder.messages).toEqual([result(1)]);
  });

  it('JSON nested too deeply ends the exchange, in a body, an event and an error', async () => {
    const deep = `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const web = await serve((request, response) => {
      if (request.json.id === 1) response.writeHead(200, { 'content-type': 'application/json' }).end(deep);
      else if (request.json.id === 2) stream(response).write(`data: ${deep}\n\n`);
      else response.writeHead(400, { 'content-type': 'application/json' }).end(deep);
    });
    const { channel, recorder } = await connect(web.origin);
    for (const id of [1, 2]) {
      const error = await failure(channel.send(call(id)));
      expect(error).toMatchObject({ code: 'limit', label: 'web' });
      expect(error.message).toContain('nested deeper');
    }
    expect(await failure(channel.send(call(3)))).toMatchObject({ status: 400, json: undefined });
    expect(recorder.messages).toEqual([]);
  });

  it('something that is not HTTP', async () => {
    const { error } = await sendTo(await bare((socket) => socket.end('220 smtp ready\r\n')));
    expect(error.code).toBe('closed');
  });
});

describe('servers that cannot be reached', () => {
  it('nothing listens', async () => {
    const web = await serve(() => {});
    const { origin } = web;
    await web.stop();
    const { error } = await sendTo(`${origin}/mcp?token=secret-token`);
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain(`nothing listens at ${origin}/mcp (ECONNREFUSED)`);
    expect(error.message).not.toContain('secret-token');
  });

  it('the host is not known', async () => {
    const { error } = await sendTo('http://no-such-host.invalid/mcp');
    expect(error.code).toBe('unreachable');
  });

  it('TLS that is not spoken', async () => {
    const web = await serve((_, response) => json(response, result(1)));
    const { error } = await sendTo(web.origin.replace('http:', 'https:'));
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain('does not speak TLS');
  });

  it('TLS with a certificate that nobody vouches for', async () => {
    const pem = readFileSync(fixture('self-signed.pem'));
    const server = createTlsServer({ key: pem, cert: pem }, (_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    servers.push(server);
    const { error } = await sendTo(`https://127.0.0.1:${(server.address() as { port: number }).port}`);
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain('is not trusted');
    expect(error.message).toContain('NODE_EXTRA_CA_CERTS');
  });

  it('a URL or header that cannot be used', async () => {
    expect((await failure(connect('ftp://x'))).code).toBe('config');
    const web = await serve((_, response) => json(response, result(1)));
    const { channel } = await connect(web.origin, { headers: { 'x-bad': 'secret\nvalue' } });
    const error = await failure(channel.send(call(1)));
    expect(error.code).toBe('config');
    expect(error.message).not.toContain('secret');
  });
});
