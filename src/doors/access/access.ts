/** Who may connect. A credential is looked at here and nowhere else: what goes on is a principal. */
import type { OAuthSettings, ServeKey } from '../../config/serve.ts';
import { LOCAL, secretsOf } from './keys.ts';
import { type OAuthResource, oauthResource } from './oauth.ts';
import type { Principal } from './principal.ts';
import type { Refusal } from './refusal.ts';

export interface Access {
  /**
   * @param authorization the header of a request.
   * @returns at once where nothing has to be fetched or verified by public keys.
   */
  check(authorization: string | undefined): Principal | Refusal | Promise<Principal | Refusal>;
  /** The metadata of RFC 9728 and where it is found; undefined without OAuth. */
  readonly metadata: OAuthResource['metadata'] | undefined;
}

export interface AccessOptions {
  auth: 'token' | 'none' | OAuthSettings;
  keys?: readonly ServeKey[];
  /** Of the local token, as it is now. */
  tokenDigest: () => string | undefined;
  /** For what an issuer publishes. */
  fetch?: typeof fetch;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/** `Bearer` and one token, and nothing else (RFC 6750). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;
/** No token that anybody issues is longer. */
const TOKEN_LONGEST = 16 * 1024;

const bearer = (error?: string): string => `Bearer${error === undefined ? '' : ` error="${error}"`}`;

export function openAccess({ auth, keys = [], tokenDigest, fetch: fetcher, now }: AccessOptions): Access {
  if (auth === 'none') return { check: () => LOCAL, metadata: undefined };
  const oauth =
    typeof auth === 'object'
      ? oauthResource(auth, { ...(fetcher && { fetch: fetcher }), ...(now && { now }) })
      : undefined;
  const secrets = secretsOf(keys, oauth === undefined ? tokenDigest : () => undefined);
  const challenge = oauth === undefined ? bearer : (error?: string) => oauth.challenge(error);
  const wrong: Refusal = {
    status: 401,
    message: 'The token is not valid here',
    challenge: challenge('invalid_token'),
  };
  const missing: Refusal = {
    status: 401,
    message: 'A bearer token is needed: `Authorization: Bearer <token>`',
    challenge: challenge(),
  };
  return {
    metadata: oauth?.metadata,
    check(authorization) {
      if (authorization === undefined) return missing;
      const token = authorization.length > TOKEN_LONGEST ? undefined : BEARER.exec(authorization)?.[1];
      if (token === undefined) return wrong;
      return secrets.principal(token) ?? oauth?.check(token) ?? wrong;
    },
  };
}
