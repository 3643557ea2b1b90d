import { describe, expect, it } from 'vitest';
import type { Ask, Asks, Host, Message, RunEvent } from '../../src/index.ts';
import type { JsonObject } from '../../src/types.ts';
import { type Api, apis } from '../emulators/apis.ts';
import type { Emulator, EmulatorScript } from '../emulators/server.ts';
import { collect, ofType } from '../run/support.ts';
import { emulator, honest, honestOverHttp, hostOf, remote, TOKEN } from './support.ts';

const apiOf = (name: Api['name']): Api => apis.find((api) => api.name === name) as Api;
const openai = apiOf('openai');
const anthropic = apiOf('anthropic');

async function go(
  host: Host,
  api: Api,
  script: EmulatorScript,
  options: Partial<Parameters<Host['run']>[0]> = {},
) {
  const server = await emulator(api, script);
  const run = host.run({ model: api.model(server), messages: 'Go.', ...options });
  return { server, ...(await collect(run)) };
}

const toolsOf = ({ requests }: Emulator, at = 0): JsonObject[] => requests[at]?.body['tools'] as JsonObject[];
const refusals = ({ requests }: Emulator): unknown[] =>
  requests.flatMap(({ refusal }) => (refusal === undefined ? [] : [refusal]));
const warningsOf = (events: readonly RunEvent[]): string =>
  ofType(events, 'warning')
    .map(({ message }) => message)
    .join('\n');

/** Accepts or declines, and keeps what was asked. */
function answering(accepts: boolean): { asks: Asks; asked: Ask[] } {
  const asked: Ask[] = [];
  const asks: Asks = {
    async ask(ask) {
      asked.push(ask);
      return accepts ? { action: 'accept' } : { action: 'decline', reason: 'not today' };
    },
  };
  return { asks, asked };
}

