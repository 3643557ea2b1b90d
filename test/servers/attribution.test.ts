/** Many clients on one connection: what a server asks or says about the request of one never gets to another. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isObject } from '../../src/mcp/message.ts';
import type { RelayOptions, Server } from '../../src/servers/index.ts';
import type { JsonObject } from '../../src/types.ts';
import { endpoint, legacy, methods } from './http-server.ts';
import { fixture, http, open, stdio, until } from './support.ts';

const CAPABILITIES = { elicitation: { form: {}, url: {} } };
const asker = (args: string[] = []): ReturnType<typeof open> =>
  open(stdio('shared', [fixture('asker'), ...args], { era: 'legacy' }));

/** One client of the gateway, and what it is asked and told. */
function client(name: string, answer: JsonObject = { action: 'accept', content: { who: name } }) {
  const asked: unknown[] = [];
  const notes: string[] = [];
  const logs: unknown[] = [];
  const options: RelayOptions = {
    capabilities: CAPABILITIES,
    owner: { principal: name, client: name },
    onInput: async ({ params }) => {
      asked.push(params.message);
      return answer;
    },
    onNote: (note) => notes.push(note),
    onLog: ({ data }) => logs.push(data),
  };
  const call = async (server: Server, tool: string, args: JsonObject = {}, more: RelayOptions = {}) => {
    const relayed = await server.relay(
      'tools/call',
      { name: tool, arguments: args },
      { ...options, ...more },
    );
    const [block] = (relayed as unknown as { result: { content: { text: string }[] } }).result.content;
    return JSON.parse(block?.text ?? '') as unknown;
  };
  return { asked, notes, logs, call };
}

