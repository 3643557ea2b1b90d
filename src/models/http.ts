/**
 * One request to a model API and its stream of server-sent events. Bounded in size and time; only the request is retried,
 * and only before the first byte of a good answer.
 */
import { createParser } from 'eventsource-parser';
import type { Agent, Dispatcher } from 'undici';
import { MidspanError, messageOf } from '../errors.ts';
import type { Json, JsonObject } from '../types.ts';

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
/** Characters of one event. */
export const LARGEST_EVENT = 16 * 1024 * 1024;
/** Bytes of one answer. */
export const LARGEST_ANSWER = 256 * 1024 * 1024;
const LARGEST_ERROR_BODY = 64 * 1024;
const LONGEST_ERROR_TEXT = 2_000;

export interface StreamRequest {
  /** The model's full name, for errors. */
  model: string;
  url: string;
  headers: Record<string, string>;
  body: JsonObject;
  signal: AbortSignal;
  /** Taken out of whatever is said about this exchange. */
  key: string | undefined;
  /** Taken out of the answer itself, too. */
  credentials?: readonly string[];
  /** What to do when the API does not know us. */
  signIn: string;
}

/**
 * The parsed events of the answer, in order, until the stream ends or says `[DONE]`.
 * @throws MidspanError `model` (refused, with the API's words; or the stream broke), `unreachable`, `cancelled`, `limit`.
 */
export async function* streamEvents(request: StreamRequest): AsyncGenerator<JsonObject, void> {
  const response = await send(request);
  const type = String(response.headers['content-type'] ?? 'nothing');
  if (!type.includes('text/event-stream')) {
    const text = await readSome(response.body);
    throw failure(request, {
      what: `the address ${addressOf(request.url)} answered with ${clean(type, request)} and not with a stream of events${
        text === '' ? '' : `: ${wordsOf(text, request)}`
      }`,
      next: 'Check the base URL',
    });
  }
  const events: JsonObject[] = [];
  let done = false;
  let broken: string | undefined;
  const parser = createParser({
    maxBufferSize: LARGEST_EVENT,
    onEvent({ data }) {
      if (data === '[DONE]') done = true;
      if (done || data === '') return;
      const event = parse(withoutSecrets(data, request.credentials ?? []));
      if (event === undefined)
        broken ??= `an event is not a JSON object: ${clean(data.slice(0, 200), request)}`;
      else events.push(event);
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded')
        broken ??= `an event is longer than ${LARGEST_EVENT} characters`;
    },
  });
  const decoder = new TextDecoder();
  let bytes = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > LARGEST_ANSWER) broken ??= `the answer is longer than ${LARGEST_ANSWER} bytes`;
      else parser.feed(decoder.decode(chunk, { stream: true }));
      yield* events.splice(0);
      if (broken !== undefined) throw failure(request, { what: `the answer cannot be read: ${broken}` });
      if (done) return;
    }
  } catch (error) {
    throw brokenOff(error, request);
  } finally {
    response.body.destroy();
  }
}

/**
 * An answer that is one JSON object.
 * @throws MidspanError as streamEvents does.
 */
export async function requestObject(request: StreamRequest): Promise<JsonObject> {
  const response = await send(request);
  const text = await readSome(response.body);
  const object = parse(text);
  if (object !== undefined) return object;
  throw failure(request, {
    what: `the address ${addressOf(request.url)} did not answer with a JSON object: ${clean(text.slice(0, 200), request)}`,
    next: 'Check the base URL',
  });
}

/** Sends until there is an answer with status 200, or no reason to try again. */
async function send(request: StreamRequest): Promise<Dispatcher.ResponseData> {
  const payload = JSON.stringify(request.body);
  const dispatcher = await agent();
  for (let attempt = 1; ; attempt += 1) {
    let wait: number | undefined;
    let error: MidspanError;
    try {
      const response = await dispatcher.request({
        ...splitUrl(request.url),
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...request.headers },
        body: payload,
        signal: request.signal,
      });
      if (response.statusCode === 200) return response;
      error = await refused(response, request);
      wait = waitAfter(response, attempt);
    } catch (thrown) {
      if (request.signal.aborted) throw cancelled(request, thrown);
      error = unreachable(thrown, request);
      wait = backOff(attempt);
    }
    if (wait === undefined || attempt === ATTEMPTS) throw error;
    await pause(wait, request);
  }
}

let shared: Promise<Agent> | undefined;

/** Loaded at the first request. Idle connections do not keep the process alive. */
function agent(): Promise<Agent> {
  shared ??= import('undici').then(
    ({ Agent }) =>
      new Agent({
        connect: { timeout: CONNECT_WITHIN },
        headersTimeout: SILENT_FOR,
        bodyTimeout: SILENT_FOR,
      }),
  );
  return shared;
}

