/** More than one connection to one server: for clients that can be asked different things, and for those kept apart. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BRANCHES_MAX } from '../../src/servers/branches.ts';
import type { RelayOptions, Server } from '../../src/servers/index.ts';
import type { JsonObject, ServerSpec } from '../../src/types.ts';
import { endpoint, legacy, methods, modern } from './http-server.ts';
import type { Received } from './http-server.ts';
import { fixture, http, open, stdio, until } from './support.ts';

const FORMS = { elicitation: { form: {} } };
const MODELS = { sampling: { tools: {} }, roots: { listChanged: true } };

const asker = (more: Partial<ServerSpec> = {}, args: string[] = [], deps = {}): ReturnType<typeof open> =>
  open(stdio('many', [fixture('asker'), ...args], { era: 'legacy', ...more }), deps);

async function call(server: Server, tool: string, options: RelayOptions = {}, args: JsonObject = {}) {
  const relayed = await server.relay('tools/call', { name: tool, arguments: args }, options);
  const [block] = (relayed as unknown as { result: { content: { text: string }[] } }).result.content;
  return JSON.parse(block?.text ?? '') as unknown;
}

const of = (principal: string, client = principal, capabilities: JsonObject = FORMS): RelayOptions => ({
  capabilities,
  owner: { principal, client },
});

function isAlive(pid: unknown): boolean {
  try {
    return process.kill(pid as number, 0);
  } catch {
    return false;
  }
}

/** Sets of what a client can be asked, each another one. */
function kinds(count: number): JsonObject[] {
  const sets: JsonObject[] = [];
  for (const elicitation of [undefined, { form: {} }, { url: {} }, { form: {}, url: {} }])
    for (const sampling of [undefined, {}, { tools: {} }, { context: {} }])
      for (const roots of [undefined, {}])
        sets.push({
          ...(elicitation && { elicitation }),
          ...(sampling && { sampling }),
          ...(roots && { roots }),
        });
  return sets.slice(0, count);
}

