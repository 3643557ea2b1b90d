import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Endpoint } from '../../../src/doors/mcp/endpoint.ts';
import { type GatewayOptions, openGateway } from '../../../src/doors/mcp/gateway.ts';
import { gatewayFile } from '../../../src/store/gateway.ts';
import type { JsonObject } from '../../../src/types.ts';
import {
  FORMS,
  LEGACY,
  type Servers,
  TAKES_TASKS,
  TASKS,
  clientAt,
  openServers,
  principal,
} from './tasks.support.ts';

const RELATED = 'io.modelcontextprotocol/related-task';
const UNKNOWN = { kind: 'error', error: { code: -32602 } };
const yes = { action: 'accept', content: { confirm: true } };

let servers: Servers;
beforeAll(async () => {
  servers = await openServers();
});
afterAll(() => servers.close());

function endpointOf(label: string | undefined, options: GatewayOptions = {}, { host } = servers): Endpoint {
  const endpoint = openGateway(host, options).endpoint(label);
  if (endpoint === undefined) throw new Error(`there is no endpoint ${label}`);
  return endpoint;
}

/** At the endpoint of one server a tool has its own name, at that of all one with the label. */
const nameAt = (label: string | undefined, owner: string, tool: string): string =>
  label === undefined ? `${owner}__${tool}` : tool;

