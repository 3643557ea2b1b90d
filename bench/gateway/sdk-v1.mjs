// A proxy on the official SDK, version 1, as small as it can be: one client for the server, one server for each session.
//   sdk-v1.mjs <url>   or   sdk-v1.mjs <command...>      prints its port
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import process from 'node:process';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [, , command, ...args] = process.argv;
const info = { name: 'sdk-v1-proxy', version: '1.0.0' };
const client = new Client(info);
await client.connect(
  command.startsWith('http:')
    ? new StreamableHTTPClientTransport(new URL(command))
    : new StdioClientTransport({ command, args }),
);

async function newSession(sessions) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  const server = new Server(info, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => client.listTools(params));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => client.callTool(params));
  await server.connect(transport);
  return transport;
}

const sessions = new Map();
const server = createServer(async (request, response) => {
  const transport = sessions.get(request.headers['mcp-session-id']) ?? (await newSession(sessions));
  await transport.handleRequest(request, response);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().on('end', () => process.exit(0));