describe.each([openai, anthropic])('a server that is left to the provider of $name', (api) => {
  const calls = { mcp: [{ server: 'far', tool: 'echo', arguments: { text: 'hi' } }], text: 'It said hi.' };

  it('brings into the run what its tools are labeled with', async () => {
    const url = await honestOverHttp();
    const labels = { 'far/*': ['reads', 'untrusted', 'private'], 'near/echo': ['sends'] };
    const policy = { labels, rules: [{ tools: ['near/echo'], action: 'allow' }] };
    const near = { command: process.execPath, args: [honest] };
    const host = await hostOf({ far: { url, via: 'provider', approval: 'never' }, near }, {}, policy);
    const send = { calls: [{ name: 'near__echo', arguments: { text: 'out' } }] };
    const before = await go(host, api, [send, { text: 'Sent.' }]);
    expect(ofType(before.events, 'call.finished')).toMatchObject([{ label: 'near', status: 'done' }]);
    const after = await go(host, api, [{ ...calls, ...send }, { text: 'Sent?' }]);
    expect(ofType(after.events, 'call.finished')).toMatchObject([
      { label: 'far', status: 'done' },
      { label: 'near', status: 'refused' },
    ]);
  });

  it('is called by the provider alone, and the run tells it like a call of our own', async () => {
    const url = await honestOverHttp();
    const host = await hostOf({ far: { url, via: 'provider', approval: 'never' } });
    const { server, events, result } = await go(host, api, [calls]);
    expect(refusals(server)).toEqual([]);
    expect(result).toMatchObject({ reason: 'complete', text: 'It said hi.', turns: 1, calls: 1 });
    const identity = { name: 'far__echo', label: 'far', tool: 'echo', via: 'provider' };
    expect(ofType(events, 'call.started')).toMatchObject([{ ...identity, arguments: { text: 'hi' } }]);
    expect(ofType(events, 'call.finished')).toMatchObject([
      { ...identity, isError: false, status: 'done', result: { content: [{ type: 'text', text: 'hi' }] } },
    ]);
    expect(host.servers()).toMatchObject([{ label: 'far', state: 'delegated' }]);
    expect(warningsOf(events)).toMatch(/far: \w+ connects to it itself.*nobody is asked before a call/);
  });

  it('is told while the answer streams, before its text', async () => {
    const url = await honestOverHttp();
    const host = await hostOf({ far: { url, via: 'provider', approval: 'never' } });
    const { events } = await go(host, api, [calls]);
    const order = events.map(({ type }) => type);
    expect(order.indexOf('call.started')).toBeLessThan(order.indexOf('call.finished'));
    expect(order.indexOf('call.finished')).toBeLessThan(order.indexOf('text'));
    expect(order.filter((type) => type === 'call.finished')).toHaveLength(1);
  });

  it('keeps the items of its calls verbatim for the next turn, and is not listed again', async () => {
    const { url, received, clients } = await remote();
    const host = await hostOf({
      far: { url, via: 'provider', approval: 'never' },
      near: { command: process.execPath, args: [honest] },
    });
    const { server, result } = await go(host, api, [
      { ...calls, calls: [{ name: 'near__echo', arguments: { text: 'both' } }] },
      { mcp: [{ server: 'far', tool: 'read_one' }], text: 'Done.' },
    ]);
    expect(refusals(server)).toEqual([]);
    expect(result).toMatchObject({ reason: 'complete', turns: 2, calls: 3 });
    expect(clients()).toEqual(['emulated-connector']);
    expect(received.filter(({ message }) => message.method === 'tools/list')).toHaveLength(1);
    const again = host.run({
      model: api.model(server),
      messages: [
        ...(JSON.parse(JSON.stringify(result.messages)) as Message[]),
        { role: 'user', content: 'And?' },
      ],
    });
    expect((await again.result).reason).toBe('complete');
    expect(refusals(server)).toEqual([]);
  });

  it('tells a tool that answered with an error', async () => {
    const url = await honestOverHttp();
    const host = await hostOf({ far: { url, via: 'provider', approval: 'never' } });
    const { events, result } = await go(host, api, [{ mcp: [{ server: 'far', tool: 'fail' }], text: 'No.' }]);
    expect(result.reason).toBe('complete');
    expect(ofType(events, 'call.finished')).toMatchObject([
      { isError: true, status: 'done', result: { content: [{ text: 'it did not work' }] } },
    ]);
  });

  it('takes globs as the names that the server lists, which the host asks for first', async () => {
    const { url, clients } = await remote();
    const tools = { allow: ['read_*'], deny: ['*_two'] };
    const host = await hostOf({ far: { url, via: 'provider', approval: 'never', tools } });
    const { server, result } = await go(host, api, [
      { mcp: [{ server: 'far', tool: 'read_one' }], text: 'One.' },
    ]);
    expect(result).toMatchObject({ reason: 'complete', calls: 1 });
    expect(clients()).toEqual(['midspan', 'emulated-connector']);
    const [entry] = toolsOf(server).filter(({ type }) => type === 'mcp' || type === 'mcp_toolset');
    expect(entry?.['allowed_tools'] ?? entry?.['configs']).toEqual(
      api === openai ? ['read_one'] : { read_one: { enabled: true } },
    );
    expect(toolsOf(server).map(({ name }) => name)).not.toContain('far__read_one');
  });

  it('takes plain names without asking the server', async () => {
    const { url, clients } = await remote();
    const tools = { allow: ['echo', 'remove'], deny: ['remove'] };
    const host = await hostOf({ far: { url, via: 'provider', approval: 'never', tools } });
    const { result } = await go(host, api, [calls]);
    expect(result).toMatchObject({ reason: 'complete', calls: 1 });
    expect(clients()).toEqual(['emulated-connector']);
  });

  it('is given only the tools that the run offers, and nothing when it offers none', async () => {
    const { url } = await remote();
    const host = await hostOf({ far: { url, via: 'provider', approval: 'never' } });
    const some = await go(host, api, [calls], { tools: ['far__echo'] });
    const [entry] = toolsOf(some.server).filter(({ type }) => type === 'mcp' || type === 'mcp_toolset');
    expect(JSON.stringify(entry)).toContain('echo');
    expect(JSON.stringify(entry)).not.toContain('remove');
    expect(some.events.filter(({ type }) => type === 'warning')).toHaveLength(1);
    for (const options of [
      { tools: 'none' as const },
      { tools: ['other__*'] },
      { choice: 'none' as const },
    ]) {
      const none = await go(host, api, [{ text: 'ok' }], options);
      expect(JSON.stringify(none.server.requests[0]?.body)).not.toContain(url);
      expect(none.result.reason).toBe('complete');
    }
  });

  it('stays with the host when the choice names single tools, or the run says so', async () => {
    const { url, clients, calls: called } = await remote();
    const host = await hostOf({ far: { url, via: 'provider', approval: 'never' } });
    for (const options of [{ choice: { tools: ['far__echo'] } }, { via: 'host' as const }]) {
      const turns = [{ calls: [{ name: 'far__echo', arguments: {} }] }, { text: 'ok' }];
      const { server, events, result } = await go(host, api, turns, options);
      expect(result).toMatchObject({ reason: 'complete', calls: 1 });
      expect(JSON.stringify(server.requests[0]?.body)).not.toContain(url);
      expect(ofType(events, 'call.finished')).toMatchObject([{ status: 'done', label: 'far' }]);
      expect(warningsOf(events)).toContain('far: the host connects to it itself, not the provider');
    }
    expect(clients()).toEqual(['midspan']);
    expect(called()).toEqual(['echo', 'echo']);
  });

  it('counts in the limit of calls', async () => {
    const { url } = await remote();
    const host = await hostOf({
      far: { url, via: 'provider', approval: 'never' },
      near: { command: process.execPath, args: [honest] },
    });
    const turn = { ...calls, text: '', calls: [{ name: 'near__echo', arguments: { text: 'x' } }] };
    const { events, result } = await go(host, api, [turn], { limits: { calls: 1 } });
    expect(result).toMatchObject({ reason: 'max-calls', calls: 2 });
    expect(ofType(events, 'call.finished').map(({ label, status }) => [label, status])).toEqual([
      ['far', 'done'],
      ['near', 'refused'],
    ]);
  });

  it('gets the token that the configuration holds, and nothing else ever shows it', async () => {
    const { url, calls: called } = await remote({ token: TOKEN });
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const host = await hostOf({ far: { url, headers, via: 'provider', approval: 'never' } });
    const { events, result } = await go(host, api, [calls]);
    expect(result.reason).toBe('complete');
    expect(called()).toEqual(['echo']);
    expect(JSON.stringify([events, result])).not.toContain(TOKEN);
  });

  it('names the server and the way out when the provider cannot list it, and keeps the token to itself', async () => {
    const { url } = await remote({ token: 'another-token' });
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const host = await hostOf({ far: { url, headers, via: 'provider', approval: 'never' } });
    const { events, result } = await go(host, api, [calls]);
    expect(result.reason).toBe('failed');
    expect(result.detail).toContain("'far'");
    expect(JSON.stringify([events, result, result.error?.message])).not.toContain(TOKEN);
    if (api === openai) expect(result.error?.next).toContain('via');
  });

  it('is shown to another API as calls and results', async () => {
    const { url } = await remote();
    const host = await hostOf({ far: { url, via: 'provider', approval: 'never' } });
    const { result } = await go(host, api, [calls]);
    const other = api === openai ? anthropic : openai;
    const messages: Message[] = [...result.messages, { role: 'user', content: 'And?' }];
    const { server, result: next } = await go(host, other, [{ text: 'Yes.' }], { messages });
    expect(next.reason).toBe('complete');
    expect(refusals(server)).toEqual([]);
    expect(JSON.stringify(server.requests[0]?.body)).toContain('echo ran');
  });

  it('has two servers whose labels look alike under two names', async () => {
    const [one, two] = [await remote(), await remote()];
    const more = { via: 'provider', approval: 'never' };
    const host = await hostOf({ 'a b': { url: one.url, ...more }, 'a.b': { url: two.url, ...more } });
    const { server, events, result } = await go(host, api, (body) => {
      const names = [
        ...JSON.stringify(body['tools']).matchAll(/"(?:server_label|mcp_server_name)":"([^"]+)"/g),
      ];
      return { mcp: names.map(([, name]) => ({ server: name as string, tool: 'echo' })), text: 'Both.' };
    });
    expect(refusals(server)).toEqual([]);
    expect(result.calls).toBe(2);
    expect(ofType(events, 'call.finished').map(({ label }) => label)).toEqual(['a b', 'a.b']);
    expect([one.calls(), two.calls()]).toEqual([['echo'], ['echo']]);
  });
});

