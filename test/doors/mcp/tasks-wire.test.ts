/** Tasks over HTTP: the official SDK before and behind the gateway where it has tasks, bare messages where it has none. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  TaskStatusNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Served, serve } from '../../../src/doors/index.ts';
import { readConfig } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/types.ts';
import { MODERN, type Servers, TAKES_TASKS, openServers } from './tasks.support.ts';

const PREFIX = 'io.modelcontextprotocol';
let servers: Servers;
let served: Served;
beforeAll(async () => {
  servers = await openServers();
  served = await serve(servers.host, { port: 0, auth: 'none' });
});
afterAll(async () => {
  await served.close();
  await servers.close();
});

const ends: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

describe.each(['legacy', 'modern'])(
  'A client of 2025-11-25 on the official SDK, before a %s server',
  (label) => {
    async function connect() {
      const client = new Client(
        { name: 'wire', version: '1' },
        { capabilities: { elicitation: { form: {} } } },
      );
      ends.push(() => client.close());
      const asked: unknown[] = [];
      const statuses: string[] = [];
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(params);
        return { action: 'accept', content: { confirm: true, name: 'Ada' } };
      });
      client.setNotificationHandler(
        TaskStatusNotificationSchema,
        ({ params }) => void statuses.push(params.status),
      );
      await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/${label}`)));
      return { client, asked, statuses };
    }

    it('runs a call as a task, answers it and hears of its states', async () => {
      const { client, asked, statuses } = await connect();
      await client.listTools();
      const heard: string[] = [];
      const stream = client.experimental.tasks.callToolStream(
        { name: 'confirm_delete', arguments: { filename: 'a.txt' } },
        CallToolResultSchema,
        { task: { ttl: 60_000 } },
      );
      let result: unknown;
      for await (const message of stream) {
        heard.push(message.type);
        if (message.type === 'error') throw message.error;
        if (message.type === 'result') ({ result } = message);
      }
      expect(heard[0]).toBe('taskCreated');
      expect(result).toMatchObject({ content: [{ type: 'text', text: 'Deleted a.txt.' }] });
      expect(asked).toMatchObject([
        {
          message: 'Delete a.txt?',
          _meta: { [`${PREFIX}/related-task`]: { taskId: expect.any(String) as string } },
        },
      ]);
      await vi.waitFor(() => expect(statuses.at(-1)).toBe('completed'), 60_000);
    });

    it('lists and cancels them', async () => {
      const { client } = await connect();
      const { tasks } = client.experimental;
      const stream = tasks.callToolStream(
        { name: 'slow_compute', arguments: { seconds: 60 } },
        CallToolResultSchema,
        { task: {} },
      );
      const first = await stream.next();
      if (first.done === true || first.value.type !== 'taskCreated') throw new Error('no task came');
      const { taskId } = first.value.task;
      expect((await tasks.listTasks()).tasks.map((task) => task.taskId)).toContain(taskId);
      expect(await tasks.cancelTask(taskId)).toMatchObject({ taskId, status: 'cancelled' });
      expect(await tasks.getTask(taskId)).toMatchObject({ status: 'cancelled' });
      await expect(tasks.cancelTask(taskId)).rejects.toMatchObject({ code: -32602 });
    });
  },
);

/** One request of 2026-07-28; every message that comes back. */
async function* modern(
  label: string,
  method: string,
  params: JsonObject,
  { signal, url = served.url }: { signal?: AbortSignal; url?: string } = {},
) {
  const name = params['name'] ?? params['taskId'];
  const _meta = { [`${PREFIX}/protocolVersion`]: MODERN, [`${PREFIX}/clientCapabilities`]: TAKES_TASKS };
  const response = await fetch(`${url}/${label}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    ...(signal !== undefined && { signal }),
  });
  if (response.headers.get('content-type') === 'application/json') {
    yield (await response.json()) as JsonObject;
    return;
  }
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const data = text
        .slice(0, end)
        .split('\n')
        .find((line) => line.startsWith('data: '));
      text = text.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data.slice(6)) as JsonObject;
    }
  }
}

async function answered(
  label: string,
  method: string,
  params: JsonObject,
  url = served.url,
): Promise<JsonObject> {
  for await (const message of modern(label, method, params, { url }))
    if (message['id'] === 1) return (message['result'] ?? message) as JsonObject;
  throw new Error('no answer');
}

it.each(['legacy', 'modern'])(
  'A client of 2026-07-28 hears of its task of a %s server on a stream',
  async (label) => {
    const { resultType, taskId } = await answered(label, 'tools/call', {
      name: 'confirm_delete',
      arguments: { filename: 'b.txt' },
    });
    expect(resultType).toBe('task');
    const given = new AbortController();
    ends.push(() => given.abort());
    const notifications = { taskIds: [taskId as string, 'another'] };
    const told: JsonObject[] = [];
    for await (const message of modern(
      label,
      'subscriptions/listen',
      { notifications },
      { signal: given.signal },
    )) {
      told.push(message);
      const params = message['params'] as JsonObject;
      expect(params['_meta']).toMatchObject({ [`${PREFIX}/subscriptionId`]: 1 });
      if (params['status'] === 'input_required') {
        const inputResponses = Object.fromEntries(
          Object.keys(params['inputRequests'] as JsonObject).map((key) => [
            key,
            { action: 'accept', content: { confirm: true } },
          ]),
        );
        expect(await answered(label, 'tasks/update', { taskId, inputResponses })).toMatchObject({
          resultType: 'complete',
        });
      }
      if (params['status'] === 'completed') break;
    }
    expect(told[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId] } },
    });
    expect(told.at(-1)).toMatchObject({
      method: 'notifications/tasks',
      params: { taskId, result: { resultType: 'complete', content: [{ text: 'Deleted b.txt.' }] } },
    });
  },
);

it('A stream of tasks is for clients that declare them', async () => {
  const response = await fetch(`${served.url}/modern`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': MODERN,
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: {
        notifications: { taskIds: ['any'] },
        _meta: { [`${PREFIX}/protocolVersion`]: MODERN, [`${PREFIX}/clientCapabilities`]: {} },
      },
    }),
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: -32021 } });
});

it('The configuration says when a call becomes a task', async () => {
  const read = (after: unknown) =>
    readConfig({ mcpServers: {}, serve: { tasks: { after } } }, { env: {}, base: '/' });
  expect(read(5).serve).toEqual({ tasks: { after: 5 } });
  expect(() => read(0)).toThrow(/serve\.tasks\.after/);
  const quick = await serve(servers.host, { port: 0, auth: 'none', tasks: { after: 1 } });
  ends.push(() => quick.close());
  const slow = { name: 'slow', arguments: { steps: 40, delay: 50 } };
  expect(await answered('plain', 'tools/call', slow, quick.url)).toMatchObject({ resultType: 'task' });
});
