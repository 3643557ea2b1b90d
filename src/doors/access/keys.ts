/** The local token and the named keys of the configuration: who a secret stands for. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { canonicalJson, sha256Base64 } from '../../canonical.ts';
import type { ServeKey } from '../../config/serve.ts';
import { globs } from '../../trust/policy/globs.ts';
import type { Principal } from './principal.ts';

const TOKEN_BYTES = 32;

/** A token of 256 random bits. */
export const newToken = (): string => `msk_${randomBytes(TOKEN_BYTES).toString('base64url')}`;

/** What is kept of a token. */
export const digestOf = (token: string): string => sha256Base64('midspan gateway token', token);

const everything = (id: string, name: string): Principal => ({
  id,
  name,
  allows: () => true,
  reaches: () => true,
  filter: '',
});

/** Whoever holds the token, and everybody on this machine where none is asked for. */
export const LOCAL: Principal = everything('local', 'local');

/** Who an access token speaks for. */
export const subjectOf = (issuer: string, subject: string): Principal =>
  everything(`${issuer}#${subject}`, subject);

export interface Secrets {
  /** Who a secret stands for; undefined for a wrong one. Takes as long for a near miss as for any other. */
  principal(secret: string): Principal | undefined;
}

/** @param tokenDigest of the local token, as it is now; undefined where there is none. */
export function secretsOf(keys: readonly ServeKey[], tokenDigest: () => string | undefined): Secrets {
  const known = keys.map((key) => ({
    digest: Buffer.from(digestOf(key.key)),
    principal: principalOf(key),
  }));
  return {
    principal(secret) {
      const digest = Buffer.from(digestOf(secret));
      const local = tokenDigest();
      let found: Principal | undefined;
      if (local !== undefined && isSame(digest, Buffer.from(local))) found = LOCAL;
      for (const each of known) if (isSame(digest, each.digest)) found = each.principal;
      return found;
    },
  };
}

const isSame = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other);

function principalOf({ name, servers, tools }: ServeKey): Principal {
  const isReached = servers === undefined ? () => true : globs(servers);
  const isAllowed = tools?.allow === undefined ? () => true : globs(tools.allow);
  const isDenied = tools?.deny === undefined ? () => false : globs(tools.deny);
  return {
    id: `key:${name}`,
    name,
    reaches: isReached,
    allows(label, tool) {
      const full = `${label}/${tool}`;
      return isReached(label) && isAllowed(full) && !isDenied(full);
    },
    filter:
      servers === undefined && tools === undefined
        ? ''
        : canonicalJson({
            ...(servers !== undefined && { servers }),
            ...(tools?.allow !== undefined && { allow: tools.allow }),
            ...(tools?.deny !== undefined && { deny: tools.deny }),
          }),
  };
}
