// An MCP server over stdio that lists the tools of its argument, as JSON.
import process from 'node:process';
import { createInterface } from 'node:readline';

const [name, tools] = process.argv.slice(2);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const results = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name, version: '1.0.0' },
    },
    'tools/list': { tools: JSON.parse(tools) },
    ping: {},
  };
  const result = results[method];
  const answer = result === undefined ? { error: { code: -32601, message: 'no such method' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
