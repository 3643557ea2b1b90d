import type { Json, JsonObject } from '../types.ts';

/**
 * The messages in one frame: one, or those of a batch, which revision 2025-03-26 allows. Undefined stands for what is no
 * message: text that is not JSON, or a value that is not an object.
 */
export function messagesIn(text: string): (JsonObject | undefined)[] {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return [undefined];
  }
  return Array.isArray(value) ? value.map(asMessage) : [asMessage(value)];
}

function asMessage(value: Json): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}
