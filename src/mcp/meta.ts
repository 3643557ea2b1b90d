/** `_meta` of requests that are passed on: what this hop writes itself, and what travels through it. */
import type { JsonObject } from '../types.ts';

const RESERVED = 'io.modelcontextprotocol/';

/** The members that may travel from one hop to the next: nothing of the protocol's own. The same object when all may. */
export function unreserved(meta: JsonObject): JsonObject {
  const own = (name: string): boolean => name === 'progressToken' || name.startsWith(RESERVED);
  const names = Object.keys(meta);
  if (!names.some(own)) return meta;
  return Object.fromEntries(names.filter((name) => !own(name)).map((name) => [name, meta[name]]));
}
