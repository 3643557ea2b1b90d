/** Canonical JSON (RFC 8785) and SHA-256: the only hash in the project. */
import { createHash } from 'node:crypto';
import type { Json, JsonObject } from './types.ts';

/**
 * The RFC 8785 text of a value: members sorted by UTF-16 code units, ECMAScript numbers, no white space.
 * Members that are `undefined` are left out, as JSON.stringify does.
 * @throws RangeError for numbers that are not finite and for lone surrogates, which RFC 8785 has no form for.
 */
export function canonicalJson(value: Json): string {
  const sorted = sortedCopy(value);
  if (sorted !== UNSORTABLE) {
    const text = JSON.stringify(sorted);
    if (!HALF_PAIR.test(text)) return text;
  }
  return written(value);
}

/** How JSON.stringify writes half of a surrogate pair; a text may also say so itself. */
const HALF_PAIR = /\\u[dD][89a-fA-F]/;
const UNSORTABLE = Symbol('unsortable');
/** Objects list such members first, in the order of their numbers. */
const INDEX = /^(?:0|[1-9]\d*)$/;

/** The same value with its members in order, for the engine's own writer, which is several times as fast as ours. */
function sortedCopy(value: Json): Json | typeof UNSORTABLE {
  if (typeof value === 'number' && !Number.isFinite(value)) return UNSORTABLE;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) {
      const sorted = sortedCopy(item);
      if (sorted === UNSORTABLE) return UNSORTABLE;
      items.push(sorted);
    }
    return items;
  }
  const copy: JsonObject = {};
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member === undefined) continue;
    if (key === '__proto__' || key === 'toJSON' || INDEX.test(key)) return UNSORTABLE;
    const sorted = sortedCopy(member);
    if (sorted === UNSORTABLE) return UNSORTABLE;
    copy[key] = sorted;
  }
  return copy;
}

function written(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      throw new RangeError('canonical JSON has no form for a number that is not finite');
    return JSON.stringify(value);
  }
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) members.push(`${quoted(key)}:${written(member)}`);
  }
  return `{${members.join(',')}}`;
}

function quoted(text: string): string {
  if (!text.isWellFormed()) throw new RangeError('canonical JSON has no form for a lone surrogate');
  return JSON.stringify(text);
}

/** SHA-256 of UTF-8 text, in base64, as in Subresource Integrity. `domain` as below. */
export function sha256Base64(domain: string, text: string): string {
  return createHash('sha256').update(`${domain}\0${text}`).digest('base64');
}

/** SHA-256 of UTF-8 text, in lower-case hexadecimal. `domain` keeps digests of different kinds of things apart. */
export function sha256Hex(domain: string, text: string): string {
  return createHash('sha256').update(`${domain}\0${text}`).digest('hex');
}

/** SHA-256 of UTF-8 text alone, in base64: for formats of others, whose digests have no domain. */
export function plainSha256Base64(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
