// The official MCP client, for the libraries that take one.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { packageVersion } from './version.mjs';

export const sdkVersion = packageVersion('@modelcontextprotocol/sdk');

export async function withClients(servers, use) {
  const clients = [];
  try {
    for (const { url } of servers) {
      const client = new Client({ name: 'fidelity', version: '1.0.0' });
      clients.push(client);
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    }
    return await use(clients);
  } finally {
    await Promise.allSettled(clients.map((client) => client.close()));
  }
}

/** Every page of a server's tools. */
export async function listTools(client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}
