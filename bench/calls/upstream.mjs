// A fast MCP server without any library, for both eras: `upstream.mjs stdio`, or `upstream.mjs http`, which prints its port
// and answers with JSON on /json and with an event stream on /sse. Tools: `echo` gives its text back, `large` a message of 9 MB.
import { createServer } from 'node:http';
import process from 'node:process';
import { LARGE } from './large-results.mjs';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const INFO = '{"name":"bench-upstream","version":"1.0.0"}';
const CAPABILITIES = '{"tools":{}}';
const TOOLS = JSON.stringify([
  {
    name: 'echo',
    description: 'Gives the text back.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  {
    name: 'large',
    description: 'A result of nine megabytes.',
    inputSchema: { type: 'object', properties: { kind: { enum: Object.keys(LARGE) } }, required: ['kind'] },
  },
]);

/** The answer to one message as pieces of bytes or text; undefined for a notification. */
function answer(text) {
  const { id, method, params } = JSON.parse(text);
  if (id === undefined) return undefined;
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  const modern = params?._meta?.[VERSION] !== undefined;
  const complete = modern ? '"resultType":"complete",' : '';
  const cache = modern ? ',"ttlMs":3600000,"cacheScope":"public"' : '';
  switch (method) {
    case 'initialize':
      return [
        `${head}"result":{"protocolVersion":"${params.protocolVersion}","capabilities":${CAPABILITIES},"serverInfo":${INFO}}}`,
      ];
    case 'server/discover':
      return [
        `${head}"result":{${complete}"supportedVersions":["2026-07-28"],"capabilities":${CAPABILITIES}${cache},"_meta":{"io.modelcontextprotocol/serverInfo":${INFO}}}}`,
      ];
    case 'tools/list':
      return [`${head}"result":{${complete}"tools":${TOOLS}${cache}}}`];
    case 'tools/call':
      if (params.name === 'large')
        return [`${head}"result":{${complete}`, LARGE[params.arguments.kind], '}}'];
      return [
        `${head}"result":{${complete}"content":[{"type":"text","text":${JSON.stringify(params.arguments.text)}}]}}`,
      ];
    case 'ping':
      return [`${head}"result":{${complete}}}`];
    default:
      return [`${head}"error":{"code":-32601,"message":"Method not found"}}`];
  }
}

function serveStdio() {
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    let text = '';
    for (const line of lines) {
      const pieces = answer(line);
      if (pieces === undefined) continue;
      if (pieces.length === 1) text += `${pieces[0]}\n`;
      else
        process.stdout.write(
          Buffer.concat([...pieces.map((piece) => Buffer.from(piece)), Buffer.from('\n')]),
        );
    }
    if (text !== '') process.stdout.write(text);
  });
  process.stdin.on('end', () => process.exit(0));
}

function serveHttp() {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      if (request.method !== 'POST') return send(response, 405);
      const pieces = answer(text);
      if (pieces === undefined) return send(response, 202);
      const body = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
      return request.url === '/sse' ? stream(response, body) : send(response, 200, body);
    });
  });
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
  process.stdin.resume().on('end', () => process.exit(0));
}

function send(response, status, body = '') {
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, ['content-type', 'application/json', 'content-length', length]);
  response.end(body);
}

function stream(response, body) {
  response.writeHead(200, ['content-type', 'text/event-stream', 'cache-control', 'no-cache']);
  if (typeof body === 'string') {
    response.end(`event: message\ndata: ${body}\n\n`);
    return;
  }
  response.write('event: message\ndata: ');
  response.write(body);
  response.end('\n\n');
}

if (process.argv[2] === 'http') serveHttp();
else serveStdio();
