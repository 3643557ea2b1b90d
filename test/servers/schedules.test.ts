/** Whatever the order of answers, cancels, crashes and closing: each call gets its own answer or an error, once. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IN_FLIGHT_MAX } from '../../src/mcp/protocol-limits.ts';
import { MidspanError } from '../../src/errors.ts';
import { codecFor } from '../../src/mcp/codec.ts';
import { Peer } from '../../src/servers/peer.ts';
import { endpoint, legacy } from './http-server.ts';
import { fixture, http, open, stdio } from './support.ts';
import type { Channel, ChannelHandlers } from '../../src/servers/channel.ts';
import type { JsonObject, Progress } from '../../src/types.ts';

/** A channel whose other end is the test. */
function wire(perRequestStream: boolean): {
  channel: Channel;
  sent: JsonObject[];
  handlers: () => ChannelHandlers;
} {
  const sent: JsonObject[] = [];
  let handlers: ChannelHandlers;
  const channel: Channel = {
    kind: perRequestStream ? 'http' : 'stdio',
    perRequestStream,
    async open(given) {
      handlers = given;
    },
    send(message, options) {
      sent.push(message);
      if (!perRequestStream) return Promise.resolve({});
      return new Promise((_resolve, reject) => {
        options?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    },
    stderrTail: () => '',
    async close() {},
  };
  return { channel, sent, handlers: () => handlers };
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('call' as const) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('answer' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refuse' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('break' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('again' as const), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('progress' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stray' as const), which: fc.nat() }) },
);

test.each([false, true])('every schedule keeps the law (a stream for each request: %s)', async (streams) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 300 }), fc.boolean(), async (steps, crash) => {
      const { channel, sent, handlers } = wire(streams);
      const codec = codecFor(streams ? '2026-07-28' : '2025-11-25', {
        clientInfo: { name: 'test', version: '1' },
        capabilities: {},
      });
      const peer = new Peer('law', channel, codec, {
        redact: (text) => text,
        notification() {},
        warning() {},
        closed() {},
      });
      await peer.open(new AbortController().signal);
      interface Model {
        abort: AbortController;
        settled: number;
        outcome: Promise<JsonObject | MidspanError>;
        /** What the test, as the server, did first to this request once it was sent. */
        fate: string | undefined;
        progress: Progress[];
        told: number;
      }
      const calls: Model[] = [];
      const requests = (): JsonObject[] => sent.filter(({ method }) => method === 'tools/call');
      const callOf = (request: JsonObject): Model => calls[(request.params as { n: number }).n]!;
      const pick = <T>(from: T[], which: number): T | undefined => from[which % Math.max(1, from.length)];
      const deliver = (message: JsonObject, id: unknown): void =>
        handlers().message({ jsonrpc: '2.0', ...message }, streams ? (id as number) : undefined, '');
      for (const each of steps) {
        const open = requests().filter((request) => callOf(request).fate === undefined);
        switch (each.do) {
          case 'call': {
            const call: Model = {
              abort: new AbortController(),
              settled: 0,
              outcome: Promise.resolve({}),
              fate: undefined,
              progress: [],
              told: 0,
            };
            const n = calls.push(call) - 1;
            call.outcome = peer
              .request(
                'tools/call',
                { n },
                {
                  timeout: 60_000,
                  signal: call.abort.signal,
                  onProgress: (seen) => call.progress.push(seen),
                },
              )
              .then(
                (answer) => answer as unknown as JsonObject,
                (error: MidspanError) => error,
              )
              .finally(() => (call.settled += 1));
            break;
          }
          case 'cancel': {
            const call = pick(calls, each.which);
            if (call === undefined) break;
            call.fate ??= 'cancelled';
            call.abort.abort();
            break;
          }
          case 'stray':
            handlers().message({ jsonrpc: '2.0', id: 100_000 + each.which, result: {} }, undefined, '');
            break;
          case 'again': {
            const old = pick(
              requests().filter((request) => callOf(request).fate !== undefined),
              each.which,
            );
            if (old !== undefined) deliver({ id: old.id, result: { n: 'a later answer' } }, old.id);
            break;
          }
          default: {
            const request = pick(open, each.which);
            if (request === undefined) break;
            const call = callOf(request);
            const { id, params } = request;
            if (each.do === 'progress') {
              call.told += 1;
              deliver(
                { method: 'notifications/progress', params: { progressToken: id, progress: call.told } },
                id,
              );
              break;
            }
            call.fate = each.do;
            if (each.do === 'answer') deliver({ id, result: { n: (params as { n: number }).n } }, id);
            if (each.do === 'refuse') deliver({ id, error: { code: -32000, message: 'no' } }, id);
            if (each.do === 'break') deliver({ id, result: [] }, id);
          }
        }
        // The limit on requests in flight, at every step.
        expect(requests().filter((request) => callOf(request).fate === undefined).length).toBeLessThanOrEqual(
          IN_FLIGHT_MAX,
        );
        // oxlint-disable-next-line no-await-in-loop
        await Promise.resolve();
      }
      const end = new MidspanError({ code: 'closed', label: 'law', what: 'the end' });
      if (crash) {
        handlers().closed(end);
        // Whatever still comes is not heard.
        for (const { id } of requests()) deliver({ id, result: { n: 'too late' } }, id);
      } else await peer.close(end);
      const outcomes = await Promise.all(calls.map(({ outcome }) => outcome));
      const ids = new Set(requests().map(({ id }) => id));
      expect(ids.size).toBe(requests().length);
      for (const [n, outcome] of outcomes.entries()) {
        const { fate, settled, told, progress } = calls[n]!;
        expect(settled).toBe(1);
        expect(progress.length).toBeLessThanOrEqual(told);
        const expected = { answer: undefined, refuse: 'rpc', break: 'protocol', cancelled: 'cancelled' }[
          fate ?? ''
        ];
        if (fate === 'answer') expect(outcome).toMatchObject({ kind: 'complete', result: { n } });
        else expect(outcome).toMatchObject({ code: fate === undefined ? 'closed' : expected });
      }
    }),
    { numRuns: 60 },
  );
});

