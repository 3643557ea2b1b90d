/** What the tests of tasks share: servers of each kind behind one host, and clients of each revision at their endpoints. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import type { Principal } from '../../../src/doors/access/principal.ts';
import type { Client, Exchange } from '../../../src/doors/mcp/client.ts';
import type { Endpoint } from '../../../src/doors/mcp/endpoint.ts';
import { newSession } from '../../../src/host/session.ts';
import { type Host, openHost } from '../../../src/index.ts';
import { type Served, servingFor } from '../../../src/mcp/serving.ts';
import type { InputRequest } from '../../../src/mcp/input.ts';
import type { JsonObject } from '../../../src/types.ts';

const SERVER = fileURLToPath(new URL('../../conformance/server/main.mjs', import.meta.url));
const HONEST = fileURLToPath(new URL('../../fixtures/servers/honest.mjs', import.meta.url));
const TAP = fileURLToPath(new URL('../../servers/tap.mjs', import.meta.url));

export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';
export const TASKS = 'io.modelcontextprotocol/tasks';
/** What a client declares that takes tasks and fills forms. */
export const TAKES_TASKS: JsonObject = { elicitation: { form: {} }, extensions: { [TASKS]: {} } };
export const FORMS: JsonObject = { elicitation: { form: {} } };

export interface Servers {
  host: Host;
  /** What was said between the host and a server so far. */
  said(label: string): string;
  close(): Promise<void>;
}

/** `legacy` and `modern` have tasks, `plain` has none. */
export async function openServers(policy: object | string = 'allow'): Promise<Servers> {
  const folder = mkdtempSync(join(tmpdir(), 'midspan-tasks-'));
  const tapped = (label: string, ...args: string[]): object => ({
    command: process.execPath,
    args: [TAP, join(folder, label), process.execPath, ...args],
  });
  const host = await openHost(
    {
      policy,
      trust: { mode: 'off' },
      mcpServers: {
        legacy: tapped('legacy', SERVER, '--era', 'legacy', '--transport', 'stdio'),
        modern: tapped('modern', SERVER, '--era', 'modern', '--transport', 'stdio'),
        plain: tapped('plain', HONEST),
      },
    },
    { env: { ...process.env }, lists: 'all', readResult: false, store: false },
  );
  return {
    host,
    said: (label) => readFileSync(join(folder, label), 'utf8'),
    async close() {
      await host.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const principal = (id: string, more: Partial<Principal> = {}): Principal => ({
  id,
  name: id,
  allows: () => true,
  reaches: () => true,
  filter: '',
  ...more,
});

export interface ClientOptions {
  version?: string;
  who?: Principal;
  capabilities?: JsonObject;
  /** Answers what the client is asked through its requests. */
  answer?: (request: InputRequest) => JsonObject | Promise<JsonObject>;
}

/** A client at an endpoint, which keeps what it was asked. */
export function clientAt(endpoint: Endpoint, options: ClientOptions = {}) {
  const { version = MODERN, who = principal('ada'), answer } = options;
  const capabilities = options.capabilities ?? (version === MODERN ? TAKES_TASKS : FORMS);
  const client: Client = { principal: who, id: who.id, session: newSession(), serving: servingFor(version) };
  const asked: InputRequest[] = [];
  let count = 0;
  const send = async (
    method: string,
    params: JsonObject,
    more: Partial<Exchange> = {},
  ): Promise<Served & { kind: 'complete' | 'task' | 'input' | 'error' }> => {
    count += 1;
    const exchange: Exchange = {
      client,
      capabilities,
      signal: new AbortController().signal,
      progress: undefined,
      log: undefined,
      rounds: version === MODERN,
      round: undefined,
      ask: async (request) => {
        asked.push(request);
        if (answer === undefined) throw new Error('nobody answers');
        return answer(request);
      },
      request: {
        id: count,
        method,
        params,
        capabilities: version === MODERN ? capabilities : {},
        clientInfo: undefined,
        progressToken: undefined,
        logLevel: undefined,
        round: undefined,
        meta: undefined,
      },
      ...more,
    };
    const served = await endpoint.answer(exchange);
    if (served.kind === 'written') throw new Error('a list came');
    return served;
  };
  return {
    client,
    capabilities,
    asked,
    send,
    /** The result as it is written for the client. */
    async written(method: string, params: JsonObject, more: Partial<Exchange> = {}): Promise<JsonObject> {
      const served = await send(method, params, more);
      if (served.kind === 'error') throw Object.assign(new Error(served.error.message), served.error);
      return client.serving.result(method, served, endpoint.self(client.serving));
    },
    call: (name: string, args: JsonObject = {}, more: JsonObject = {}) =>
      send('tools/call', { name, arguments: args, ...more }),
    /** The id of the task that a call became. */
    async started(name: string, args: JsonObject = {}, more: JsonObject = {}): Promise<string> {
      const served = await send('tools/call', { name, arguments: args, ...more });
      if (served.kind !== 'task') throw new Error(`no task: ${JSON.stringify(served)}`);
      return served.task['taskId'] as string;
    },
    /** Asks for a task until it has a status. */
    async until(taskId: string, status: string): Promise<JsonObject> {
      return vi.waitFor(
        async () => {
          const served = await send('tasks/get', { taskId });
          if (served.kind !== 'complete' || served.result['status'] !== status)
            throw new Error(JSON.stringify(served));
          return served.result;
        },
        { timeout: 60_000, interval: 20 },
      );
    },
  };
}
