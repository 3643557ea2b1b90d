/** One client over a pipe, in both eras at once (mcp-spec 3.1, 3 and 3.4, 35). */
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { LOCAL } from '../../../src/doors/access/keys.ts';
import { openGateway } from '../../../src/doors/mcp/gateway.ts';
import { modernDoor } from '../../../src/doors/mcp/modern.ts';
import { Parks } from '../../../src/doors/mcp/parks.ts';
import { sealOf } from '../../../src/doors/mcp/seal.ts';
import { RUNNING_MAX } from '../../../src/doors/mcp/sessions.ts';
import { type PipeOptions, serveStdio } from '../../../src/doors/mcp/stdio.ts';
import { LINE_BYTES } from '../../../src/mcp/limits.ts';
import type { Owner } from '../../../src/servers/server.ts';
import type { JsonObject } from '../../../src/types.ts';
import { FORMS, META, MODERN, openServers, type Servers, textOf } from './support.ts';

let servers: Servers;
beforeAll(async () => {
  servers = await openServers({ asker: ['asker'], asks: ['raw', 'asks'], honest: ['honest'] });
});
afterAll(() => servers.close());

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

function open({ label, ...options }: Partial<PipeOptions> & { label?: string } = {}) {
  const input = new PassThrough();
  const output = new PassThrough();
  const gone: Owner[] = [];
  const keys = [{ id: 'k', key: Buffer.alloc(32, 7) }];
  const modern = modernDoor({ seal: sealOf(() => keys), parks: new Parks() });
  const endpoint = openGateway(servers.host, { sealKeys: () => keys }).endpoint(label);
  if (endpoint === undefined) throw new Error('no endpoint');
  const served = serveStdio({
    endpoint,
    principal: LOCAL,
    modern,
    input,
    output,
    onGone: (owner) => void gone.push(owner),
    ...options,
  });
  ends.push(async () => {
    input.end();
    await served;
  });
  const heard: JsonObject[] = [];
  let text = '';
  const read = (): void => {
    output.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      // Nothing but MCP is on the pipe.
      for (const line of lines) heard.push(JSON.parse(line) as JsonObject);
    });
  };
  const write = (message: unknown): void =>
    void input.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`);
  const answerTo = (id: unknown): Promise<JsonObject> =>
    vi.waitFor(
      () => {
        const found = heard.find((message) => message['id'] === id && message['method'] === undefined);
        if (found === undefined) throw new Error(`no answer to ${JSON.stringify(id)}`);
        return found;
      },
      { timeout: 20_000, interval: 5 },
    );
  let count = 0;
  const send = (method: string, params: JsonObject = {}, id: string | number = `own-${(count += 1)}`) => {
    write({ jsonrpc: '2.0', id, method, params });
    return id;
  };
  const modernParams = (params: JsonObject = {}, capabilities: JsonObject = {}, more: JsonObject = {}) => ({
    ...params,
    _meta: { [`${META}/protocolVersion`]: MODERN, [`${META}/clientCapabilities`]: capabilities, ...more },
  });
  return {
    input,
    output,
    served,
    gone,
    heard,
    read,
    write,
    send,
    answerTo,
    legacy: (method: string, params?: JsonObject, id?: string | number) => answerTo(send(method, params, id)),
    modern: (method: string, params?: JsonObject, capabilities?: JsonObject, id?: string | number) =>
      answerTo(send(method, modernParams(params, capabilities), id)),
    modernParams,
    initialize: (version = '2025-11-25', capabilities: JsonObject = {}) =>
      answerTo(
        send('initialize', {
          protocolVersion: version,
          capabilities,
          clientInfo: { name: 't', version: '1' },
        }),
      ),
  };
}

function opened(options: Parameters<typeof open>[0] = {}) {
  const pipe = open(options);
  pipe.read();
  return pipe;
}

const SLEEP = { name: 'asker__sleep', arguments: { milliseconds: 60_000 } };
const result = (message: JsonObject): JsonObject => message['result'] as JsonObject;
const cancels = () => servers.heard('asker', 'notifications/cancelled').length;
/** Once the server has heard of so many more calls. */
const reached = (before: number, more = 1) =>
  vi.waitFor(() => expect(servers.heard('asker', 'tools/call').length).toBeGreaterThanOrEqual(before + more));
const callsSoFar = () => servers.heard('asker', 'tools/call').length;

describe('Both eras on one pipe', () => {
  it('A probe binds to nothing: either era goes on after it, and between the requests of the other', async () => {
    const pipe = opened();
    for (let times = 0; times < 2; times += 1) {
      expect(result(await pipe.modern('server/discover'))).toMatchObject({ supportedVersions: [MODERN] });
      if (times === 0)
        expect(result(await pipe.initialize())).toMatchObject({ protocolVersion: '2025-11-25' });
      pipe.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
      expect(result(await pipe.legacy('ping'))).toEqual({});
      const call = { name: 'honest__echo', arguments: { text: 'a' } };
      const [old, young] = await Promise.all([
        pipe.legacy('tools/call', call),
        pipe.modern('tools/call', call),
      ]);
      expect(textOf(result(old))).toBe('a');
      expect(result(old)).not.toHaveProperty('resultType');
      expect(result(young)).toMatchObject({ resultType: 'complete', content: [{ text: 'a' }] });
    }
  });

  it('tells a probe without _meta what it lacks, and a version what we speak', async () => {
    const pipe = opened();
    expect(await pipe.legacy('server/discover')).toMatchObject({ error: { code: -32602 } });
    const params = {
      _meta: { [`${META}/protocolVersion`]: '2099-01-01', [`${META}/clientCapabilities`]: {} },
    };
    expect(await pipe.legacy('tools/list', params)).toMatchObject({
      error: {
        code: -32022,
        data: { supported: [MODERN] },
      },
    });
    expect(await pipe.modern('ping')).toMatchObject({ error: { code: -32601 } });
    expect(await pipe.legacy('tools/list')).toMatchObject({ error: { code: -32600 } });
    // Neither has opened anything.
    expect(result(await pipe.initialize('2025-06-18'))).toMatchObject({ protocolVersion: '2025-06-18' });
    expect(await pipe.initialize()).toMatchObject({ error: { code: -32600 } });
  });

  it('Ids of one era are not those of the other, and cancels find their own', async () => {
    const pipe = opened();
    await pipe.initialize();
    const before = callsSoFar();
    pipe.send('tools/call', SLEEP, 1);
    await reached(before);
    // A modern one with the id '1' is another.
    pipe.send('tools/call', pipe.modernParams(SLEEP), '1');
    await reached(before, 2);
    const cancelled = cancels();
    pipe.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: '1' } });
    await vi.waitFor(() => expect(cancels()).toBe(cancelled + 1));
    pipe.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await vi.waitFor(() => expect(cancels()).toBe(cancelled + 2));
    expect(result(await pipe.legacy('ping'))).toEqual({});
    // What was taken back is not answered, in either era.
    expect(pipe.heard.filter(({ id }) => id === 1 || id === '1')).toEqual([]);
  });

  it('A question of a server is asked in the words of the era of its call', async () => {
    const pipe = opened();
    await pipe.initialize('2025-11-25', FORMS);
    pipe.send('tools/call', { name: 'asks__echo', arguments: {} }, 'old');
    const question = await vi.waitFor(() => {
      const found = pipe.heard.find(({ method }) => method === 'elicitation/create');
      if (found === undefined) throw new Error('not asked');
      return found;
    });
    pipe.write({ jsonrpc: '2.0', id: question['id'], result: { action: 'decline' } });
    expect(textOf(result(await pipe.answerTo('old')))).toContain('decline');
    const call = { name: 'asks__echo', arguments: {} };
    const round = result(await pipe.modern('tools/call', call, FORMS));
    expect(round['resultType']).toBe('input_required');
    const [key = ''] = Object.keys(round['inputRequests'] as JsonObject);
    const { requestState } = round;
    const inputResponses = { [key]: { action: 'cancel' } };
    const last = await pipe.modern(
      'tools/call',
      { ...call, inputResponses, ...(requestState !== undefined && { requestState }) },
      FORMS,
    );
    expect(textOf(result(last))).toContain('cancel');
  });

  it('A modern stream of changes is beside the older session, and is taken back like a call', async () => {
    const pipe = opened();
    await pipe.initialize();
    await pipe.legacy('tools/list');
    pipe.send('subscriptions/listen', pipe.modernParams({ notifications: { toolsListChanged: true } }), 'L');
    const told = (method: string) => pipe.heard.filter((message) => message['method'] === method);
    await vi.waitFor(() => expect(told('notifications/subscriptions/acknowledged')).toHaveLength(1));
    await pipe.legacy('tools/call', { name: 'honest__grow' });
    const changed = 'notifications/tools/list_changed';
    await vi.waitFor(() => expect(told(changed)).toHaveLength(2), 5_000);
    const tagged = told(changed).filter(({ params }) => params !== undefined);
    expect(tagged).toMatchObject([{ params: { _meta: { [`${META}/subscriptionId`]: 'L' } } }]);
    pipe.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'L' } });
    await pipe.legacy('tools/call', { name: 'honest__grow' });
    await vi.waitFor(() => expect(told(changed)).toHaveLength(3), 5_000);
    expect(pipe.heard.filter(({ id }) => id === 'L')).toEqual([]);
  });
});

describe('Lines', () => {
  it.each<[string, string, number]>([
    ['not JSON', '{"jsonrpc":\n', -32700],
    ['nested too deeply', `${'['.repeat(10_000)}\n`, -32700],
    ['a number', '7\n', -32600],
    ['no JSON-RPC', '{"id":1,"method":"ping"}\n', -32600],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600],
  ])('%s: is answered with an error, and the next one is read', async (_what, line, code) => {
    const pipe = opened();
    await pipe.initialize();
    pipe.write(line);
    expect(await pipe.answerTo(null)).toMatchObject({ error: { code } });
    expect(result(await pipe.legacy('ping'))).toEqual({});
  });

  it('may be empty, end in CRLF, come in pieces, or many at once', async () => {
    const pipe = opened();
    await pipe.initialize();
    pipe.write('\n\r\n  \n{"jsonrpc":"2.0","id":"ä-1","method":"pi');
    pipe.write(
      'ng"}\r\n{"jsonrpc":"2.0","id":"two","method":"ping"}\n{"jsonrpc":"2.0","id":"three","method":"ping"}\n',
    );
    const bytes = Buffer.from('{"jsonrpc":"2.0","id":"ü","method":"ping"}\n');
    const middle = bytes.indexOf(0xbc);
    pipe.input.write(bytes.subarray(0, middle));
    pipe.input.write(bytes.subarray(middle));
    for (const id of ['ä-1', 'two', 'three', 'ü']) expect(result(await pipe.answerTo(id))).toEqual({});
  });

  it('that are too long end the pipe, with a word about it', async () => {
    const pipe = opened();
    await pipe.initialize();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (let bytes = 0; bytes <= LINE_BYTES; bytes += piece.length) pipe.input.write(piece);
    await pipe.served;
    expect(pipe.heard.at(-1)).toMatchObject({ id: null, error: { code: -32600 } });
  });

  it('hold batches in 2025-03-26', async () => {
    const pipe = opened();
    await pipe.initialize('2025-03-26');
    const ping = (id: string) => ({ jsonrpc: '2.0', id, method: 'ping' });
    pipe.write([ping('a'), { jsonrpc: '2.0', method: 'notifications/anything' }, ping('b'), 7]);
    for (const id of ['a', 'b']) expect(result(await pipe.answerTo(id))).toEqual({});
    expect(await pipe.answerTo(null)).toMatchObject({ error: { code: -32600 } });
    pipe.heard.length = 0;
    pipe.write([]);
    expect(await pipe.answerTo(null)).toMatchObject({ error: { code: -32600 } });
  });
});

describe('The end of a pipe', () => {
  it('sdk.md 34: the end of the input in the middle of calls cancels them, and everything ends', async () => {
    const pipe = opened();
    await pipe.initialize();
    const before = callsSoFar();
    const cancelled = cancels();
    pipe.send('tools/call', SLEEP);
    pipe.send('tools/call', pipe.modernParams(SLEEP));
    pipe.send('subscriptions/listen', pipe.modernParams({ notifications: {} }));
    await reached(before, 2);
    pipe.input.end();
    await pipe.served;
    await vi.waitFor(() => expect(cancels()).toBe(cancelled + 2));
    expect(pipe.gone).toMatchObject([{ principal: 'local' }, { principal: 'local', client: 'local' }]);
    const [session] = pipe.gone;
    expect(session?.client).not.toBe('local');
  });

  it('answers what was answered before it', async () => {
    const pipe = opened();
    await pipe.initialize();
    pipe.send('ping', {}, 'last');
    pipe.input.end();
    expect(result(await pipe.answerTo('last'))).toEqual({});
  });

  it('gives up the questions that its client was asked', async () => {
    const pipe = opened();
    await pipe.initialize('2025-11-25', FORMS);
    const before = servers.heard('asks', 'notifications/cancelled').length;
    pipe.send('tools/call', { name: 'asks__echo', arguments: {} });
    await vi.waitFor(() => expect(pipe.heard.at(-1)).toMatchObject({ method: 'elicitation/create' }));
    pipe.input.end();
    await pipe.served;
    await vi.waitFor(() => expect(servers.heard('asks', 'notifications/cancelled')).toHaveLength(before + 1));
  });

  it.each(['signal', 'broken input', 'broken output'])('comes with a %s as well', async (how) => {
    const given = new AbortController();
    const pipe = opened({ signal: given.signal });
    await pipe.initialize();
    if (how === 'signal') given.abort();
    else if (how === 'broken input') pipe.input.destroy(new Error('broken'));
    else pipe.output.destroy(new Error('EPIPE'));
    await pipe.served;
    // What comes later is nobody's, and breaks nothing.
    pipe.output.emit('error', new Error('again'));
    pipe.input.emit('error', new Error('again'));
  });

  it('comes at once where it has ended before', async () => {
    const given = new AbortController();
    given.abort();
    await opened({ signal: given.signal }).served;
  });
});

describe('Bounds of a pipe', () => {
  it('A client that does not read is gone once too much waits for it', async () => {
    const pipe = open({ unread: 200_000 });
    pipe.send('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
    const before = callsSoFar();
    const cancelled = cancels();
    pipe.send('tools/call', SLEEP);
    await reached(before);
    const text = 'x'.repeat(50_000);
    for (let times = 0; times < 10; times += 1)
      pipe.send('tools/call', { name: 'honest__echo', arguments: { text } });
    await pipe.served;
    await vi.waitFor(() => expect(cancels()).toBe(cancelled + 1));
    expect(pipe.output.writableLength).toBeLessThan(400_000);
  });

  it.each(['older', 'newer'])('So many requests of the %s era run at a time', async (era) => {
    const pipe = opened();
    await pipe.initialize();
    const params = era === 'newer' ? pipe.modernParams(SLEEP) : SLEEP;
    for (let count = 0; count < RUNNING_MAX; count += 1) pipe.send('tools/call', params, count);
    pipe.send('tools/call', params, 'one more');
    expect(await pipe.answerTo('one more')).toMatchObject({
      error: { message: expect.stringContaining('limit') as string },
    });
    const before = pipe.heard.length;
    pipe.send('tools/call', params, 0);
    expect(await pipe.answerTo(0)).toMatchObject({ error: { code: -32600 } });
    expect(pipe.heard.length).toBe(before + 1);
  });
});

it('One server may be served as it is', async () => {
  const pipe = opened({ label: 'honest' });
  expect(result(await pipe.modern('server/discover'))).toMatchObject({
    instructions: 'Use echo to hear yourself.',
  });
  expect(result(await pipe.initialize())).toMatchObject({ instructions: 'Use echo to hear yourself.' });
  expect(textOf(result(await pipe.legacy('tools/call', { name: 'echo', arguments: { text: 'a' } })))).toBe(
    'a',
  );
});
