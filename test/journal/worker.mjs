// A small MCP server whose tool takes as long as it is told: `work` notes that it runs, and answers once the gate is open.
import { appendFileSync, existsSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';

const { LOG, GATE } = process.env;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tools = [
  {
    name: 'work',
    description: 'Does a piece of work.',
    inputSchema: {
      type: 'object',
      properties: { piece: { type: 'string' }, waits: { type: 'boolean' }, password: { type: 'string' } },
      required: ['piece'],
    },
  },
];

function work(id, { piece, waits }) {
  appendFileSync(LOG, `${piece}\n`);
  const answer = () => send({ id, result: { content: [{ type: 'text', text: `did ${piece}` }] } });
  if (waits !== true) return answer();
  const look = setInterval(() => {
    if (!existsSync(GATE)) return;
    clearInterval(look);
    answer();
  }, 20);
  return undefined;
}

createInterface({ input: process.stdin })
  .on('close', () => process.exit())
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') {
      const { protocolVersion } = params;
      const serverInfo = { name: 'worker', version: '1' };
      send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
    } else if (method === 'tools/list') send({ id, result: { tools } });
    else if (method === 'tools/call') work(id, params.arguments);
    else if (id !== undefined) send({ id, error: { code: -32601, message: 'no such method' } });
  });
