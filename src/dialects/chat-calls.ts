/**
 * Pieces of streamed Chat Completions calls put together. The API keys them by `index`; compatible servers leave the
 * index out or always say 0, send whole calls, repeat or split the name, and give no id, the same id, or a number.
 */
import type { Json, JsonObject } from '../types.ts';
import { asObject, asText, parsed } from './json.ts';

export interface PartialCall {
  index: Json | undefined;
  id: string;
  name: string;
  arguments: string | JsonObject;
  /** Members that we do not know, such as a provider's signature: they go back with the call. */
  others: JsonObject;
}

/** Adds one piece of `delta.tool_calls` to the calls so far. @returns the call that grew. */
export function addPiece(calls: PartialCall[], piece: JsonObject): PartialCall {
  const { index, id: rawId, type: _type, function: rawFunction, ...others } = piece;
  const id = typeof rawId === 'number' ? String(rawId) : asText(rawId);
  const made = asObject(rawFunction) ?? {};
  const name = asText(made['name']);
  const args = asObject(made['arguments']) ?? asText(made['arguments']);

  let call = findCall(calls, index, id, name, args);
  if (call === undefined) {
    call = { index, id, name: '', arguments: '', others: {} };
    calls.push(call);
  }
  if (call.id === '') call.id = id;
  if (call.arguments === '') call.name = longerName(call.name, name);
  if (typeof args === 'object') call.arguments = args;
  else if (typeof call.arguments === 'string') call.arguments += args;
  Object.assign(call.others, others);
  return call;
}

function findCall(
  calls: readonly PartialCall[],
  index: Json | undefined,
  id: string,
  name: string,
  args: string | JsonObject,
): PartialCall | undefined {
  const last = calls.at(-1);
  if (typeof index === 'number') {
    const same = calls.findLast((call) => call.index === index);
    if (same === undefined || name === '') return same;
    const another = id === '' ? isWhole(same.arguments) && isWhole(args) : same.id !== '' && same.id !== id;
    return another ? undefined : same;
  }
  if (id !== '') return calls.findLast((call) => call.id === id);
  return name === '' ? last : undefined;
}

/** A name may come at once, again with every piece, growing, or in pieces. */
function longerName(sofar: string, piece: string): string {
  if (piece === sofar) return sofar;
  return piece.startsWith(sofar) ? piece : sofar + piece;
}

function isWhole(args: string | JsonObject): boolean {
  return typeof args === 'object' || asObject(parsed(args)) !== undefined;
}
