/** Anthropic's MCP connector, emulated: what it refuses, its listings and calls. */
import type { IncomingHttpHeaders } from 'node:http';
import { messageOf } from '../../src/errors.ts';
import type { Json, JsonObject } from '../../src/types.ts';
import { invalid, only } from './anthropic-request.ts';
import { callTool, type ConnectorServer, listTools, textOf } from './connector.ts';
import { type EmulatorTurn, isObject, show } from './server.ts';

const BETAS = ['mcp-client-2025-11-20', 'mcp-client-2026-09-15'];

/** Whether the request may use the connector at all; without the header its members are unknown. */
export function hasConnector(headers: IncomingHttpHeaders): boolean {
  const betas = show(headers['anthropic-beta'] ?? '').split(',');
  return betas.some((beta) => BETAS.includes(beta.trim()));
}

export const isToolset = (tool: Json): tool is JsonObject => isObject(tool) && tool.type === 'mcp_toolset';

export function checkConnector(
  { mcp_servers: servers, tools }: JsonObject,
  headers: IncomingHttpHeaders,
): void {
  const toolsets = (Array.isArray(tools) ? tools : []).filter(isToolset);
  if (servers === undefined && toolsets.length === 0) return;
  if (!hasConnector(headers)) invalid('mcp_servers: Extra inputs are not permitted');
  if (!Array.isArray(servers)) return invalid('mcp_servers: Input should be a valid list');
  const names = new Set<string>();
  for (const [index, server] of servers.entries()) {
    const path = `mcp_servers.${index}`;
    if (!isObject(server)) return invalid(`${path}: Input should be a valid dictionary`);
    only(server, path, ['type', 'url', 'name', 'authorization_token', 'tool_configuration']);
    if (server.type !== 'url') invalid(`${path}.type: Input should be 'url'`);
    const url = URL.canParse(show(server.url)) ? new URL(show(server.url)) : undefined;
    // The real API takes https alone; a test's servers are on the loopback.
    if (url?.protocol !== 'https:' && url?.hostname !== '127.0.0.1')
      invalid(`${path}.url: URL must start with https://`);
    const name = show(server.name);
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) invalid(`${path}.name: String should match pattern`);
    if (names.has(name)) invalid(`mcp_servers: Server names must be unique. Found: ${name}`);
    names.add(name);
  }
  for (const toolset of toolsets) {
    only(toolset, 'tools.mcp_toolset', [
      'type',
      'mcp_server_name',
      'default_config',
      'configs',
      'cache_control',
      'tools',
    ]);
    const name = show(toolset.mcp_server_name);
    if (!names.has(name)) invalid(`tools: mcp_toolset references the unknown MCP server '${name}'`);
    for (const config of [toolset.default_config ?? {}, ...Object.values(objectOf(toolset.configs))]) {
      if (!isObject(config)) return invalid('tools.mcp_toolset.configs: Input should be a valid dictionary');
      only(config, 'tools.mcp_toolset.configs', ['enabled', 'defer_loading']);
    }
  }
  for (const name of names) {
    const count = toolsets.filter((toolset) => toolset.mcp_server_name === name).length;
    if (count !== 1)
      invalid(
        `mcp_servers: MCP server '${name}' must be referenced by exactly one mcp_toolset, found ${count}`,
      );
  }
}

type Check = (block: JsonObject, path: string) => void;

/** The connector's blocks in an assistant message. */
export const CONNECTOR_BLOCKS: Record<string, Check> = {
  mcp_tool_use: (block, path) => {
    only(block, path, ['type', 'id', 'name', 'server_name', 'input', 'cache_control']);
    if (!show(block.id).startsWith('mcptoolu_'))
      invalid(`${path}.id: String should match pattern '^mcptoolu_'`);
    if (!isObject(block.input)) invalid(`${path}.input: Input should be a valid dictionary`);
  },
  mcp_tool_result: (block, path) =>
    only(block, path, ['type', 'tool_use_id', 'content', 'is_error', 'cache_control']),
  mcp_tool_listing: (block, path) => only(block, path, ['type', 'mcp_server_name', 'tools']),
};

/** What the connector puts into the answer: listings that the conversation has not yet, calls and their results. */
export async function connectorBlocks(
  turn: EmulatorTurn,
  body: JsonObject,
  index: number,
): Promise<{ listings: JsonObject[]; calls: JsonObject[] }> {
  const listings: JsonObject[] = [];
  const names = new Map<string, string[]>();
  const servers = objects(body.mcp_servers);
  for (const server of servers) {
    const name = show(server.name);
    const known = objects(body.messages)
      .flatMap(({ content }) => objects(content))
      .find((block) => block.type === 'mcp_tool_listing' && block.mcp_server_name === name);
    const listing = known ?? (await listingOf(server));
    if (known === undefined) listings.push(listing);
    const toolset = objects(body.tools).find((tool) => tool.mcp_server_name === name) ?? {};
    names.set(
      name,
      objects(listing.tools)
        .map((tool) => show(tool.name))
        .filter((tool) => isEnabled(toolset, tool)),
    );
  }
  const calls: JsonObject[] = [];
  for (const [position, call] of (turn.mcp ?? []).entries()) {
    const server = servers.find(({ name }) => name === call.server);
    if (server === undefined || names.get(call.server)?.includes(call.tool) !== true)
      throw new Error(`The script calls ${call.tool} of ${call.server}, which the request does not have`);
    const id = `mcptoolu_${index}_${position}`;
    const input = (call.arguments ?? {}) as JsonObject;
    calls.push({ type: 'mcp_tool_use', id, name: call.tool, server_name: call.server, input });
    const result = await callTool(serverOf(server), call.tool, input).catch((error: unknown) => ({
      content: [{ type: 'text', text: messageOf(error) }],
      isError: true,
    }));
    calls.push({
      type: 'mcp_tool_result',
      tool_use_id: id,
      is_error: result.isError,
      content: [{ type: 'text', text: textOf(result.content) }],
    });
  }
  return { listings, calls };
}

async function listingOf(server: JsonObject): Promise<JsonObject> {
  try {
    const tools = (await listTools(serverOf(server))).map(({ name, description, inputSchema }) => ({
      name,
      ...(description !== undefined && { description }),
      input_schema: inputSchema,
    }));
    return { type: 'mcp_tool_listing', mcp_server_name: server.name, tools };
  } catch (error) {
    return invalid(
      `Connection error while communicating with MCP server '${show(server.name)}': ${messageOf(error)}`,
    );
  }
}

function isEnabled(toolset: JsonObject, tool: string): boolean {
  const own = objectOf(objectOf(toolset.configs)[tool]).enabled;
  return (own ?? objectOf(toolset.default_config).enabled ?? true) === true;
}

function serverOf({ name, url, authorization_token: token }: JsonObject): ConnectorServer {
  return {
    name: show(name),
    url: show(url),
    headers: typeof token === 'string' ? { authorization: `Bearer ${token}` } : {},
  };
}

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

const objects = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
