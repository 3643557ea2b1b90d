/** What the tests of this folder share: servers as child processes and over sockets, opened and closed again. */
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { openServer } from '../../src/servers/index.ts';
import type { EraVerdict, EraVerdicts, Server, ServerDeps, ServerEvent } from '../../src/servers/index.ts';
import type { ServerSpec } from '../../src/types.ts';

export const EVERYTHING = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/servers/${name}.mjs`, import.meta.url));
}

export function stdio(label: string, args: string[], more: Partial<ServerSpec> = {}): ServerSpec {
  return { label, transport: { type: 'stdio', command: process.execPath, args, env: {} }, ...more };
}

export function http(label: string, url: string, more: Partial<ServerSpec> = {}): ServerSpec {
  return { label, transport: { type: 'http', url, headers: {} }, ...more };
}

export const DEPS: ServerDeps = {
  clientInfo: { name: 'midspan-test', version: '0.0.0' },
  capabilities: { elicitation: { form: {}, url: {} } },
  // Short waits between attempts, and a long one where a slow machine must not look like a silent server.
  timing: {
    probe: 30_000,
    restart: 10,
    restartMax: 50,
    relisten: 10,
    relistenMax: 50,
    retryState: 5,
    late: 300,
  },
};

const opened: Server[] = [];

export interface Opened {
  server: Server;
  events: ServerEvent[];
  warnings: () => string[];
}

/** Opens a server that is closed after the test. */
export function open(spec: ServerSpec, deps: Partial<ServerDeps> = {}): Opened {
  const server = openServer(spec, { ...DEPS, ...deps, timing: { ...DEPS.timing, ...deps.timing } });
  opened.push(server);
  const events: ServerEvent[] = [];
  server.on((event) => events.push(event));
  const warnings = (): string[] =>
    events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  return { server, events, warnings };
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

export function verdictsInMemory(): EraVerdicts & { all: Map<string, EraVerdict> } {
  const all = new Map<string, EraVerdict>();
  return {
    all,
    get: (key) => all.get(key),
    set: (key, verdict) => all.set(key, verdict),
    delete: (key) => all.delete(key),
  };
}

/** Resolves when the condition holds. */
export async function until(condition: () => boolean, what = 'the condition'): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`${what} did not come true`);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}
