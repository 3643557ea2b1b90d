/** Anthropic's connector: `mcp_servers` with one `mcp_toolset` each, and the blocks of its calls. */
import type { JsonObject, ToolResult } from '../types.ts';
import { readArguments } from './calls.ts';
import { type Connector, type RemoteServer, type ServedCall, splitBearer, withResults } from './connector.ts';
import { asObjects, asText } from './json.ts';

/** The version whose answers hold the list of tools, so that it stays the same for the whole conversation. */
export const CONNECTOR_BETA = 'mcp-client-2026-09-15';

export const anthropicConnector: Connector = {
  provider: 'Anthropic',
  sse: true,
  plainHttp: false,
  headers: 'bearer',
  approvals: false,
  deny: true,
  results: 'only the text of results',
  nameOf: (label) => label.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 60) || 'mcp',
};

export function mcpServers(servers: readonly RemoteServer[]): JsonObject[] {
  return servers.map(({ name, url, headers }) => {
    const { token } = splitBearer(headers);
    return { type: 'url', url, name, ...(token === undefined ? {} : { authorization_token: token }) };
  });
}

export function toolsets(servers: readonly RemoteServer[]): JsonObject[] {
  return servers.map(({ name, allowed, denied = [] }) => {
    const named = (allowed ?? denied).map((tool) => [tool, { enabled: allowed !== undefined }]);
    return {
      type: 'mcp_toolset',
      mcp_server_name: name,
      ...(allowed === undefined ? {} : { default_config: { enabled: false } }),
      ...(named.length === 0 ? {} : { configs: Object.fromEntries(named) as JsonObject }),
    };
  });
}

/** The calls among the blocks of a turn, with their results. */
export function servedCalls(blocks: readonly JsonObject[]): ServedCall[] {
  const calls = blocks.flatMap((block) => {
    if (block['type'] !== 'mcp_tool_use') return [];
    return [
      {
        id: asText(block['id']),
        server: asText(block['server_name']),
        tool: asText(block['name']),
        arguments: readArguments(block['input']).arguments,
      },
    ];
  });
  const results = blocks.flatMap((block) =>
    block['type'] === 'mcp_tool_result'
      ? [{ id: asText(block['tool_use_id']), result: resultOf(block) }]
      : [],
  );
  return withResults(calls, results);
}

function resultOf(block: JsonObject): ToolResult {
  const { content } = block;
  const texts = typeof content === 'string' ? [content] : asObjects(content).map(({ text }) => asText(text));
  return {
    content: texts.filter((text) => text !== '').map((text) => ({ type: 'text', text })),
    ...(block['is_error'] === true && { isError: true }),
  };
}
