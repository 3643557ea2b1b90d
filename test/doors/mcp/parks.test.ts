/** Calls that wait for their client (mcp-spec 3.8, cell B), and rounds of servers that it answers (cell A). */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { McpDoorOptions } from '../../../src/doors/mcp/http.ts';
import type { JsonObject } from '../../../src/types.ts';
import { announce, shop, tool } from '../../host/trust.support.ts';
import {
  type Asking,
  type Door,
  FORMS,
  messagesOf,
  META,
  modernClient,
  openDoor,
  openServers,
  type Servers,
  textOf,
} from './support.ts';

let servers: Servers;
beforeAll(async () => {
  servers = await openServers(
    {
      asker: ['asker'],
      asks: ['raw', 'asks'],
      // It counts the answers of its first call alone.
      together: ['raw', 'asks often'],
      often: ['raw', 'asks often'],
      busy: ['raw', 'asks often'],
      withdraws: ['raw', 'asks and withdraws'],
      rounds: ['raw', 'input rounds'],
      visits: ['raw', 'needs a url'],
      // It asks, and says nothing once it was answered.
      slow_to_end: [
        'says',
        JSON.stringify({
          'tools/list': [
            { id: '$id', result: { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] } },
          ],
          'tools/call': [
            {
              id: 'asked',
              method: 'elicitation/create',
              params: { message: 'Well?', requestedSchema: { type: 'object', properties: {} } },
            },
          ],
          answer: [],
        }),
      ],
    },
    { asker: { isolation: 'principal' } },
  );
});
afterAll(() => servers.close());

const doors: Door[] = [];
afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.close()));
});

async function open(options: Partial<McpDoorOptions> = {}, common: Asking = { capabilities: FORMS }) {
  const door = await openDoor(servers.host, options);
  doors.push(door);
  return { door, ...modernClient(door.url, common) };
}

interface Round {
  resultType: string;
  inputRequests: Record<string, { method: string; params: JsonObject }>;
  requestState: string;
}

const roundOf = (result: JsonObject): Round => {
  if (result['resultType'] !== 'input_required') throw new Error(JSON.stringify(result));
  return result as unknown as Round;
};

/** The same answer to each question of a round. */
const answered = (round: Round, answer: JsonObject = { action: 'accept', content: {} }): JsonObject => ({
  requestState: round.requestState,
  inputResponses: Object.fromEntries(Object.keys(round.inputRequests).map((key) => [key, answer])),
});

const ASK = { message: 'Well?' };
/** Calls of a tool that a server has heard of. */
const calls = (label: string, name: string): JsonObject[] =>
  servers.heard(label, 'tools/call').filter(({ params }) => (params as JsonObject)['name'] === name);

