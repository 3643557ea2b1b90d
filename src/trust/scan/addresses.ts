/** Hosts that no server has business to name: this machine, its network, and what a cloud tells its machines. */

/** For a `hostname` of a parsed URL: names are lower case there, and IPv4 is in its one form. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isLoopback(host)) return true;
  if (/\.(?:internal|local|localdomain|home\.arpa)$/.test(host)) return true;
  const embedded = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host);
  if (embedded !== null) return isPrivateV4(dotted(embedded[1]!, embedded[2]!));
  if (host.includes(':')) return /^(?:::$|f[cd]|fe[89ab])/.test(host);
  return isPrivateV4(host);
}

export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}

export function isAddressLiteral(hostname: string): boolean {
  return hostname.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);
}

function isPrivateV4(host: string): boolean {
  const parts = /^(\d+)\.(\d+)\.\d+\.\d+$/.exec(host);
  if (parts === null) return false;
  const [first, second] = [Number(parts[1]), Number(parts[2])];
  if (first === 0 || first === 10 || first === 127) return true;
  if (first === 100) return second >= 64 && second < 128;
  if (first === 172) return second >= 16 && second < 32;
  return (first === 192 && second === 168) || (first === 169 && second === 254);
}

function dotted(high: string, low: string): string {
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}
