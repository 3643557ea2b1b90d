// A small MCP server over stdio, plain JSON-RPC: answers, fails, is slow, and says hostile things.
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';

const HOSTILE = '\u001B]0;owned\u0007\u001B[2J\rfake line\u202Etxt\u200B';
let telling;
const tools = [
  {
    name: 'echo',
    description: 'Says it again.',
    inputSchema: {
      type: 'object',
      properties: {
        text: { type: 'string' },
        times: { type: 'integer' },
        list: { type: 'array', items: { type: 'number' } },
      },
      required: ['text'],
    },
  },
  { name: 'fail', description: 'Answers with an error.', inputSchema: { type: 'object' } },
  { name: 'refuse', description: 'Is refused by the server.', inputSchema: { type: 'object' } },
  { name: 'slow', description: 'Never ends by itself.', inputSchema: { type: 'object' } },
  { name: 'hostile', description: `Bad ${HOSTILE}`, inputSchema: { type: 'object' } },
  { name: 'long', description: 'Says very much.', inputSchema: { type: 'object' } },
];
const log = (line) => process.env.LOG && appendFileSync(process.env.LOG, `${line}\n`);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (...lines) => ({ content: lines.map((line) => ({ type: 'text', text: line })) });

function call(id, { name, arguments: args = {}, _meta }) {
  log(`call ${name}`);
  switch (name) {
    case 'echo':
      return { ...text(JSON.stringify(args)), structuredContent: args };
    case 'fail':
      return { ...text('it went wrong'), isError: true };
    case 'hostile':
      return text(`first\n${HOSTILE}`);
    case 'long':
      return text('a line of the result\n'.repeat(10_000));
    case 'slow': {
      const progressToken = _meta?.progressToken;
      const tell = (progress) =>
        send({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 3, message: 'half way\u001B[2J' },
        });
      // Again and again: who writes to a pipe hears only at the next write that its reader has left.
      if (progressToken !== undefined) {
        let progress = 0;
        telling = setInterval(() => tell((progress += 0.001)), 100);
        tell((progress += 1));
      }
      return undefined;
    }
    default:
      send({ id, error: { code: -32602, message: 'the server will not' } });
      return undefined;
  }
}

log(`start ${process.pid}`);
createInterface({ input: process.stdin })
  .on('close', () => clearInterval(telling))
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'notifications/cancelled') {
      clearInterval(telling);
      log('cancelled');
    }
    if (method === 'initialize') {
      send({
        id,
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'test', version: '1' },
        },
      });
    } else if (method === 'tools/list') send({ id, result: { tools } });
    else if (method === 'tools/call') {
      const result = call(id, params);
      if (result !== undefined) send({ id, result });
    } else if (id !== undefined)
      send({
        id,
        ...(method === 'ping' ? { result: {} } : { error: { code: -32601, message: 'no such method' } }),
      });
  });