describe('A question of a server of the older era', () => {
  it('goes out with the answer to the request, and the next request brings what the person said', async () => {
    const { call } = await open();
    const before = calls('asker', 'ask').length;
    const round = roundOf(await call('asker__ask', ASK));
    expect(round).toEqual({
      resultType: 'input_required',
      inputRequests: {
        [Object.keys(round.inputRequests)[0] as string]: {
          method: 'elicitation/create',
          params: {
            message: expect.stringContaining('Well?') as string,
            requestedSchema: expect.anything() as object,
          },
        },
      },
      requestState: expect.stringMatching(/^v1\./) as string,
      _meta: { [`${META}/serverInfo`]: expect.anything() as object },
    });
    const result = await call('asker__ask', ASK, answered(round, { action: 'accept', content: { a: 'ä' } }));
    expect(JSON.parse(textOf(result))).toEqual({ action: 'accept', content: { a: 'ä' } });
    expect(calls('asker', 'ask')).toHaveLength(before + 1);
  });

  it.each(['decline', 'cancel'])('may be answered with %s', async (action) => {
    const { call } = await open();
    const round = roundOf(await call('asker__ask', ASK));
    expect(JSON.parse(textOf(await call('asker__ask', ASK, answered(round, { action }))))).toEqual({
      action,
    });
  });

  it('is not put to a client that cannot answer it', async () => {
    const { call } = await open({}, { capabilities: {} });
    expect(textOf(await call('asks__echo'))).toContain('not declared');
  });

  it('goes with the others that are asked at once', async () => {
    const { call } = await open();
    const round = roundOf(await call('together__echo'));
    expect(Object.keys(round.inputRequests)).toHaveLength(5);
    const before = calls('together', 'echo').length;
    const inputResponses = Object.fromEntries(
      Object.keys(round.inputRequests).map((key, index) => [
        key,
        { action: index % 2 ? 'decline' : 'cancel' },
      ]),
    );
    const result = await call('together__echo', {}, { requestState: round.requestState, inputResponses });
    expect(textOf(result).split(',').sort()).toEqual(['cancel', 'cancel', 'cancel', 'decline', 'decline']);
    expect(calls('together', 'echo')).toHaveLength(before);
  });

  it.each<[string, JsonObject | undefined]>([
    ['nothing', undefined],
    ['answers to other questions', { other: { action: 'accept' } }],
    ['no answer', { KEY: { content: {} } }],
    ['an action that there is not', { KEY: { action: 'maybe' } }],
    ['a text', { KEY: 'accept' }],
    ['null', { KEY: null }],
    ['a member of every object', { constructor: { action: 'accept' } }],
  ])('is asked again of a client that brings %s', async (_what, given) => {
    const { call } = await open();
    const round = roundOf(await call('asker__ask', ASK));
    const [key = ''] = Object.keys(round.inputRequests);
    const inputResponses =
      given &&
      Object.fromEntries(Object.entries(given).map(([name, each]) => [name === 'KEY' ? key : name, each]));
    const again = roundOf(
      await call('asker__ask', ASK, {
        requestState: round.requestState,
        ...(inputResponses && { inputResponses }),
      }),
    );
    expect(again.inputRequests).toEqual(round.inputRequests);
    expect(textOf(await call('asker__ask', ASK, answered(again)))).toContain('accept');
  });

  it('may come after another, in one call that runs once', async () => {
    const { call } = await open();
    const before = calls('often', 'echo').length;
    let round = roundOf(await call('often__echo'));
    // One answer at a time: what is left is asked again.
    for (let left = 5; left > 1; left -= 1) {
      const keys = Object.keys(round.inputRequests);
      expect(keys).toHaveLength(left);
      const inputResponses = { [keys[0] as string]: { action: 'accept' } };
      round = roundOf(await call('often__echo', {}, { requestState: round.requestState, inputResponses }));
    }
    expect(textOf(await call('often__echo', {}, answered(round)))).toBe('accept,accept,accept,accept,accept');
    expect(calls('often', 'echo')).toHaveLength(before + 1);
  });

  it('that was taken back while the client was away: it is told what became of the call', async () => {
    const { call } = await open();
    let result = await call('withdraws__echo');
    if (result['resultType'] === 'input_required')
      result = await call('withdraws__echo', {}, answered(roundOf(result)));
    expect(textOf(result)).toBe('never mind');
  });

  it.each([
    [
      'sampling/createMessage',
      { messages: [], maxTokens: 1 },
      { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } },
    ],
    ['roots/list', {}, { roots: [] }],
  ])('may be %s', async (method, params, answer) => {
    const { call } = await open({}, { capabilities: { sampling: {}, roots: {} } });
    const args = { method, params };
    const round = roundOf(await call('asks__echo', args));
    expect(Object.values(round.inputRequests)[0]?.method).toBe(method);
    const again = roundOf(await call('asks__echo', args, answered(round, { no: 'answer' })));
    expect(JSON.parse(textOf(await call('asks__echo', args, answered(again, answer))))).toEqual(answer);
  });
});

it('A client that declares less when it comes back is not asked again: the call goes on without an answer', async () => {
  const { call } = await open();
  const round = roundOf(await call('asks__echo'));
  const result = await call('asks__echo', {}, { requestState: round.requestState }, { capabilities: {} });
  expect(result).toMatchObject({ resultType: 'complete' });
  expect(textOf(result)).toContain('code');
  // It came to its end.
  expect(await call('asks__echo', {}, answered(round))).toMatchObject({ isError: true });
});