describe.each(['legacy', 'modern'])('Tasks of a %s server', (owner) => {
  it.each([owner, undefined])(
    'pass through at the endpoint of %s, with their questions and results',
    async (label) => {
      const ada = clientAt(endpointOf(label));
      const taskId = await ada.started(nameAt(label, owner, 'confirm_delete'), { filename: 'a.txt' });
      const open = await ada.until(taskId, 'input_required');
      const message = label === undefined ? `${owner}: Delete a.txt?` : 'Delete a.txt?';
      const [[key, question] = []] = Object.entries(open['inputRequests'] as JsonObject);
      expect(open).toMatchObject({ taskId });
      expect(question).toMatchObject({ method: 'elicitation/create', params: { message } });
      // What answers nothing is passed over.
      for (const inputResponses of [{}, { other: yes }, { [key as string]: 'yes' }])
        expect(await ada.send('tasks/update', { taskId, inputResponses })).toEqual({
          kind: 'complete',
          result: {},
        });
      await ada.until(taskId, 'input_required');
      await ada.send('tasks/update', { taskId, inputResponses: { [key as string]: yes } });
      const ended = await ada.until(taskId, 'completed');
      expect(ended['result']).toMatchObject({ content: [{ type: 'text', text: 'Deleted a.txt.' }] });
      expect(ended).not.toHaveProperty('inputRequests');
      const written = await ada.written('tasks/get', { taskId });
      expect(written).toMatchObject({
        resultType: 'complete',
        status: 'completed',
        result: { resultType: 'complete' },
      });
      expect(JSON.stringify(written)).not.toContain(RELATED);
      expect(ada.asked).toEqual([]);
    },
  );

  it('are known to their own principal and endpoint alone', async () => {
    const gateway = openGateway(servers.host);
    const at = (label?: string) => gateway.endpoint(label) as Endpoint;
    const ada = clientAt(at(owner));
    const taskId = await ada.started('slow_compute', { seconds: 60 });
    const others = [
      clientAt(at(owner), { who: principal('eve') }),
      clientAt(at(), { who: principal('ada') }),
      clientAt(at(owner === 'modern' ? 'legacy' : 'modern')),
      clientAt(at(owner), { version: LEGACY, who: principal('eve') }),
    ];
    for (const other of others)
      for (const method of ['tasks/get', 'tasks/cancel'])
        expect(await other.send(method, { taskId })).toMatchObject(UNKNOWN);
    const [kind, ...rest] = taskId.split('.');
    const tampered = [
      `${taskId}A`,
      taskId.slice(0, -1),
      [kind, ...rest.reverse()].join('.'),
      '',
      'x'.repeat(100_000),
    ];
    for (const wrong of tampered.filter((each) => each !== taskId))
      expect(await ada.send('tasks/get', { taskId: wrong })).toMatchObject(UNKNOWN);
    expect(await ada.send('tasks/get', { taskId: 7 })).toMatchObject(UNKNOWN);
    expect(await ada.send('tasks/update', { taskId, inputResponses: [] })).toMatchObject(UNKNOWN);
    await ada.until(taskId, 'working');
    expect(await ada.send('tasks/cancel', { taskId })).toEqual({ kind: 'complete', result: {} });
    await ada.until(taskId, 'cancelled');
    // The server hears of it, and hearing of it twice changes nothing.
    await vi.waitFor(() => expect(servers.said(owner)).toContain('"method":"tasks/cancel"'), 60_000);
    expect(await ada.send('tasks/cancel', { taskId })).toEqual({ kind: 'complete', result: {} });
  });

  it('fail as a request does, and end well where their tool says that it failed', async () => {
    const ada = clientAt(endpointOf(owner));
    const broken = await ada.until(await ada.started('protocol_error_job'), 'failed');
    expect(broken['error']).toMatchObject({ code: -32603, message: 'This job always breaks down.' });
    expect(broken).not.toHaveProperty('result');
    const failed = await ada.until(await ada.started('failing_job'), 'completed');
    expect(failed['result']).toMatchObject({ isError: true });
  });

  it('are made after what is asked before them', async () => {
    const ada = clientAt(endpointOf(owner), {
      answer: () => ({ action: 'accept', content: { name: 'Ada' } }),
    });
    const first = await ada.call('test_tool_with_task');
    let taskId: string;
    if (first.kind === 'input') {
      const { requests, state, digest } = first;
      const responses = {
        [Object.keys(requests)[0] as string]: { action: 'accept', content: { name: 'Ada' } },
      };
      const params = { name: 'test_tool_with_task', arguments: {} };
      const round = { responses, digest, ...(state !== undefined && { state }) };
      const second = await ada.send('tools/call', params, { round });
      if (second.kind !== 'task') throw new Error(`a ${second.kind} came`);
      taskId = second.task['taskId'] as string;
    } else {
      expect(ada.asked).toHaveLength(1);
      if (first.kind !== 'task') throw new Error(`a ${first.kind} came`);
      taskId = first.task['taskId'] as string;
    }
    const ended = await ada.until(taskId, 'completed');
    expect(ended['result']).toMatchObject({ content: [{ text: 'Hello, Ada, from a task.' }] });
  });

  it('are not for clients that do not declare them', async () => {
    const plain = clientAt(endpointOf(owner), { capabilities: FORMS });
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect(await plain.send(method, { taskId: 'any', inputResponses: {} })).toMatchObject({
        error: { code: -32021, data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } },
      });
    expect(await plain.send('tasks/list', {})).toMatchObject({ error: { code: -32601 } });
    expect(await plain.call('slow_compute', { seconds: 0.01 })).toMatchObject({
      kind: 'complete',
      result: { content: [{ text: 'Computed nothing in 0.01 s.' }] },
    });
    expect(await plain.call('failing_job')).toMatchObject({ kind: 'error', error: { code: -32021 } });
    const beside = clientAt(endpointOf(undefined), { capabilities: FORMS });
    expect(await beside.call(`${owner}__failing_job`)).toMatchObject({
      kind: 'complete',
      result: { isError: true },
    });
  });

  it('tell those who follow them', async () => {
    const endpoint = endpointOf(owner);
    const ada = clientAt(endpoint);
    const taskId = await ada.started('confirm_delete', { filename: 'b.txt' });
    const told: JsonObject[] = [];
    const follower = { ...ada, signal: new AbortController().signal };
    const stop = endpoint.followTask(follower, taskId, (task) => void told.push(task));
    expect(stop).toBeDefined();
    const open = await ada.until(taskId, 'input_required');
    const inputResponses = Object.fromEntries(
      Object.keys(open['inputRequests'] as JsonObject).map((key) => [key, yes]),
    );
    await ada.send('tasks/update', { taskId, inputResponses });
    await vi.waitFor(() => expect(told.at(-1)).toMatchObject({ taskId, status: 'completed' }), 60_000);
    expect(told.find(({ status }) => status === 'input_required')).toMatchObject({ inputRequests: {} });
    expect(new Set(told.map(({ taskId: id }) => id))).toEqual(new Set([taskId]));
    stop?.();
    const eve = { ...clientAt(endpoint, { who: principal('eve') }), signal: follower.signal };
    expect(endpoint.followTask(eve, taskId, () => undefined)).toBeUndefined();
  });
});

