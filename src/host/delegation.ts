/**
 * Which servers a model's provider connects to itself in one run (`via: "provider"`). What its connector cannot give, or
 * the configuration does not allow it, leaves the server with the host, and the reason is told.
 */
import { sha256Hex } from '../canonical.ts';
import type { Connector, DialectId, RemoteServer } from '../dialects/dialect.ts';
import { dialectOf } from '../dialects/index.ts';
import { splitBearer } from '../dialects/connector.ts';
import type { Model } from '../models/model.ts';
import type { HttpTransport, ServerSpec } from '../types.ts';

export interface Delegation {
  servers: readonly RemoteServer[];
  /** From a server's name in the request to its label. */
  labels: ReadonlyMap<string, string>;
  /** What the provider's connector does not give, and why a server was not left to it. */
  warnings: readonly string[];
}

/** The APIs that have a connector. */
export const CONNECTING: readonly DialectId[] = ['openai-responses', 'anthropic', 'gemini-interactions'];

export type Delegating = Pick<Model, 'name' | 'dialect' | 'reach'>;

/** What is needed of the host. */
export interface DelegationDeps {
  /** Connects to servers itself and waits until each has listed its tools or failed. */
  connect(labels: readonly string[], signal: AbortSignal | undefined): Promise<void>;
  /** The selected tools of a server, or why it listed none. */
  listed(label: string): readonly { name: string; tool: string }[] | { failure: string };
}

export interface DelegationOptions {
  /** Exposed names that the run may use; absent: all. Tools are listed first then, to tell which they are. */
  offers?: (name: string) => boolean;
  /** Why this run leaves no server to the provider, whatever the configuration says. */
  refuse?: string;
  signal?: AbortSignal;
}

export async function delegate(
  specs: readonly ServerSpec[],
  model: Delegating,
  deps: DelegationDeps,
  { offers, refuse, signal }: DelegationOptions = {},
): Promise<Delegation> {
  const wanted = specs.filter(({ via, disabled }) => via === 'provider' && disabled !== true);
  const { connector } = model.dialect;
  const plans = wanted.map((spec) => {
    const reason = refuse ?? delegationProblem(spec, model);
    return {
      spec,
      reason,
      lists: offers !== undefined || (connector !== undefined && mustList(spec, connector)),
    };
  });
  const own = plans.filter(({ reason, lists }) => reason !== undefined || lists);
  if (own.length > 0)
    await deps.connect(
      own.map(({ spec }) => spec.label),
      signal,
    );

  const servers: RemoteServer[] = [];
  const labels = new Map<string, string>();
  const warnings: string[] = [];
  for (const { spec, reason, lists } of plans) {
    const listed = lists && reason === undefined ? deps.listed(spec.label) : undefined;
    const failure = listed !== undefined && 'failure' in listed ? listed.failure : undefined;
    if (reason !== undefined || connector === undefined || failure !== undefined) {
      const why = reason ?? `its tools must be listed to apply the filters, and could not be: ${failure}`;
      warnings.push(`${spec.label}: the host connects to it itself, not the provider: ${why}.`);
      continue;
    }
    const tools = listed as readonly { name: string; tool: string }[] | undefined;
    const allowed = tools?.filter(({ name }) => offers?.(name) ?? true).map(({ tool }) => tool);
    if (allowed?.length === 0) continue;
    const name = nameIn(connector, spec, wanted);
    servers.push(remoteServer(spec, name, allowed));
    labels.set(name, spec.label);
    warnings.push(lossesOf(spec, connector, model));
  }
  return { servers, labels, warnings };
}

/** Why a model's provider cannot or may not connect to a server itself; undefined when it can. */
export function delegationProblem(
  { transport, approval = 'always' }: ServerSpec,
  { name, dialect, reach }: Delegating,
): string | undefined {
  const { connector } = dialect;
  if (connector === undefined || reach === undefined) return `${name} has no connector for MCP servers`;
  const { provider } = connector;
  if (transport.type === 'stdio') return `it runs on this machine, where ${provider} cannot start it`;
  if (transport.type === 'sse' && !connector.sse)
    return `${provider} speaks Streamable HTTP only, not HTTP+SSE`;
  const url = new URL(transport.url);
  if (reach === 'internet' && isPrivate(url.hostname))
    return `${provider} cannot reach ${url.hostname} from where it is`;
  if (reach === 'internet' && url.protocol === 'http:' && !connector.plainHttp)
    return `${provider} connects to https addresses only`;
  if (connector.headers === 'bearer') {
    const others = Object.keys(splitBearer(transport.headers).others);
    if (others.length > 0)
      return `${provider} sends nothing but a bearer token in Authorization, and it needs ${others.join(', ')}`;
  }
  if (approval === 'always' && !connector.approvals)
    return `${provider} calls tools without asking first; \`"approval": "never"\` in its configuration would allow that`;
  return undefined;
}