describe('over stdio, where no question says which call it is about', () => {
  test('the question of the only call goes to its client', async () => {
    const { server } = asker();
    const [ada, bob] = [client('ada'), client('bob')];
    expect(await ada.call(server, 'ask', { message: 'of ada' })).toMatchObject({ content: { who: 'ada' } });
    expect(await bob.call(server, 'ask', { message: 'of bob' })).toMatchObject({ content: { who: 'bob' } });
    expect([ada.asked, bob.asked]).toEqual([['of ada'], ['of bob']]);
  });

  test('what might be about either of two calls is declined, with notes and a warning; from then on calls take turns', async () => {
    const { server, warnings } = asker();
    await server.ready();
    const clients = Array.from({ length: 8 }, (_, index) => client(`c${index}`));
    const ask = (): Promise<unknown[]> =>
      Promise.all(clients.map(({ call }, index) => call(server, 'ask', { message: `of c${index}` })));
    await ask();
    expect(clients.flatMap(({ asked }) => asked)).toEqual([]);
    expect(clients.every(({ notes }) => /several calls were running/.test(notes[0] ?? ''))).toBe(true);
    expect(warnings().join('\n')).toContain('nobody could tell which of them it was about');
    expect(await ask()).toEqual(
      clients.map((_, index) => ({ action: 'accept', content: { who: `c${index}` } })),
    );
    for (const [index, { asked }] of clients.entries()) expect(asked).toEqual([`of c${index}`]);
  });

  test('of two calls of one client the one that waits for an answer is the one that is asked about', async () => {
    const { server } = asker();
    await server.ready();
    const ada = client('ada');
    const [answer, slow] = await Promise.all([
      ada.call(server, 'ask', { message: 'of ada' }),
      ada.call(server, 'sleep', { milliseconds: 100 }),
    ]);
    expect([answer, slow]).toEqual([{ action: 'accept', content: { who: 'ada' } }, 100]);
    expect([ada.asked, ada.notes]).toEqual([['of ada'], []]);
  });

  test("a question about a call that was given up is not put to another client; one of its own client's is", async () => {
    const { server, warnings } = asker();
    const [ada, bob] = [client('ada'), client('bob')];
    await ada.call(server, 'ask', { message: 'takes turns from here' });
    const given = new AbortController();
    const hanging = ada.call(server, 'hang', { message: 'a secret of ada' }, { signal: given.signal });
    await server.listTools();
    const asking = bob.call(server, 'ask', { message: 'of bob' });
    given.abort();
    await expect(hanging).rejects.toMatchObject({ code: 'cancelled', data: { sent: true } });
    expect(await asking).toEqual({ action: 'decline' });
    expect(bob.asked).toEqual([]);
    expect(bob.notes[0]).toMatch(/might have been about somebody else's call that was given up/);
    expect(warnings().join('\n')).toMatch(/given up; it was declined/);
    await ada.call(server, 'ask', { message: 'again' });
    expect(ada.asked).toContain('again');
  });

  test('a call that waits for its client holds others up for a moment only; what they are asked then is declined', async () => {
    const { server } = asker();
    const [ada, bob] = [client('ada'), client('bob')];
    await ada.call(server, 'ask', { message: 'takes turns from here' });
    let answer: ((result: JsonObject) => void) | undefined;
    const thinking = new Promise<JsonObject>((resolve) => (answer = resolve));
    const asking = ada.call(server, 'ask', { message: 'of ada' }, { onInput: () => thinking });
    expect(await bob.call(server, 'count')).toBe(1);
    expect(await bob.call(server, 'ask', { message: 'of bob' })).toEqual({ action: 'decline' });
    answer?.({ action: 'accept', content: { who: 'ada, at last' } });
    expect(await asking).toEqual({ action: 'accept', content: { who: 'ada, at last' } });
    expect(bob.asked).toEqual([]);
  });

  test('a call that waits for its turn beyond its time says so, and the server never saw it', async () => {
    const { server } = asker();
    const [ada, bob] = [client('ada'), client('bob')];
    await ada.call(server, 'ask', { message: 'takes turns from here' });
    const hanging = ada.call(server, 'hang', {}, { timeout: 2_000 });
    hanging.catch(() => undefined);
    await expect(bob.call(server, 'count', {}, { timeout: 50 })).rejects.toMatchObject({
      code: 'timeout',
      what: expect.stringContaining('for its turn'),
      data: { sent: false },
    });
    await expect(hanging).rejects.toMatchObject({ code: 'timeout', data: { sent: true } });
    expect(await bob.call(server, 'count')).toBe(1);
  });

  test('whatever 32 clients do at once, none is asked what is about the call of another', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ who: fc.nat(31), what: fc.constantFrom('ask', 'hang', 'sleep'), wait: fc.nat(20) }),
          {
            minLength: 60,
            maxLength: 60,
          },
        ),
        async (steps) => {
          const { server } = asker();
          await server.ready();
          // Eight principals of four clients each.
          const clients = Array.from({ length: 32 }, (_, index) => ({
            name: `p${index % 8}`,
            ...client(`p${index % 8}`),
          }));
          const outcomes = await Promise.allSettled(
            steps.map(async ({ who, what, wait }, index) => {
              const { name, call } = clients[who] as (typeof clients)[number];
              const owner = { principal: name, client: `c${who}` };
              const args = { message: `of ${name}`, milliseconds: wait };
              const signal = what === 'hang' ? AbortSignal.timeout(wait) : undefined;
              await new Promise((resolve) => {
                setTimeout(resolve, index % 10);
              });
              const answer = await call(server, what, args, { owner, ...(signal && { signal }) });
              return { name, what, answer };
            }),
          );
          for (const { name, asked } of clients) expect(new Set([...asked, `of ${name}`]).size).toBe(1);
          for (const outcome of outcomes) {
            if (outcome.status === 'rejected') {
              expect(outcome.reason).toMatchObject({ code: 'cancelled' });
              continue;
            }
            const { name, what, answer } = outcome.value;
            if (what === 'ask')
              expect([{ action: 'accept', content: { who: name } }, { action: 'decline' }]).toContainEqual(
                answer,
              );
          }
          await server.close();
        },
      ),
      { numRuns: 8 },
    );
  });

  test("roots that a server asks for when it starts are nobody's, and calls go on side by side", async () => {
    const { server, warnings } = asker(['--roots']);
    const capabilities = { ...CAPABILITIES, roots: {} };
    const [ada, bob] = [client('ada'), client('bob')];
    expect(await ada.call(server, 'roots', {}, { capabilities })).toMatchObject({ code: -32601 });
    expect([ada.asked, bob.asked]).toEqual([[], []]);
    expect(warnings()).toEqual([expect.stringContaining('(roots/list) outside of any call')]);
    const given = new AbortController();
    const hanging = ada.call(server, 'hang', {}, { capabilities, signal: given.signal });
    expect(await bob.call(server, 'count', {}, { capabilities })).toBe(1);
    given.abort();
    await expect(hanging).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('a list does not wait for the turn of a call', async () => {
    const { server } = asker();
    const ada = client('ada');
    await ada.call(server, 'ask', { message: 'takes turns from here' });
    const given = new AbortController();
    const hanging = ada.call(server, 'hang', {}, { signal: given.signal });
    expect(await server.listTools({ refresh: true })).not.toHaveLength(0);
    given.abort();
    await expect(hanging).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('R13, traps 52 and 53: progress reaches its own call alone, however many run; the ids and tokens are ours', async () => {
    const { server } = asker();
    await server.ready();
    const seen = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const steps: number[] = [];
        const one = client(`c${index}`);
        // What a client calls its token is nothing for the server.
        const meta = { progressToken: 'the same', 'acme.example/trace': index };
        const onProgress = ({ progress }: { progress: number }): void => void steps.push(progress);
        await one.call(server, 'steps', { count: index }, { onProgress, meta });
        return steps;
      }),
    );
    for (const [index, steps] of seen.entries())
      expect(steps).toEqual(Array.from({ length: index }, (_, step) => step + 1));
  });

  test('a log goes to the only call that runs, and to everybody where more do', async () => {
    const { server, events } = asker();
    const [ada, bob] = [client('ada'), client('bob')];
    await ada.call(server, 'log', { text: 'of ada' });
    expect([ada.logs, bob.logs]).toEqual([['of ada'], []]);
    await Promise.all([ada.call(server, 'log', { text: 'one' }), bob.call(server, 'log', { text: 'two' })]);
    const everybody = events.flatMap((event) => (event.type === 'log' ? [event.data] : []));
    const heard = [...everybody, ...ada.logs, ...bob.logs];
    expect(heard).toHaveLength(3);
    expect(new Set(heard)).toEqual(new Set(['of ada', 'one', 'two']));
    expect(everybody).toContain('one');
  });
});