describe('a legacy server over stdio', () => {
  test('trap 59: is told what each client can be asked, mode by mode, by a process for each set; equal sets share one', async () => {
    const { server } = asker();
    expect(await call(server, 'declared', { capabilities: FORMS })).toEqual(FORMS);
    // Roots do not tell of changes on this hop.
    expect(await call(server, 'declared', { capabilities: MODELS })).toEqual({
      sampling: { tools: {} },
      roots: {},
    });
    expect(await call(server, 'declared', { capabilities: {} })).toEqual({});
    expect(await call(server, 'declared', { capabilities: { elicitation: {} } })).toEqual(FORMS);
    const pids = await Promise.all(
      [FORMS, { elicitation: {} }, { ...FORMS, experimental: { x: {} } }, MODELS, MODELS, {}].map(
        (capabilities) => call(server, 'pid', { capabilities }),
      ),
    );
    expect(new Set(pids).size).toBe(3);
    expect(new Set(pids.slice(0, 3)).size).toBe(1);
  });

  test('has one process while all clients are of one kind, whose state the lists share', async () => {
    const { server, events } = asker();
    await server.listTools();
    const pids = await Promise.all(
      Array.from({ length: 5 }, () => call(server, 'pid', { capabilities: MODELS })),
    );
    expect(new Set(pids).size).toBe(1);
    expect(await call(server, 'methods', { capabilities: MODELS })).not.toContain('tools/list');
    await server.listTools({ refresh: true });
    expect(await call(server, 'methods', { capabilities: MODELS })).toContain('tools/list');
    expect(events.some((event) => event.type === 'state' && event.state === 'failed')).toBe(false);
  });

  test('requests that declare nothing are asked what the host can answer, whoever came first', async () => {
    const { server } = asker();
    const host = { elicitation: { form: {}, url: {} } };
    expect(await call(server, 'declared', { capabilities: MODELS })).toMatchObject({ roots: {} });
    expect(await call(server, 'declared')).toEqual(host);
    const { server: other } = asker();
    expect(await call(other, 'declared')).toEqual(host);
    expect(await call(other, 'declared', { capabilities: MODELS })).toMatchObject({ roots: {} });
    expect(await call(other, 'declared')).toEqual(host);
  });

  test('R10: ends a process that nothing runs in after its time, and all of them when it is closed', async () => {
    const { server } = asker({}, [], { timing: { branch: 100 } });
    await call(server, 'count', { capabilities: FORMS });
    const pid = await call(server, 'pid', { capabilities: {} });
    await until(() => !isAlive(pid), 'the end of the process');
    const [first, second] = [
      await call(server, 'pid', { capabilities: FORMS }),
      await call(server, 'pid', { capabilities: {} }),
    ];
    expect(second).not.toBe(pid);
    await server.close();
    expect([first, second].map(isAlive)).toEqual([false, false]);
    await expect(call(server, 'pid', { capabilities: {} })).rejects.toMatchObject({ code: 'closed' });
  });

  test('one process that dies takes no other with it, and comes back with the next call', async () => {
    const { server } = asker();
    await call(server, 'count', { capabilities: FORMS });
    await call(server, 'count', { capabilities: {} });
    await expect(call(server, 'exit', { capabilities: {} })).rejects.toMatchObject({
      code: 'closed',
      data: { sent: true },
    });
    expect(await call(server, 'count', { capabilities: FORMS })).toBe(2);
    expect(await call(server, 'count', { capabilities: {} })).toBe(1);
  });

  test('that runs only once at a time is reached over its first connection, with a note and a warning', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'midspan-once-')), 'lock');
    const { server, warnings } = asker({}, [`--once=${file}`]);
    expect(await call(server, 'declared', { capabilities: FORMS })).toEqual(FORMS);
    const notes: string[] = [];
    const options = { capabilities: MODELS, onNote: (note: string) => void notes.push(note) };
    expect(await call(server, 'declared', options)).toEqual(FORMS);
    expect(notes).toEqual([
      expect.stringMatching(/^many could not be connected to with what this client can be asked/),
    ]);
    expect(warnings().join('\n')).toContain('it goes through the first connection');
  });

  test(`has at most ${BRANCHES_MAX} processes beside the first: the one unused longest ends; where all are in use, the first serves, with a note`, async () => {
    const { server } = asker();
    const [first, ...sets] = kinds(BRANCHES_MAX + 3);
    await call(server, 'count', { capabilities: first as JsonObject });
    const pids: unknown[] = [];
    for (const capabilities of sets.slice(0, BRANCHES_MAX + 1))
      pids.push(await call(server, 'pid', { capabilities }));
    await until(() => !isAlive(pids[0]), 'the end of the oldest');
    expect(pids.slice(1).every(isAlive)).toBe(true);
    const given = new AbortController();
    const { signal } = given;
    const hanging = sets
      .slice(1, BRANCHES_MAX + 1)
      .map((capabilities) => call(server, 'hang', { capabilities, signal }).catch(() => undefined));
    const notes: string[] = [];
    const options = {
      capabilities: sets.at(-1) as JsonObject,
      onNote: (note: string) => void notes.push(note),
    };
    expect(await call(server, 'declared', options)).toEqual(first);
    expect(notes[0]).toContain(`${BRANCHES_MAX} connections for other clients are in use`);
    given.abort();
    await Promise.all(hanging);
  });
});

