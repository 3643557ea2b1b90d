/** The digest of one thing that a server listed: RFC 8785 bytes behind a domain, so that no prompt ever equals a tool. */
import { canonicalJson, sha256Base64 } from '../../canonical.ts';
import type { Item, Json, JsonObject } from '../../types.ts';
import type { Digest } from './lock.ts';

const PIN = 'midspan-pin/1';

/** @throws RangeError for what RFC 8785 has no form for: lone surrogates, numbers that are not finite. */
export function itemDigest(kind: Item['kind'], value: JsonObject | string): Digest {
  return digestOf(kind, typeof value === 'string' ? value : pinnedPart(kind, value));
}

export function digestOf(domain: string, value: Json): Digest {
  return `sha256-${sha256Base64(`${PIN}\0${domain}`, canonicalJson(value))}`;
}

/** What of a resource changes with its content, and not with what it is, is left out. */
function pinnedPart(kind: Item['kind'], value: JsonObject): JsonObject {
  if (kind !== 'resource') return value;
  const { size: _size, annotations, ...rest } = value;
  if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations))
    return annotations === undefined ? rest : { ...rest, annotations };
  const { lastModified: _modified, ...kept } = annotations;
  return { ...rest, annotations: kept };
}