function splitUrl(url: string): { origin: string; path: string } {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
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

async function pause(milliseconds: number, request: StreamRequest): Promise<void> {
  const { setTimeout } = await import('node:timers/promises');
  try {
    await setTimeout(milliseconds, undefined, { signal: request.signal });
  } catch (error) {
    throw cancelled(request, error);
  }
}

async function refused(response: Dispatcher.ResponseData, request: StreamRequest): Promise<MidspanError> {
  const { statusCode: status } = response;
  const text = await readSome(response.body);
  const words = wordsOf(text, request);
  return failure(request, {
    what: `the model's API refused the request with status ${status}${words === '' ? '' : `: ${words}`}`,
    next: nextStep(status, words, request),
    data: { status, ...typeOf(text) },
  });
}

function nextStep(status: number, words: string, { signIn, url }: StreamRequest): string {
  // Gemini answers a wrong key with 400.
  if (status === 401 || status === 403 || /\bapi key\b/i.test(words)) return signIn;
  if (status === 404) return `Check the model's name and the base URL (${addressOf(url)})`;
  if (status === 424)
    return 'See whether the provider can reach the server; without `"via": "provider"` the host connects to it';
  if (status === 413) return 'Make the conversation or the tool results smaller';
  if (status === 429) return 'Wait, or ask for a higher limit at the provider';
  if (status >= 500) return 'Try again later';
  if (status >= 300 && status < 400) return 'Give the address that it redirects to as the base URL';
  return 'Mend what the message names';
}

/** The API's own message: every provider nests it a little differently. */
function wordsOf(text: string, request: StreamRequest): string {
  const body = parse(text) ?? {};
  const { error } = body;
  const nested = typeof error === 'object' && error !== null && !Array.isArray(error) ? error.message : error;
  const words = [nested, body.message, body.detail].find((candidate) => typeof candidate === 'string');
  return clean(typeof words === 'string' ? words : text, request);
}

/** The API's own names for the error, for programs. */
function typeOf(text: string): { type?: Json; apiCode?: Json } {
  const error = parse(text)?.error;
  if (typeof error !== 'object' || error === null || Array.isArray(error)) return {};
  const type = error.type ?? error.status;
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof error.code === 'string' && { apiCode: error.code }),
  };
}

function parse(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json;
    const object = Array.isArray(value) && value.length === 1 ? value[0] : value;
    return typeof object === 'object' && object !== null && !Array.isArray(object) ? object : undefined;
  } catch {
    return undefined;
  }
}

/** Fit to be shown: one line, bounded, without control characters and without the key. */
function clean(text: string, { key, credentials = [] }: StreamRequest): string {
  const own = key === undefined || key === '' ? text : text.replaceAll(key, '[key]');
  const without = withoutSecrets(own, credentials);
  // oxlint-disable-next-line no-control-regex
  const line = without.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  return line.length > LONGEST_ERROR_TEXT ? `${line.slice(0, LONGEST_ERROR_TEXT)}…` : line;
}

/** As they stand in plain text and in JSON. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    (rest, secret) =>
      rest.replaceAll(secret, '[secret]').replaceAll(JSON.stringify(secret).slice(1, -1), '[secret]'),
    text,
  );
}

async function readSome(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= LARGEST_ERROR_BODY) break;
    }
  } catch {
    // What came before it broke is what there is to say.
  }
  body.destroy();
  return Buffer.concat(chunks).subarray(0, LARGEST_ERROR_BODY).toString('utf8').trim();
}

function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

function failure(
  request: StreamRequest,
  details: { what: string; next?: string; data?: Record<string, unknown> },
): MidspanError {
  return new MidspanError({ code: 'model', label: request.model, ...details });
}

function cancelled(request: StreamRequest, cause: unknown): MidspanError {
  return new MidspanError({
    code: 'cancelled',
    label: request.model,
    what: 'the request was canceled',
    cause,
  });
}

function unreachable(cause: unknown, request: StreamRequest): MidspanError {
  return new MidspanError({
    code: 'unreachable',
    label: request.model,
    what: `${addressOf(request.url)} cannot be reached: ${clean(reasonOf(cause), request)}`,
    next: 'Check the network and the base URL',
    cause,
  });
}

function brokenOff(thrown: unknown, request: StreamRequest): MidspanError {
  if (thrown instanceof MidspanError) return thrown;
  if (request.signal.aborted) return cancelled(request, thrown);
  return failure(request, {
    what: `the answer broke off: ${clean(reasonOf(thrown), request)}`,
    next: 'Send the conversation again',
  });
}

/** Connection errors of several addresses come without a message of their own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.map(messageOf).join('; ');
  return messageOf(error);
}
