/** What the tests of the MCP door share: servers behind one host, both doors over HTTP, and clients that say what they like. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { limitsOf } from '../../../src/doors/access/limits.ts';
import type { Principal } from '../../../src/doors/access/principal.ts';
import { doorOf } from '../../../src/doors/http/door.ts';
import { hostsOf } from '../../../src/doors/http/hosts.ts';
import { listen } from '../../../src/doors/http/listen.ts';
import { openGateway } from '../../../src/doors/mcp/gateway.ts';
import { type McpDoor, mcpDoor, type McpDoorOptions } from '../../../src/doors/mcp/http.ts';
import { sealOf } from '../../../src/doors/mcp/seal.ts';
import { type Host, openHost, type OpenOptions } from '../../../src/index.ts';
import type { Owner } from '../../../src/servers/server.ts';
import type { SealKey } from '../../../src/store/gateway.ts';
import type { JsonObject } from '../../../src/types.ts';

export const MODERN = '2026-07-28';
export const META = 'io.modelcontextprotocol';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/servers/${name}`, import.meta.url));
const TAP = fileURLToPath(new URL('../../servers/tap.mjs', import.meta.url));
const CONFORMANCE = fileURLToPath(new URL('../../conformance/server/main.mjs', import.meta.url));

/** Programs by name, each with its arguments: `asker`, `honest`, `raw`, `says`, or `legacy` and `modern` of the conformance suite. */
export type Programs = Readonly<Record<string, readonly [program: string, ...args: string[]]>>;

function commandOf([program, ...args]: readonly [string, ...string[]]): string[] {
  if (program === 'legacy' || program === 'modern')
    return [CONFORMANCE, '--era', program, '--transport', 'stdio', ...args];
  return [fixture(`${program}.mjs`), ...args];
}

export interface Servers {
  host: Host;
  /** The messages between the host and a server so far. */
  said(label: string): JsonObject[];
  /** Those of one method. */
  heard(label: string, method: string): JsonObject[];
  close(): Promise<void>;
}

export async function openServers(programs: Programs, more: object = {}): Promise<Servers> {
  const folder = mkdtempSync(join(tmpdir(), 'midspan-door-'));
  const tapped = ([label, program]: [string, Programs[string]]): [string, object] => [
    label,
    {
      command: process.execPath,
      args: [TAP, join(folder, label), process.execPath, ...commandOf(program)],
      ...(more as Record<string, object>)[label],
    },
  ];
  const mcpServers = Object.fromEntries(Object.entries(programs).map((each) => tapped(each)));
  const options: OpenOptions = { env: { ...process.env }, lists: 'all', readResult: false, store: false };
  const host = await openHost({ policy: 'allow', trust: { mode: 'off' }, mcpServers }, options);
  const said = (label: string): JsonObject[] =>
    existsSync(join(folder, label))
      ? readFileSync(join(folder, label), 'utf8')
          .split('\n')
          .filter(Boolean)
          .flatMap((line) => {
            try {
              return [JSON.parse(line) as JsonObject];
            } catch {
              // The last line may be on its way.
              return [];
            }
          })
      : [];
  return {
    host,
    said,
    heard: (label, method) => said(label).filter((message) => message['method'] === method),
    async close() {
      await host.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Door {
  readonly url: string;
  readonly mcp: McpDoor;
  /** Sessions that have ended. */
  readonly gone: Owner[];
  /** Faults of the door. */
  readonly problems: string[];
  /** Changes what a principal may see. */
  readonly filters: Map<string, string>;
  close(): Promise<void>;
}

/** A door where the bearer token is the name of the principal. */
export async function openDoor(
  host: Host,
  options: Partial<McpDoorOptions> & { keys?: SealKey[] } = {},
): Promise<Door> {
  const { keys = [{ id: 'k', key: Buffer.alloc(32, 7) }], ...doors } = options;
  const gateway = openGateway(host, { sealKeys: () => keys });
  const gone: Owner[] = [];
  const problems: string[] = [];
  const mcp = mcpDoor({
    seal: sealOf(() => keys),
    onFault: (problem) => void problems.push(problem),
    onGone: (owner) => {
      gone.push(owner);
      host.forget(owner);
    },
    ...doors,
  });
  const filters = new Map<string, string>();
  const principal = (id: string): Principal => ({
    id,
    name: id,
    allows: () => true,
    reaches: () => true,
    filter: filters.get(id) ?? '',
  });
  const guards = {
    hosts: hostsOf({ bound: '127.0.0.1' }),
    access: {
      check: (authorization: string | undefined) =>
        principal(authorization?.slice('Bearer '.length) ?? 'ada'),
      metadata: undefined,
    },
    limits: limitsOf({}),
    bodyMax: 1024 * 1024,
  };
  const faults: string[] = [];
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    listener: doorOf({
      guards: () => guards,
      carriers: new Map([['mcp', mcp.carry]]),
      endpoint: (label) => gateway.endpoint(label),
      readiness: () => ({ isReady: true, states: new Map() }),
      onFault: (message) => void faults.push(message),
    }),
  });
  return {
    url: `${listening.origin}/mcp`,
    mcp,
    gone,
    problems,
    filters,
    async close() {
      mcp.close();
      await listening.end();
      if (faults.length > 0) throw new Error(`faults: ${faults.join('; ')}`);
    },
  };
}

export interface Event {
  id?: string;
  retry?: string;
  data?: JsonObject;
}

/** The events of a stream, as they come. */
export async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const fields = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const field = (name: string): string | undefined =>
        fields.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const [id, retry, data] = [field('id'), field('retry'), field('data')];
      if (id === undefined && retry === undefined && data === undefined) continue;
      yield {
        ...(id !== undefined && { id }),
        ...(retry !== undefined && { retry }),
        ...(data !== undefined && data !== '' && { data: JSON.parse(data) as JsonObject }),
      };
    }
  }
}

