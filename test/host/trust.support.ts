import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { type CallOutcome, type Host, openHost, type OpenOptions, readConfig } from '../../src/index.ts';
import { pinServer, writeLock } from '../../src/trust/lock/index.ts';
import { RULESET } from '../../src/trust/scan/scan.ts';
import type { JsonObject, ToolLabel } from '../../src/types.ts';

const shifty = fileURLToPath(new URL('../fixtures/host/shifty.mjs', import.meta.url));

export interface State {
  tools: JsonObject[];
  prompts?: JsonObject[];
  resources?: JsonObject[];
  templates?: JsonObject[];
  instructions?: string;
  serverInfo?: JsonObject;
  results?: { [tool: string]: string };
  /** Milliseconds that a list takes. */
  delay?: number;
}

export const tool = (name: string, description: string, more: JsonObject = {}): JsonObject => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...more,
});
export const announce = tool('announce', 'Says that the lists have changed.');

/** A folder with a configuration of servers whose lists a test may change while they run. */
export interface Shop {
  folder: string;
  config: { [key: string]: unknown; mcpServers: { [label: string]: object } };
  list(label: string, state: State): void;
  /** What the server was asked to do, a line each. */
  log(label: string): string[];
  /** Pins what the states say now, as a review would. */
  lock(labels?: { [tool: string]: ToolLabel[] }): Promise<void>;
  open(options?: OpenOptions): Promise<Host>;
}

const open: Host[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

export function shop(states: { [label: string]: State }, more: object = {}): Shop {
  const folder = mkdtempSync(join(tmpdir(), 'midspan-trust-'));
  const stateOf = (label: string): string => join(folder, `${label}.state.json`);
  const logOf = (label: string): string => join(folder, `${label}.log`);
  const list = (label: string, state: State): void => writeFileSync(stateOf(label), JSON.stringify(state));
  for (const [label, state] of Object.entries(states)) list(label, state);
  const config = {
    policy: 'allow',
    ...more,
    mcpServers: Object.fromEntries(
      Object.keys(states).map((label) => [
        label,
        { command: process.execPath, args: [shifty], env: { STATE: stateOf(label), LOG: logOf(label) } },
      ]),
    ),
  };
  const path = join(folder, 'midspan.json');
  return {
    folder,
    config,
    list,
    log: (label) => (existsSync(logOf(label)) ? readFileSync(logOf(label), 'utf8').trim().split('\n') : []),
    async lock(labels = {}) {
      const { servers } = readConfig(config, { env: process.env, base: folder });
      const pins = servers.map((spec) => {
        const state = JSON.parse(readFileSync(stateOf(spec.label), 'utf8')) as State;
        const { serverInfo = { name: 'shifty', version: '1' }, results: _, delay: __, ...lists } = state;
        const pin = pinServer(spec, folder, { serverInfo, ...lists }, { at: '2026-12-01', how: 'review' });
        for (const [name, assigned] of Object.entries(labels)) {
          const item = pin.tools[name];
          if (item !== undefined) item.labels = assigned;
        }
        return [spec.label, pin] as const;
      });
      await writeLock(join(folder, 'midspan.lock.json'), {
        lockfileVersion: 1,
        pin: 'midspan-pin/1',
        ruleset: RULESET,
        servers: Object.fromEntries(pins),
      });
    },
    async open(options = {}) {
      writeFileSync(path, JSON.stringify(config));
      const host = await openHost(path, { env: { ...process.env }, ...options });
      open.push(host);
      return host;
    },
  };
}

export const shown = (host: Host): string[] =>
  host.catalog().entries.flatMap(({ label, tool: name }) => (label === undefined ? [] : [name]));

export const textOf = ({ result }: CallOutcome): string =>
  result.content.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n');

/** Resolves when a condition holds; looked at after each event of the host. */
export async function until(host: Host, holds: () => boolean): Promise<void> {
  if (holds()) return;
  await new Promise<void>((resolve) => {
    const off = host.on(() => {
      if (!holds()) return;
      off();
      resolve();
    });
  });
}
