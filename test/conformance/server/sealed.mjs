// What a modern server remembers between two rounds travels through the client, signed.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { CODES, RpcError } from './rpc.mjs';

const key = randomBytes(32);
const sign = (body) => createHmac('sha256', key).update(body).digest();

export function seal(value) {
  const body = Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${body}.${sign(body).toString('base64url')}`;
}

export function unseal(state) {
  const [body, signature] = typeof state === 'string' ? state.split('.') : [];
  const given = Buffer.from(signature ?? '', 'base64url');
  // Decoding forgives what does not belong to base64; the text must be exactly ours.
  const isOurs = body !== undefined && state === `${body}.${sign(body).toString('base64url')}`;
  if (!isOurs || !timingSafeEqual(given, sign(body))) {
    throw new RpcError(CODES.invalidParams, 'The request state is not one that this server made');
  }
  return JSON.parse(Buffer.from(body, 'base64url').toString());
}