/** Every message of an answer, whichever way it comes. */
export async function messagesOf(response: Response): Promise<JsonObject[]> {
  if (!isStream(response)) {
    const text = await response.text();
    return text === '' ? [] : [JSON.parse(text) as JsonObject];
  }
  const messages: JsonObject[] = [];
  for await (const { data } of eventsOf(response)) if (data !== undefined) messages.push(data);
  return messages;
}

export const isStream = (response: Response): boolean =>
  response.headers.get('content-type')?.startsWith('text/event-stream') === true;

export interface Asking {
  /** The principal. */
  as?: string;
  label?: string | undefined;
  id?: string | number;
  capabilities?: JsonObject;
  /** More of `_meta`. */
  meta?: JsonObject;
  /** Undefined takes one away. */
  headers?: Record<string, string | undefined>;
  signal?: AbortSignal;
}

export const FORMS: JsonObject = { elicitation: { form: {} } };

/** Requests of 2026-07-28 at a door. */
export function modernClient(url: string, common: Asking = {}) {
  const post = (body: unknown, headers: Record<string, string | undefined>, asking: Asking = {}) => {
    const { as, label, signal } = { ...common, ...asking };
    const given = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(as !== undefined && { authorization: `Bearer ${as}` }),
      ...headers,
    };
    return fetch(label === undefined ? url : `${url}/${label}`, {
      method: 'POST',
      headers: Object.fromEntries(
        Object.entries(given).filter((each): each is [string, string] => each[1] !== undefined),
      ),
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    });
  };
  const send = (method: string, params: JsonObject = {}, asking: Asking = {}): Promise<Response> => {
    const { id = 1, capabilities = {}, meta = {}, headers = {} } = { ...common, ...asking };
    const name = params['name'] ?? params['uri'] ?? params['taskId'];
    const _meta = {
      [`${META}/protocolVersion`]: MODERN,
      [`${META}/clientInfo`]: { name: 'test', version: '1' },
      [`${META}/clientCapabilities`]: capabilities,
      ...meta,
    };
    return post(
      { jsonrpc: '2.0', id, method, params: { ...params, _meta } },
      {
        'mcp-protocol-version': MODERN,
        'mcp-method': method,
        'mcp-name': typeof name === 'string' ? name : undefined,
        ...headers,
      },
      asking,
    );
  };
  const answer = async (
    method: string,
    params: JsonObject = {},
    asking: Asking = {},
  ): Promise<JsonObject> => {
    const messages = await messagesOf(await send(method, params, asking));
    return messages.at(-1) ?? {};
  };
  return {
    /** Anything at all. */
    post,
    send,
    /** The answer: a JSON-RPC message. */
    answer,
    /** The result of a call, or its error. */
    call: async (name: string, args: JsonObject = {}, more: JsonObject = {}, asking: Asking = {}) => {
      const { result, error } = await answer('tools/call', { name, arguments: args, ...more }, asking);
      return (result ?? error) as JsonObject;
    },
  };
}

