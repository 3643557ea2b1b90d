/** The door for clients of 2026-07-28 and later: no sessions; each request stands alone, and a call may take several of them. */
import type { IncomingHttpHeaders } from 'node:http';
import { messageOf } from '../../errors.ts';
import { newSession, type Session } from '../../host/session.ts';
import type { InputRequest } from '../../mcp/input.ts';
import {
  HEADER_MISMATCH,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  type RequestId,
  type RpcErrorObject,
  UNSUPPORTED_VERSION,
  isObject,
} from '../../mcp/message.ts';
import type { Message } from '../../mcp/message.ts';
import { META } from '../../mcp/modern.ts';
import { type ClientRequest, type Served, type Serving, servingFor } from '../../mcp/serving.ts';
import { eraOf, latestVersion, versionsOf } from '../../mcp/versions.ts';
import type { LogMessage } from '../../servers/server.ts';
import { isAtLeast } from '../../servers/log-level.ts';
import type { JsonObject, Progress } from '../../types.ts';
import type { Principal } from '../access/principal.ts';
import type { Client, Exchange } from './client.ts';
import type { Endpoint } from './endpoint.ts';
import { headerFault } from './headers.ts';
import { type Listeners, listenersOf } from './listen.ts';
import { FAULT } from './sessions.ts';
import { type Call, Parks, type Turn } from './parks.ts';
import { canAnswer } from './questions.ts';
import type { Bound, Seal, Sealed } from './seal.ts';

/** Where the answer to one request goes: an HTTP response, or lines on a pipe. What comes after the client has gone is dropped. */
export interface Sink {
  /** A notification about this request, before its answer. */
  notify(json: string): void;
  /** @param status of HTTP. */
  end(json: string, status: number): void;
}

export interface ModernRequest {
  message: Message & { kind: 'request' };
  endpoint: Endpoint;
  principal: Principal;
  /** Of HTTP, which must say what the body says. Absent on a pipe. */
  headers?: IncomingHttpHeaders;
  sink: Sink;
  /** Aborts when the client has gone or has taken the request back. */
  signal: AbortSignal;
}

export interface ModernDoor {
  /** Answers one request through its sink; resolves when nothing more comes through it. Never rejects. */
  handle(request: ModernRequest): Promise<void>;
  /** Ends streams and gives up what waits for clients. */
  drain(): void;
}

/** What one principal has seen is remembered for as many principals at most; the one that was quiet longest is forgotten. */
const SESSIONS_MAX = 10_000;
/** How long clients may keep what `server/discover` says. Milliseconds. */
const DISCOVERED_HOLDS = 60_000;

export function modernDoor({
  seal,
  parks = new Parks(),
  onFault = () => undefined,
}: {
  seal: Seal;
  parks?: Parks<Served, Turning>;
  /** Faults of ours, for the log: clients are told that there was one. */
  onFault?: (problem: string) => void;
}): ModernDoor {
  const listeners = listenersOf();
  const sessions = new Map<string, Session>();
  const sessionOf = (principal: Principal): Session => {
    let session = sessions.get(principal.id);
    if (session === undefined) {
      if (sessions.size >= SESSIONS_MAX) sessions.delete(sessions.keys().next().value ?? '');
      session = newSession();
    } else sessions.delete(principal.id);
    sessions.set(principal.id, session);
    return session;
  };
  const fault = ({ message, sink }: ModernRequest, error: unknown): void => {
    onFault(messageOf(error));
    sink.end(errorText(message.id, { code: INTERNAL_ERROR, message: FAULT }), 200);
  };
  const deps: Deps = { seal, parks, listeners, sessionOf, fault };
  return {
    async handle(request) {
      try {
        await serve(request, deps);
      } catch (error) {
        fault(request, error);
      }
    },
    drain() {
      listeners.end();
      parks.close();
    },
  };
}

interface Deps {
  seal: Seal;
  parks: Parks<Served, Turning>;
  listeners: Listeners;
  sessionOf(principal: Principal): Session;
  fault(request: ModernRequest, error: unknown): void;
}

