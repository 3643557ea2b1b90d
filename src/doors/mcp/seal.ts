/**
 * The `requestState` that clients carry from one round to the next (MCP MRTR): encrypted and authenticated, bound to whom it
 * was given, to the request that it belongs to, and to a time. What a client brings back is an attacker's word until it opens.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { canonicalJson, sha256Base64 } from '../../canonical.ts';
import { REQUEST_STATE_MAX } from '../../mcp/protocol-limits.ts';
import { isObject } from '../../mcp/message.ts';
import type { ClientRequest } from '../../mcp/serving.ts';
import type { SealKey } from '../../store/gateway.ts';
import type { Json } from '../../types.ts';

/** What was asked may be answered so long. Milliseconds. */
export const SEAL_HOLDS = 10 * 60_000;
/** Characters of a sealed state: those of a server's own in Base64, and ours around it. */
const SEALED_MAX = 2 * REQUEST_STATE_MAX;
const IV_BYTES = 12;
const TAG_BYTES = 16;

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

/** @param keys the first one closes, any of them opens. @param now milliseconds since 1970. */
export function sealOf(keys: () => readonly SealKey[], now: () => number = Date.now): Seal {
  return {
    close(sealed, bound) {
      const [key] = keys();
      if (key === undefined) throw new Error('there is no key to seal with');
      const iv = randomBytes(IV_BYTES);
      const head = `v1.${key.id}.`;
      const cipher = createCipheriv('aes-256-gcm', key.key, iv, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(head + digestOf(bound)));
      const body = JSON.stringify({ ...sealed, exp: now() + SEAL_HOLDS });
      const bytes = [iv, cipher.update(body, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return head + Buffer.concat(bytes).toString('base64url');
    },
    open(text, bound) {
      if (text.length > SEALED_MAX) return undefined;
      const [version, id, body, ...rest] = text.split('.');
      const key = keys().find((each) => each.id === id);
      if (version !== 'v1' || key === undefined || body === undefined || rest.length > 0) return undefined;
      const bytes = Buffer.from(body, 'base64url');
      if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== body) return undefined;
      try {
        const decipher = createDecipheriv('aes-256-gcm', key.key, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(`v1.${key.id}.${digestOf(bound)}`));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const opened = Buffer.concat([
          decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)),
          decipher.final(),
        ]);
        return sealedOf(JSON.parse(opened.toString('utf8')) as Json, now());
      } catch {
        return undefined;
      }
    },
  };
}

const digestOf = ({ principal, label, request: { method, params } }: Bound): string =>
  sha256Base64('midspan request state', canonicalJson([principal, label, method, params]));

function sealedOf(value: Json, now: number): Sealed | undefined {
  if (!isObject(value) || typeof value['exp'] !== 'number' || value['exp'] < now) return undefined;
  const { kind, state, digest, park } = value;
  if (kind === 'park' && typeof park === 'string') return { kind, park };
  if (kind !== 'relay' || typeof digest !== 'string') return undefined;
  return { kind, digest, state: typeof state === 'string' ? state : undefined };
}