describe('approvals of OpenAI', () => {
  const wants = { mcp: [{ server: 'far', tool: 'remove', arguments: { text: 'all' } }] };

  it('go to a person, and what was approved is run by the provider', async () => {
    const { url, calls } = await remote();
    const { asks, asked } = answering(true);
    const host = await hostOf({ far: { url, via: 'provider' } }, { asks });
    const { server, events, result } = await go(host, openai, [wants, { text: 'Gone.' }]);
    expect(refusals(server)).toEqual([]);
    expect(asked).toEqual([
      {
        kind: 'approve',
        label: 'far',
        tool: 'remove',
        arguments: { text: 'all' },
        message: 'A model wants to call remove of far.',
        rule: 'approval',
        why: 'Its configuration asks before each call.',
        run: expect.any(String),
      },
    ]);
    expect(calls()).toEqual(['remove']);
    expect(result).toMatchObject({ reason: 'complete', text: 'Gone.', turns: 2, calls: 1 });
    expect(ofType(events, 'call.finished')).toMatchObject([
      { status: 'done', via: 'provider', tool: 'remove' },
    ]);
    expect(warningsOf(events)).not.toContain('nobody is asked');
  });

  it('are declined with the reason, and the loop goes on', async () => {
    const { url, calls } = await remote();
    const { asks } = answering(false);
    const host = await hostOf({ far: { url, via: 'provider', approval: 'always' } }, { asks });
    const { server, events, result } = await go(host, openai, [wants, { text: 'Then not.' }]);
    expect(calls()).toEqual([]);
    expect(result).toMatchObject({ reason: 'complete', text: 'Then not.', calls: 1 });
    expect(ofType(events, 'call.finished')).toMatchObject([{ status: 'refused', isError: true }]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('"approve":false');
    expect(JSON.stringify(server.requests[1]?.body)).toContain('not today');
  });

  it('are declined when nobody is there', async () => {
    const { url, calls } = await remote();
    const host = await hostOf({ far: { url, via: 'provider' } });
    const { server, result } = await go(host, openai, [wants, { text: 'Then not.' }]);
    expect(result.reason).toBe('complete');
    expect(calls()).toEqual([]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('nobody was there to answer');
  });

  it('are answered beside the results of our own calls', async () => {
    const { url, calls } = await remote();
    const { asks } = answering(true);
    const near = { command: process.execPath, args: [honest] };
    const host = await hostOf({ far: { url, via: 'provider' }, near }, { asks });
    const turns = [
      { ...wants, calls: [{ name: 'near__echo', arguments: { text: 'x' } }] },
      { text: 'Both.' },
    ];
    const { server, result } = await go(host, openai, turns);
    expect(refusals(server)).toEqual([]);
    expect(result).toMatchObject({ reason: 'complete', turns: 2, calls: 2 });
    expect(calls()).toEqual(['remove']);
  });

  it('are declined without a question beyond a limit, for arguments that cannot be read, and for tools not offered', async () => {
    const { url, calls } = await remote();
    const { asks, asked } = answering(true);
    const host = await hostOf({ far: { url, via: 'provider', tools: { allow: ['echo'] } } }, { asks });
    const request = (name: string, args: string): JsonObject => ({
      type: 'mcp_approval_request',
      id: `mcpr_${name}`,
      server_label: 'far',
      name,
      arguments: args,
    });
    const broken = await go(host, openai, [{ items: [request('echo', '[1]')], stop: 'completed' }]);
    expect(ofType(broken.events, 'call.finished')).toMatchObject([{ status: 'refused' }]);
    const foreign = await go(host, openai, [{ items: [request('remove', '{}')] }]);
    expect(JSON.stringify(ofType(foreign.events, 'call.finished'))).toContain(
      'not among the tools of this run',
    );
    const limited = await go(host, openai, [{ mcp: [{ server: 'far', tool: 'echo' }] }], {
      limits: { calls: 0 },
    });
    expect(limited.result.reason).toBe('max-calls');
    expect([asked, calls()]).toEqual([[], []]);
  });

  it('left open when the run ends are declined in the transcript', async () => {
    const { url, calls } = await remote();
    const waiting = new AbortController();
    const asks: Asks = {
      ask: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('left')), { once: true });
          waiting.abort();
        }),
    };
    const host = await hostOf({ far: { url, via: 'provider' } }, { asks });
    const server = await emulator(openai, [wants]);
    const run = host.run({ model: openai.model(server), messages: 'Go.' });
    waiting.signal.addEventListener('abort', () => run.abort('enough'), { once: true });
    const result = await run.result;
    expect(result.reason).toBe('aborted');
    const again = host.run({
      model: openai.model(server),
      messages: [...result.messages, { role: 'user', content: 'And?' }],
    });
    expect((await again.result).reason).toBe('complete');
    expect(refusals(server)).toEqual([]);
    expect(calls()).toEqual([]);
  });

  it('show a failure to list as a warning when the API answers all the same', async () => {
    const host = await hostOf({ far: { url: 'http://127.0.0.1:9/mcp', via: 'provider' } });
    const { events, result } = await go(host, openai, [{ listErrors: true, text: 'Without it.' }]);
    expect(result.reason).toBe('complete');
    expect(warningsOf(events)).toContain('OpenAI could not list the tools of far');
  });
});