export const textOf = (result: JsonObject): string =>
  ((result['content'] ?? []) as JsonObject[]).map(({ text }) => text as string).join('\n');

export interface Opening {
  version?: string;
  as?: string;
  label?: string;
  capabilities?: JsonObject;
}

/** What a request of an open session may say beside itself. */
export interface Sending {
  id?: string | number;
  meta?: JsonObject;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A session of a revision before 2026-07-28 at a door. */
export async function legacyClient(url: string, opening: Opening = {}) {
  const { version = '2025-11-25', as, label, capabilities = {} } = opening;
  const address = label === undefined ? url : `${url}/${label}`;
  let session: string | undefined;
  let count = 0;
  const headersOf = (more: Record<string, string> = {}): Record<string, string> => ({
    accept: 'application/json, text/event-stream',
    ...(as !== undefined && { authorization: `Bearer ${as}` }),
    ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': version }),
    ...more,
  });
  const post = (body: unknown, { headers = {}, signal }: Sending = {}): Promise<Response> =>
    fetch(address, {
      method: 'POST',
      headers: headersOf({ 'content-type': 'application/json', ...headers }),
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    });
  const request = (method: string, params: JsonObject = {}, { id, meta }: Sending = {}): JsonObject => ({
    jsonrpc: '2.0',
    id: id ?? (count += 1),
    method,
    params: meta === undefined ? params : { ...params, _meta: meta },
  });
  const send = (method: string, params: JsonObject = {}, sending: Sending = {}): Promise<Response> =>
    post(request(method, params, sending), sending);
  const answer = async (method: string, params?: JsonObject, sending?: Sending): Promise<JsonObject> =>
    (await messagesOf(await send(method, params, sending))).at(-1) ?? {};
  const opened = await send('initialize', {
    protocolVersion: version,
    capabilities,
    clientInfo: { name: 'test', version: '1' },
  });
  const initialized = (await messagesOf(opened)).at(-1) as JsonObject;
  session = opened.headers.get('mcp-session-id') ?? undefined;
  return {
    session: session as string,
    /** The result of `initialize`. */
    initialized: initialized['result'] as JsonObject,
    post,
    request,
    send,
    answer,
    notify: (method: string, params: JsonObject = {}): Promise<Response> =>
      post({ jsonrpc: '2.0', method, params }),
    /** Answers what the client was asked. */
    reply: (id: unknown, result: JsonObject): Promise<Response> => post({ jsonrpc: '2.0', id, result }),
    async call(name: string, args: JsonObject = {}, sending: Sending = {}): Promise<JsonObject> {
      const { result, error } = await answer('tools/call', { name, arguments: args }, sending);
      return (result ?? error) as JsonObject;
    },
    get: (headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> =>
      fetch(address, { headers: headersOf(headers), ...(signal !== undefined && { signal }) }),
    end: (headers: Record<string, string> = {}): Promise<Response> =>
      fetch(address, { method: 'DELETE', headers: headersOf(headers) }),
  };
}

/** The next message of a stream. */
export async function nextOf(events: AsyncGenerator<Event>): Promise<JsonObject> {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error('the stream has ended');
    if (value.data !== undefined) return value.data;
  }
}