describe("A server's task", () => {
  it('is found by another gateway that has the keys, and by no other', async () => {
    const file = gatewayFile(undefined);
    const sealKeys = () => file.sealKeys();
    const ada = clientAt(endpointOf('modern', { sealKeys }));
    const taskId = await ada.started('slow_compute', { seconds: 0.05 });
    const again = clientAt(endpointOf('modern', { sealKeys }));
    expect(await again.until(taskId, 'completed')).toMatchObject({ taskId });
    const foreign = clientAt(endpointOf('modern'));
    expect(await foreign.send('tasks/get', { taskId })).toMatchObject(UNKNOWN);
  });

  it('is out of reach where a filter has come to keep its tool away', async () => {
    const endpoint = endpointOf('modern');
    const taskId = await clientAt(endpoint).started('slow_compute', { seconds: 0.05 });
    const who = principal('ada', { allows: (_label, tool) => tool !== 'slow_compute' });
    expect(await clientAt(endpoint, { who }).send('tasks/get', { taskId })).toMatchObject(UNKNOWN);
  });
});

describe.each(['legacy', 'modern', 'plain'])('A slow call of a %s server', (owner) => {
  // Their own: what may still ask about a call that was given up is not asked for a while.
  let own: Servers;
  beforeAll(async () => {
    own = await openServers();
  });
  afterAll(() => own.close());
  const slow: [string, JsonObject] =
    owner === 'plain' ? ['slow', { steps: 4, delay: 60 }] : ['test_tool_with_progress', {}];

  it('becomes a task, whose result is kept', async () => {
    const ada = clientAt(endpointOf(owner, { taskAfter: 20 }, own));
    const served = await ada.call(...slow);
    expect(served).toMatchObject({ kind: 'task', task: { status: 'working', ttlMs: 3_600_000 } });
    const taskId = (served as { task: JsonObject }).task['taskId'] as string;
    const ended = await ada.until(taskId, 'completed');
    expect(JSON.stringify(ended['result'])).toMatch(/done after 4 steps|Done, with progress\./);
    expect(await ada.until(taskId, 'completed')).toEqual(ended);
    if (owner === 'plain') expect(ended).toMatchObject({ statusMessage: 'step 4' });
  });

  it('is none for clients that take none, and none when it is quick', async () => {
    const none = clientAt(endpointOf(owner, { taskAfter: 20 }, own), { capabilities: {} });
    expect(await none.call(...slow)).toMatchObject({ kind: 'complete' });
    const older = clientAt(endpointOf(owner, { taskAfter: 20 }, own), { version: LEGACY });
    expect(await older.call(...slow)).toMatchObject({ kind: 'complete' });
    expect(await clientAt(endpointOf(owner, {}, own)).call(...slow)).toMatchObject({ kind: 'complete' });
  });

  it('ends when its task is cancelled, and when its client leaves before it is one', async () => {
    const ada = clientAt(endpointOf(owner, { taskAfter: 20 }, own));
    const before = own.said(owner).split('notifications/cancelled').length;
    const [name, args] = owner === 'plain' ? ['slow', { steps: 100, delay: 50 }] : slow;
    const taskId = await ada.started(name, args);
    await ada.send('tasks/cancel', { taskId });
    expect(await ada.send('tasks/get', { taskId })).toMatchObject({ result: { status: 'cancelled' } });
    await vi.waitFor(
      () => expect(own.said(owner).split('notifications/cancelled').length).toBeGreaterThan(before),
      60_000,
    );
    const leaving = new AbortController();
    const call = ada.send('tools/call', { name: slow[0], arguments: slow[1] }, { signal: leaving.signal });
    leaving.abort();
    expect(await call).toMatchObject({ kind: 'complete', result: { isError: true } });
  });
});

