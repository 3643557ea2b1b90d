/**
 * What is given to clients to bring back: encrypted and authenticated (AES-256-GCM), bound to words that both sides know. What
 * comes back is an attacker's word until it opens.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { SealKey } from '../../store/gateway.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The first key closes, any of them opens. */
export type SealKeys = () => readonly SealKey[];

/** `<kind>.<key id>.<Base64url>`. @param bound what it opens with only. */
export function closeBox(keys: SealKeys, kind: string, text: string, bound: string): string {
  const [key] = keys();
  if (key === undefined) throw new Error('there is no key to seal with');
  const iv = randomBytes(IV_BYTES);
  const head = `${kind}.${key.id}.`;
  const cipher = createCipheriv('aes-256-gcm', key.key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(head + bound));
  const bytes = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return head + Buffer.concat(bytes).toString('base64url');
}

/** Undefined for what we did not close, or not with these words. */
export function openBox(keys: SealKeys, kind: string, box: string, bound: string): string | undefined {
  const [own, id, body, ...rest] = box.split('.', 4);
  if (own !== kind || body === undefined || rest.length > 0) return undefined;
  const key = keys().find((each) => each.id === id);
  const bytes = Buffer.from(body, 'base64url');
  // One box has one form: what decodes to the same bytes is not the same box.
  if (key === undefined || bytes.length < IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== body)
    return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key.key, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(`${kind}.${key.id}.${bound}`));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const opened = [decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()];
    return Buffer.concat(opened).toString('utf8');
  } catch {
    return undefined;
  }
}