/** For each API with a connector: why its provider cannot have a server, as seen from the internet. */
export function providersOf(spec: ServerSpec): { dialect: DialectId; provider: string; problem?: string }[] {
  return CONNECTING.map((id) => {
    const dialect = dialectOf(id);
    const provider = dialect.connector?.provider ?? id;
    const problem = delegationProblem(spec, { name: id, dialect, reach: 'internet' });
    return { dialect: id, provider, ...(problem !== undefined && { problem }) };
  });
}

/** Filters that the connector cannot be given as they are: globs, or tools to leave out where it only takes tools to keep. */
function mustList({ tools }: ServerSpec, { deny }: Connector): boolean {
  const patterns = [...(tools?.allow ?? []), ...(tools?.deny ?? [])];
  if (patterns.some((pattern) => !isPlain(pattern))) return true;
  return tools?.deny !== undefined && tools.allow === undefined && !deny;
}

const isPlain = (pattern: string): boolean => /^[\w./:-]+$/.test(pattern);

function remoteServer(spec: ServerSpec, name: string, listed: readonly string[] | undefined): RemoteServer {
  const { type, url, headers } = spec.transport as HttpTransport;
  const { allow, deny } = spec.tools ?? {};
  const allowed = listed ?? allow?.filter((tool) => deny?.includes(tool) !== true);
  return {
    name,
    transport: type,
    url,
    headers,
    ...(allowed !== undefined && { allowed }),
    ...(allowed === undefined && deny !== undefined && { denied: deny }),
    approval: spec.approval ?? 'always',
  };
}

/** A function of the labels that are configured, so that it is the same in every run. */
function nameIn(connector: Connector, { label }: ServerSpec, specs: readonly ServerSpec[]): string {
  const name = connector.nameOf(label);
  if (specs.filter((other) => connector.nameOf(other.label) === name).length === 1) return name;
  return `${name.slice(0, 50)}_${sha256Hex('midspan/remote/1', label).slice(0, 8)}`;
}

function lossesOf(spec: ServerSpec, connector: Connector, { name }: Delegating): string {
  const { provider, results } = connector;
  const ignored = [
    ...(spec.tools?.alias === undefined ? [] : ['`tools.alias`']),
    ...(spec.era === undefined || spec.era === 'auto' ? [] : ['`era`']),
    ...(spec.timeouts === undefined ? [] : ['`timeouts`']),
  ];
  return [
    `${spec.label}: ${provider} connects to it itself: the host does not check its definitions, arguments and results, and the model gets ${results}`,
    ...((spec.approval ?? 'always') === 'never' ? ['nobody is asked before a call'] : []),
    ...(ignored.length === 0 ? [] : [`${ignored.join(', ')} of its configuration have no effect`]),
    ...[connector.caution?.(name.slice(name.indexOf(':') + 1))].filter((words) => words !== undefined),
  ]
    .join('; ')
    .concat('.');
}

/** Addresses that mean something only here: this machine, its network, names without a domain. */
export function isPrivate(hostname: string): boolean {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  if (host.includes(':')) return /^(::1?$|f[cd]|fe[89ab]|::ffff:)/.test(host);
  const [a = 0, b = 0] = host.split('.').map(Number);
  if (/^\d+(\.\d+){3}$/.test(host)) {
    return (
      [0, 10, 127].includes(a) ||
      (a === 172 && b >= 16 && b < 32) ||
      (a === 192 && b === 168) ||
      (a === 169 && b === 254) ||
      (a === 100 && b >= 64 && b < 128)
    );
  }
  return !host.includes('.') || /\.(localhost|local|internal|lan|home\.arpa)$/.test(host);
}
