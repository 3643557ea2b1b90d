/** What a server said of itself when its connection opened, bounded. */
import { openingAmbiguities } from '../mcp/ambiguity.ts';
import { INSTRUCTIONS_MAX, SERVER_INFO_MAX } from '../mcp/protocol-limits.ts';
import { broken } from './failure.ts';
import type { Peer } from './peer.ts';
import type { ServerInfo } from './server.ts';
import type { Answer, Codec, Opening } from '../mcp/codec.ts';
import type { JsonObject } from '../types.ts';

/**
 * The opening in an answer, without the parts that can be read in two ways; undefined when there is none in it.
 * @param codec that asked: it may not be the connection's any more
 * @param frame the text that the answer came in
 * @throws MidspanError `protocol` when the whole of it can be read in two ways
 */
export function readOpening(
  label: string,
  codec: Codec,
  answer: Answer,
  frame: string,
  warning: (message: string) => void,
): Opening | undefined {
  if (answer.kind !== 'complete') return undefined;
  const { whole, parts } = openingAmbiguities(frame);
  if (whole !== undefined) {
    const what = `its answer to ${codec.opening.method} can be read in two ways: it has ${whole}`;
    // A probe goes on with the other era, and nobody would hear of it.
    warning(what);
    throw broken(label, what);
  }
  const result = { ...answer.result };
  for (const [part, problem] of parts) {
    warning(`left out its ${part}, which can be read in two ways: ${problem}`);
    delete result[part];
  }
  return codec.readOpening(result);
}

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
