import { afterEach, describe, expect, it, vi } from 'vitest';
import { newSession } from '../../../src/host/session.ts';
import { globs } from '../../../src/trust/policy/globs.ts';
import type { Principal } from '../../../src/doors/access/principal.ts';
import type { Client, Exchange } from '../../../src/doors/mcp/client.ts';
import type { Endpoint, EndpointChange } from '../../../src/doors/mcp/endpoint.ts';
import { openGateway } from '../../../src/doors/mcp/gateway.ts';
import type { Served, Serving } from '../../../src/mcp/serving.ts';
import type { InputRequest } from '../../../src/mcp/input.ts';
import type { JsonObject } from '../../../src/types.ts';
import { announce, shop, type State, tool } from '../../host/trust.support.ts';

/** A revision that changes nothing. */
const plain = {
  era: 'modern',
  version: 'plain',
  items: (_kind, definitions) => [...definitions],
  result: (_method, served) => (served.kind === 'complete' ? served.result : {}),
} as Partial<Serving> as Serving;

const somebody: Principal = {
  id: 'local',
  name: 'local',
  allows: () => true,
  reaches: () => true,
  filter: '',
};
const only = (pattern: string): Principal => ({
  id: `key:${pattern}`,
  name: pattern,
  allows: (label, name) => globs([pattern])(`${label}/${name}`),
  reaches: (label) => pattern.startsWith(label),
  filter: pattern,
});

const clientOf = (principal: Principal): Client => ({
  principal,
  id: principal.id,
  session: newSession(),
  serving: plain,
});

interface Asking {
  principal?: Principal;
  capabilities?: JsonObject;
  ask?: (request: InputRequest) => JsonObject;
  client?: Client;
}

async function asks(endpoint: Endpoint, method: string, params: JsonObject = {}, asking: Asking = {}) {
  const { principal = somebody, capabilities = {}, ask, client = clientOf(principal) } = asking;
  const exchange: Exchange = {
    client,
    capabilities,
    signal: new AbortController().signal,
    progress: undefined,
    log: undefined,
    rounds: false,
    round: undefined,
    ask: (request) => Promise.resolve(ask?.(request) ?? { action: 'cancel' }),
    request: {
      id: 1,
      method,
      params,
      capabilities,
      clientInfo: undefined,
      progressToken: undefined,
      logLevel: undefined,
      round: undefined,
      meta: undefined,
    },
  };
  const served = await endpoint.answer(exchange);
  return served.kind === 'written' ? (JSON.parse(served.text) as JsonObject) : served;
}

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const link = { type: 'resource_link', uri: 'file:///a', name: 'a' };
const library: State = {
  tools: [announce, tool('count', 'Counts pages.')],
  prompts: [{ name: 'explain', description: 'Explains.' }],
  resources: [{ uri: 'file:///a', name: 'a' }],
  templates: [{ uriTemplate: 'file:///{name}', name: 'page' }],
  instructions: 'Ask for pages by name.',
};

async function gateway(states: { [label: string]: State }, more: object = {}) {
  const market = shop(states, more);
  const host = await market.open({ lists: 'all', readResult: false });
  const open = openGateway(host);
  const endpoint = (label?: string): Endpoint => {
    const found = open.endpoint(label);
    if (found === undefined) throw new Error(`no endpoint ${label}`);
    return found;
  };
  return { market, host, endpoint, open };
}

const names = (result: Served | JsonObject, list: string, member = 'name') =>
  ((result as JsonObject)[list] as JsonObject[]).map((item) => item[member]);

describe('the endpoint of all servers', () => {
  it('shows everything under names that lead back, and answers by them', async () => {
    const { endpoint } = await gateway({ one: library, two: library });
    const all = endpoint();
    expect(names(await asks(all, 'tools/list'), 'tools')).toEqual([
      'one__announce',
      'one__count',
      'two__announce',
      'two__count',
    ]);
    expect(names(await asks(all, 'prompts/list'), 'prompts')).toEqual(['one__explain', 'two__explain']);
    const uris = names(await asks(all, 'resources/list'), 'resources', 'uri');
    expect(uris).toEqual(['midspan://one/file:///a', 'midspan://two/file:///a']);
    expect(names(await asks(all, 'resources/templates/list'), 'resourceTemplates', 'uriTemplate')).toEqual([
      'midspan://one/file:///{name}',
      'midspan://two/file:///{name}',
    ]);
    expect(await asks(all, 'resources/read', { uri: 'midspan://two/file:///a' })).toMatchObject({
      kind: 'complete',
      result: { contents: [{ uri: 'midspan://two/file:///a', text: 'done' }] },
    });
    expect(await asks(all, 'prompts/get', { name: 'two__explain' })).toMatchObject({ kind: 'complete' });
    expect(await asks(all, 'tools/call', { name: 'two__count' })).toMatchObject({ kind: 'complete' });
    expect(all.self(plain).instructions).toContain('# one\n');
  });

  it('says which names it does not know', async () => {
    const { endpoint } = await gateway({ one: library });
    const unknown = await asks(endpoint(), 'tools/call', { name: 'one__cuont' });
    expect(unknown).toMatchObject({
      kind: 'error',
      error: { code: -32602, message: expect.stringContaining('one__count') as string },
    });
    for (const [method, params] of [
      ['prompts/get', { name: 'two__explain' }],
      ['resources/read', { uri: 'file:///a' }],
      ['resources/read', {}],
      ['completion/complete', { ref: { type: 'ref/tool', name: 'x' } }],
      ['tools/call', { name: 7 }],
      ['tools/call', { name: 'one__count', arguments: [] }],
      ['tools/list', { cursor: 'more' }],
    ] as [string, JsonObject][])
      expect(await asks(endpoint(), method, params)).toMatchObject({ error: { code: -32602 } });
    expect(await asks(endpoint(), 'tools/dance')).toMatchObject({ error: { code: -32601 } });
  });

  it('keeps from a principal what its filter keeps from it', async () => {
    const { endpoint } = await gateway({ one: library, two: library });
    const principal = only('one/count');
    const all = endpoint();
    expect(names(await asks(all, 'tools/list', {}, { principal }), 'tools')).toEqual(['one__count']);
    expect(names(await asks(all, 'prompts/list', {}, { principal }), 'prompts')).toEqual(['one__explain']);
    for (const [method, params] of [
      ['tools/call', { name: 'two__count' }],
      ['tools/call', { name: 'one__announce' }],
      ['prompts/get', { name: 'two__explain' }],
      ['resources/read', { uri: 'midspan://two/file:///a' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'two__explain' } }],
    ] as [string, JsonObject][])
      expect([method, params, await asks(all, method, params, { principal })]).toMatchObject([
        method,
        params,
        { kind: 'error', error: { code: -32602 } },
      ]);
    expect(all.follow(principal, 'midspan://two/file:///a')).toBeUndefined();
  });
});

