// A proxy on the official SDK, version 2, as small as it can be: one client for the server, and the SDK's own handler, which
// makes a server for each request.
//   sdk-v2.mjs <url>   or   sdk-v2.mjs <command...>      prints its port
import { createServer } from 'node:http';
import process from 'node:process';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

const [, , command, ...args] = process.argv;
const info = { name: 'sdk-v2-proxy', version: '1.0.0' };
const client = new Client(info, { versionNegotiation: { mode: 'auto' } });
await client.connect(
  command.startsWith('http:')
    ? new StreamableHTTPClientTransport(new URL(command))
    : new StdioClientTransport({ command, args }),
);

const handler = createMcpHandler(() => {
  const server = new Server(info, { capabilities: { tools: {} } });
  for (const method of ['tools/list', 'tools/call']) {
    server.setRequestHandler(method, ({ params: { _meta, ...params } = {} }) =>
      client.request({ method, params }),
    );
  }
  return server;
});
const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().on('end', () => process.exit(0));
