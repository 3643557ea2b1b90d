/** What a server said of itself when its connection opened, bounded. */
import { INSTRUCTIONS_MAX, SERVER_INFO_MAX } from '../mcp/protocol-limits.ts';
import type { Peer } from './peer.ts';
import type { ServerInfo } from './server.ts';
import type { Opening } from '../mcp/codec.ts';
import type { JsonObject } from '../types.ts';

export function readInfo(
  { serverInfo, capabilities, instructions }: Opening,
  { codec, channel }: Peer,
  warning: (message: string) => void,
): ServerInfo {
  const bounded = (name: string, value: JsonObject): JsonObject => {
    if (JSON.stringify(value).length <= SERVER_INFO_MAX) return value;
    warning(`its ${name} were left out: they are longer than ${SERVER_INFO_MAX} characters`);
    return {};
  };
  if (instructions !== undefined && instructions.length > INSTRUCTIONS_MAX)
    warning(`its instructions were cut to ${INSTRUCTIONS_MAX} characters`);
  return {
    era: codec.era,
    protocolVersion: codec.version,
    serverInfo: bounded('name and version', serverInfo),
    capabilities: bounded('capabilities', capabilities),
    ...(instructions === undefined ? {} : { instructions: instructions.slice(0, INSTRUCTIONS_MAX) }),
    transport: channel.kind,
  };
}
