import { JsonLimitError, parseJson } from '../mcp/json.ts';
import { isObject } from '../mcp/message.ts';
import type { Json, JsonObject } from '../types.ts';

/**
 * The messages in one frame: one, or those of a batch, which revision 2025-03-26 allows. Undefined stands for what is no
 * message: text that is not JSON, or a value that is not an object.
 * @throws JsonLimitError for JSON over our limits
 */
export function messagesIn(text: string): (JsonObject | undefined)[] {
  let value: Json;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof JsonLimitError) throw error;
    return [undefined];
  }
  return Array.isArray(value) ? value.map(asMessage) : [asMessage(value)];
}

function asMessage(value: Json): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}
