/**
 * One session of a client of the older era, whatever carries its messages: handshake, requests of either side, what it
 * subscribed to and from which level on it hears logs (MCP 2024-11-05 to 2025-11-25).
 */
import { MidspanError, messageOf } from '../../errors.ts';
import { newSession } from '../../host/session.ts';
import type { InputContext, InputRequest } from '../../mcp/input.ts';
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  type Message,
  type RequestId,
  type RpcErrorObject,
  isObject,
} from '../../mcp/message.ts';
import { type ClientRequest, type Served, type Serving, servingFor } from '../../mcp/serving.ts';
import { isSettled, legacyCapabilities, toLegacyTask } from '../../mcp/tasks.ts';
import { eraOf, latestVersion } from '../../mcp/versions.ts';
import { isAtLeast, LEVELS } from '../../servers/log-level.ts';
import type { LogMessage } from '../../servers/server.ts';
import type { Json, JsonObject } from '../../types.ts';
import type { Principal } from '../access/principal.ts';
import type { Client, Exchange } from './client.ts';
import type { Endpoint, EndpointChange } from './endpoint.ts';

/** How long a client may take to answer a question. Milliseconds. */
export const ANSWER_WITHIN = 10 * 60_000;
/** Requests of one session that run at a time. */
export const RUNNING_MAX = 256;
/** The one revision that has batches, and the messages of one. */
export const BATCHES = '2025-03-26';
export const BATCH_MAX = 64;
/** Resources that one session follows. */
export const FOLLOWED_MAX = 1_024;
/** What a client that did not say hears of logs. */
const LEVEL = 'info';

/** Where messages to the client go. */
export interface Outlet {
  /** @param about the client's request that it belongs to; absent: none. */
  send(json: string, about?: RequestId): void;
  /** The answer to a request of the client, and the last about it. */
  answer(json: string, about: RequestId): void;
  /** The request has no answer, since the client took it back. */
  drop(about: RequestId): void;
}

/** What a client is told of a fault of ours. */
export const FAULT = 'A fault in the gateway; its log has more';

export interface SessionOptions {
  /** Unguessable, and unique. */
  id: string;
  endpoint: Endpoint;
  principal: Principal;
  outlet: Outlet;
  /** How long a client may take to answer a question. Milliseconds; default ANSWER_WITHIN. */
  answerWithin?: number;
  /** Faults of ours, for the log: the client is told that there was one. */
  onFault?: (problem: string) => void;
}

interface Asked {
  resolve: (result: JsonObject) => void;
  reject: (error: Error) => void;
}

export class LegacySession {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  readonly #outlet: Outlet;
  readonly #answerWithin: number;
  readonly #onFault: SessionOptions['onFault'];
  readonly #running = new Map<RequestId, AbortController>();
  readonly #asked = new Map<RequestId, Asked>();
  readonly #followed = new Map<string, () => void>();
  /** Tasks of the client that have not ended. */
  readonly #tasks = new Map<string, () => void>();
  #client: Client | undefined;
  #capabilities: JsonObject = {};
  #level: string = LEVEL;
  #asks = 0;
  #off: (() => void) | undefined;
  /** Whether `initialize` has come. */
  #isOpened = false;
  #isClosed = false;

  constructor({ id, endpoint, principal, outlet, answerWithin = ANSWER_WITHIN, onFault }: SessionOptions) {
    this.id = id;
    this.endpoint = endpoint;
    this.principal = principal;
    this.#outlet = outlet;
    this.#answerWithin = answerWithin;
    this.#onFault = onFault;
  }

  /** The revision that was agreed on; undefined before the handshake. */
  get version(): string | undefined {
    return this.#client?.serving.version;
  }

  /** Whether requests of the client run. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Takes one message of the client. Resolves when a request was answered; never rejects. */
  async receive(message: Message): Promise<void> {
    switch (message.kind) {
      case 'request':
        return this.#request(message);
      case 'notification':
        if (message.method === 'notifications/cancelled') this.#cancelled(message.params['requestId']);
        return undefined;
      case 'result':
      case 'error': {
        const asked = message.id === undefined ? undefined : this.#asked.get(message.id);
        if (message.kind === 'result') asked?.resolve(message.result);
        else asked?.reject(new Error(`the client answered with an error: ${message.error.message}`));
        return undefined;
      }
      case 'malformed': {
        this.unread(message);
        const error = { code: INVALID_REQUEST, message: message.problem };
        return this.#outlet.send(JSON.stringify({ jsonrpc: '2.0', id: message.asked ?? null, error }));
      }
    }
  }

