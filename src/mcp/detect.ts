/**
 * Which era does a server speak? A pure function from what was seen to what to do next, after the era table of the
 * 2026-07-28 revision (versioning, stdio and Streamable HTTP: backward compatibility).
 */
import { HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION, isObject } from './message.ts';
import { commonVersion, latestVersion } from './versions.ts';
import type { Json } from '../types.ts';

/** What came of one opening request. `error` is a well-formed JSON-RPC error, `status` an HTTP status without one. */
export type Observation =
  | { saw: 'result'; versions: string[] | undefined }
  | { saw: 'error'; code: number; data: Json | undefined }
  | { saw: 'status'; status: number }
  /** stdio: nothing within the probe's time. */
  | { saw: 'silence' }
  /** stdio: the process ended. */
  | { saw: 'exit' }
  /** HTTP: refused, reset, DNS, TLS, no answer in time. */
  | { saw: 'outage' };

export type Decision =
  /** Go on with this revision; `again` when the server must be asked once more in it. */
  | { to: 'modern'; version: string; again: boolean }
  /** Send `initialize`, on the same connection. */
  | { to: 'initialize'; version: string }
  /** Start the process anew and send `initialize` first. */
  | { to: 'respawn' }
  /** HTTP: GET and expect an `endpoint` event (HTTP+SSE). */
  | { to: 'sse' }
  | { to: 'sign-in' }
  /** Says nothing about the era. */
  | { to: 'outage' }
  /** No revision in common, or an answer that no server may give. `offered`: the revisions that the server named. */
  | { to: 'refuse'; offered: string[] | undefined };

/** After `server/discover`. */
export function afterDiscover(seen: Observation, asked: string): Decision {
  const legacy: Decision = { to: 'initialize', version: latestVersion('legacy') };
  switch (seen.saw) {
    case 'result':
      return seen.versions === undefined ? legacy : choose(seen.versions, asked);
    case 'error':
      if (seen.code === UNSUPPORTED_VERSION) {
        const supported = supportedIn(seen.data);
        // Without a list the error has not the form that makes it a sign of this era.
        return supported === undefined ? legacy : choose(supported, undefined);
      }
      if (seen.code === HEADER_MISMATCH || seen.code === MISSING_CAPABILITY)
        return { to: 'modern', version: asked, again: true };
      return legacy;
    case 'status':
      return afterStatus(seen.status) ?? legacy;
    case 'silence':
      return legacy;
    case 'exit':
      return { to: 'respawn' };
    default:
      return { to: 'outage' };
  }
}

/** After `initialize` in the revision `asked`. A result is checked by the codec; here is everything else. */
export function afterInitialize(seen: Exclude<Observation, { saw: 'result' }>, asked: string): Decision {
  switch (seen.saw) {
    case 'error': {
      const supported = supportedIn(seen.data);
      if (seen.code === UNSUPPORTED_VERSION) {
        const version =
          supported === undefined ? latestVersion('modern') : commonVersion(supported, 'modern');
        if (version !== undefined) return { to: 'modern', version, again: true };
      }
      const older = commonVersion(supported, 'legacy');
      if (older !== undefined && older !== asked) return { to: 'initialize', version: older };
      return { to: 'refuse', offered: supported };
    }
    case 'status': {
      if (seen.status === 400 || seen.status === 404 || seen.status === 405) return { to: 'sse' };
      return afterStatus(seen.status) ?? { to: 'refuse', offered: undefined };
    }
    default:
      return { to: 'outage' };
  }
}

/** Statuses that say nothing about the era. */
function afterStatus(status: number): Decision | undefined {
  if (status === 401 || status === 403 || status === 407) return { to: 'sign-in' };
  if (status >= 500 || status < 400 || status === 408 || status === 425 || status === 429)
    return { to: 'outage' };
  return undefined;
}

function choose(offered: string[], asked: string | undefined): Decision {
  const modern = commonVersion(offered, 'modern');
  if (modern !== undefined) return { to: 'modern', version: modern, again: modern !== asked };
  const legacy = commonVersion(offered, 'legacy');
  return legacy === undefined ? { to: 'refuse', offered } : { to: 'initialize', version: legacy };
}

function supportedIn(data: Json | undefined): string[] | undefined {
  if (!isObject(data) || !Array.isArray(data.supported)) return undefined;
  return data.supported.filter((each) => typeof each === 'string');
}