async function serve(from: ModernRequest, deps: Deps): Promise<void> {
  const { message, endpoint, principal, headers, sink, signal } = from;
  const meta = message.params['_meta'];
  const version = isObject(meta) ? meta[META.version] : undefined;
  const isKnown = typeof version === 'string' && eraOf(version) === 'modern';
  const serving = servingFor(isKnown ? version : latestVersion('modern'));
  const fail = (error: RpcErrorObject, status = serving.status(error)): void =>
    sink.end(errorText(message.id, serving.error(error)), status);

  const request = serving.read(message);
  if ('error' in request) return fail(request.error, 400);
  if (headers !== undefined) {
    const mirroring = { headers, version: version as string, method: message.method, params: request.params };
    const fault = headerFault({ ...mirroring, mirrored: (tool) => endpoint.mirrored(principal, tool) });
    if (fault !== undefined) return fail({ code: HEADER_MISMATCH, message: fault });
  }
  if (!isKnown) {
    // Those that such a request could name; the others are opened by a handshake.
    const data = { supported: versionsOf('modern'), requested: version ?? null };
    return fail({ code: UNSUPPORTED_VERSION, message: 'Unsupported protocol version', data });
  }
  if (!serving.requests.has(message.method))
    return fail({ code: METHOD_NOT_FOUND, message: `Method not found: ${message.method}` });

  const write = (served: Served): void => end(sink, request, served, { endpoint, serving });
  if (message.method === 'server/discover') {
    if (endpoint.label !== undefined) await endpoint.ready(signal);
    return write(discovered(endpoint, serving));
  }
  const client: Client = { principal, id: principal.id, session: deps.sessionOf(principal), serving };
  if (message.method === 'subscriptions/listen') {
    const notify = (json: string): void => sink.notify(json);
    return write(await deps.listeners.listen({ endpoint, client, request, signal, notify }));
  }
  return answer({ ...from, request, client, write }, deps);
}

function discovered(endpoint: Endpoint, serving: Serving): Served {
  const { capabilities, instructions } = endpoint.self(serving);
  return {
    kind: 'complete',
    result: {
      supportedVersions: versionsOf('modern'),
      capabilities,
      ...(instructions !== undefined && { instructions }),
    },
    ttlMs: DISCOVERED_HOLDS,
    cacheScope: 'private',
  };
}

interface Answering extends ModernRequest {
  request: ClientRequest;
  client: Client;
  write: (served: Served) => void;
}

/** One round of a request: its first, one that a server's round goes on in, or one that a parked call is answered through. */
function answer(answering: Answering, deps: Deps): Promise<void> {
  const { request, endpoint, principal, client } = answering;
  const bound: Bound = { principal: principal.id, label: endpoint.label ?? '', request };
  const { round } = request;
  const sealed = round?.state === undefined ? undefined : deps.seal.open(round.state, bound);
  if (round?.state !== undefined && sealed === undefined) {
    answering.write(refused('params.requestState is not one that was given for this request, or too old'));
    return Promise.resolve();
  }
  const turn = new Turning(answering, bound, deps);
  if (sealed?.kind === 'park') return turn.resume(sealed.park, round?.responses ?? {});
  const next = round && {
    // Answers without a state come before any question: nothing was approved yet.
    digest: sealed?.digest,
    ...(round.responses !== undefined && { responses: round.responses }),
    ...(sealed?.state !== undefined && { state: sealed.state }),
  };
  return turn.start((common) => ({ ...common, request, client, round: next }));
}

/** The turn that one request of the client is for a call. */
class Turning implements Turn<Served> {
  readonly #from: Answering;
  readonly #bound: Bound;
  readonly #deps: Deps;
  #over: () => void = () => undefined;
  readonly #ended = new Promise<void>((resolve) => (this.#over = resolve));

  constructor(from: Answering, bound: Bound, deps: Deps) {
    this.#from = from;
    this.#bound = bound;
    this.#deps = deps;
  }

