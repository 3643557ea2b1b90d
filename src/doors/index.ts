/** The doors: what others connect to. One host behind them, put together here for the command line and for programs. */
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Asks } from '../asks/asks.ts';
import type { ServeSettings, TaskSettings } from '../config/serve.ts';
import { MidspanError } from '../errors.ts';
import type { CoreHost } from '../host/host.ts';
import type { Owner } from '../servers/server.ts';
import { isThisMachine } from '../proxy.ts';
import { gatewayFile, type SealKey } from '../store/gateway.ts';
import { openAccess } from './access/access.ts';
import { digestOf, LOCAL, newToken } from './access/keys.ts';
import { limitsOf } from './access/limits.ts';
import { BODY_MAX } from './http/body.ts';
import { type Carrier, doorOf } from './http/door.ts';
import { bracketed, hostsOf } from './http/hosts.ts';
import { listen } from './http/listen.ts';
import { type GatewayOptions, openGateway } from './mcp/gateway.ts';
import { mcpDoor } from './mcp/http.ts';
import { modernDoor } from './mcp/modern.ts';
import { sealOf } from './mcp/seal.ts';
import { sseDoor } from './mcp/sse.ts';
import { serveStdio } from './mcp/stdio.ts';
import { type Log, silent } from './observe/log.ts';
import { observer } from './observe/observed.ts';
import { openTelemetry } from './observe/telemetry.ts';

export const PORT = 7717;
/** How long calls that run may go on once the gateway ends. Milliseconds. */
export const DRAIN_WITHIN = 10_000;

export interface ServeOptions extends ServeSettings {
  /** Where the digest of the token and the keys for sealing are kept, usually `.midspan`. Absent: in memory. */
  folder?: string;
  /** Makes another token; the one before counts no more. */
  newToken?: boolean;
  /** Who answers what a client cannot. Absent: nobody. */
  asks?: Asks;
  log?: Log;
}

export interface Served {
  /** Of the endpoint of all servers, such as `http://127.0.0.1:7717/mcp`. */
  readonly url: string;
  /** Of each server's own endpoint, by label, as they are now. */
  servers(): Record<string, string>;
  /** Set when it was made just now: it is nowhere else. */
  readonly token: string | undefined;
  /** Other keys, limits, hosts and origins from now on; whoever is connected stays so. Where it listens stays as it is. */
  configure(settings: ServeSettings): void;
  /** Takes no more, lets what runs come to its end within a time, and closes. The host stays open. */
  close(options?: { within?: number; signal?: AbortSignal }): Promise<void>;
}

/**
 * Serves a host over HTTP.
 * @throws MidspanError `usage` when it cannot listen there; `config` when what it keeps cannot be read or written.
 */
