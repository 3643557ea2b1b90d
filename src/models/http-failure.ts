/** What is said when a request to a model API fails: the API's own words, bounded, without secrets, and what to do next. */
import type { Dispatcher } from 'undici';
import { type ErrorCode, MidspanError, messageOf } from '../errors.ts';
import type { Json, JsonObject } from '../types.ts';

const LARGEST_ERROR_BODY = 64 * 1024;
const LONGEST_ERROR_TEXT = 2_000;

/** What is known of the request that failed. */
export interface Failed {
  model: string;
  url: string;
  signal: AbortSignal;
  key: string | undefined;
  credentials?: readonly string[];
  signIn: string;
}

export async function refused(response: Dispatcher.ResponseData, request: Failed): Promise<MidspanError> {
  const { statusCode: status } = response;
  const { text } = await readUpTo(response.body);
  const words = wordsOf(text, request);
  return failure(request, {
    what: `the model's API refused the request with status ${status}${words === '' ? '' : `: ${words}`}`,
    next: nextStep(status, words, request),
    data: { status, ...typeOf(text) },
  });
}

function nextStep(status: number, words: string, { signIn, url }: Failed): string {
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
export function wordsOf(text: string, request: Failed): string {
  const body = parsed(text) ?? {};
  const { error } = body;
  const nested = typeof error === 'object' && error !== null && !Array.isArray(error) ? error.message : error;
  const words = [nested, body.message, body.detail].find((candidate) => typeof candidate === 'string');
  return clean(typeof words === 'string' ? words : text, request);
}

/** The API's own names for the error, for programs. */
function typeOf(text: string): { type?: Json; apiCode?: Json } {
  const error = parsed(text)?.error;
  if (typeof error !== 'object' || error === null || Array.isArray(error)) return {};
  const type = error.type ?? error.status;
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof error.code === 'string' && { apiCode: error.code }),
  };
}

export function parsed(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json;
    const object = Array.isArray(value) && value.length === 1 ? value[0] : value;
    return typeof object === 'object' && object !== null && !Array.isArray(object) ? object : undefined;
  } catch {
    return undefined;
  }
}

/** Fit to be shown: one line, bounded, without control characters and without the key. */
export function clean(text: string, { key, credentials = [] }: Failed): string {
  const own = key === undefined || key === '' ? text : text.replaceAll(key, '[key]');
  const without = withoutSecrets(own, credentials);
  // oxlint-disable-next-line no-control-regex
  const line = without.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  return line.length > LONGEST_ERROR_TEXT ? `${line.slice(0, LONGEST_ERROR_TEXT)}…` : line;
}

/** As they stand in plain text and in JSON. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    (rest, secret) =>
      rest.replaceAll(secret, '[secret]').replaceAll(JSON.stringify(secret).slice(1, -1), '[secret]'),
    text,
  );
}

/** The text of a body, and whether it went on after `most` bytes. */
export async function readUpTo(
  body: Dispatcher.ResponseData['body'],
  most: number = LARGEST_ERROR_BODY,
): Promise<{ text: string; cut: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > most) break;
    }
  } catch {
    // What came before it broke is what there is to say.
  }
  body.destroy();
  const text = Buffer.concat(chunks).subarray(0, most).toString('utf8').trim();
  return { text, cut: bytes > most };
}

export function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

export function failure(
  request: Failed,
  details: { what: string; code?: ErrorCode; next?: string; cause?: unknown; data?: Record<string, unknown> },
): MidspanError {
  return new MidspanError({ code: 'model', label: request.model, ...details });
}

export function cancelled(request: Failed, cause: unknown): MidspanError {
  return failure(request, { code: 'cancelled', what: 'the request was canceled', cause });
}

export function unreachable(cause: unknown, request: Failed): MidspanError {
  return failure(request, {
    code: 'unreachable',
    what: `${addressOf(request.url)} cannot be reached: ${clean(reasonOf(cause), request)}`,
    next: 'Check the network and the base URL',
    cause,
  });
}

/** An answer that ended before it was whole. */
export function brokenOff(thrown: unknown, request: Failed): MidspanError {
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
