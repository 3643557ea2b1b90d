// JSON-RPC by hand, as little as it takes: the floor that everything else is compared with.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import process from 'node:process';

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const clientInfo = { name: 'bench-raw', version: '1.0.0' };
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const INITIALIZE = { protocolVersion: LEGACY, capabilities: {}, clientInfo };

/** Calls over the pipes of a child process: `{ call(name, args), close() }`. */
export async function rawStdio(command, args, era) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const pending = new Map();
  let id = 0;
  let pieces = [];
  child.stdout.on('data', (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      let line = chunk.subarray(start, end);
      if (pieces.length > 0) line = Buffer.concat([...pieces, line]);
      pieces = [];
      start = end + 1;
      const message = JSON.parse(line.toString('utf8'));
      pending.get(message.id)(message);
      pending.delete(message.id);
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  });
  let lines = '';
  const write = (message) => {
    if (lines === '') {
      process.nextTick(() => {
        child.stdin.write(lines);
        lines = '';
      });
    }
    lines += `${JSON.stringify(message)}\n`;
  };
  const request = (method, params) =>
    new Promise((resolve) => {
      id += 1;
      pending.set(id, resolve);
      write({ jsonrpc: '2.0', id, method, params: era === 'modern' ? { ...params, _meta: META } : params });
    });
  if (era === 'legacy') {
    await request('initialize', INITIALIZE);
    write({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }
  return {
    call: async (name, args) => resultOf(await request('tools/call', { name, arguments: args })),
    close: () => child.stdin.end(),
  };
}

/** Calls over keep-alive sockets, one exchange at a time on each: `{ call(name, args), close() }`. */
export async function rawHttp(url, era) {
  const { host, port, pathname } = new URL(url);
  const idle = [];
  const all = new Set();
  let id = 0;
  const request = async (method, params) => {
    id += 1;
    const socket = idle.pop() ?? new RawSocket(Number(port), all);
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id,
      method,
      params: era === 'modern' ? { ...params, _meta: META } : params,
    });
    const mirrored = era === 'modern' ? `mcp-method: ${method}\r\nmcp-name: ${params.name}\r\n` : '';
    const answer = await socket.exchange(
      `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
        `accept: application/json, text/event-stream\r\nmcp-protocol-version: ${era === 'modern' ? MODERN : LEGACY}\r\n` +
        `${mirrored}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    idle.push(socket);
    return answer;
  };
  if (era === 'legacy') await request('initialize', INITIALIZE);
  return {
    call: async (name, args) => resultOf(await request('tools/call', { name, arguments: args })),
    close: () => all.forEach((socket) => socket.destroy()),
  };
}

function resultOf({ result, error }) {
  if (error !== undefined) throw new Error(error.message);
  return result;
}

class RawSocket {
  #socket;
  #resolve;
  #chunks = [];
  #bytes = 0;
  #last = '';
  /** Where the body ends, once the head was read; undefined while it is not known. */
  #end;
  #head;

  constructor(port, all) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk) => this.#data(chunk));
    all.add(this.#socket);
  }

  exchange(text) {
    this.#socket.write(text);
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  #data(chunk) {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#head === undefined) this.#readHead();
    // The end of a chunked body may itself come in pieces.
    this.#last = (this.#last + chunk.toString('latin1', Math.max(0, chunk.length - 5))).slice(-5);
    const done = this.#end === undefined ? this.#last === '0\r\n\r\n' : this.#bytes >= this.#end;
    if (this.#head === undefined || !done) return;
    const bytes = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const body = bytes.subarray(this.#head);
    const message = this.#end === undefined ? unwrapped(body) : body.toString('utf8');
    [this.#chunks, this.#bytes, this.#last, this.#head, this.#end] = [[], 0, '', undefined, undefined];
    this.#resolve(JSON.parse(message));
  }

  #readHead() {
    const first = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    const at = first.indexOf('\r\n\r\n');
    if (at === -1) return;
    this.#head = at + 4;
    const length = /\r\ncontent-length: *(\d+)/i.exec(first.toString('latin1', 0, at));
    if (length !== null) this.#end = this.#head + Number(length[1]);
  }
}

/** The data of the one event in a chunked body. */
function unwrapped(body) {
  const parts = [];
  for (let at = 0; ;) {
    const line = body.indexOf('\r\n', at);
    const size = parseInt(body.toString('latin1', at, line), 16);
    if (size === 0) break;
    parts.push(body.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
  const event = parts.length === 1 ? parts[0] : Buffer.concat(parts);
  return event.toString('utf8', event.indexOf('data: ') + 6, event.length - 2);
}
