/**
 * One request to a model API, sent until it is answered. Only the request is ever retried, and only before the first byte
 * of a good answer.
 */
import type { Dispatcher } from 'undici';
import type { MidspanError } from '../errors.ts';
import { proxiesFor } from '../proxy.ts';
import type { JsonObject } from '../types.ts';
import { cancelled, failure, refused, unreachable } from './http-failure.ts';

/** Requests made for one turn, at most: the first and its repetitions. */
export const ATTEMPTS = 3;
/** Waits between attempts: doubled from the first to the longest, shortened by up to a quarter at random. Milliseconds. */
export const FIRST_WAIT = 500;
export const LONGEST_WAIT = 8_000;
/** A server that asks for a longer wait than this is not waited for. Milliseconds. */
export const LONGEST_ASKED_WAIT = 60_000;
export const CONNECT_WITHIN = 30_000;
/** Reasoning models are silent for minutes, before and between events. */
export const SILENT_FOR = 600_000;

type Environment = Readonly<Record<string, string | undefined>>;

export interface ApiRequest {
  /** The model's full name, for errors. */
  model: string;
  url: string;
  headers: Record<string, string>;
  /** Absent: a GET request. */
  body?: JsonObject;
  signal: AbortSignal;
  /** Of which the proxy variables are used. */
  env: Environment;
  /** Requests at most; default ATTEMPTS. */
  attempts?: number;
  /** Taken out of whatever is said about this exchange. */
  key: string | undefined;
  /** Taken out of the answer itself, too. */
  credentials?: readonly string[];
  /** What to do when the API does not know us. */
  signIn: string;
}

/**
 * Sends until there is an answer with status 200, or no reason to try again.
 * @throws MidspanError `model` (refused, with the API's words), `unreachable`, `cancelled`, `config` for a proxy that is none.
 */
export async function send(request: ApiRequest): Promise<Dispatcher.ResponseData> {
  const { signal, body, attempts = ATTEMPTS } = request;
  const dispatcher = await dispatcherFor(request);
  const { origin, pathname, search } = new URL(request.url);
  const message =
    body === undefined
      ? { method: 'GET' as const, headers: { accept: 'application/json', ...request.headers } }
      : {
          method: 'POST' as const,
          headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...request.headers },
          body: JSON.stringify(body),
        };
  for (let attempt = 1; ; attempt += 1) {
    let wait: number | undefined;
    let error: MidspanError;
    try {
      const response = await dispatcher.request({ origin, path: pathname + search, signal, ...message });
      if (response.statusCode === 200) return response;
      error = await refused(response, request);
      wait = waitAfter(response, attempt);
    } catch (thrown) {
      if (signal.aborted) throw cancelled(request, thrown);
      error = unreachable(thrown, request);
      wait = backOff(attempt);
    }
    if (wait === undefined || attempt >= attempts) throw error;
    await pause(wait, request);
  }
}

/** One for each way out: directly, or through the proxies that an environment names. */
const dispatchers = new Map<string, Promise<Dispatcher>>();

/** Loaded at the first request. Idle connections do not keep the process alive. */
async function dispatcherFor(request: ApiRequest): Promise<Dispatcher> {
  const proxies = proxiesFor(new URL(request.url), request.env);
  const way = JSON.stringify(proxies ?? 'direct');
  let dispatcher = dispatchers.get(way);
  if (dispatcher === undefined) {
    dispatcher = import('undici').then(({ Agent, EnvHttpProxyAgent }) => {
      const options = {
        connect: { timeout: CONNECT_WITHIN },
        headersTimeout: SILENT_FOR,
        bodyTimeout: SILENT_FOR,
      };
      return proxies === undefined ? new Agent(options) : new EnvHttpProxyAgent({ ...options, ...proxies });
    });
    dispatchers.set(way, dispatcher);
  }
  try {
    return await dispatcher;
  } catch (cause) {
    dispatchers.delete(way);
    throw failure(request, {
      code: 'config',
      what: 'the proxy that the environment names is no http or https address',
      next: 'Mend HTTP_PROXY and HTTPS_PROXY',
      cause,
    });
  }
}

/** Milliseconds to wait before another attempt; undefined when there should be none. */
function waitAfter({ statusCode, headers }: Dispatcher.ResponseData, attempt: number): number | undefined {
  const advice = headers['x-should-retry'];
  const worth =
    advice === undefined ? [408, 409, 429].includes(statusCode) || statusCode >= 500 : advice === 'true';
  if (!worth) return undefined;
  const asked = askedWait(headers);
  if (asked === undefined) return backOff(attempt);
  return asked <= LONGEST_ASKED_WAIT ? asked : undefined;
}

function askedWait(headers: Dispatcher.ResponseData['headers']): number | undefined {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const after = headers['retry-after'];
  if (typeof after !== 'string') return undefined;
  const wait = /^\d+(\.\d+)?$/.test(after.trim()) ? Number(after) * 1000 : Date.parse(after) - Date.now();
  return wait >= 0 ? wait : undefined;
}

function backOff(attempt: number): number {
  return Math.min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT) * (1 - Math.random() / 4);
}

async function pause(milliseconds: number, request: ApiRequest): Promise<void> {
  const { setTimeout } = await import('node:timers/promises');
  try {
    await setTimeout(milliseconds, undefined, { signal: request.signal });
  } catch (error) {
    throw cancelled(request, error);
  }
}
