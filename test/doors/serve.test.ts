/** Who may come in: over real sockets, before a real server. */
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ServeOptions, type Served, serve } from '../../src/doors/index.ts';
import { openHost } from '../../src/index.ts';

const HONEST = fileURLToPath(new URL('../fixtures/servers/honest.mjs', import.meta.url));
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function served(options: ServeOptions = {}): Promise<Served> {
  const server = { command: process.execPath, args: [HONEST] };
  const config = { policy: 'allow', trust: { mode: 'off' }, mcpServers: { one: server, two: server } };
  const host = await openHost(config, {
    env: { ...process.env },
    lists: 'all',
    readResult: false,
    store: false,
  });
  ends.push(() => host.close());
  const made = await serve(host, { port: 0, ...options });
  ends.push(() => made.close({ within: 100 }));
  return made;
}

interface Asking {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Any request, with any Host. */
function ask(url: string, { path, method = 'POST', headers = {}, body }: Asking) {
  const at = new URL(path ?? '/mcp', url);
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>(
    (resolve, reject) => {
      const request = send(at, { method, headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      });
      request.on('error', reject);
      request.end(body);
    },
  );
}

const listing = (headers: Record<string, string> = {}): Asking => ({
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
    ...headers,
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } }),
});
const bearer = (token: string | undefined): Record<string, string> => ({ authorization: `Bearer ${token}` });
const namesIn = (body: string): string[] =>
  (JSON.parse(body) as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);