/** Calls with cancels at random moments; the answers come in whatever order the server likes. */
async function storm(server: ReturnType<typeof open>['server']): Promise<void> {
  await server.ready();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(fc.nat({ max: 20 }), { freq: 3 }), { minLength: 65, maxLength: 150 }),
      async (cancels) => {
        await Promise.all(
          cancels.map(async (after, n) => {
            const abort = new AbortController();
            if (after !== null) setTimeout(() => abort.abort(), after);
            const outcome = await server
              .callTool('echo', { n }, { signal: abort.signal })
              .catch((error: unknown) => error);
            if (outcome instanceof MidspanError) {
              expect(outcome.code).toBe('cancelled');
              expect(after).not.toBeNull();
            } else expect(outcome).toMatchObject({ content: [{ text: `{"n":${n}}` }] });
          }),
        );
      },
    ),
    { numRuns: 5 },
  );
}

test('a storm of calls and cancels over a pipe: each call gets its own answer or its own cancel', async () => {
  const { server, warnings } = open(stdio('raw', [fixture('raw'), 'shuffles'], { era: 'legacy' }));
  await storm(server);
  expect(warnings()).toEqual([]);
});

test('a storm of calls and cancels over sockets: each call gets its own answer or its own cancel', async () => {
  let turn = 0;
  const { url } = await endpoint((each, answer) => {
    if (each.message.method !== 'tools/call') return legacy(each, answer);
    turn += 1;
    setTimeout(
      () => {
        if (turn % 2 === 0) return legacy(each, answer);
        answer.stream()({
          id: each.message.id!,
          result: { content: [{ type: 'text', text: JSON.stringify(each.message.params!.arguments) }] },
        });
        answer.response.end();
      },
      (turn * 7) % 23,
    );
  });
  const { server, warnings } = open(http('web', url, { era: 'legacy' }));
  await storm(server);
  expect(warnings()).toEqual([]);
});
