/** What the emulated APIs do for their MCP connectors: they reach real servers, list their tools and call them. */
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../src/types.ts';

export interface ConnectorServer {
  name: string;
  url: string;
  headers: Record<string, string>;
}

/** A call that the emulated model makes through the connector. */
export interface McpCall {
  /** The server's name in the request. */
  server: string;
  tool: string;
  arguments?: JsonObject | string;
}

export interface ListedTool extends JsonObject {
  name: string;
  description?: string;
  inputSchema: JsonObject;
  annotations?: JsonObject;
}

export async function listTools(server: ConnectorServer): Promise<ListedTool[]> {
  return connected(server, async (client) => (await client.listTools()).tools as unknown as ListedTool[]);
}

export async function callTool(
  server: ConnectorServer,
  tool: string,
  args: JsonObject,
): Promise<{ content: JsonObject[]; isError: boolean }> {
  return connected(server, async (client) => {
    const { content, isError } = await client.callTool({ name: tool, arguments: args });
    return { content: content as unknown as JsonObject[], isError: isError === true };
  });
}

async function connected<T>(
  { url, headers }: ConnectorServer,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ name: 'emulated-connector', version: '1.0.0' });
  const requestInit = { headers };
  const address = new URL(url);
  const transport = address.pathname.endsWith('/sse')
    ? new SSEClientTransport(address, { requestInit })
    : new StreamableHTTPClientTransport(address, { requestInit });
  await client.connect(transport);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** All that a connector without types leaves of a result. */
export function textOf(content: readonly JsonObject[]): string {
  return content
    .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
    .join('\n\n');
}
