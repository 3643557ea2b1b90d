/** What goes wrong with an answer as a whole. */
import { MidspanError } from '../errors.ts';
import type { Json } from '../types.ts';
import { asObject, asText } from './json.ts';

/** An API's own error, given as `{type?, code?, status?, message}` or as a text. */
export function apiError(given: Json | undefined): MidspanError {
  const error = asObject(given) ?? { message: asText(given) };
  const type = asText(error['type']) || asText(error['status']) || asText(error['code']) || 'error';
  return new MidspanError({
    code: 'model',
    what: `the model API answered ${type}: ${asText(error['message'])}`,
    data: { type, ...(error['code'] === undefined ? {} : { code: error['code'] }) },
  });
}

export function endedEarly(): MidspanError {
  return new MidspanError({
    code: 'model',
    what: 'the stream ended before the turn did',
    next: 'Send the request again',
  });
}