export async function serve(host: CoreHost, options: ServeOptions = {}): Promise<Served> {
  const { host: bound = '127.0.0.1', port = PORT, auth = 'token', log = silent } = options;
  const isLoopback = isThisMachine(new URL(`http://${bracketed(bound)}`));
  if (auth === 'none' && !isLoopback)
    throw new MidspanError({
      code: 'usage',
      what: `without authorization the gateway is not served at ${bound}, where others reach it`,
      next: 'Leave out `--auth none`, or serve it at 127.0.0.1',
    });
  const file = gatewayFile(options.folder === undefined ? undefined : join(options.folder, 'gateway.json'));
  let token: string | undefined;
  if (auth === 'token') {
    const made = newToken();
    if (file.keepToken(digestOf(made), { replace: options.newToken === true })) token = made;
  }
  const sealKeys = (): readonly SealKey[] => file.sealKeys();
  const gateway = openGateway(host, { ...gatewayOptions(options), sealKeys });
  const watch = observer({ transport: 'tcp', log, telemetry: await openTelemetry() });
  const onGone = (owner: Owner): void => host.forget(owner);
  const onFault = faultsTo(log);
  const perPrincipal = options.limits?.sessions;
  const mcp = mcpDoor({
    seal: sealOf(sealKeys),
    onGone,
    onFault,
    ...(perPrincipal !== undefined && { sessions: { perPrincipal } }),
  });
  const sse = options.sse === true ? sseDoor(onGone) : undefined;
  const guardsOf = (settings: ServeSettings) => ({
    hosts: hostsOf({
      bound,
      ...(settings.hosts && { hosts: settings.hosts }),
      ...(settings.origins && { origins: settings.origins }),
    }),
    access: openAccess({
      auth: settings.auth ?? 'token',
      keys: settings.keys ?? [],
      tokenDigest: () => file.tokenDigest(),
    }),
    limits: limitsOf(settings.limits ?? {}),
    bodyMax: settings.limits?.body ?? BODY_MAX,
  });
  let guards = guardsOf({ ...options, auth });
  let isSettled = false;
  void host.settled().then(() => (isSettled = true));
  const states = (): Map<string, string> => new Map(host.servers().map(({ label, state }) => [label, state]));
  const carriers = new Map<string, Carrier>([['mcp', mcp.carry]]);
  if (sse !== undefined) carriers.set('sse', sse.stream).set('messages', sse.messages);
  const listening = await listen({
    host: bound,
    port,
    listener: doorOf({
      guards: () => guards,
      carriers,
      endpoint(label) {
        const endpoint = gateway.endpoint(label);
        return endpoint && watch.observed(endpoint);
      },
      readiness: () => ({ isReady: isSettled, states: states() }),
      onFault,
    }),
  });
  const url = `${listening.origin}/mcp`;
  return {
    url,
    token,
    servers: () =>
      Object.fromEntries(
        host
          .servers()
          .filter(({ state }) => state !== 'disabled')
          .map(({ label }) => [label, `${url}/${encodeURIComponent(label)}`]),
      ),
    configure(settings) {
      guards = guardsOf({ ...settings, auth: typeof settings.auth === 'object' ? settings.auth : auth });
    },
    async close({ within = DRAIN_WITHIN, signal } = {}) {
      listening.stop();
      mcp.drain();
      const limit = AbortSignal.timeout(within);
      await watch.idle(signal === undefined ? limit : AbortSignal.any([limit, signal]));
      mcp.close();
      sse?.close();
      await listening.end();
    },
  };
}

export interface PipeOptions {
  input: Readable;
  output: Writable;
  /** The server to serve as it is; default: all of them, under exposed names. */
  server?: string;
  asks?: Asks;
  tasks?: TaskSettings;
  log?: Log;
  signal?: AbortSignal;
}

const faultsTo =
  (log: Log) =>
  (problem: string): void =>
    log('error', 'A request ran into a fault', { problem });

/** What is the same however it is served. */
function gatewayOptions({
  asks,
  tasks: { after } = {},
}: Pick<PipeOptions, 'asks' | 'tasks'>): GatewayOptions {
  return {
    ...(asks !== undefined && { others: asks }),
    ...(after !== undefined && { taskAfter: after * 1_000 }),
  };
}

/**
 * Serves a host to the one client at the other end of a pipe, until the input ends or the signal aborts.
 * @throws MidspanError `usage` for a server that is not configured.
 */
export async function servePipe(host: CoreHost, options: PipeOptions): Promise<void> {
  const { input, output, server, log = silent, signal } = options;
  const endpoint = openGateway(host, gatewayOptions(options)).endpoint(server);
  if (endpoint === undefined)
    throw new MidspanError({
      code: 'usage',
      what: `there is no server labeled ${JSON.stringify(server)}`,
      next: `Configured are: ${host
        .servers()
        .map(({ label }) => label)
        .join(', ')}`,
    });
  const watch = observer({ transport: 'pipe', log, telemetry: await openTelemetry() });
  const file = gatewayFile(undefined);
  const onFault = faultsTo(log);
  const modern = modernDoor({ seal: sealOf(() => file.sealKeys()), onFault });
  await serveStdio({
    endpoint: watch.observed(endpoint),
    principal: LOCAL,
    modern,
    input,
    output,
    onGone: (owner) => host.forget(owner),
    onFault,
    ...(signal !== undefined && { signal }),
  });
  modern.drain();
}
