/** `subscriptions/listen`: one stream of the changes that a client asked for (MCP 2026-07-28). */
import { TOO_MANY_REQUESTS, isObject } from '../../mcp/message.ts';
import { META } from '../../mcp/modern.ts';
import type { ClientRequest, Served } from '../../mcp/serving.ts';
import { TASKS_MISSING, takesTasks, toModernTask } from '../../mcp/tasks.ts';
import type { JsonObject } from '../../types.ts';
import type { Client } from './client.ts';
import type { Endpoint } from './endpoint.ts';

/** Streams of one principal at a time. Everybody with the local token is one principal. */
export const STREAMS_MAX = 2_048;
/** Resources that one stream follows. */
export const FOLLOWED_MAX = 1_024;
/** Tasks that one stream follows: those of servers are asked for again and again. */
export const FOLLOWED_TASKS_MAX = 64;

const LISTS = ['tools', 'prompts', 'resources'] as const;

export interface Listening {
  endpoint: Endpoint;
  client: Client;
  request: ClientRequest;
  /** A notification on the stream. */
  notify: (json: string) => void;
  /** Ends when the client has gone. */
  signal: AbortSignal;
}

export interface Listeners {
  /** Resolves with the last word of the stream: when the client has gone, or when all are ended. */
  listen(listening: Listening): Promise<Served & { kind: 'complete' | 'error' }>;
  /** Ends every stream in good order. */
  end(): void;
}

export function listenersOf({ most = STREAMS_MAX }: { most?: number } = {}): Listeners {
  const counts = new Map<string, number>();
  const open = new Set<() => void>();
  let isEnded = false;

  const listen = async (listening: Listening): Promise<Served & { kind: 'complete' | 'error' }> => {
    const { request, signal } = listening;
    const { principal } = listening.client;
    if (filterOf(request)['taskIds'] !== undefined && !takesTasks(request.capabilities))
      return { kind: 'error', error: TASKS_MISSING };
    const count = counts.get(principal.id) ?? 0;
    if (count >= most) {
      const message = `The limit is ${most} streams at a time`;
      return { kind: 'error', error: { code: TOO_MANY_REQUESTS, message } };
    }
    counts.set(principal.id, count + 1);
    const close = follow(listening);
    await new Promise<void>((resolve) => {
      const over = (): void => {
        open.delete(over);
        signal.removeEventListener('abort', over);
        resolve();
      };
      open.add(over);
      signal.addEventListener('abort', over);
      if (signal.aborted || isEnded) over();
    });
    close();
    const left = (counts.get(principal.id) ?? 1) - 1;
    if (left === 0) counts.delete(principal.id);
    else counts.set(principal.id, left);
    return { kind: 'complete', result: { _meta: { [META.subscription]: request.id } } };
  };
  return {
    listen,
    end() {
      isEnded = true;
      for (const over of open) over();
    },
  };
}

const filterOf = ({ params }: ClientRequest): JsonObject =>
  isObject(params['notifications']) ? params['notifications'] : {};

/** Acknowledges what is honored, and passes on what changes until it is closed. */
function follow(listening: Listening): () => void {
  const { endpoint, client, request, signal, notify } = listening;
  const { principal } = client;
  const asked = filterOf(request);
  const send = (method: string, params: JsonObject = {}): void =>
    notify(
      JSON.stringify({
        jsonrpc: '2.0',
        method,
        params: { ...params, _meta: { [META.subscription]: request.id } },
      }),
    );
  const lists = new Set<string>(LISTS.filter((list) => asked[`${list}ListChanged`] === true));
  const uris = asked['resourceSubscriptions'];
  const followed = new Map<string, () => void>();
  if (Array.isArray(uris)) {
    for (const uri of uris) {
      if (typeof uri !== 'string' || followed.has(uri) || followed.size >= FOLLOWED_MAX) continue;
      const stop = endpoint.follow(principal, uri);
      if (stop !== undefined) followed.set(uri, stop);
    }
  }
  const { taskIds } = asked;
  const tasks = new Map<string, () => void>();
  if (Array.isArray(taskIds)) {
    const follower = { client, capabilities: request.capabilities, signal };
    for (const id of taskIds) {
      if (typeof id !== 'string' || tasks.has(id) || tasks.size >= FOLLOWED_TASKS_MAX) continue;
      const stop = endpoint.followTask(follower, id, (task) =>
        send('notifications/tasks', toModernTask({ ...task, taskId: id })),
      );
      if (stop !== undefined) tasks.set(id, stop);
    }
  }
  send('notifications/subscriptions/acknowledged', {
    notifications: {
      ...Object.fromEntries([...lists].map((list) => [`${list}ListChanged`, true])),
      ...(Array.isArray(uris) && { resourceSubscriptions: [...followed.keys()] }),
      ...(Array.isArray(taskIds) && { taskIds: [...tasks.keys()] }),
    },
  });
  const off = endpoint.on(principal, (change) => {
    if ('list' in change && lists.has(change.list)) send(`notifications/${change.list}/list_changed`);
    if ('updated' in change && followed.has(change.updated))
      send('notifications/resources/updated', { uri: change.updated });
  });
  return () => {
    off();
    for (const stop of [...followed.values(), ...tasks.values()]) stop();
  };
}
