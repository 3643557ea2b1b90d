// A stdio MCP server that does not leave: it ignores the end of its input, SIGTERM, SIGINT and SIGHUP.
import { createInterface } from 'node:readline';

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
setInterval(() => {}, 1000);
process.stdout.on('error', () => {});

const results = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'stubborn', version: '1' },
  },
  'tools/list': {
    tools: [
      { name: 'pid', inputSchema: { type: 'object' } },
      { name: 'hang', inputSchema: { type: 'object' } },
    ],
  },
  'tools/call': { content: [{ type: 'text', text: String(process.pid) }] },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || params?.name === 'hang') return;
  const result = results[method];
  const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
