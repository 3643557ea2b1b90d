/** Closing, whatever a server is doing just then: soon, completely, and nobody waits on. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processesWith } from '../channels/support.ts';
import { endpoint, legacy, modern } from './http-server.ts';
import { fixture, http, open, stdio, until } from './support.ts';
import type { Server } from '../../src/servers/index.ts';

const rejections: unknown[] = [];
const hear = (reason: unknown): void => void rejections.push(reason);
beforeEach(() => void process.on('unhandledRejection', hear));
afterEach(async () => {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  process.off('unhandledRejection', hear);
  expect(rejections.splice(0)).toEqual([]);
});

/** What still waits when the server is closed. */
type Waiting = Promise<unknown>[];
type State = (server: Server) => Promise<Waiting>;

const never = (): Promise<never> => new Promise(() => {});
const at =
  (state: Server['state']): State =>
  async (server) => {
    await until(() => server.state === state, state);
    return [server.ready(), server.callTool('echo', {}), server.listTools()];
  };

const question = { method: 'elicitation/create', params: { message: 'Well?', requestedSchema: {} } };
const says = (script: object): string[] => ['says', JSON.stringify(script)];

const states: [string, string[], State][] = [
  ['just opened', ['raw', 'legacy'], async (server) => [server.ready()]],
  ['starting', ['raw', 'never answers'], at('starting')],
  ['ready and idle', ['raw', 'legacy'], async (server) => server.ready().then(() => [])],
  ['restarting', says({ 'notifications/initialized': [{ exit: 1 }] }), at('restarting')],
  [
    'in calls, and with calls in the queue',
    ['raw', 'hangs on call'],
    async (server) => {
      await server.ready();
      return Array.from({ length: 100 }, () => server.callTool('hang', {}));
    },
  ],
  [
    'asked while nobody can be made to answer',
    says({ 'tools/call': [{ id: 'q', ...question }] }),
    async (server) => {
      let asked = false;
      const call = server.callTool('echo', {}, { onInput: () => ((asked = true), never()) });
      call.catch(() => undefined);
      await until(() => asked);
      return [call];
    },
  ],
  [
    'in an input round while nobody can be made to answer',
    ['raw', 'input rounds'],
    async (server) => {
      let asked = false;
      const call = server.callTool('ask', { rounds: 2 }, { onInput: () => ((asked = true), never()) });
      call.catch(() => undefined);
      await until(() => asked);
      return [call];
    },
  ],
  [
    'between rounds that ask for nothing',
    ['raw', 'input rounds'],
    async (server) => {
      const call = server.callTool('ask', { rounds: 8, bare: true });
      call.catch(() => undefined);
      // It is answered after the first round of the other.
      await server.callTool('ask', { rounds: 0 });
      return [call];
    },
  ],
  [
    'listing',
    says({ 'tools/list': [] }),
    async (server) => {
      await server.ready();
      return [server.listTools()];
    },
  ],
];

describe('a process', () => {
  test.each(states)('that is %s', async (_state, [program = '', ...args], reach) => {
    const mark = join(tmpdir(), `closing-${randomUUID()}`);
    const { server } = open(stdio('one', [fixture(program), ...args, mark]), {
      timing: { restart: 30_000, restartMax: 30_000, retryState: 30_000 },
    });
    const waiting = await reach(server);
    const ended = Promise.allSettled(waiting);
    await server.close();
    expect(
      (await ended).map((each) => each.status === 'rejected' && (each.reason as { code: string }).code),
    ).toEqual(waiting.map(() => 'closed'));
    expect(server.state).toBe('closed');
    expect(processesWith(mark)).toEqual([]);
    await expect(server.callTool('echo', {})).rejects.toMatchObject({ code: 'closed' });
  });

  test('that crashed and left a child: the child is gone before the server is started again, or closed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'midspan-'));
    const ready = join(folder, 'child-is-there');
    const program = `
      const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); require("fs").writeFileSync(' + JSON.stringify(${JSON.stringify(ready)}) + ', ""); setInterval(() => {}, 1e6)', ${JSON.stringify(`${folder}-child`)}], { stdio: 'ignore' });
      process.stdin.on('data', (chunk) => {
        for (const line of String(chunk).split('\\n').filter(Boolean)) {
          const { id, method, params } = JSON.parse(line);
          if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: {} } }));
          if (method === 'tools/call') process.exit(1);
        }
      });`;
    const spec = { ...stdio('one', ['-e', program]), era: 'legacy' as const };
    const { server } = open(spec, { timing: { restart: 30_000, restartMax: 30_000 } });
    await server.ready();
    await until(() => existsSync(ready), 'the child');
    await server.callTool('crash', {}).catch(() => undefined);
    await server.close();
    expect(processesWith(`${folder}-child`)).toEqual([]);
  });
});

describe('an endpoint', () => {
  test.each<[string, Parameters<typeof endpoint>[0]]>([
    ['that says nothing', () => {}],
    [
      'that says nothing to initialize',
      (each, answer) => (each.message.method === 'server/discover' ? answer.plain(404) : undefined),
    ],
    [
      'that is an event stream without an endpoint',
      (each, answer) => (each.verb === 'GET' ? void answer.stream() : answer.plain(405)),
    ],
  ])('%s, at every moment of its start', async (_what, handler) => {
    const { url } = await endpoint(handler);
    for (const turns of [0, 1, 5, 20]) {
      const { server } = open(http('web', url));
      const ready = expect(server.ready()).rejects.toMatchObject({ code: 'closed' });
      for (let turn = 0; turn < turns; turn += 1) {
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
      await Promise.all([server.close(), ready]);
    }
  });

  test.each(['legacy', 'modern'] as const)('in calls, with a change stream open (%s)', async (era) => {
    let streams = 0;
    let sockets = 0;
    const { url } = await endpoint((each, answer) => {
      const { method } = each.message;
      if (each.verb === 'GET' || method === 'subscriptions/listen' || method === 'tools/call') {
        streams += 1;
        sockets += 1;
        answer.response.on('close', () => (sockets -= 1));
        answer.stream();
        return;
      }
      if (era === 'legacy') legacy(each, answer, { 'mcp-session-id': 's' });
      else modern(each, answer, { tools: { listChanged: true } });
    });
    const { server } = open(http('web', url, { era }));
    await server.ready();
    const calls = Array.from({ length: 100 }, () => server.callTool('echo', {}));
    const ended = Promise.allSettled(calls);
    await until(() => streams === 65, 'streams');
    await server.close();
    for (const each of await ended)
      expect(each).toMatchObject({ status: 'rejected', reason: { code: 'closed' } });
    await until(() => sockets === 0, 'the end of the sockets');
  });
});

test('a store of verdicts that fails costs a probe, no more', async () => {
  const fail = (): never => {
    throw new Error('disk full');
  };
  const { server } = open(stdio('one', [fixture('raw'), 'legacy']), {
    verdicts: { get: fail, set: fail, delete: fail },
  });
  expect(await server.callTool('echo', { a: 1 })).toMatchObject({ content: [{ text: '{"a":1}' }] });
});