describe('a server whose configuration keeps', () => {
  test('R13: principals apart has a process for each; the lists have another', async () => {
    const { server } = asker({ isolation: 'principal' });
    const [ada, adasOther, bob] = [of('ada', 'a1'), of('ada', 'a2'), of('bob')];
    const pids = await Promise.all([ada, adasOther, bob].map((options) => call(server, 'pid', options)));
    expect(pids[0]).toBe(pids[1]);
    expect(pids[2]).not.toBe(pids[0]);
    await call(server, 'count', ada);
    expect(await call(server, 'count', adasOther)).toBe(2);
    expect(await call(server, 'count', bob)).toBe(1);
    await server.listTools({ refresh: true });
    expect(await call(server, 'methods', ada)).not.toContain('tools/list');
    server.forget({ principal: 'ada', client: 'a1' });
    expect(await call(server, 'count', adasOther)).toBe(3);
  });

  test('clients apart has a process for each, which ends with its client; names are not mixed up', async () => {
    const { server } = asker({ isolation: 'client' });
    const clients = [of('ada', 'x'), of('bob', 'x'), of('ada', 'y'), of('a","d', 'a'), of('a', 'd","a')];
    const pids = await Promise.all(clients.map((options) => call(server, 'pid', options)));
    expect(new Set(pids).size).toBe(clients.length);
    server.forget({ principal: 'ada', client: 'x' });
    await until(() => !isAlive(pids[0]), 'the end of the process');
    expect(pids.slice(1).every(isAlive)).toBe(true);
    expect(await call(server, 'count', clients[0])).toBe(1);
  });

  test('clients apart learns the roots of each as soon as it is connected to', async () => {
    const { server, warnings } = asker({ isolation: 'client' }, ['--roots']);
    const roots = (name: string): JsonObject => ({ roots: [{ uri: `file:///${name}` }] });
    const seen = await Promise.all(
      ['ada', 'bob'].map((name) =>
        call(server, 'roots', { ...of(name, name, { roots: {} }), onInput: async () => roots(name) }),
      ),
    );
    expect(seen).toEqual([roots('ada'), roots('bob')]);
    expect(warnings()).toEqual([]);
  });

  test('clients apart tells nobody else what the process of one logs', async () => {
    const { server, events } = asker({ isolation: 'client' });
    await Promise.all([
      call(server, 'log', of('ada'), { text: 'of ada' }),
      call(server, 'log', of('ada'), { text: 'of ada, too' }),
      call(server, 'log', of('bob'), { text: 'of bob' }),
    ]);
    expect(events.filter(({ type }) => type === 'log')).toEqual([]);
  });

  test('clients apart refuses one more rather than let it share, and takes it when another has gone', async () => {
    const { server } = asker({ isolation: 'client' });
    const given = new AbortController();
    const clients = Array.from({ length: BRANCHES_MAX }, (_, index) => of(`c${index}`));
    const started = clients.map((options) => call(server, 'count', options));
    await Promise.all(started);
    const hanging = clients.map((options) =>
      call(server, 'hang', { ...options, signal: given.signal }).catch(() => undefined),
    );
    await expect(call(server, 'count', of('late'))).rejects.toMatchObject({
      code: 'limit',
      label: 'many',
      data: { sent: false },
    });
    given.abort();
    await Promise.all(hanging);
    expect(await call(server, 'count', of('late'))).toBe(1);
  });

  test('clients apart, when it cannot be started for one of them, lets none through to what is not theirs', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'midspan-once-')), 'lock');
    const { server } = asker({ isolation: 'client' }, [`--once=${file}`]);
    await server.ready();
    await expect(call(server, 'count', of('ada'))).rejects.toMatchObject({ code: 'unreachable' });
  });
});

