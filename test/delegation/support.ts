/** Hosts with a remote server that a provider may connect to, and what it was sent. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { type Host, openHost, type OpenOptions } from '../../src/index.ts';
import type { JsonObject } from '../../src/types.ts';
import type { Api } from '../emulators/apis.ts';
import type { Emulator, EmulatorScript } from '../emulators/server.ts';
import { endpoint, legacy, type Received } from '../servers/http-server.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

export const honest = fileURLToPath(new URL('../fixtures/servers/honest.mjs', import.meta.url));

/** The honest server over HTTP, a process of its own. */
export async function honestOverHttp(): Promise<string> {
  const child = spawn(process.execPath, [honest, '--http'], { stdio: ['pipe', 'pipe', 'inherit'] });
  closing.push(() => child.kill());
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return (JSON.parse(line) as { url: string }).url;
}

const schema = { type: 'object', properties: { text: { type: 'string' } } };
const TOOLS: JsonObject[] = ['echo', 'read_one', 'read_two', 'remove'].map((name) => ({
  name,
  description: `The tool ${name}`,
  inputSchema: schema,
}));

export const TOKEN = 'tok-5f2a91c07d';

export interface Remote {
  url: string;
  received: Received[];
  /** Names of the clients that connected, in order, each once. */
  clients: () => string[];
  /** Tools that were called. */
  calls: () => string[];
}

/** A server in the test's own process. With `token`, it wants it, and says what it was sent when it is another. */
export async function remote({ token }: { token?: string } = {}): Promise<Remote> {
  const { url, received } = await endpoint((one, answer) => {
    if (token !== undefined && one.headers.authorization !== `Bearer ${token}`)
      return answer.plain(401, `not ${one.headers.authorization ?? 'nothing'}`);
    const { method, params } = one.message;
    if (one.verb === 'POST' && method === 'initialize') {
      const serverInfo = { name: 'remote', version: '1.0.0' };
      const protocolVersion = params?.['protocolVersion'];
      return answer.json({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
    }
    if (one.verb === 'POST' && method === 'tools/list') return answer.json({ result: { tools: TOOLS } });
    return one.verb === 'POST' && method === 'tools/call'
      ? answer.json({ result: { content: [{ type: 'text', text: `${params?.['name'] as string} ran` }] } })
      : legacy(one, answer);
  });
  const ofMethod = (wanted: string): JsonObject[] =>
    received.flatMap(({ message }) => (message.method === wanted ? [message.params ?? {}] : []));
  return {
    url,
    received,
    clients: () => [
      ...new Set(ofMethod('initialize').map(({ clientInfo }) => (clientInfo as { name: string }).name)),
    ],
    calls: () => ofMethod('tools/call').map(({ name }) => name as string),
  };
}

export async function hostOf(
  servers: Record<string, object>,
  options: OpenOptions = {},
  policy: string | object = 'allow',
): Promise<Host> {
  const opened = await openHost({ policy, mcpServers: servers }, { env: { ...process.env }, ...options });
  closing.push(() => opened.close());
  return opened;
}

export async function emulator(api: Api, script: EmulatorScript): Promise<Emulator> {
  const turns: EmulatorScript =
    typeof script === 'function' ? script : (_, index) => script[index] ?? { text: 'ok' };
  const started = await api.start(turns);
  closing.push(() => started.close());
  return started;
}
