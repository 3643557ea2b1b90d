/** Every HTTP request, in this order: its path, Host and Origin, who it is from, limits, its body; then it is the door's behind. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import type { Limits } from '../access/limits.ts';
import type { Principal } from '../access/principal.ts';
import { isRefusal } from '../access/refusal.ts';
import type { Endpoint } from '../mcp/endpoint.ts';
import { allowPage, answerJson, refuse, refuseBy } from './answers.ts';
import { readBody } from './body.ts';
import type { Hosts } from './hosts.ts';

/** A request for an MCP endpoint that may go on. */
export interface Incoming {
  endpoint: Endpoint;
  principal: Principal;
  request: IncomingMessage;
  response: ServerResponse;
  /** Whole; empty for a request without one. */
  body: Buffer;
}

/** What carries one protocol over HTTP, below one path. */
export type Carrier = (incoming: Incoming) => void | Promise<void>;

export interface Readiness {
  isReady: boolean;
  /** Labels to states. */
  states: ReadonlyMap<string, string>;
}

/** Who may come in, and with how much. */
export interface Guards {
  hosts: Hosts;
  access: Access;
  limits: Limits;
  /** Bytes of a body. */
  bodyMax: number;
}

export interface DoorOptions {
  /** As they are now: the configuration may change meanwhile. */
  guards(): Guards;
  /** By its first part, such as `mcp`: `/mcp` for all servers, `/mcp/<label>` for one. */
  carriers: ReadonlyMap<string, Carrier>;
  endpoint(label: string | undefined): Endpoint | undefined;
  readiness(): Readiness;
  /** Faults of ours, for the log. */
  onFault(message: string): void;
}

/** Where RFC 9728 has the metadata of a resource; below it stands the path of the resource. */
const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Answers every request; never throws. */
export function doorOf(options: DoorOptions): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    pass(request, response, options).catch((error: unknown) => {
      options.onFault(messageOf(error));
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'A fault in the gateway; its log has more');
    });
  };
}

async function pass(request: IncomingMessage, response: ServerResponse, options: DoorOptions): Promise<void> {
  const { url = '/' } = request;
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  if (path === '/healthz') return health(request, response);
  const carrier = options.carriers.get(firstPart(path));
  const isMetadata = path === WELL_KNOWN || path.startsWith(`${WELL_KNOWN}/`);
  if (carrier === undefined && path !== '/readyz' && !isMetadata)
    return refuse(response, 404, 'There is nothing here; MCP is at /mcp');
  if (!isWelcome(request, response, options.guards().hosts)) return undefined;
  if (path === '/readyz') return readiness(request, response, options);
  if (carrier === undefined) return metadata(request, response, options.guards().access);
  return serve(request, response, path, carrier, options);
}

function firstPart(path: string): string {
  const end = path.indexOf('/', 1);
  return end === -1 ? path.slice(1) : path.slice(1, end);
}

/** Host and Origin; an answer is given where this is false. */
function isWelcome(request: IncomingMessage, response: ServerResponse, hosts: Hosts): boolean {
  const { host, origin } = request.headers;
  if (host === undefined || !hosts.names(host)) {
    refuse(response, 403, 'This Host is not one of the gateway; `serve.hosts` of midspan.json names them');
    return false;
  }
  if (origin === undefined) return true;
  if (!hosts.admits(origin, host)) {
    refuse(
      response,
      403,
      'This Origin may not use the gateway; `serve.origins` of midspan.json names those that may',
    );
    return false;
  }
  if (!hosts.isConfigured(origin)) return true;
  allowPage(request, response, origin);
  if (request.method !== 'OPTIONS') return true;
  response.writeHead(204).end();
  return false;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  carrier: Carrier,
  options: DoorOptions,
): Promise<void> {
  const { access, limits, bodyMax } = options.guards();
  const checked = access.check(request.headers.authorization);
  const principal = checked instanceof Promise ? await checked : checked;
  if (isRefusal(principal)) return refuseBy(response, principal);

  const label = labelOf(path);
  if (label === null) return refuse(response, 400, 'The path is not percent-encoded UTF-8');
  const isReached = label === undefined || principal.reaches(label);
  const endpoint = isReached ? options.endpoint(label) : undefined;
  if (endpoint === undefined) {
    const labels = [...options.readiness().states.keys()].filter((each) => principal.reaches(each));
    const message = `There is no server labeled ${JSON.stringify(label)}`;
    return refuse(response, 404, message, {}, { servers: labels });
  }

  // A GET stays open for as long as a client listens: sessions and connections bound it.
  if (request.method === 'POST') {
    const refusal = limits.enter(principal);
    if (refusal !== undefined) return refuseBy(response, refusal);
    response.once('close', () => limits.leave(principal));
  }
  const body = await readBody(request, bodyMax);
  if (body === 'gone') return undefined;
  if (body === undefined) {
    refuse(response, 413, `The limit is ${bodyMax} bytes in one request`);
    // Else the answer would be lost: a client that still sends does not read.
    request.resume();
    return undefined;
  }
  return carrier({ endpoint, principal, request, response, body });
}

/** Null where it cannot be decoded. */
function labelOf(path: string): string | undefined | null {
  const start = path.indexOf('/', 1);
  if (start === -1) return undefined;
  try {
    return decodeURIComponent(path.slice(start + 1));
  } catch {
    return null;
  }
}

function isRead({ method }: IncomingMessage, response: ServerResponse): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  refuse(response, 405, 'Only GET is answered here', { allow: 'GET, HEAD' });
  return false;
}

/** Says that the process is alive, to anybody. */
function health(request: IncomingMessage, response: ServerResponse): void {
  if (isRead(request, response)) answerJson(response, 200, { alive: true });
}

/** Counts for anybody, labels for those who may connect. */
async function readiness(
  request: IncomingMessage,
  response: ServerResponse,
  options: DoorOptions,
): Promise<void> {
  if (!isRead(request, response)) return;
  const { isReady, states } = options.readiness();
  const servers: Record<string, number> = {};
  for (const state of states.values()) servers[state] = (servers[state] ?? 0) + 1;
  const principal = await options.guards().access.check(request.headers.authorization);
  const shown = isRefusal(principal)
    ? {}
    : { states: Object.fromEntries([...states].filter(([label]) => principal.reaches(label))) };
  answerJson(response, isReady ? 200 : 503, { ready: isReady, servers, ...shown });
}

function metadata(request: IncomingMessage, response: ServerResponse, { metadata: known }: Access): void {
  if (known === undefined) return refuse(response, 404, 'The gateway does not take OAuth tokens');
  if (isRead(request, response)) answerJson(response, 200, known.document);
}
