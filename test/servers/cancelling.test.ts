/** Trap 55: whoever goes away is told of to the server once, in the way of its era and transport, and hears nothing more. */
import { describe, expect, test } from 'vitest';
import type { RelayOptions, Server } from '../../src/servers/index.ts';
import type { JsonObject } from '../../src/types.ts';
import { endpoint, legacy, methods, modern } from './http-server.ts';
import type { Answering } from './http-server.ts';
import { fixture, http, open, stdio, until } from './support.ts';

const FORMS = { elicitation: { form: {} } };

async function call(server: Server, tool: string, options: RelayOptions = {}, args: JsonObject = {}) {
  const relayed = await server.relay('tools/call', { name: tool, arguments: args }, options);
  const [block] = (relayed as unknown as { result: { content: { text: string }[] } }).result.content;
  return block?.text ?? '';
}

describe('a legacy server over stdio', () => {
  const asker = (): ReturnType<typeof open> => open(stdio('asker', [fixture('asker')], { era: 'legacy' }));
  const cancels = async (server: Server, options: RelayOptions = {}): Promise<unknown[]> =>
    JSON.parse(await call(server, 'cancelled', options)) as unknown[];

  test.each([
    ['the first connection', undefined],
    ['a connection beside it', { capabilities: {} }],
  ])(
    'over %s is told once of a call that is cancelled, and of one whose time is over',
    async (_which, options) => {
      const { server, warnings } = asker();
      await call(server, 'count');
      const given = new AbortController();
      const hanging = call(server, 'hang', { ...options, signal: given.signal });
      await call(server, 'count', options);
      given.abort();
      given.abort();
      await expect(hanging).rejects.toMatchObject({ code: 'cancelled', data: { sent: true } });
      expect(await cancels(server, options)).toHaveLength(1);
      await expect(call(server, 'hang', { ...options, timeout: 20 })).rejects.toMatchObject({
        code: 'timeout',
      });
      const ids = await cancels(server, options);
      expect(ids).toHaveLength(2);
      expect(new Set(ids).size).toBe(2);
      if (options !== undefined) expect(await cancels(server)).toEqual([]);
      // One that was cancelled before it was sent is none of its business.
      await expect(call(server, 'hang', { ...options, signal: given.signal })).rejects.toMatchObject({
        code: 'cancelled',
        data: { sent: false },
      });
      expect(await cancels(server, options)).toHaveLength(2);
      expect(warnings()).toEqual([]);
    },
  );

  test('is told of a client that goes away while it is asked; the question is taken back', async () => {
    const { server } = asker();
    const given = new AbortController();
    let question: AbortSignal | undefined;
    const asking = call(
      server,
      'ask',
      {
        capabilities: FORMS,
        signal: given.signal,
        onInput: (_request, { signal }) => {
          question = signal;
          return new Promise(() => undefined);
        },
      },
      { message: 'Well?' },
    );
    await until(() => question !== undefined, 'the question');
    given.abort();
    await expect(asking).rejects.toMatchObject({ code: 'cancelled' });
    expect(question?.aborted).toBe(true);
    expect(await cancels(server, { capabilities: FORMS })).toHaveLength(1);
  });

  test('is not told of a call that waits for its turn, and never sees it', async () => {
    const { server } = asker();
    await call(server, 'ask', {}, { message: 'takes turns from here' });
    const [first, second] = [new AbortController(), new AbortController()];
    const hanging = call(server, 'hang', { signal: first.signal });
    const waiting = call(server, 'count', { signal: second.signal });
    second.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled', data: { sent: false } });
    first.abort();
    await expect(hanging).rejects.toMatchObject({ code: 'cancelled', data: { sent: true } });
    expect(await cancels(server)).toHaveLength(1);
    expect(await call(server, 'count')).toBe('1');
  });
});

test('a modern server over stdio is told once, and its late answer is dropped', async () => {
  const discovered = {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: 'private',
  };
  const says = JSON.stringify({
    'server/discover': [{ id: '$id', result: discovered }],
    'tools/call': [],
    // The first of our requests after the opening.
    'notifications/cancelled': [{ id: 2, result: { content: [{ type: 'text', text: 'late' }] } }],
  });
  const { server, warnings } = open(stdio('says', [fixture('says'), says]));
  await server.ready();
  const given = new AbortController();
  const hanging = server.relay('tools/call', { name: 'echo', arguments: {} }, { signal: given.signal });
  given.abort();
  await expect(hanging).rejects.toMatchObject({ code: 'cancelled', data: { sent: true } });
  const seen = (await call(server, 'seen')).split(',');
  expect(seen.filter((method) => method === 'notifications/cancelled')).toHaveLength(1);
  expect(warnings()).toEqual([]);
});

describe.each([
  ['legacy', legacy, 1],
  ['modern', modern, 0],
])('a %s server over HTTP', (era, usual, notices) => {
  test(`sees the stream of that call end, and ${notices} notices`, async () => {
    const calls: { response: Answering['response']; send: (message: JsonObject) => void; id: unknown }[] = [];
    const { url, received } = await endpoint((each, answer) => {
      if (each.message.method !== 'tools/call') return usual(each, answer);
      calls.push({ response: answer.response, send: answer.stream(), id: each.message.id });
    });
    const { server, warnings } = open(http('web', url, { era }));
    await server.ready();
    const given = [new AbortController(), new AbortController()];
    const running = given.map(({ signal }) => call(server, 'echo', { signal }));
    await until(() => calls.length === 2, 'both calls');
    given[0]?.abort();
    await expect(running[0]).rejects.toMatchObject({ code: 'cancelled', data: { sent: true } });
    await until(() => calls[0]?.response.closed === true, 'the end of its stream');
    expect(calls[1]?.response.closed).toBe(false);
    calls[1]?.send({
      id: calls[1].id as number,
      result: { content: [{ type: 'text', text: 'of the other' }] },
    });
    calls[1]?.response.end();
    expect(await running[1]).toBe('of the other');
    expect(methods(received).filter((method) => method === 'notifications/cancelled')).toHaveLength(notices);
    expect(warnings()).toEqual([]);
  });
});