describe('the token', () => {
  it('is made once, kept as a digest, and asked for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'midspan-serve-'));
    ends.push(() => rmSync(folder, { recursive: true }));
    const first = await served({ folder });
    expect(first.token).toMatch(/^msk_/);
    expect(readFileSync(join(folder, 'gateway.json'), 'utf8')).not.toContain(first.token);
    expect((await ask(first.url, listing(bearer(first.token)))).status).toBe(200);
    const again = await served({ folder });
    expect(again.token).toBeUndefined();
    expect((await ask(again.url, listing(bearer(first.token)))).status).toBe(200);
    const other = await served({ folder, newToken: true });
    expect(other.token).not.toBe(first.token);
    expect((await ask(other.url, listing(bearer(first.token)))).status).toBe(401);
  });

  it.each([
    ['none', {}],
    ['another', bearer('msk_other')],
    ['another scheme', { authorization: 'Basic bXNr' }],
    ['an endless one', bearer('x'.repeat(20_000))],
  ])('%s is refused, and says how it is to be', async (_what, headers) => {
    const { url } = await served();
    const { status, headers: answered } = await ask(url, listing(headers));
    expect(status).toBe(401);
    expect(answered['www-authenticate']).toMatch(/^Bearer/);
  });

  it('is not needed with --auth none, which only this machine can have', async () => {
    const { url } = await served({ auth: 'none' });
    expect((await ask(url, listing())).status).toBe(200);
    await expect(served({ auth: 'none', host: '0.0.0.0' })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('keys', () => {
  const keys = [
    { name: 'ci', key: 'a-key-for-the-tests', servers: ['one'], tools: { allow: ['one/echo'] } },
    { name: 'all', key: 'another-key-for-tests' },
  ];

  it('show each client what is for it alone', async () => {
    const { url } = await served({ keys });
    const ci = await ask(url, listing(bearer('a-key-for-the-tests')));
    expect(namesIn(ci.body)).toEqual(['one__echo']);
    expect(namesIn((await ask(url, listing(bearer('another-key-for-tests')))).body).length).toBeGreaterThan(
      10,
    );
    const two = await ask(url, { ...listing(bearer('a-key-for-the-tests')), path: '/mcp/two' });
    expect(two.status).toBe(404);
    expect(two.body).not.toContain('"two"]');
  });

  it('may change while clients are connected', async () => {
    const made = await served({ keys });
    made.configure({ keys: [{ name: 'new', key: 'a-key-that-is-new-here' }] });
    expect((await ask(made.url, listing(bearer('a-key-for-the-tests')))).status).toBe(401);
    expect((await ask(made.url, listing(bearer('a-key-that-is-new-here')))).status).toBe(200);
    expect((await ask(made.url, listing(bearer(made.token)))).status).toBe(200);
  });
});

describe('an issuer', () => {
  const AUDIENCE = 'https://gateway.example.com/mcp';

  async function issuer() {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' };
    let isUp = true;
    const server = createServer((request, response) => {
      const { port } = server.address() as AddressInfo;
      if (!isUp) {
        response.writeHead(500).end();
        return;
      }
      const body = request.url?.endsWith('/jwks')
        ? { keys: [jwk] }
        : { issuer: `http://127.0.0.1:${port}`, jwks_uri: `http://127.0.0.1:${port}/jwks` };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => server.close());
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const token = (
      payload: JWTPayload = {},
      more: { kid?: string; key?: typeof privateKey | Uint8Array; alg?: string } = {},
    ) =>
      new SignJWT({ iss: address, aud: AUDIENCE, sub: 'ada', ...payload })
        .setProtectedHeader({ alg: more.alg ?? 'ES256', kid: more.kid ?? 'k1' })
        .setIssuedAt()
        .setExpirationTime(payload.exp ?? '5m')
        .sign(more.key ?? privateKey);
    return { address, token, down: () => (isUp = false) };
  }

  it('lets those in whom it has given a token for us', async () => {
    const { address, token } = await issuer();
    const { url, token: local } = await served({
      auth: { issuer: address, audience: AUDIENCE, resource: AUDIENCE },
    });
    expect(local).toBeUndefined();
    expect((await ask(url, listing(bearer(await token())))).status).toBe(200);
    const metadata = await ask(url, { path: '/.well-known/oauth-protected-resource/mcp', method: 'GET' });
    expect(JSON.parse(metadata.body)).toMatchObject({
      resource: AUDIENCE,
      authorization_servers: [address],
    });
    const missing = await ask(url, listing());
    expect([missing.status, missing.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('resource_metadata='),
    ]);
  });

  it('lets nobody else in', async () => {
    const { address, token } = await issuer();
    const { url } = await served({ auth: { issuer: address, audience: AUDIENCE, resource: AUDIENCE } });
    const stranger = await generateKeyPair('ES256');
    const secret = new TextEncoder().encode('x'.repeat(32));
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(
      JSON.stringify({ iss: address, aud: AUDIENCE, sub: 'ada', exp: 9_999_999_999 }),
    ).toString('base64url')}.`;
    for (const wrong of [
      await token({ aud: 'https://other.example.com' }),
      await token({ iss: 'https://other.example.com' }),
      await token({ exp: 1 }),
      await token({}, { key: stranger.privateKey }),
      await token({}, { kid: 'k2', key: stranger.privateKey }),
      await token({}, { alg: 'HS256', key: secret }),
      none,
    ])
      expect((await ask(url, listing(bearer(wrong)))).status).toBe(401);
  });

  it('that is down is no fault of the token', async () => {
    const { address, token, down } = await issuer();
    const { url } = await served({ auth: { issuer: address, audience: AUDIENCE, resource: AUDIENCE } });
    const fine = await token();
    down();
    expect((await ask(url, listing(bearer(fine)))).status).toBe(503);
  });
});

describe('a stranger', () => {
  it.each([
    ['a name that was resolved to us', { host: 'evil.example' }, 403],
    ['a page of elsewhere', { origin: 'https://evil.example' }, 403],
    ['a page of no origin', { origin: 'null' }, 403],
    ['our own name', { host: 'localhost:7717' }, 200],
    ['a page that is configured', { origin: 'https://app.example.com' }, 200],
  ])('by %s', async (_what, headers, status) => {
    const { url } = await served({ auth: 'none', origins: ['https://app.example.com'] });
    expect((await ask(url, listing(headers as Record<string, string>))).status).toBe(status);
  });

  it('of a configured page is told what its browser must know', async () => {
    const { url } = await served({ origins: ['https://app.example.com'] });
    const preflight = await ask(url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, mcp-method, mcp-param-region, x-evil',
      },
    });
    expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([
      204,
      'authorization, mcp-method, mcp-param-region',
    ]);
  });

  it.each([
    ['another path', { path: '/nothing' }, 404],
    ['a server that is not there', { path: '/mcp/three' }, 404],
    ['a path that is no UTF-8', { path: '/mcp/%E0%A4%A' }, 400],
    ['another method', { method: 'PUT' }, 405],
    ['another type', { headers: { 'content-type': 'text/plain', accept: '*/*' } }, 415],
    [
      'types that are not ours',
      { headers: { 'content-type': 'application/json', accept: 'text/html' } },
      406,
    ],
    ['no JSON', { headers: { 'content-type': 'application/json' }, body: '{' }, 400],
    ['too much', { headers: { 'content-type': 'application/json' }, body: 'x'.repeat(5_000_000) }, 413],
  ])('with %s', async (_what, asking, status) => {
    const { url } = await served({ auth: 'none' });
    expect((await ask(url, asking)).status).toBe(status);
    expect((await ask(url, listing())).status).toBe(200);
  });

  it('that speaks no HTTP, or never ends, is let go', async () => {
    const { url } = await served({ auth: 'none' });
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    ends.push(() => socket.destroy());
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', () => undefined);
    socket.write('\u0000\u0001 hello\r\n\r\n');
    await vi.waitFor(() => expect(text).toContain('400'));
    expect((await ask(url, listing())).status).toBe(200);
  });
});

it('more than a principal may have is refused with when to come again', async () => {
  const { url } = await served({ auth: 'none', limits: { perMinute: 3 } });
  const answers = [];
  for (let count = 0; count < 5; count += 1) answers.push(await ask(url, listing()));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
  expect(Number(answers[3]?.headers['retry-after'])).toBeGreaterThan(0);
});

it('one session more than a principal may have ends the one that was quiet longest', async () => {
  const { url } = await served({ auth: 'none', limits: { sessions: 2 } });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = (method: string, params: object = {}) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const opening = body('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} });
  const sessions: string[] = [];
  for (let count = 0; count < 3; count += 1)
    sessions.push(String((await ask(url, { headers, body: opening })).headers['mcp-session-id']));
  const answers = await Promise.all(
    sessions.map((id) => ask(url, { headers: { ...headers, 'mcp-session-id': id }, body: body('ping') })),
  );
  expect(answers.map(({ status }) => status)).toEqual([404, 200, 200]);
});

it('says that it is alive to anybody, and what is ready to those who may know', async () => {
  const made = await served();
  expect((await ask(made.url, { path: '/healthz', method: 'GET' })).body).toBe('{"alive":true}\n');
  const anybody = await ask(made.url, { path: '/readyz', method: 'GET' });
  expect(JSON.parse(anybody.body)).toEqual({ ready: true, servers: { ready: 2 } });
  const known = await ask(made.url, { path: '/readyz', method: 'GET', headers: bearer(made.token) });
  expect(JSON.parse(known.body)).toMatchObject({ states: { one: 'ready', two: 'ready' } });
});

it('lets what runs come to its end, and takes nothing new, when it is closed', async () => {
  const made = await served({ auth: 'none' });
  const call = (id: number): Asking => ({
    headers: {
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'one__slow',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: {
        name: 'one__slow',
        arguments: { steps: 3, delay: 100 },
        _meta: { ...META, progressToken: id },
      },
    }),
  });
  const running = ask(made.url, call(1));
  await vi.waitFor(async () => {
    const { body } = await ask(made.url, { path: '/readyz', method: 'GET' });
    expect(body).toContain('ready');
  });
  const closed = made.close();
  await expect(ask(made.url, call(2))).rejects.toThrow();
  await closed;
  expect((await running).body).toContain('"result"');
});

it('serves HTTP+SSE to those who ask for nothing newer, only where it is asked for', async () => {
  const { url } = await served({ auth: 'none' });
  expect((await ask(url, { path: '/sse', method: 'GET' })).status).toBe(404);
  const { Client } = await import('@modelcontextprotocol/client');
  const { SSEClientTransport } = await import('@modelcontextprotocol/client');
  const made = await served({ auth: 'none', sse: true });
  const client = new Client({ name: 'old', version: '1' });
  ends.push(() => client.close());
  await client.connect(new SSEClientTransport(new URL('/sse/one', made.url)));
  expect((await client.callTool({ name: 'echo', arguments: { text: 'hello' } })).content).toEqual([
    { type: 'text', text: 'hello' },
  ]);
});
