/**
 * Which names the gateway answers to, and which web pages may speak to it. A page of a stranger that had its name resolved to
 * this machine (DNS rebinding) comes with that name in Host, or in Origin.
 */
import { HOST } from '../../config/serve.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
/** Not a name: all addresses of the machine. */
const ANY_ADDRESS = new Set(['0.0.0.0', '[::]']);

export interface Hosts {
  /** Whether a Host header names us. */
  names(host: string | undefined): boolean;
  /** Whether a page may speak to us: one of ours, or one that is configured. */
  admits(origin: string, host: string): boolean;
  /** Whether a page is configured, so that its browser has to be told. */
  isConfigured(origin: string): boolean;
}

export interface HostsOptions {
  /** Where we listen. */
  bound: string;
  /** Names with or without a port. */
  hosts?: readonly string[];
  origins?: readonly string[];
}

/** An address as addresses and Host headers have it: IPv6 in brackets. */
export const bracketed = (host: string): string =>
  host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;

export function hostsOf({ bound, hosts = [], origins = [] }: HostsOptions): Hosts {
  const own = bracketed(bound).toLowerCase();
  const known = new Set([...LOOPBACK, ...(ANY_ADDRESS.has(own) ? [] : [own]), ...hosts]);
  const pages = new Set(origins);
  return {
    names(host) {
      const found = host === undefined ? null : HOST.exec(host.toLowerCase());
      return found !== null && (known.has(found[1] as string) || known.has(found[0]));
    },
    admits: (origin, host) => pages.has(origin) || isSame(origin, host),
    isConfigured: (origin) => pages.has(origin),
  };
}

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Whether a page was loaded from the very address that it speaks to. */
function isSame(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  const port = PORTS[page.protocol];
  const found = HOST.exec(host.toLowerCase());
  if (port === undefined || found === null || page.origin !== origin) return false;
  return page.hostname === found[1] && (page.port || port) === (found[2] ?? port);
}
