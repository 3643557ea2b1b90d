/** What a model API answers: a stream of server-sent events or one JSON object. Bounded in size and time. */
import { createParser } from 'eventsource-parser';
import type { JsonObject } from '../types.ts';
import {
  addressOf,
  brokenOff,
  clean,
  failure,
  parsed,
  readUpTo,
  withoutSecrets,
  wordsOf,
} from './http-failure.ts';
import { type ApiRequest, send } from './send.ts';

/** Characters of one event. */
export const LARGEST_EVENT = 16 * 1024 * 1024;
/** Bytes of one streamed answer. */
export const LARGEST_ANSWER = 256 * 1024 * 1024;
/** Bytes of an answer that is one object. */
export const LARGEST_OBJECT = 8 * 1024 * 1024;

/**
 * The parsed events of the answer, in order, until the stream ends or says `[DONE]`.
 * @throws MidspanError `model` (refused, with the API's words; or the stream broke), `unreachable`, `cancelled`, `limit`.
 */
export async function* streamEvents(request: ApiRequest): AsyncGenerator<JsonObject, void> {
  const response = await send(request);
  const type = String(response.headers['content-type'] ?? 'nothing');
  if (!type.includes('text/event-stream')) {
    const { text } = await readUpTo(response.body);
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
      const event = parsed(withoutSecrets(data, request.credentials ?? []));
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
export async function requestObject(request: ApiRequest): Promise<JsonObject> {
  const response = await send(request);
  const { text, cut } = await readUpTo(response.body, LARGEST_OBJECT);
  if (request.signal.aborted) throw brokenOff(request.signal.reason, request);
  const object = cut ? undefined : parsed(text);
  if (object !== undefined) return object;
  throw failure(request, {
    what: cut
      ? `the answer of ${addressOf(request.url)} is longer than ${LARGEST_OBJECT} bytes`
      : `the address ${addressOf(request.url)} did not answer with a JSON object: ${clean(text.slice(0, 200), request)}`,
    next: 'Check the base URL',
  });
}
