// What one more hop costs in Node at least, as a program that does nothing else: `floor.mjs http <url>` hands HTTP requests on
// without looking at them, `floor.mjs stdio <command...>` writes bodies to a process under ids of its own. Prints its port.
import { spawn } from 'node:child_process';
import { Agent, createServer, request } from 'node:http';
import process from 'node:process';

const [, , kind, ...target] = process.argv;

function passThrough([url]) {
  const { hostname, port, pathname } = new URL(url);
  const agent = new Agent({ keepAlive: true });
  return createServer((incoming, response) => {
    const { method, headers } = incoming;
    const onward = request({ hostname, port, path: pathname, method, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  });
}

function bridge([command, ...args]) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  let last = 0;
  let pieces = [];
  child.stdout.on('data', (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pieces.push(chunk.subarray(start, end));
      const message = JSON.parse(Buffer.concat(pieces).toString('utf8'));
      pieces = [];
      start = end + 1;
      const { id, response } = waiting.get(message.id);
      waiting.delete(message.id);
      message.id = id;
      send(response, 200, JSON.stringify(message));
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  });
  return createServer((incoming, response) => {
    const chunks = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', () => {
      const message = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      if (message.id === undefined) send(response, 202, '');
      else {
        waiting.set((last += 1), { id: message.id, response });
        message.id = last;
      }
      child.stdin.write(`${JSON.stringify(message)}\n`);
    });
  });
}

function send(response, status, text) {
  const body = Buffer.from(text);
  response.writeHead(status, ['content-type', 'application/json', 'content-length', String(body.length)]);
  response.end(body);
}

const server = kind === 'http' ? passThrough(target) : bridge(target);
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().on('end', () => process.exit(0));
