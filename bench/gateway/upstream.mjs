// A fast MCP server without any library, for both eras: `upstream.mjs stdio` or `upstream.mjs http`, which prints its port.
// `--tools <n>` tools, of which `echo` gives its text back.
import { createServer } from 'node:http';
import process from 'node:process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { tools: { type: 'string', default: '10' } },
  allowPositionals: true,
});
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const INFO = '{"name":"bench-upstream","version":"1.0.0"}';
const CAPABILITIES = '{"tools":{}}';

/** Nearly a kilobyte each, as definitions of tools usually are. */
const TOOLS = JSON.stringify(
  Array.from({ length: Number(values.tools) }, (_, index) => ({
    name: index === 0 ? 'echo' : `search_records_${index}`,
    description: `Gives the text back. ${'Use it where records of one kind are looked for, and no other fits. '.repeat(5)}`,
    inputSchema: {
      type: 'object',
      properties: {
        text: { type: 'string', description: 'What to look for, in the words of the person who asks.' },
        ...Object.fromEntries(
          ['kind', 'since', 'author'].map((name) => [
            name,
            { type: 'string', description: `Only records whose ${name} is this one.` },
          ]),
        ),
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many are wanted at most.' },
      },
      required: ['text'],
    },
  })),
);

/** The answer to one message; undefined for a notification. */
function answer(text) {
  const { id, method, params } = JSON.parse(text);
  if (id === undefined) return undefined;
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  const isModern = params?._meta?.[VERSION] !== undefined;
  const complete = isModern ? '"resultType":"complete",' : '';
  const cache = isModern ? ',"ttlMs":3600000,"cacheScope":"public"' : '';
  switch (method) {
    case 'initialize':
      return `${head}"result":{"protocolVersion":"${params.protocolVersion}","capabilities":${CAPABILITIES},"serverInfo":${INFO}}}`;
    case 'server/discover':
      return `${head}"result":{${complete}"supportedVersions":["2026-07-28"],"capabilities":${CAPABILITIES}${cache},"_meta":{"io.modelcontextprotocol/serverInfo":${INFO}}}}`;
    case 'tools/list':
      return `${head}"result":{${complete}"tools":${TOOLS}${cache}}}`;
    case 'tools/call':
      return `${head}"result":{${complete}"content":[{"type":"text","text":${JSON.stringify(params.arguments.text)}}]}}`;
    case 'ping':
      return `${head}"result":{${complete.slice(0, -1)}}}`;
    default:
      return `${head}"error":{"code":-32601,"message":"Method not found"}}`;
  }
}

function serveStdio() {
  let pieces = [];
  process.stdin.on('data', (chunk) => {
    let out = '';
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...pieces, chunk.subarray(start, end)]).toString('utf8');
      pieces = [];
      start = end + 1;
      const said = answer(line);
      if (said !== undefined) out += `${said}\n`;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
    if (out !== '') process.stdout.write(out);
  });
  process.stdin.on('end', () => process.exit(0));
}

function serveHttp() {
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const said = request.method === 'POST' ? answer(Buffer.concat(chunks).toString('utf8')) : undefined;
      const body = Buffer.from(said ?? '');
      const status = request.method !== 'POST' ? 405 : said === undefined ? 202 : 200;
      response.writeHead(status, ['content-type', 'application/json', 'content-length', String(body.length)]);
      response.end(body);
    });
  });
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
  // Whoever started it is gone.
  process.stdin.resume().on('end', () => process.exit(0));
}

if (positionals[0] === 'http') serveHttp();
else serveStdio();
