/** URIs of resources beside those of other servers: each leads back to its server. */

const SCHEME = 'midspan://';

/** `midspan://<label>/<the server's own URI, byte for byte>`. URI templates stay templates. */
export const wrapUri = (label: string, uri: string): string => `${SCHEME}${encodeURIComponent(label)}/${uri}`;

/** What `wrapUri` made; undefined for any other URI. */
export function unwrapUri(wrapped: string): { label: string; uri: string } | undefined {
  if (!wrapped.startsWith(SCHEME)) return undefined;
  const end = wrapped.indexOf('/', SCHEME.length);
  if (end === -1) return undefined;
  try {
    return { label: decodeURIComponent(wrapped.slice(SCHEME.length, end)), uri: wrapped.slice(end + 1) };
  } catch {
    return undefined;
  }
}
