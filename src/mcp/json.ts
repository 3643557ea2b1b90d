/** JSON that a server wrote. What would cost the parser, or whoever walks the value later, too much is never parsed. */
import { MESSAGE_DEPTH, MESSAGE_VALUES } from './limits.ts';
import type { Json } from '../types.ts';

export class JsonLimitError extends Error {}

/**
 * @param depth levels of nesting, at most. @param most arrays and objects, at most. Those of a message by default.
 * @throws SyntaxError for what is not JSON; JsonLimitError for JSON over the limits
 */
export function parseJson(text: string, depth = MESSAGE_DEPTH, most = MESSAGE_VALUES): Json {
  // Anything shorter cannot be nested that deeply.
  if (text.length > 2 * depth) checkNesting(text, depth, most);
  return JSON.parse(text) as Json;
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Strings are skipped by native searches as far as they have no escapes, so that large texts cost little. */
function checkNesting(text: string, deepest: number, most: number): void {
  let depth = 0;
  let values = 0;
  let escape = text.indexOf('\\');
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const quote = text.indexOf('"', at + 1);
        if (escape !== -1 && escape < at) escape = text.indexOf('\\', at);
        at = escape === -1 || quote < escape ? quote : endOfString(text, escape);
        if (at === -1) return; // it never ends: not JSON
        break;
      }
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth += 1;
        values += 1;
        if (depth > deepest) throw new JsonLimitError(`a message nested deeper than ${deepest} levels`);
        if (values > most) throw new JsonLimitError(`a message of more than ${most} arrays and objects`);
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      default:
    }
  }
}

/** The quote that ends a string, from its first escape on: where there is one there are many, and a search for each is slow. */
function endOfString(text: string, escape: number): number {
  for (let at = escape; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return -1;
}
