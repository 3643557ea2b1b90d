/**
 * The gateway as an OAuth 2.1 resource server: access tokens (JWT) of one issuer, for our audience alone, verified on every
 * request. RFC 9728 for the metadata, RFC 8414 for the issuer's, RFC 6750 for the challenges.
 */
import type * as jose from 'jose';
import type { JWTVerifyGetKey } from 'jose';
import type { OAuthSettings } from '../../config/serve.ts';
import { MidspanError, messageOf } from '../../errors.ts';
import type { JsonObject } from '../../types.ts';
import { fetchBounded, metadataOf } from './issuer.ts';
import { subjectOf } from './keys.ts';
import type { Principal } from './principal.ts';
import type { Refusal } from './refusal.ts';

/** Signatures by a private key alone: never `none`, never a secret that both sides hold. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** How far clocks may be apart. Seconds. */
const TOLERANCE = 5;
/** Between two looks for a key that is not there, and after a failure. Milliseconds. */
export const COOL_DOWN = 30_000;
const SUBJECT_LONGEST = 1_000;

export interface OAuthResource {
  check(token: string): Promise<Principal | Refusal>;
  /** For `WWW-Authenticate`. */
  challenge(error?: string): string;
  /** `path` of the well-known address of the resource, below which it may be asked for any endpoint. */
  readonly metadata: { path: string; document: JsonObject };
}

export function oauthResource(
  settings: OAuthSettings,
  { fetch: fetcher = fetch, now = Date.now }: { fetch?: typeof fetch; now?: () => number } = {},
): OAuthResource {
  const { issuer, audience, scopes = [], resource = audience } = settings;
  const url = new URL(resource);
  const path = `/.well-known/oauth-protected-resource${url.pathname === '/' ? '' : url.pathname}`;
  const at = `${url.origin}${path}`;
  const scope = scopes.length > 0 ? `, scope="${scopes.join(' ')}"` : '';
  const challenge = (error?: string): string =>
    `Bearer ${error === undefined ? '' : `error="${error}", `}resource_metadata="${at}"${scope}`;
  const refusal = (status: Refusal['status'], message: string, error?: string): Refusal => ({
    status,
    message,
    challenge: status === 503 ? undefined : challenge(error),
  });

  let keys: Promise<JWTVerifyGetKey> | undefined;
  let failedAt = -Infinity;
  const keysOf = (): Promise<JWTVerifyGetKey> => {
    keys ??= openKeys(settings, fetcher).catch((error: unknown) => {
      failedAt = now();
      throw error;
    });
    return keys;
  };
  return {
    challenge,
    metadata: {
      path,
      document: {
        resource,
        authorization_servers: [issuer],
        bearer_methods_supported: ['header'],
        ...(scopes.length > 0 && { scopes_supported: [...scopes] }),
      },
    },
    async check(token) {
      const { jwtVerify, errors } = await import('jose');
      if (failedAt > -Infinity && now() - failedAt >= COOL_DOWN) {
        keys = undefined;
        failedAt = -Infinity;
      }
      try {
        const { payload } = await jwtVerify(token, await keysOf(), {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          clockTolerance: TOLERANCE,
          requiredClaims: ['exp', 'sub'],
          currentDate: new Date(now()),
        });
        const { sub } = payload;
        if (typeof sub !== 'string' || sub === '' || sub.length > SUBJECT_LONGEST)
          return refusal(401, 'The token names nobody', 'invalid_token');
        const granted = scopesOf(payload);
        const lacking = scopes.filter((each) => !granted.has(each));
        if (lacking.length > 0)
          return refusal(403, `The token lacks the scope ${lacking.join(' ')}`, 'insufficient_scope');
        return subjectOf(issuer, sub);
      } catch (error) {
        if (error instanceof MidspanError || isKeysFailure(error, errors))
          return refusal(503, `The keys of ${issuer} cannot be had now: ${messageOf(error)}`);
        return refusal(401, wordsOf(error, errors), 'invalid_token');
      }
    },
  };
}

async function openKeys({ issuer, jwksUri }: OAuthSettings, fetcher: typeof fetch): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet, customFetch } = await import('jose');
  const uri = jwksUri ?? (await metadataOf(issuer, fetcher)).jwksUri;
  return createRemoteJWKSet(new URL(uri), {
    cooldownDuration: COOL_DOWN,
    [customFetch]: (address: string, options: RequestInit) => fetchBounded(address, options, fetcher),
  });
}

/** Whether it was not the token's fault. */
const isKeysFailure = (error: unknown, errors: (typeof jose)['errors']): boolean =>
  error instanceof errors.JWKSTimeout ||
  error instanceof errors.JWKSInvalid ||
  (error instanceof errors.JOSEError && error.code === errors.JOSEError.code);

/** `scope` of RFC 9068, or `scp` as some issuers have it. */
function scopesOf({ scope, scp }: Record<string, unknown>): Set<string> {
  const given = scope ?? scp;
  if (typeof given === 'string') return new Set(given.split(' '));
  return new Set(Array.isArray(given) ? given.filter((each) => typeof each === 'string') : []);
}

/** Why, in words that quote nothing of the token. */
function wordsOf(error: unknown, errors: (typeof jose)['errors']): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return `The token is not for us: its claim \`${error.claim}\` does not hold`;
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'The token is signed with a key that its issuer has not';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'The token is signed in a way that does not count';
  return 'The token is not valid here';
}
