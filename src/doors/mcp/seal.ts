/**
 * The `requestState` that clients carry from one round to the next (MCP MRTR): encrypted and authenticated, bound to whom it
 * was given, to the request that it belongs to, and to a time. What a client brings back is an attacker's word until it opens.
 */
import { canonicalJson, sha256Base64 } from '../../canonical.ts';
import { REQUEST_STATE_MAX } from '../../mcp/protocol-limits.ts';
import { isObject } from '../../mcp/message.ts';
import type { ClientRequest } from '../../mcp/serving.ts';
import type { Json } from '../../types.ts';
import { closeBox, openBox, type SealKeys } from './box.ts';

/** What was asked may be answered so long. Milliseconds. */
export const SEAL_HOLDS = 10 * 60_000;
/** Characters of a sealed state: each of a server's own is at most six bytes of JSON, in Base64, and ours around it. */
const SEALED_MAX = 8 * REQUEST_STATE_MAX + 1_024;
/** Kind of the boxes that states are. */
const BOX = 'v1';

/** `relay`: a round of a server, with its state. `park`: a call that waits here for its answers. */
export type Sealed =
  | { kind: 'relay'; state: string | undefined; digest: string }
  | { kind: 'park'; park: string };

/** What a state is bound to. */
export interface Bound {
  principal: string;
  /** Of the endpoint; empty for that of all servers. */
  label: string;
  request: Pick<ClientRequest, 'method' | 'params'>;
}

export interface Seal {
  close(sealed: Sealed, bound: Bound): string;
  /** Undefined for what we did not close, or not for this, or too long ago. */
  open(text: string, bound: Bound): Sealed | undefined;
}

/** @param now milliseconds since 1970. */
export function sealOf(keys: SealKeys, now: () => number = Date.now): Seal {
  return {
    close: (sealed, bound) =>
      closeBox(keys, BOX, JSON.stringify({ ...sealed, exp: now() + SEAL_HOLDS }), digestOf(bound)),
    open(text, bound) {
      if (text.length > SEALED_MAX) return undefined;
      try {
        const opened = openBox(keys, BOX, text, digestOf(bound));
        return opened === undefined ? undefined : sealedOf(JSON.parse(opened) as Json, now());
      } catch {
        return undefined;
      }
    },
  };
}

const digestOf = ({ principal, label, request: { method, params } }: Bound): string =>
  sha256Base64('midspan request state', textOf([principal, label, method, params]));

/** Canonical where there is such a form: half of a surrogate pair and 1e999 are JSON, but have none. */
function textOf(value: Json): string {
  try {
    return canonicalJson(value);
  } catch {
    return JSON.stringify(value);
  }
}

function sealedOf(value: Json, now: number): Sealed | undefined {
  if (!isObject(value) || typeof value['exp'] !== 'number' || value['exp'] < now) return undefined;
  const { kind, state, digest, park } = value;
  if (kind === 'park' && typeof park === 'string') return { kind, park };
  if (kind !== 'relay' || typeof digest !== 'string') return undefined;
  return { kind, digest, state: typeof state === 'string' ? state : undefined };
}
