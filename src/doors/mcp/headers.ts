/** Headers of modern requests, which must say what the body says (MCP Streamable HTTP, server validation). */
import type { IncomingHttpHeaders } from 'node:http';
import { type MirroredArgument, readHeaderValue } from '../../mcp/headers.ts';
import { isObject } from '../../mcp/message.ts';
import { NAMED_BY } from '../../mcp/modern.ts';
import type { Json, JsonObject } from '../../types.ts';

export interface Mirroring {
  headers: IncomingHttpHeaders;
  version: string;
  method: string;
  params: JsonObject;
  /** Of the tool that is called; looked up only for calls. */
  mirrored: (tool: string) => readonly MirroredArgument[];
}

/** Which header does not say what the body says, in words; undefined: all do. */
export function headerFault({ headers, version, method, params, mirrored }: Mirroring): string | undefined {
  if (headers['mcp-protocol-version'] !== version) return fault('MCP-Protocol-Version');
  if (headers['mcp-method'] !== method) return fault('Mcp-Method');
  const member = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  if (member === undefined) return undefined;
  const name = params[member];
  // What is no name is refused for that.
  if (typeof name !== 'string') return undefined;
  if (!says(headers['mcp-name'], name)) return fault('Mcp-Name');
  if (method !== 'tools/call') return undefined;
  for (const { header, path } of mirrored(name)) {
    let value: Json | undefined = params['arguments'];
    for (const step of path) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    if (!says(headers[`mcp-param-${header.toLowerCase()}`], value)) return fault(`Mcp-Param-${header}`);
  }
  return undefined;
}

const fault = (header: string): string => `The header ${header} does not say what the body says`;

function says(header: string | string[] | undefined, value: Json | undefined): boolean {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value);
  // What a header cannot carry has none.
  if (typeof value !== 'string' && typeof value !== 'boolean' && !isNumber) return header === undefined;
  if (typeof header !== 'string') return false;
  const read = readHeaderValue(header);
  if (!isNumber) return read === String(value);
  // Integers are compared as numbers.
  return read !== undefined && /^-?\d+(\.0+)?$/.test(read) && Number(read) === value;
}