  /** An answer that is none: whoever asked waits no longer. */
  protected unread({ id, problem }: Message & { kind: 'malformed' }): void {
    if (id !== undefined) this.#asked.get(id)?.reject(new Error(`the client answered with ${problem}`));
  }

  /** Ends everything that belongs to it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#off?.();
    for (const stop of [...this.#followed.values(), ...this.#tasks.values()]) stop();
    this.#followed.clear();
    this.#tasks.clear();
    for (const running of this.#running.values()) running.abort();
    for (const { reject } of this.#asked.values()) reject(new Error('the client has gone'));
  }

  // ---- requests of the client ----

  async #request(message: Message & { kind: 'request' }): Promise<void> {
    const { id, method } = message;
    if (this.#running.has(id)) {
      const error = { code: INVALID_REQUEST, message: 'A request with this id is running already' };
      return this.#outlet.send(JSON.stringify({ jsonrpc: '2.0', id, error }));
    }
    const given = new AbortController();
    this.#running.set(id, given);
    let text: string;
    try {
      text =
        this.#running.size > RUNNING_MAX
          ? this.#errorText(id, {
              code: INVALID_REQUEST,
              message: `The limit is ${RUNNING_MAX} requests at a time`,
            })
          : await this.#answered(message, given.signal);
    } catch (error) {
      text = this.#errorText(id, this.#fault(error));
    }
    this.#running.delete(id);
    // What was canceled is not answered (MCP cancellation); the handshake cannot be.
    if (!given.signal.aborted || method === 'initialize') this.#outlet.answer(text, id);
    else this.#outlet.drop(id);
  }

  async #answered(message: Message & { kind: 'request' }, signal: AbortSignal): Promise<string> {
    const { id, method, params } = message;
    if (method === 'initialize') return this.#resultText(id, await this.#initialize(params, signal));
    if (method === 'ping') return this.#resultText(id, {});
    const client = this.#client;
    if (client === undefined)
      return this.#errorText(id, { code: INVALID_REQUEST, message: `${method} before initialize` });
    const { serving } = client;
    const request = serving.read(message);
    if ('error' in request) return this.#errorText(id, request.error);
    switch (method) {
      case 'logging/setLevel':
        return this.#own(id, this.#setLevel(params['level']));
      case 'resources/subscribe':
        return this.#own(id, this.#subscribe(params['uri']));
      case 'resources/unsubscribe':
        return this.#own(id, this.#unsubscribe(params['uri']));
    }
    if (!serving.requests.has(method))
      return this.#errorText(id, { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` });
    const served = await this.endpoint.answer(this.#exchange(request, client, signal));
    // Once the answer is out that names it.
    if (served.kind === 'task') setImmediate(() => this.#follow(served.task, client));
    return this.#servedText(id, method, served, serving);
  }

  async #initialize(params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    if (this.#isOpened) throw new MidspanError({ code: 'usage', what: 'the session is initialized already' });
    this.#isOpened = true;
    const { protocolVersion, capabilities } = params;
    const isSpoken = typeof protocolVersion === 'string' && eraOf(protocolVersion) === 'legacy';
    const serving = servingFor(isSpoken ? protocolVersion : latestVersion('legacy'));
    this.#capabilities = isObject(capabilities) ? capabilities : {};
    // What one server says of itself is known when it is there; all of them are described by us.
    if (this.endpoint.label !== undefined) await this.endpoint.ready(signal);
    if (this.#isClosed) throw new MidspanError({ code: 'usage', what: 'the session has ended' });
    this.#client = { principal: this.principal, id: this.id, session: newSession(), serving };
    this.#off = this.endpoint.on(this.principal, (change) => this.#changed(change));
    const { serverInfo, capabilities: own, instructions } = this.endpoint.self(serving);
    return {
      protocolVersion: serving.version,
      capabilities: legacyCapabilities(own, serving.version),
      serverInfo,
      ...(instructions !== undefined && { instructions }),
    };
  }

  #fault(error: unknown): RpcErrorObject {
    if (error instanceof MidspanError) return { code: INVALID_REQUEST, message: error.message };
    this.#onFault?.(messageOf(error));
    return { code: INTERNAL_ERROR, message: FAULT };
  }

  #exchange(request: ClientRequest, client: Client, signal: AbortSignal): Exchange {
    const { id, progressToken } = request;
    return {
      client,
      request,
      signal,
      capabilities: this.#capabilities,
      progress:
        progressToken === undefined
          ? undefined
          : (progress) => this.#notify('notifications/progress', { ...progress, progressToken }, id),
      log: { level: this.#level, write: (message) => this.#log(message, id) },
      ask: (asked, context) => this.#ask(client.serving.question(asked), context, id),
      rounds: false,
      round: undefined,
    };
  }

  #cancelled(id: Json | undefined): void {
    if (typeof id === 'string' || typeof id === 'number') this.#running.get(id)?.abort();
  }

  #setLevel(level: Json | undefined): RpcErrorObject | undefined {
    if (typeof level !== 'string' || !LEVELS.includes(level))
      return { code: INVALID_PARAMS, message: `params.level must be one of ${LEVELS.join(', ')}` };
    this.#level = level;
    return undefined;
  }

  #subscribe(uri: Json | undefined): RpcErrorObject | undefined {
    if (typeof uri !== 'string') return { code: INVALID_PARAMS, message: 'params.uri must be a string' };
    if (this.#followed.has(uri)) return undefined;
    if (this.#followed.size >= FOLLOWED_MAX)
      return { code: INVALID_PARAMS, message: `The limit is ${FOLLOWED_MAX} subscriptions in one session` };
    const stop = this.endpoint.follow(this.principal, uri);
    if (stop === undefined) return { code: INVALID_PARAMS, message: 'Resource not found', data: { uri } };
    this.#followed.set(uri, stop);
    return undefined;
  }

  #unsubscribe(uri: Json | undefined): RpcErrorObject | undefined {
    if (typeof uri !== 'string') return { code: INVALID_PARAMS, message: 'params.uri must be a string' };
    this.#followed.get(uri)?.();
    this.#followed.delete(uri);
    return undefined;
  }

  // ---- what the client is told and asked ----

  /** A request of ours on the stream of the client's request that it came up in. */
  #ask({ method, params }: InputRequest, { signal }: InputContext, about: RequestId): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      this.#asks += 1;
      const id = `midspan-${this.#asks}`;
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', takeBack);
        this.#asked.delete(id);
      };
      const giveUp = (reason: string): void => {
        settle();
        this.#notify('notifications/cancelled', { requestId: id, reason }, about);
        reject(new Error(reason));
      };
      const takeBack = (): void => giveUp('the question was taken back');
      const timer = setTimeout(() => giveUp('the client did not answer in time'), this.#answerWithin).unref();
      this.#asked.set(id, {
        resolve: (result) => {
          settle();
          resolve(result);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      if (this.#isClosed) return this.#asked.get(id)?.reject(new Error('the client has gone'));
      if (signal.aborted) return takeBack();
      signal.addEventListener('abort', takeBack, { once: true });
      this.#outlet.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }), about);
    });
  }

  #changed(change: EndpointChange): void {
    if ('list' in change) this.#notify(`notifications/${change.list}/list_changed`);
    else if ('log' in change) this.#log(change.log);
    else if (this.#followed.has(change.updated))
      this.#notify('notifications/resources/updated', { uri: change.updated });
  }

  /** Tells of each new status of a task until it has ended. */
  #follow({ taskId, status: first }: JsonObject, client: Client): void {
    if (this.#isClosed || typeof taskId !== 'string') return;
    let last = first;
    const follower = { client, capabilities: this.#capabilities, signal: new AbortController().signal };
    const stop = this.endpoint.followTask(follower, taskId, (task) => {
      const { status } = task;
      if (status !== last) this.#notify('notifications/tasks/status', toLegacyTask(task));
      last = status;
      if (!isSettled(status)) return;
      this.#tasks.get(taskId)?.();
      this.#tasks.delete(taskId);
    });
    if (stop !== undefined) this.#tasks.set(taskId, stop);
  }

  #log({ level, logger, data }: LogMessage, about?: RequestId): void {
    if (!isAtLeast(level, this.#level)) return;
    const params = { level, ...(logger !== undefined && { logger }), data: data ?? null };
    this.#notify('notifications/message', params, about);
  }

  #notify(method: string, params?: JsonObject, about?: RequestId): void {
    if (this.#isClosed) return;
    this.#outlet.send(JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) }), about);
  }

  // ---- texts ----

  #own(id: RequestId, error: RpcErrorObject | undefined): string {
    return error === undefined ? this.#resultText(id, {}) : this.#errorText(id, error);
  }

  #servedText(id: RequestId, method: string, served: Served, serving: Serving): string {
    if (served.kind === 'error') return this.#errorText(id, served.error);
    if (served.kind === 'written')
      return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${served.text}}`;
    return this.#resultText(id, serving.result(method, served, this.endpoint.self(serving)));
  }

  #resultText(id: RequestId, result: JsonObject): string {
    return JSON.stringify({ jsonrpc: '2.0', id, result });
  }

  #errorText(id: RequestId, error: RpcErrorObject): string {
    return JSON.stringify({ jsonrpc: '2.0', id, error: this.#client?.serving.error(error) ?? error });
  }
}