describe('the endpoint of one server', () => {
  it('shows it as it is', async () => {
    const { endpoint, open } = await gateway({ one: library, two: library });
    const one = endpoint('one');
    expect(names(await asks(one, 'tools/list'), 'tools')).toEqual(['announce', 'count']);
    expect(names(await asks(one, 'resources/list'), 'resources', 'uri')).toEqual(['file:///a']);
    expect(one.self(plain)).toMatchObject({
      serverInfo: { name: 'shifty', version: '1' },
      instructions: 'Ask for pages by name.',
    });
    expect(await asks(one, 'resources/read', { uri: 'file:///a' })).toMatchObject({
      result: { contents: [{ uri: 'file:///a' }] },
    });
    expect(await asks(one, 'tools/call', { name: 'one__count' })).toMatchObject({
      kind: 'error',
      error: { code: -32602 },
    });
    expect(open.endpoint('none')).toBeUndefined();
  });

  it('keeps a principal to its filter, too', async () => {
    const { endpoint } = await gateway({ one: library });
    const principal = only('one/count');
    const refused = await asks(endpoint('one'), 'tools/call', { name: 'announce' }, { principal });
    expect(refused).toMatchObject({ kind: 'error', error: { code: -32602 } });
  });
});

describe('approvals', () => {
  const policy = { policy: 'ask' };

  it('are asked for through the client, and a yes for the session holds', async () => {
    const { endpoint } = await gateway({ one: library }, policy);
    const seen: InputRequest[] = [];
    const client = clientOf(somebody);
    const asking = {
      client,
      capabilities: { elicitation: {} },
      ask: (request: InputRequest) => {
        seen.push(request);
        return { action: 'accept', content: { answer: 'run' } };
      },
    };
    const call = () =>
      asks(endpoint(), 'tools/call', { name: 'one__count', arguments: { text: 'x' } }, asking);
    expect(await call()).toMatchObject({ kind: 'complete', result: { content: [{ text: 'done' }] } });
    expect(await call()).toMatchObject({ kind: 'complete', result: { content: [{ text: 'done' }] } });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ method: 'elicitation/create', params: { mode: 'form' } });
    expect(JSON.stringify(seen[0]?.params['message'])).toContain('count');
  });

  it.each([
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'accept' },
    { action: 'accept', content: { answer: 'no' } },
    { action: 'accept', content: { answer: 'yes' } },
    { action: 'accept', content: ['always'] },
  ] as JsonObject[])('are refused by %j', async (answer) => {
    const { endpoint, market } = await gateway({ one: library }, policy);
    const asking = { capabilities: { elicitation: { form: {} } }, ask: () => answer };
    const refused = await asks(endpoint(), 'tools/call', { name: 'one__count' }, asking);
    expect(refused).toMatchObject({ kind: 'complete', result: { isError: true } });
    expect(market.log('one').filter((line) => line.startsWith('call'))).toEqual([]);
  });

  it('are refused where the client cannot be asked and nobody else is', async () => {
    const { endpoint } = await gateway({ one: library }, policy);
    for (const capabilities of [{}, { elicitation: { url: {} } }])
      expect(await asks(endpoint(), 'tools/call', { name: 'one__count' }, { capabilities })).toMatchObject({
        result: { isError: true },
      });
  });
});

describe('changes', () => {
  it('are told to those alone who are shown something else', async () => {
    const { endpoint, market, host } = await gateway({ one: library, two: library });
    const told: [string, EndpointChange][] = [];
    const hear = (name: string, principal: Principal, label?: string) =>
      ends.push(endpoint(label).on(principal, (change) => void told.push([name, change])));
    hear('everybody', somebody);
    hear('of one', only('one/*'));
    hear('of two', only('two/*'));
    hear('at one', somebody, 'one');
    hear('at two', somebody, 'two');
    market.list('one', { ...library, tools: [...library.tools, tool('sort', 'Sorts pages.')] });
    await host.call({ name: 'one__announce' });
    await vi.waitFor(() => expect(told.length).toBeGreaterThanOrEqual(3));
    const change = { list: 'tools' };
    expect(told.sort(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      ['at one', change],
      ['everybody', change],
      ['of one', change],
    ]);
  });
});

it('URIs in results are those that the client can read', async () => {
  const { endpoint } = await gateway({
    one: { ...library, results: { explain: JSON.stringify(link) } },
  });
  const read = await asks(endpoint(), 'resources/read', { uri: 'midspan://one/file:///b' });
  expect(read).toMatchObject({ result: { contents: [{ uri: 'midspan://one/file:///b' }] } });
});
