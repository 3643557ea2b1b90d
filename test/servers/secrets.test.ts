/** What a server echoes of its configuration's secrets is shown nowhere: not in errors, warnings, logs, or its stderr. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redacted, redactorOf } from '../../src/servers/secrets.ts';
import { endpoint, legacy } from './http-server.ts';
import { fixture, http, open, stdio, until } from './support.ts';
import type { JsonObject } from '../../src/types.ts';

const SECRET = 'sk-hidden-value-9';
const HEADERS = { Authorization: `Bearer ${SECRET}`, 'X-Api': 'plain-hidden-7' };

describe('over HTTP', () => {
  test.each([200, 400])('an error in an answer with status %i', async (status) => {
    const { url } = await endpoint((received, answer) => {
      if (received.message.method !== 'tools/call') return legacy(received, answer);
      const message = `no: ${received.headers.authorization} ${String(received.headers['x-api'])}`;
      answer.json({ error: { code: -32000, message, data: { seen: [message], [SECRET]: 1 } } }, status);
    });
    const spec = http('web', url, { era: 'legacy', transport: { type: 'http', url, headers: HEADERS } });
    const { server } = open(spec);
    const error: unknown = await server.callTool('echo', {}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'rpc', what: expect.stringContaining('no: [redacted] [redacted]') });
    expect((error as Error).message + JSON.stringify(error)).not.toContain('hidden');
  });

  test('a start that fails, and what is no message', async () => {
    const { url } = await endpoint((received, answer) => {
      if (received.message.method === 'initialize')
        return answer.json({ error: { code: -32603, message: `bad key ${SECRET}` } });
      answer.stream()({ method: 'x', params: [] as never });
    });
    const { server, events } = open(
      http('web', url, { era: 'legacy', transport: { type: 'http', url, headers: HEADERS } }),
    );
    await expect(server.ready()).rejects.toThrow('bad key [redacted]');
    expect(JSON.stringify(events)).not.toContain('hidden');
    expect(server.error!.message).not.toContain('hidden');
  });
});

describe('over stdio', () => {
  const sick = (script: JsonObject) => {
    const spec = stdio('sick', [
      fixture('says'),
      JSON.stringify(script),
      '/dev/null',
      `--api-key=flag-${SECRET}`,
    ]);
    return open({
      ...spec,
      era: 'legacy',
      transport: {
        ...(spec.transport as { type: 'stdio'; command: string; args: string[] }),
        env: { API_TOKEN: SECRET, DATABASE_URL: 'postgres://ann:hidden-word@db.example/x' },
      },
    });
  };
  const told = `${SECRET} flag-${SECRET} hidden-word`;

  test('an error, a log message, noise and a stray error', async () => {
    const { server, events, warnings } = sick({
      'tools/call': [
        {
          method: 'notifications/message',
          params: { level: 'info', logger: SECRET, data: { [SECRET]: [told] } },
        },
        `noise ${told}\n`,
        { id: null, error: { code: -32000, message: `stray ${told}` } },
        { id: '$id', error: { code: -32000, message: `no ${told}`, data: told } },
      ],
    });
    const failures = await Promise.all(
      [1, 2].map(() => server.callTool('echo', {}).catch((error: unknown) => error)),
    );
    await until(() => warnings().length >= 2 && events.some(({ type }) => type === 'log'), 'what it wrote');
    const shown =
      JSON.stringify(events) + failures.map((each) => (each as Error).message + JSON.stringify(each)).join();
    expect(shown).toContain('[redacted]');
    expect(shown).not.toContain('hidden');
  });

  test('its last words', async () => {
    const { server } = open({
      label: 'dies',
      transport: {
        type: 'stdio',
        command: process.execPath,
        args: ['-e', 'console.error("refused " + process.env.API_TOKEN); process.exit(3)'],
        env: { API_TOKEN: SECRET },
      },
      era: 'legacy',
    });
    await expect(server.ready()).rejects.toThrow('refused [redacted]');
  });
});

test('no secret survives in any text, however they overlap', () => {
  const secret = fc.stringMatching(/^[ab_-]{6,9}$/);
  fc.assert(
    fc.property(secret, secret, fc.string(), (first, second, text) => {
      const redact = redactorOf({
        type: 'http',
        url: 'http://x',
        headers: { a: first, b: `Bearer ${second}` },
      });
      const shown = JSON.stringify(
        redacted({ [first + second]: [second + text + first, first + first] }, redact),
      );
      expect(shown).not.toContain(first);
      expect(shown).not.toContain(second);
    }),
  );
});

test('what is no secret stays: short values, plain variables, the protocol revision', () => {
  const redact = redactorOf({
    type: 'stdio',
    command: 'x',
    args: ['--verbose', 'loudly'],
    env: { NODE_ENV: 'production', API_KEY: 'short', AUTH_REVISION: '2025-06-18' },
  });
  const text = 'loudly in production, short, 2025-06-18';
  expect(redact(text)).toBe(text);
});

test.each([
  ['a login in an address, as it is and decoded', 'http://ann:p%40ss-word@x', {}, 'p%40ss-word p@ss-word'],
  ['a key in an address', 'http://x/?api_key=abcdefgh', {}, 'abcdefgh'],
  [
    'the login in a Basic header',
    'http://x',
    { A: `Basic ${btoa('ann:pass-word')}` },
    'pass-word ann:pass-word',
  ],
])('%s is hidden', (_what, url, headers, text) => {
  expect(redactorOf({ type: 'http', url, headers })(text)).toMatch(/^(\[redacted\] ?)+$/);
});
