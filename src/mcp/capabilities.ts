/** Client capabilities on their way from a client to a server. */
import { isObject } from './message.ts';
import type { Era, Json, JsonObject } from '../types.ts';

/** The extensions whose messages this hop passes on. */
const EXTENSIONS = ['io.modelcontextprotocol/tasks', 'io.modelcontextprotocol/ui'];

/**
 * What a client declares, as far as this hop can pass it on to a server of that era: always in the same order and form, so
 * that equal declarations are equal JSON. Roots do not tell of changes; legacy servers know no extensions.
 */
export function relayable({ elicitation, sampling, roots, extensions }: JsonObject, era: Era): JsonObject {
  const result: JsonObject = {};
  if (isObject(elicitation)) {
    // An empty declaration means forms only.
    const modes = Object.keys(elicitation).length === 0 ? { form: {} } : parts(elicitation, ['form', 'url']);
    if (Object.keys(modes).length > 0) result.elicitation = modes;
  }
  if (isObject(sampling)) result.sampling = parts(sampling, ['context', 'tools']);
  if (isObject(roots)) result.roots = {};
  if (era === 'legacy' || !isObject(extensions)) return result;
  const known = EXTENSIONS.filter((name) => isObject(extensions[name]));
  if (known.length > 0)
    result.extensions = Object.fromEntries(known.map((name) => [name, extensions[name] as Json]));
  return result;
}

function parts(declared: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => isObject(declared[name])).map((name) => [name, {}]));
}