describe('Calls that ask to be tasks (2025-11-25)', () => {
  it.each([
    ['legacy', 'confirm_delete'],
    ['modern', 'confirm_delete'],
  ])('put the questions of a %s server to whoever waits for the result', async (owner, tool) => {
    const ada = clientAt(endpointOf(owner), { version: LEGACY, answer: () => yes });
    const created = await ada.written('tools/call', {
      name: tool,
      arguments: { filename: 'c.txt' },
      task: { ttl: 60_000 },
    });
    expect(created).toMatchObject({ task: { status: 'working', ttl: 60_000, pollInterval: 500 } });
    expect(Object.keys(created)).toEqual(['task']);
    const { taskId } = created['task'] as { taskId: string };
    await ada.until(taskId, 'input_required');
    expect(ada.asked).toEqual([]);
    expect(await ada.written('tasks/get', { taskId })).not.toHaveProperty('inputRequests');
    const result = await ada.written('tasks/result', { taskId });
    expect(result).toMatchObject({
      content: [{ type: 'text', text: 'Deleted c.txt.' }],
      _meta: { [RELATED]: { taskId } },
    });
    expect(ada.asked).toMatchObject([
      { params: { message: 'Delete c.txt?', _meta: { [RELATED]: { taskId } } } },
    ]);
    expect(await ada.written('tasks/get', { taskId })).toMatchObject({ taskId, status: 'completed' });
    expect(await ada.written('tasks/list', {})).toMatchObject({
      tasks: [{ taskId, status: 'completed', ttl: 60_000 }],
    });
    expect(await ada.send('tasks/list', { cursor: 'x' })).toMatchObject(UNKNOWN);
    expect(await ada.send('tasks/cancel', { taskId })).toMatchObject(UNKNOWN);
    expect(await ada.send('tasks/update', { taskId, inputResponses: {} })).toMatchObject({
      error: { code: -32601 },
    });
    const eve = clientAt(endpointOf(owner), { version: LEGACY, who: principal('eve') });
    expect(await eve.written('tasks/list', {})).toEqual({ tasks: [] });
  });

  it.each(['legacy', 'modern', 'plain'])('may be of any tool of a %s server', async (owner) => {
    const ada = clientAt(endpointOf(undefined), { version: LEGACY });
    const name = owner === 'plain' ? 'plain__echo' : `${owner}__greet`;
    const args = owner === 'plain' ? { text: 'x' } : { name: 'x' };
    const taskId = await ada.started(name, args, { task: {} });
    expect(await ada.written('tasks/result', { taskId })).toMatchObject({ content: [{ type: 'text' }] });
  });

  it('fail where the tool says that it failed, and say how a request failed', async () => {
    const ada = clientAt(endpointOf('legacy'), { version: LEGACY });
    const failing = await ada.started('failing_job', {}, { task: {} });
    expect(await ada.written('tasks/result', { taskId: failing })).toMatchObject({ isError: true });
    expect(await ada.written('tasks/get', { taskId: failing })).toMatchObject({ status: 'failed' });
    const broken = await ada.started('protocol_error_job', {}, { task: {} });
    await expect(ada.written('tasks/result', { taskId: broken })).rejects.toMatchObject({ code: -32603 });
  });

  it('are cancelled at once, and then have no result', async () => {
    const ada = clientAt(endpointOf('legacy'), { version: LEGACY });
    const taskId = await ada.started('slow_compute', { seconds: 60 }, { task: {} });
    const waiting = ada.send('tasks/result', { taskId });
    expect(await ada.written('tasks/cancel', { taskId })).toMatchObject({ taskId, status: 'cancelled' });
    expect(await waiting).toMatchObject(UNKNOWN);
  });

  it('are refused at once where there is no such tool', async () => {
    const ada = clientAt(endpointOf('legacy'), { version: LEGACY });
    expect(await ada.call('nothing', {}, { task: {} })).toMatchObject(UNKNOWN);
    expect(await ada.written('tasks/list', {})).toEqual({ tasks: [] });
  });

  it('go on when whoever waits for the result gives up, and ask the next one', async () => {
    const endpoint = endpointOf('legacy');
    const given = new AbortController();
    const ada = clientAt(endpoint, {
      version: LEGACY,
      answer() {
        if (given.signal.aborted) return yes;
        given.abort();
        throw new Error('the client has gone');
      },
    });
    const taskId = await ada.started('confirm_delete', { filename: 'd.txt' }, { task: {} });
    expect(await ada.send('tasks/result', { taskId }, { signal: given.signal })).toMatchObject({
      kind: 'error',
    });
    await ada.until(taskId, 'input_required');
    expect(await ada.written('tasks/result', { taskId })).toMatchObject({
      content: [{ text: 'Deleted d.txt.' }],
    });
    expect(ada.asked).toHaveLength(2);
  });

  it('are calls like any other to clients of older revisions', async () => {
    const old = clientAt(endpointOf('legacy'), { version: '2025-06-18' });
    expect(await old.call('slow_compute', { seconds: 0 }, { task: {} })).toMatchObject({ kind: 'complete' });
    expect(await old.call('failing_job', {}, { task: {} })).toMatchObject({ result: { isError: true } });
    expect(await old.send('tasks/get', { taskId: 'any' })).toMatchObject({ error: { code: -32601 } });
  });

  it('are announced with each tool, as it is', async () => {
    const list = async (label: string, version: string): Promise<Record<string, unknown>> => {
      const endpoint = endpointOf(label);
      const { client } = clientAt(endpoint, { version });
      const exchange = {
        client,
        signal: new AbortController().signal,
        request: { method: 'tools/list', params: {} },
      };
      const served = await endpoint.answer(exchange as unknown as Parameters<Endpoint['answer']>[0]);
      const { tools } = JSON.parse((served as { text: string }).text) as { tools: JsonObject[] };
      return Object.fromEntries(tools.map(({ name, execution }) => [name, execution]));
    };
    const support = (taskSupport: string) => ({ taskSupport });
    expect(await list('legacy', LEGACY)).toMatchObject({
      greet: support('optional'),
      slow_compute: support('optional'),
      failing_job: support('required'),
    });
    expect(await list('modern', LEGACY)).toMatchObject({ failing_job: support('optional') });
    for (const version of ['2026-07-28', '2025-06-18'])
      expect(new Set(Object.values(await list('legacy', version)))).toEqual(new Set([undefined]));
  });
});

