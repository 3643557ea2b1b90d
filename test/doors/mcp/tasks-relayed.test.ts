/** What becomes of a server's task on its way to a client, whatever the server says. */
import { describe, expect, it, vi } from 'vitest';
import type { Exchange } from '../../../src/doors/mcp/client.ts';
import { type RelayTask, WATCHED_MAX, openTasks } from '../../../src/doors/mcp/tasks.ts';
import type { View } from '../../../src/doors/mcp/view.ts';
import { newSession } from '../../../src/host/session.ts';
import type { RelayRequest } from '../../../src/host/relay.ts';
import { servingFor } from '../../../src/mcp/serving.ts';
import { gatewayFile } from '../../../src/store/gateway.ts';
import type { JsonObject } from '../../../src/types.ts';
import { MODERN, TAKES_TASKS, principal } from './tasks.support.ts';

const form = (message: string, field: string): JsonObject => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { [field]: { type: 'string' } } },
  },
});

function setUp(label: string | undefined, task: JsonObject) {
  const file = gatewayFile(undefined);
  const saw = vi.fn<() => void>();
  const tasks = openTasks({ host: { saw }, keys: () => file.sealKeys() });
  const view = {
    label,
    shownUri: (owner: string, uri: string) => `midspan://${owner}/${uri}`,
    attributed: (owner: string, text: string) => (label === undefined ? `${owner}: ${text}` : text),
  } as unknown as View;
  const client = {
    principal: principal('ada'),
    id: 'ada',
    session: newSession(),
    serving: servingFor(MODERN),
  };
  const exchangeOf = (method: string, params: JsonObject): Exchange =>
    ({
      client,
      capabilities: TAKES_TASKS,
      signal: new AbortController().signal,
      request: { id: 1, method, params },
    }) as unknown as Exchange;
  const started = tasks.started(
    { taskId: 'own', status: 'working' },
    { label: 'one', tool: 'work' },
    exchangeOf('tools/call', {}),
    view,
  );
  if (started.kind !== 'task') throw new Error(`a ${started.kind} came`);
  const taskId = started.task['taskId'] as string;
  const sent: RelayRequest[] = [];
  const relay: RelayTask = async (request) => {
    sent.push(request);
    const result = request.method === 'tasks/get' ? { taskId: 'own', ...task } : {};
    return { kind: 'complete', result };
  };
  const ask = async (method: string, params: JsonObject = {}) =>
    tasks.answer(exchangeOf(method, { taskId, ...params }), view, relay);
  return { ask, sent, saw, taskId, tasks, view, relay, follower: exchangeOf('subscriptions/listen', {}) };
}

describe("A server's task", () => {
  it('asks only what servers may ask for; the rest is declined for the client', async () => {
    const inputRequests = { ok: form('Your name?', 'name'), bad: form('Your password?', 'password') };
    const { ask, sent } = setUp('one', { status: 'input_required', inputRequests });
    expect(await ask('tasks/get')).toMatchObject({
      result: { status: 'input_required', inputRequests: { ok: inputRequests.ok } },
    });
    expect(await ask('tasks/get')).not.toMatchObject({ result: { inputRequests: { bad: {} } } });
    expect(sent[1]).toEqual({
      label: 'one',
      method: 'tasks/update',
      params: { taskId: 'own', inputResponses: { bad: { action: 'decline' } } },
    });
  });

  it('is at work where it asks nothing that anybody may be asked', async () => {
    const inputRequests = { bad: form('Your password?', 'password') };
    const { ask } = setUp('one', { status: 'input_required', inputRequests });
    const served = await ask('tasks/get');
    expect(served).toMatchObject({ kind: 'complete', result: { status: 'working' } });
    expect(JSON.stringify(served)).not.toContain('password');
  });

  it('shows the URIs of its result as those of a call, and counts as what was seen', async () => {
    const content = [{ type: 'resource_link', uri: 'file:///a', name: 'a' }];
    const { ask, saw, taskId } = setUp(undefined, { status: 'completed', result: { content } });
    expect(await ask('tasks/get')).toMatchObject({
      result: { taskId, result: { content: [{ uri: 'midspan://one/file:///a' }] } },
    });
    expect(saw).toHaveBeenCalledWith({ label: 'one', tool: 'work' }, { content }, expect.anything());
  });

  it('fails with the codes that the revision of its client has', async () => {
    const { ask } = setUp('one', { status: 'failed', error: { code: -32002, message: 'gone' } });
    expect(await ask('tasks/get')).toMatchObject({ result: { error: { code: -32602, message: 'gone' } } });
  });

  it('is updated and canceled under the id of the server', async () => {
    const { ask, sent } = setUp('one', {});
    const inputResponses = { a: { action: 'accept' } };
    expect(await ask('tasks/update', { inputResponses })).toEqual({ kind: 'complete', result: {} });
    expect(await ask('tasks/cancel')).toEqual({ kind: 'complete', result: {} });
    expect(sent).toEqual([
      { label: 'one', method: 'tasks/update', params: { taskId: 'own', inputResponses } },
      { label: 'one', method: 'tasks/cancel', params: { taskId: 'own' } },
    ]);
  });

  it('is followed by so many streams of one client, and no longer than these are open', async () => {
    const { tasks, taskId, view, relay, follower } = setUp('one', { status: 'working' });
    const follow = () => tasks.follow(taskId, follower, view, relay, () => undefined);
    const stops = Array.from({ length: WATCHED_MAX }, follow);
    expect(stops.every((stop) => stop !== undefined)).toBe(true);
    expect(follow()).toBeUndefined();
    stops[0]?.();
    await vi.waitFor(() => expect(follow()).toBeDefined());
    for (const stop of stops) stop?.();
  });
});