describe('what a provider cannot do', () => {
  it('leaves the server with the host, which asks before each call itself', async () => {
    for (const [api, why] of [
      [anthropic, 'Anthropic calls tools without asking first'],
      [apiOf('openai-chat'), 'has no connector for MCP servers'],
      [apiOf('gemini'), 'has no connector for MCP servers'],
    ] as const) {
      for (const accepts of [true, false]) {
        const { url, calls, clients } = await remote();
        const { asks, asked } = answering(accepts);
        const host = await hostOf({ far: { url, via: 'provider' } }, { asks });
        const turns = [{ calls: [{ name: 'far__echo', arguments: { text: 'hi' } }] }, { text: 'ok' }];
        const { events, result } = await go(host, api, turns);
        expect(result.reason).toBe('complete');
        expect(warningsOf(events)).toContain(why);
        expect(asked).toMatchObject([{ kind: 'approve', label: 'far', tool: 'echo' }]);
        expect(clients()).toEqual(['midspan']);
        expect(calls()).toEqual(accepts ? ['echo'] : []);
        expect(ofType(events, 'call.finished')).toMatchObject([
          accepts ? { status: 'done' } : { status: 'refused', isError: true },
        ]);
      }
    }
  });

  it('is custom headers at Anthropic', async () => {
    const { url, received } = await remote();
    const headers = { 'X-Team': 'blue' };
    const host = await hostOf({ far: { url, headers, via: 'provider', approval: 'never' } });
    const turns = [{ calls: [{ name: 'far__echo', arguments: {} }] }, { text: 'ok' }];
    const { events } = await go(host, anthropic, turns);
    expect(warningsOf(events)).toContain('it needs X-Team');
    expect(received.every(({ headers: sent }) => sent['x-team'] === 'blue')).toBe(true);
  });

  it('is not asked for a call that a person makes', async () => {
    const { url, calls } = await remote();
    const host = await hostOf({ far: { url, via: 'provider' } });
    const call = { label: 'far', tool: 'echo', arguments: {} };
    expect(await host.call(call)).toMatchObject({ status: 'refused', error: { code: 'denied' } });
    expect(await host.call(call, { approved: true })).toMatchObject({ status: 'done' });
    expect(calls()).toEqual(['echo']);
  });
});