it('What a task brings in counts as what its call would bring in', async () => {
  const labeled = await openServers({ default: 'allow', labels: { '*/slow_compute': ['untrusted'] } });
  try {
    for (const label of ['modern', 'legacy']) {
      const endpoint = openGateway(labeled.host).endpoint(label) as Endpoint;
      const ada = clientAt(endpoint);
      const taskId = await ada.started('slow_compute', { seconds: 0.01 });
      await ada.until(taskId, 'completed');
      expect(ada.client.session.taint.untrusted).toEqual([`${label}/slow_compute`]);
    }
  } finally {
    await labeled.close();
  }
});

it('Approvals are asked for before a call runs, and as questions of its task where it is one already', async () => {
  const asking = await openServers('ask');
  try {
    const endpoint = openGateway(asking.host).endpoint('legacy') as Endpoint;
    const once = { action: 'accept', content: { answer: 'once' } };
    const modern = clientAt(endpoint, { answer: () => once });
    await modern.until(await modern.started('slow_compute', { seconds: 0.01 }), 'completed');
    expect(modern.asked).toHaveLength(1);
    const legacy = clientAt(endpoint, { version: LEGACY, capabilities: TAKES_TASKS, answer: () => once });
    const taskId = await legacy.started('slow_compute', { seconds: 0.01 }, { task: {} });
    expect(await legacy.written('tasks/result', { taskId })).toMatchObject({ content: [{ type: 'text' }] });
    expect(legacy.asked).toMatchObject([{ params: { _meta: { [RELATED]: { taskId } } } }]);
  } finally {
    await asking.close();
  }
});