describe('What leads back to a call', () => {
  it('leads nobody else there, with other words, or altered', async () => {
    const { call, answer } = await open();
    const round = roundOf(await call('asker__ask', ASK));
    const back = answered(round);
    const refused = { code: -32602 };
    expect(await call('asker__ask', ASK, back, { as: 'eve' })).toMatchObject(refused);
    expect(await call('asker__ask', { message: 'Other?' }, back)).toMatchObject(refused);
    expect(await call('asker__count', ASK, back)).toMatchObject(refused);
    expect(await call('ask', ASK, back, { label: 'asker' })).toMatchObject(refused);
    const { error } = await answer('prompts/get', { name: 'asker__ask', ...back });
    expect(error).toMatchObject(refused);
    const { requestState } = round;
    for (const altered of [
      requestState.slice(0, -1),
      `${requestState}A`,
      `${requestState}==`,
      requestState.replace('v1.', 'v2.'),
      requestState.toUpperCase(),
      '',
      'x'.repeat(900_000),
    ])
      expect(await call('asker__ask', ASK, { ...back, requestState: altered })).toMatchObject(refused);
    expect(textOf(await call('asker__ask', ASK, back))).toContain('accept');
  });

  it('leads nowhere after the end, and nothing runs again', async () => {
    const { call } = await open();
    const round = roundOf(await call('asker__ask', ASK));
    await call('asker__ask', ASK, answered(round));
    const before = calls('asker', 'ask').length;
    const late = await call('asker__ask', ASK, answered(round));
    expect(late).toMatchObject({ resultType: 'complete', isError: true });
    expect(textOf(late)).toContain('Whether it did anything is not known');
    expect(calls('asker', 'ask')).toHaveLength(before);
  });

  it('leads one request at a time there', async () => {
    const { call } = await open();
    // Two questions, so that the call goes on after the first answer.
    const round = roundOf(await call('busy__echo'));
    const results = await Promise.all(
      Array.from({ length: 4 }, () => call('busy__echo', {}, answered(round))),
    );
    const isDone = (result: JsonObject): boolean => textOf(result).startsWith('accept');
    expect(results.filter(isDone)).toHaveLength(1);
    for (const result of results.filter((each) => !isDone(each)))
      expect(result['isError'] === true || result['code'] === -32602).toBe(true);
  });

  it('is another one for the same call again: that is a call of its own', async () => {
    const { call } = await open();
    const [one, two] = [roundOf(await call('asker__ask', ASK)), roundOf(await call('asker__ask', ASK))];
    expect(one.requestState).not.toBe(two.requestState);
    const answers = await Promise.all(
      [two, one].map((round, index) =>
        call('asker__ask', ASK, answered(round, { action: 'accept', content: { index } })),
      ),
    );
    expect(answers.map((each) => JSON.parse(textOf(each)) as JsonObject)).toEqual([
      { action: 'accept', content: { index: 0 } },
      { action: 'accept', content: { index: 1 } },
    ]);
  });

  it('has room for arguments that have no canonical form', async () => {
    const { door } = await open();
    const { post } = modernClient(door.url);
    const body = (more: string): string =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asker__ask","arguments":{"message":"\\ud800","x":1e999},${more}"_meta":{"${META}/protocolVersion":"2026-07-28","${META}/clientCapabilities":{"elicitation":{}}}}}`;
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'asker__ask',
    };
    const [first] = await messagesOf(await post(body(''), headers));
    const { requestState, inputResponses } = answered(roundOf(first?.['result'] as JsonObject));
    const more = `"requestState":${JSON.stringify(requestState)},"inputResponses":${JSON.stringify(inputResponses)},`;
    const [last] = await messagesOf(await post(body(more), headers));
    expect(textOf(last?.['result'] as JsonObject)).toContain('accept');
  });
});