describe('over HTTP, where each request has a stream', () => {
  /** A server that asks on the stream of the call, and answers with what it was answered. */
  async function asking() {
    const waiting = new Map<unknown, (answer: JsonObject) => void>();
    let nextId = 1;
    return endpoint((received, answer) => {
      const { message } = received;
      if (message.method === undefined && message.id !== undefined) {
        answer.plain(202);
        return waiting.get(message.id)?.(message);
      }
      if (message.method !== 'tools/call') return legacy(received, answer, { 'mcp-session-id': 's' });
      const send = answer.stream();
      const { message: text, log } = message.params!.arguments as { message?: string; log?: string };
      if (log !== undefined) send({ method: 'notifications/message', params: { level: 'info', data: log } });
      const end = (result: unknown): void => {
        send({
          id: message.id,
          result: { content: [{ type: 'text', text: JSON.stringify(result) }] },
        });
        answer.response.end();
      };
      if (text === undefined) return end(null);
      const id = `q${nextId++}`;
      waiting.set(id, ({ result }) => end(result));
      return send({
        id,
        method: 'elicitation/create',
        params: { message: text, requestedSchema: { type: 'object', properties: {} } },
      });
    });
  }

  test('64 clients at once are each asked what their own call is about, and no call waits for another', async () => {
    const { url } = await asking();
    const { server } = open(http('web', url, { era: 'legacy' }));
    await server.ready();
    const clients = Array.from({ length: 64 }, (_, index) => client(`c${index}`));
    // None answers before all are asked.
    let questions = 0;
    let goOn: (() => void) | undefined;
    const all = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const answers = await Promise.all(
      clients.map(({ call, asked }, index) =>
        call(
          server,
          'echo',
          { message: `of c${index}` },
          {
            onInput: async ({ params }) => {
              asked.push(params.message);
              questions += 1;
              if (questions === clients.length) goOn?.();
              await all;
              return { action: 'accept', content: { who: index } };
            },
          },
        ),
      ),
    );
    expect(answers).toEqual(clients.map((_, index) => ({ action: 'accept', content: { who: index } })));
    for (const [index, { asked }] of clients.entries()) expect(asked).toEqual([`of c${index}`]);
  });

  test('what is logged on the stream of a call is for its client alone, also when that one does not listen', async () => {
    const { url } = await asking();
    const { server, events } = open(http('web', url, { era: 'legacy' }));
    const [ada, bob] = [client('ada'), client('bob')];
    await Promise.all([
      ada.call(server, 'echo', { log: 'of ada' }),
      bob.call(server, 'echo', { log: 'of bob' }, { onLog: undefined as never }),
    ]);
    expect([ada.logs, bob.logs]).toEqual([['of ada'], []]);
    expect(events.filter(({ type }) => type === 'log')).toEqual([]);
  });

  test('the server is told once to log from the lowest level that anybody listens from; each hears from its own', async () => {
    let sessions = 0;
    const { url, received } = await endpoint((each, answer) => {
      const { message } = each;
      switch (message.method) {
        case 'initialize': {
          const { protocolVersion } = message.params!;
          const capabilities = { tools: {}, logging: {} };
          sessions += 1;
          return answer.json(
            { result: { protocolVersion, capabilities, serverInfo: { name: 'raw' } } },
            200,
            { 'mcp-session-id': `s${sessions}` },
          );
        }
        case 'logging/setLevel':
          return answer.json({ result: {} });
        case 'tools/call': {
          if (
            sessions === 1 &&
            isObject(message.params!.arguments) &&
            message.params!.arguments.again === true
          )
            return answer.plain(404);
          const send = answer.stream();
          for (const level of ['debug', 'info', 'error'])
            send({ method: 'notifications/message', params: { level, data: level } });
          send({ id: message.id, result: { content: [{ type: 'text', text: '1' }] } });
          return answer.response.end();
        }
        default:
          return legacy(each, answer);
      }
    });
    const { server } = open(http('web', url, { era: 'legacy' }));
    const logs: unknown[] = [];
    for (const level of ['error', 'warning', 'debug', 'info', 'debug']) {
      const ada = client('ada');
      await ada.call(server, 'echo', {}, { logLevel: level });
      logs.push(ada.logs);
    }
    const all = ['debug', 'info', 'error'];
    expect(logs).toEqual([['error'], ['error'], all, ['info', 'error'], all]);
    const levels = (): unknown[] =>
      received
        .filter(({ message }) => message.method === 'logging/setLevel')
        .map(({ message }) => message.params?.level);
    expect(levels()).toEqual(['info', 'debug']);
    // A new session knows nothing of it.
    await client('ada').call(server, 'echo', { again: true }, { logLevel: 'debug' });
    await client('ada').call(server, 'echo', {}, { logLevel: 'debug' });
    expect(levels()).toEqual(['info', 'debug', 'debug']);
  });

  test('trap 55: two clients that cancel at once end their own calls, each with one notice', async () => {
    const { url, received } = await endpoint((each, answer) => {
      if (each.message.method !== 'tools/call') return legacy(each, answer, { 'mcp-session-id': 's' });
      return void answer.stream();
    });
    const { server } = open(http('web', url, { era: 'legacy' }));
    const calls = [client('ada'), client('bob')].map((one) => {
      const given = new AbortController();
      return { given, ended: one.call(server, 'echo', {}, { signal: given.signal }) };
    });
    await until(() => methods(received).filter((method) => method === 'tools/call').length === 2);
    for (const { given } of calls) given.abort();
    for (const { ended } of calls) await expect(ended).rejects.toMatchObject({ code: 'cancelled' });
    const of = (method: string): unknown[] =>
      received
        .filter(({ message }) => message.method === method)
        .map(({ message }) => message.params?.requestId ?? message.id);
    await until(() => of('notifications/cancelled').length === 2, 'two notices');
    expect(new Set(of('notifications/cancelled'))).toEqual(new Set(of('tools/call')));
  });
});