  canAnswer(request: InputRequest): boolean {
    return canAnswer(this.#from.request.capabilities, request);
  }

  ask(requests: Record<string, InputRequest>, park: string): void {
    this.#write({ kind: 'input', requests, state: undefined, digest: '' }, { kind: 'park', park });
  }

  end(served: Served): void {
    if (served.kind !== 'input') return this.#write(served);
    const { state, digest } = served;
    return this.#write(served, { kind: 'relay', state, digest });
  }

  /** Nobody waits for this: a fault of ours is told to the client, or nothing would ever be. */
  #write(served: Served, sealed?: Sealed): void {
    const { write } = this.#from;
    try {
      const state = sealed && this.#deps.seal.close(sealed, this.#bound);
      write(served.kind === 'input' ? { ...served, state } : served);
    } catch (error) {
      this.#deps.fault(this.#from, error);
    }
    this.#over();
  }

  progressed(progress: Progress): void {
    const { progressToken } = this.#from.request;
    if (progressToken !== undefined) this.#notify('notifications/progress', { ...progress, progressToken });
  }

  logged({ level, logger, data }: LogMessage): void {
    if (!isAtLeast(level, this.#from.request.logLevel)) return;
    this.#notify('notifications/message', {
      level,
      ...(logger !== undefined && { logger }),
      data: data ?? null,
    });
  }

  #notify(method: string, params: JsonObject): void {
    this.#from.sink.notify(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  /** A new call. It goes on while its client is away with questions, and ends with the client who leaves without. */
  start(exchangeOf: (common: Omit<Exchange, 'request' | 'client' | 'round'>) => Exchange): Promise<void> {
    const { endpoint, request, client, signal } = this.#from;
    const given = new AbortController();
    const call = this.#deps.parks.open(client.principal.id, this, () => given.abort());
    const { logLevel: level } = request;
    const exchange = exchangeOf({
      capabilities: request.capabilities,
      signal: given.signal,
      progress:
        request.progressToken === undefined ? undefined : (progress) => call.turn?.progressed(progress),
      log: level === undefined ? undefined : { level, write: (message) => call.turn?.logged(message) },
      ask: (asked, { signal: stop }) => call.ask(asked, stop),
      rounds: true,
    });
    void endpoint.answer(exchange).then((served) => call.end(served));
    return this.#until(call, signal);
  }

  async resume(park: string, responses: JsonObject): Promise<void> {
    const { client, signal, write } = this.#from;
    const call = this.#deps.parks.resume(park, client.principal.id, responses, this);
    if (call === 'busy') return write(refused('another request answers this call already'));
    if (call === undefined) return write(gone(this.#from.request.method));
    return this.#until(call, signal);
  }

  async #until(call: Call<Served, Turning>, signal: AbortSignal): Promise<void> {
    const leave = (): void => {
      call.leave(this);
      this.#over();
    };
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    await this.#ended;
    signal.removeEventListener('abort', leave);
  }
}

const refused = (message: string): Served => ({ kind: 'error', error: { code: INVALID_PARAMS, message } });

/** A call that was given up: whoever asks must know that it may have done something. */
function gone(method: string): Served {
  const message =
    'The call that this answers is not waiting any more: it was answered, it waited too long, or the gateway was started anew. Whether it did anything is not known';
  if (method !== 'tools/call') return refused(message);
  return { kind: 'complete', result: { content: [{ type: 'text', text: message }], isError: true } };
}

function end(
  sink: Sink,
  request: ClientRequest,
  served: Served,
  { endpoint, serving }: { endpoint: Endpoint; serving: Serving },
): void {
  const { id, method } = request;
  if (served.kind === 'error')
    return sink.end(errorText(id, serving.error(served.error)), serving.status(served.error));
  const result =
    served.kind === 'written'
      ? served.text
      : JSON.stringify(serving.result(method, served, endpoint.self(serving)));
  sink.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`, 200);
}

const errorText = (id: RequestId, error: RpcErrorObject): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error });