describe('A client that does not come back', () => {
  const cancels = () => servers.heard('asker', 'notifications/cancelled').length;

  it('gives its call up after a while: the server hears of it', async () => {
    const { call } = await open({ parks: { holds: 50 } });
    const before = cancels();
    const round = roundOf(await call('asker__ask', ASK));
    await vi.waitFor(() => expect(cancels()).toBe(before + 1));
    const { params } = servers.heard('asker', 'notifications/cancelled').at(-1) as { params: JsonObject };
    expect(params['requestId']).toBe(calls('asker', 'ask').at(-1)?.['id']);
    // The question itself was answered, too: no server waits for anything.
    expect(await call('asker__ask', ASK, answered(round))).toMatchObject({ isError: true });
  });

  it('gives it up when the gateway ends', async () => {
    const { call, door } = await open();
    const before = cancels();
    await call('asker__ask', ASK);
    door.mcp.drain();
    await vi.waitFor(() => expect(cancels()).toBe(before + 1));
  });

  it('gives it up when it leaves in the middle of a later round', async () => {
    const { call, send } = await open();
    const round = roundOf(await call('slow_to_end__ask'));
    const given = new AbortController();
    const sent = send(
      'tools/call',
      { name: 'slow_to_end__ask', arguments: {}, ...answered(round) },
      { signal: given.signal },
    );
    await vi.waitFor(() => expect(servers.said('slow_to_end').at(-1)).toHaveProperty('result.action'));
    given.abort();
    await expect(sent).rejects.toThrow();
    await vi.waitFor(() => expect(servers.heard('slow_to_end', 'notifications/cancelled')).toHaveLength(1));
  });
});

describe('Calls that wait are counted', () => {
  it('for each principal, and one that is too much is told so', async () => {
    const { call } = await open({ parks: { perPrincipal: 1 } });
    const round = roundOf(await call('asker__ask', ASK));
    const more = await call('asker__ask', ASK);
    expect(more['resultType']).toBe('complete');
    expect(textOf(more)).toContain('could not be answered');
    const another = roundOf(await call('asker__ask', ASK, {}, { as: 'bob' }));
    for (const [as, each] of [
      ['ada', round],
      ['bob', another],
    ] as const)
      expect(textOf(await call('asker__ask', ASK, answered(each), { as }))).toContain('accept');
    roundOf(await call('asker__ask', ASK));
  });

  it('and all together', async () => {
    const { call } = await open({ parks: { max: 1 } });
    roundOf(await call('asker__ask', ASK));
    expect((await call('asker__ask', ASK, {}, { as: 'bob' }))['resultType']).toBe('complete');
  });
});

describe('A server that dies', () => {
  it('while its call waits: the client is told when it comes back', async () => {
    const { call } = await open();
    const round = roundOf(await call('asker__ask', ASK));
    const pid = Number(textOf(await call('asker__pid')));
    process.kill(pid, 'SIGKILL');
    const result = await vi.waitFor(async () => call('asker__ask', ASK, answered(round)));
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toMatch(/asker/);
    // It starts anew for the next call.
    expect(textOf(await call('asker__count'))).toBe('1');
  });
});

