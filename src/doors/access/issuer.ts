/** What an authorization server publishes of itself: fetched with bounds, checked before it counts. */
import { MidspanError, messageOf } from '../../errors.ts';
import { isThisMachine } from '../../proxy.ts';

/** Bytes of one document. */
export const DOCUMENT_MAX = 1024 * 1024;
/** Milliseconds. */
export const FETCH_WITHIN = 5_000;

/**
 * The metadata of an issuer, by RFC 8414 or OpenID Connect Discovery.
 * @throws MidspanError `unreachable`, `protocol`.
 */
export async function metadataOf(issuer: string, fetcher: typeof fetch): Promise<{ jwksUri: string }> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname === '/' ? '' : pathname.replace(/\/$/, '');
  const addresses = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const address of new Set(addresses)) {
    const response = await fetchBounded(address, { headers: { accept: 'application/json' } }, fetcher);
    if (response.status !== 200) continue;
    const document = (await response.json().catch(() => undefined)) as Record<string, unknown> | undefined;
    if (document?.['issuer'] !== issuer) throw broken(issuer, `${address} is the metadata of another issuer`);
    const uri = document['jwks_uri'];
    const url = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri) : undefined;
    if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isThisMachine(url)))
      throw broken(issuer, `the metadata at ${address} has no \`jwks_uri\` by https`);
    return { jwksUri: url.href };
  }
  throw broken(issuer, 'it publishes no metadata');
}

const broken = (issuer: string, what: string): MidspanError =>
  new MidspanError({
    code: 'protocol',
    what: `the issuer ${issuer}: ${what}`,
    next: 'Check `serve.auth.issuer`, or give its `jwksUri`',
  });

/** One document as it is, not through a redirect. @throws MidspanError `unreachable`, `protocol`. */
export async function fetchBounded(
  address: string,
  options: RequestInit,
  fetcher: typeof fetch,
): Promise<Response> {
  let response: Response;
  try {
    const signal = AbortSignal.timeout(FETCH_WITHIN);
    response = await fetcher(address, { ...options, redirect: 'manual', signal });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > DOCUMENT_MAX)
        throw new MidspanError({ code: 'protocol', what: `${address} is larger than ${DOCUMENT_MAX} bytes` });
      chunks.push(chunk);
    }
    return new Response(response.status === 204 || response.status === 304 ? null : Buffer.concat(chunks), {
      status: response.status,
      headers: response.headers,
    });
  } catch (error) {
    if (error instanceof MidspanError) throw error;
    const { cause } = error as { cause?: unknown };
    throw new MidspanError({
      code: 'unreachable',
      what: `${address} cannot be reached: ${messageOf(cause ?? error)}`,
      cause: error,
    });
  }
}
