/** The MCP door over one host: its endpoints, which answer without eras. What carries them to clients is beside this file. */
import type { Asks } from '../../asks/asks.ts';
import type { CoreHost } from '../../host/host.ts';
import { type MirroredArgument, mirroredArguments } from '../../mcp/headers.ts';
import { INVALID_PARAMS } from '../../mcp/message.ts';
import type { ListKind, Served, Self, Serving } from '../../mcp/serving.ts';
import { taskForm, withTaskSupport } from '../../mcp/tasks.ts';
import type { ToolDefinition } from '../../types.ts';
import type { Principal } from '../access/principal.ts';
import { gatewayFile } from '../../store/gateway.ts';
import { answer, type AnswerDeps, relayTask } from './answer.ts';
import type { SealKeys } from './box.ts';
import { changesOf } from './changes.ts';
import type { Endpoint } from './endpoint.ts';
import { openTasks } from './tasks.ts';
import { allView, serverView, type View } from './view.ts';

/** How long a first list waits for servers that are still starting. Milliseconds. */
export const LIST_WITHIN = 10_000;
/** How long clients may keep a list, which hear of changes before that. Milliseconds. */
const LIST_HOLDS = 60_000;

export interface GatewayOptions {
  /** Who answers asks where a client cannot; absent: nobody, so that they are declined. */
  others?: Asks;
  /** Milliseconds; default LIST_WITHIN. */
  listWithin?: number;
  /** For the ids of servers' tasks, which hold as long as their keys. Default: keys of this process. */
  sealKeys?: SealKeys;
  /** How long a call may run before it becomes a task, for clients that take tasks. Milliseconds; default TASK_AFTER. */
  taskAfter?: number;
}

export interface Gateway {
  /** Of all servers (no label), or of one; undefined when no such server is configured. The same object every time. */
  endpoint(label?: string): Endpoint | undefined;
}

export function openGateway(host: CoreHost, options: GatewayOptions = {}): Gateway {
  const { others, listWithin = LIST_WITHIN, sealKeys, taskAfter } = options;
  const own = gatewayFile(undefined);
  const tasks = openTasks({
    host,
    keys: sealKeys ?? (() => own.sealKeys()),
    ...(taskAfter !== undefined && { after: taskAfter }),
  });
  const endpoints = new Map<string | undefined, Endpoint>();
  return {
    endpoint(label) {
      const isThere = label === undefined || host.servers().some((server) => server.label === label);
      if (!isThere) {
        endpoints.delete(label);
        return undefined;
      }
      let endpoint = endpoints.get(label);
      if (endpoint === undefined) {
        endpoint = endpointOf({ host, others, tasks }, label, listWithin);
        endpoints.set(label, endpoint);
      }
      return endpoint;
    },
  };
}

const NONE: readonly MirroredArgument[] = [];
const known = new WeakMap<ToolDefinition, readonly MirroredArgument[]>();

function mirroredOf(definition: ToolDefinition): readonly MirroredArgument[] {
  let mirrored = known.get(definition);
  if (mirrored === undefined) {
    const read = mirroredArguments(definition.inputSchema);
    // Marks that no client could follow ask for nothing.
    mirrored = 'problem' in read ? NONE : read;
    known.set(definition, mirrored);
  }
  return mirrored;
}

const LISTS: Readonly<Record<string, ListKind>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
};

function endpointOf(deps: AnswerDeps, label: string | undefined, within: number): Endpoint {
  const { host, tasks } = deps;
  const view = label === undefined ? allView(host) : serverView(host, label);
  // Once for all: a server that never comes up delays the first lists alone.
  let settled: Promise<void> | undefined;
  let isSettled = false;
  const ready = (): Promise<void> =>
    (settled ??= host
      .settled({ within, ...(label !== undefined && { label }) })
      .then(() => void (isSettled = true)));
  void ready();
  const written = writtenLists(host, view);
  const changes = changesOf(host, view, (kind, principal) => written(kind, undefined, principal, 0));
  return {
    label,
    async ready(signal) {
      if (!isSettled) await Promise.race([ready(), aborted(signal)]);
    },
    self: () => selfOf(view),
    async answer(exchange): Promise<Served> {
      const kind = LISTS[exchange.request.method];
      if (kind === undefined) return answer(exchange, view, deps);
      if (exchange.request.params['cursor'] !== undefined)
        return {
          kind: 'error',
          error: { code: INVALID_PARAMS, message: 'Invalid cursor: there is one page' },
        };
      if (!isSettled) await Promise.race([ready(), aborted(exchange.signal)]);
      const { serving, principal } = exchange.client;
      return { kind: 'written', text: written(kind, serving, principal, isSettled ? LIST_HOLDS : 0) };
    },
    mirrored(principal, tool) {
      const definition = view.tool(tool, principal)?.definition;
      return definition === undefined ? NONE : mirroredOf(definition);
    },
    on: (principal, listener) => changes.on(principal, listener),
    follow(principal, uri) {
      const owner = view.resource(uri, principal);
      return owner && host.follow(owner.label, owner.key);
    },
    followTask: (follower, taskId, listener) =>
      tasks.follow(taskId, follower, view, (...task) => relayTask(...task, view, deps), listener),
  };
}

function selfOf(view: View): Self {
  const { serverInfo, capabilities, instructions } = view.about();
  return { serverInfo, capabilities, ...(instructions !== '' && { instructions }) };
}

/** Lists as JSON text, written once for each state of the catalog, revision and filter. */
function writtenLists(host: CoreHost, view: View) {
  let catalog: unknown;
  let texts = new Map<string, string>();
  return (kind: ListKind, serving: Serving | undefined, principal: Principal, ttlMs: number): string => {
    const now = host.catalog();
    if (now !== catalog) {
      catalog = now;
      texts = new Map();
    }
    const key = `${kind} ${serving?.version ?? ''} ${ttlMs} ${principal.filter}`;
    let text = texts.get(key);
    if (text === undefined) {
      const listed = view.list(kind, principal);
      const asksForTasks = serving !== undefined && taskForm(serving) === 'asked';
      const items = kind === 'tools' && asksForTasks ? listed.map(withTaskSupport) : listed;
      text = JSON.stringify(
        serving === undefined
          ? items
          : serving.result(
              methodOf(kind),
              {
                kind: 'complete',
                result: { [kind]: serving.items(kind, items) },
                ttlMs,
                cacheScope: 'private',
              },
              selfOf(view),
            ),
      );
      if (texts.size >= MOST_TEXTS) texts.clear();
      texts.set(key, text);
    }
    return text;
  };
}

/** Filters are as many as keys of the configuration; revisions are few. */
const MOST_TEXTS = 1_000;

const methodOf = (kind: ListKind): string =>
  Object.keys(LISTS).find((method) => LISTS[method] === kind) ?? 'tools/list';

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