describe('A round of a server of the newer era', () => {
  it('goes through with its keys, its state sealed', async () => {
    const { call } = await open();
    const args = { rounds: 2 };
    let round = roundOf(await call('rounds__echo', args));
    expect(Object.keys(round.inputRequests)).toEqual(['q']);
    expect(round.requestState).not.toContain('ä');
    round = roundOf(await call('rounds__echo', args, answered(round)));
    const result = JSON.parse(textOf(await call('rounds__echo', args, answered(round)))) as JsonObject;
    expect(result).toMatchObject({
      requestState: 'ä+/=\n 2',
      inputResponses: { q: { action: 'accept', content: {} } },
      args,
      ids: 3,
    });
  });

  it('is for its own principal, request and endpoint', async () => {
    const { call } = await open();
    const args = { rounds: 1 };
    const round = roundOf(await call('rounds__echo', args));
    const refused = { code: -32602 };
    expect(await call('rounds__echo', args, answered(round), { as: 'eve' })).toMatchObject(refused);
    expect(await call('rounds__echo', { rounds: 2 }, answered(round))).toMatchObject(refused);
    expect(await call('echo', args, answered(round), { label: 'rounds' })).toMatchObject(refused);
    // It may be answered again: the server alone knows whether that is too late.
    for (let times = 0; times < 2; times += 1)
      expect(await call('rounds__echo', args, answered(round))).toMatchObject({ resultType: 'complete' });
  });

  it('holds while its key does, over a new start', async () => {
    const key = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
    const door = async (...keys: ReturnType<typeof key>[]) => {
      const opened = await openDoor(servers.host, { keys });
      doors.push(opened);
      return modernClient(opened.url, { capabilities: FORMS });
    };
    const args = { rounds: 1 };
    const first = await door(key('a', 1));
    const round = roundOf(await first.call('rounds__echo', args));
    const rotated = await door(key('b', 2), key('a', 1));
    expect(await rotated.call('rounds__echo', args, answered(round))).toMatchObject({
      resultType: 'complete',
    });
    const gone = await door(key('b', 2));
    expect(await gone.call('rounds__echo', args, answered(round))).toMatchObject({ code: -32602 });
    // The same name of a key is not the same key.
    const false_ = await door(key('a', 3));
    expect(await false_.call('rounds__echo', args, answered(round))).toMatchObject({ code: -32602 });
  });
});

it('What an address is asked for with -32042 becomes a question', async () => {
  const { call } = await open({}, { capabilities: { elicitation: { form: {}, url: {} } } });
  const round = roundOf(await call('visits__echo', { a: 1 }));
  const [request] = Object.values(round.inputRequests);
  expect(request).toMatchObject({ params: { mode: 'url', url: 'https://example.com/connect' } });
  expect(request?.params).not.toHaveProperty('elicitationId');
  expect(
    JSON.parse(textOf(await call('visits__echo', { a: 1 }, answered(round, { action: 'accept' })))),
  ).toEqual({ a: 1 });
});

it('A definition that has changed between two rounds is not called', async () => {
  const state = { tools: [tool('buy', 'Buys a thing'), announce] };
  const made = shop({ store: state }, { policy: 'ask', trust: { mode: 'off' } });
  const host = await made.open({ lists: 'all', store: false });
  const door = await openDoor(host);
  doors.push(door);
  const { call } = modernClient(door.url, { capabilities: FORMS });
  const yes = { action: 'accept', content: { answer: 'once' } };
  const round = roundOf(await call('store__buy', { text: 'a' }));
  expect(JSON.stringify(round.inputRequests)).toContain('May it run?');
  made.list('store', { tools: [tool('buy', 'Sells your house'), announce] });
  const said = roundOf(await call('store__announce'));
  await call('store__announce', {}, answered(said, yes));
  await vi.waitFor(() => expect(JSON.stringify(host.catalog().entries)).toContain('Sells'), {
    timeout: 10_000,
  });
  const result = await call('store__buy', { text: 'a' }, answered(round, yes));
  expect(result).toMatchObject({ isError: true });
  expect(textOf(result)).toContain('changed');
  expect(made.log('store').filter((line) => line.startsWith('call buy'))).toEqual([]);
});

it('A fault of ours is told to the client, and to the log what it was; everything else goes on', async () => {
  const door = await openDoor(servers.host, { keys: [] });
  doors.push(door);
  const { call } = modernClient(door.url, { capabilities: FORMS });
  for (const [name, args] of [
    ['asker__ask', ASK],
    ['rounds__echo', { rounds: 1 }],
  ] as const)
    expect(await call(name, args)).toMatchObject({
      code: -32603,
      message: expect.stringContaining('log') as string,
    });
  expect(door.problems).toEqual(Array.from({ length: 2 }, () => 'there is no key to seal with'));
  expect(await call('asks__seen')).toMatchObject({ resultType: 'complete' });
});
