/** Which proxies the environment names for an address: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in lower case or capitals. */
export interface Proxies {
  httpProxy: string;
  httpsProxy: string;
  noProxy: string;
}

/** Undefined where none is named for this scheme. This machine is reached without. */
export function proxiesFor(
  url: URL,
  environment: Readonly<Record<string, string | undefined>>,
): Proxies | undefined {
  const variable = (name: string): string => environment[name] ?? environment[name.toUpperCase()] ?? '';
  const httpProxy = variable('http_proxy');
  const httpsProxy = variable('https_proxy');
  if ((url.protocol === 'https:' ? httpsProxy : httpProxy) === '' || isThisMachine(url)) return undefined;
  return { httpProxy, httpsProxy, noProxy: variable('no_proxy') };
}

/** By its name: loopback addresses and `localhost`. */
export function isThisMachine({ hostname }: URL): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
