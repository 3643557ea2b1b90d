/** JSON that a server wrote. What would cost the parser, or whoever walks the value later, too much is never parsed. */
import { MESSAGE_DEPTH, MESSAGE_VALUES } from './limits.ts';
import type { Json } from '../types.ts';

export class JsonLimitError extends Error {}

/** @throws SyntaxError for what is not JSON; JsonLimitError for JSON over our limits */
export function parseJson(text: string): Json {
  // Anything shorter cannot be nested that deeply.
  if (text.length > 2 * MESSAGE_DEPTH) checkNesting(text);
  return JSON.parse(text) as Json;
}

const QUOTE = 34;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Strings are skipped by native searches, so that long texts cost next to nothing. */
function checkNesting(text: string): void {
  let depth = 0;
  let values = 0;
  let escape = text.indexOf('\\');
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(at);
        if (at === -1) return; // it never ends: not JSON
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth += 1;
        values += 1;
        if (depth > MESSAGE_DEPTH)
          throw new JsonLimitError(`a message nested deeper than ${MESSAGE_DEPTH} levels`);
        if (values > MESSAGE_VALUES)
          throw new JsonLimitError(`a message of more than ${MESSAGE_VALUES} arrays and objects`);
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      default:
    }
  }

  function endOfString(start: number): number {
    let end = text.indexOf('"', start + 1);
    if (escape !== -1 && escape < start) escape = text.indexOf('\\', start);
    while (escape !== -1 && escape < end) {
      if (escape + 1 === end) end = text.indexOf('"', escape + 2);
      escape = text.indexOf('\\', escape + 2);
    }
    return end;
  }
}