describe('over HTTP', () => {
  const initialized = (received: Received[]): unknown[] =>
    received.flatMap(({ message }) =>
      message.method === 'initialize' ? [message.params?.capabilities] : [],
    );

  test('a legacy server has a session for each set, which is ended when nothing runs in it; ids stay apart', async () => {
    let sessions = 0;
    const { url, received } = await endpoint((each, answer) =>
      legacy(
        each,
        answer,
        each.message.method === 'initialize' ? { 'mcp-session-id': `s${(sessions += 1)}` } : {},
      ),
    );
    const { server } = open(http('web', url, { era: 'legacy' }), { timing: { branch: 100 } });
    await server.callTool('echo', {});
    await server.relay('tools/call', { name: 'echo', arguments: {} }, { capabilities: FORMS });
    await server.relay('tools/call', { name: 'echo', arguments: {} }, { capabilities: FORMS });
    expect(initialized(received)).toEqual([{ elicitation: { form: {}, url: {} } }, FORMS]);
    const calls = received.filter(({ message }) => message.method === 'tools/call');
    expect(calls.map(({ headers }) => headers['mcp-session-id'])).toEqual(['s1', 's2', 's2']);
    await until(() => received.some(({ verb }) => verb === 'DELETE'), 'the end of the session');
    const [ended] = received.filter(({ verb }) => verb === 'DELETE');
    expect(ended?.headers['mcp-session-id']).toBe('s2');
  });

  test('a question that comes on the stream of a session is heard on each of them, and goes to the one call that runs', async () => {
    const streams = new Map<unknown, (message: JsonObject) => void>();
    let sessions = 0;
    let answered: ((answer: JsonObject) => void) | undefined;
    const { url } = await endpoint((each, answer) => {
      const { message, verb, headers } = each;
      const session = headers['mcp-session-id'];
      if (verb === 'GET') return void streams.set(session, answer.stream());
      if (message.method === 'initialize')
        return legacy(each, answer, { 'mcp-session-id': `s${(sessions += 1)}` });
      if (verb !== 'POST') return legacy(each, answer);
      if (message.method === undefined) {
        answered?.(message);
        return answer.plain(202);
      }
      if (message.method !== 'tools/call') return legacy(each, answer);
      answered = ({ result }) =>
        answer.json({ result: { content: [{ type: 'text', text: JSON.stringify(result) }] } });
      return streams.get(session)?.({
        id: 'q',
        method: 'elicitation/create',
        params: { message: `in ${String(session)}`, requestedSchema: { type: 'object', properties: {} } },
      });
    });
    const { server } = open(http('web', url, { era: 'legacy' }));
    for (const [capabilities, session] of [
      [{ elicitation: { form: {}, url: {} } }, 's1'],
      [FORMS, 's2'],
    ] as const) {
      await server.relay('completion/complete', {}, { capabilities }).catch(() => undefined);
      await until(() => streams.has(session), 'the stream');
      const asked: unknown[] = [];
      const answer = { action: 'accept', content: { session } };
      const onInput = async ({ params }: { params: JsonObject }): Promise<JsonObject> => {
        asked.push(params.message);
        return answer;
      };
      expect(await call(server, 'echo', { capabilities, onInput })).toEqual(answer);
      expect(asked).toEqual([`in ${session}`]);
    }
  });

  test('trap 59: a modern server is told with each request, on the one connection that there is', async () => {
    const { url, received } = await endpoint((each, answer) => modern(each, answer));
    const { server } = open(http('web', url));
    for (const capabilities of [FORMS, MODELS, {}])
      await server.relay('tools/call', { name: 'echo', arguments: {} }, { capabilities });
    const calls = received.filter(({ message }) => message.method === 'tools/call');
    expect(
      calls.map(
        ({ message }) => (message.params!._meta as JsonObject)['io.modelcontextprotocol/clientCapabilities'],
      ),
    ).toEqual([FORMS, { sampling: { tools: {} }, roots: {} }, {}]);
    expect(methods(received).filter((method) => method === 'server/discover')).toHaveLength(1);
  });

  test('a client that goes away while its connection is opened is told so at once, and nothing is sent for it', async () => {
    const { url, received } = await endpoint((each, answer) => {
      const isSecond = methods(received).filter((method) => method === 'initialize').length > 1;
      if (each.message.method === 'initialize' && isSecond) return;
      legacy(each, answer);
    });
    const { server } = open(http('web', url, { era: 'legacy' }));
    await server.callTool('echo', {});
    const given = new AbortController();
    const called = call(server, 'echo', { capabilities: {}, signal: given.signal });
    await until(() => initialized(received).length === 2);
    given.abort();
    await expect(called).rejects.toMatchObject({ code: 'cancelled', data: { sent: false } });
    expect(methods(received).filter((method) => method === 'tools/call')).toHaveLength(1);
  });
});
