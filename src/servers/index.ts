/** One MCP server each: reach it, find its era, keep it alive, speak to it. */
import { EXCHANGE_MS } from '../mcp/limits.ts';
import { httpChannel } from './http.ts';
import { LiveServer } from './open.ts';
import { sseChannel } from './sse.ts';
import { stdioChannel } from './stdio.ts';
import type { Channel } from './channel.ts';
import type { Server, ServerDeps } from './server.ts';
import type { ServerSpec } from '../types.ts';

export type * from './server.ts';

/** A server, starting in the background. Its state, its events and `ready()` say how that goes; nothing here throws. */
export function openServer(spec: ServerSpec, deps: ServerDeps): Server {
  return new LiveServer(spec, deps, channelOf);
}

function channelOf({ label, transport, timeouts }: ServerSpec, sse: boolean): Channel {
  if (transport.type === 'stdio') return stdioChannel({ label, transport });
  const { url, headers } = transport;
  const options = { label, url, headers, exchangeTimeout: Math.max(EXCHANGE_MS, timeouts?.callMax ?? 0) };
  return sse ? sseChannel(options) : httpChannel(options);
}
