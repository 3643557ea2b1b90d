// An MCP client that costs next to nothing, in either era, and the load that many of them make.
import { Connection, messagesOf } from './http.mjs';

export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';
const clientInfo = { name: 'bench', version: '1.0.0' };
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};
/** So wide that the number of digits, and with it the length of an answer, stays the same. */
let lastId = 1_000_000;

/** A request that is made again and again; only its id changes. `check` throws when a result is wrong. */
export function request(method, params, era, check = () => undefined) {
  const full = era === 'modern' ? { ...params, _meta: META } : params;
  return {
    method,
    name: params.name,
    check,
    rest: Buffer.from(`,"method":"${method}","params":${JSON.stringify(full)}}`),
  };
}

export function echo(bytes, tool, era) {
  const line = 'The quick brown fox "jumps" over the lazy dog.\nPack my box with five dozen liquor jugs. ';
  const text = line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
  return request('tools/call', { name: tool, arguments: { text } }, era, (result) => {
    if (result?.content?.[0]?.text !== text)
      throw new Error(`wrong answer: ${JSON.stringify(result).slice(0, 300)}`);
  });
}

export const list = (era, tools) =>
  request('tools/list', {}, era, (result) => {
    if (result?.tools?.length !== tools)
      throw new Error(`${result?.tools?.length} tools instead of ${tools}`);
  });

export class Client {
  #connection;
  #path;
  #host;
  #era;
  #session = '';
  #heads = new Map();
  /** The length of a right answer, by request. */
  #lengths = new Map();

  constructor(url, era) {
    const { pathname, host } = new URL(url);
    this.#connection = new Connection(url);
    this.#path = pathname;
    this.#host = host;
    this.#era = era;
  }

  async open() {
    if (this.#era === 'modern') return;
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo };
    const answer = await this.#send(request('initialize', params, 'legacy'));
    const id = /\r\nmcp-session-id: *([^\r]+)/i.exec(answer.head)?.[1];
    if (resultOf(answer)?.protocolVersion !== LEGACY) throw new Error('it did not initialize');
    this.#session = `MCP-Protocol-Version: ${LEGACY}\r\n${id === undefined ? '' : `Mcp-Session-Id: ${id}\r\n`}`;
    this.#heads.clear();
    const body = Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    await this.#connection.exchange(this.#head({ method: 'notifications/initialized' }, body.length), [body]);
  }

  /** Makes one request. A first answer is looked at in full, later ones when they differ in length. */
  async call(made) {
    const answer = await this.#send(made);
    if (answer.status === 200 && this.#lengths.get(made) === answer.bytes) return;
    made.check(resultOf(answer));
    this.#lengths.set(made, answer.bytes);
  }

  async result(made) {
    return resultOf(await this.#send(made));
  }

  close() {
    this.#connection.close();
  }

  #send(made) {
    const start = Buffer.from(`{"jsonrpc":"2.0","id":${(lastId += 1)}`);
    const head = this.#head(made, start.length + made.rest.length);
    return this.#connection.exchange(head, [start, made.rest]);
  }

  #head({ method, name }, length) {
    const key = `${method} ${name} ${length}`;
    let head = this.#heads.get(key);
    if (head === undefined) {
      const modern = `MCP-Protocol-Version: ${MODERN}\r\nMcp-Method: ${method}\r\n${name === undefined ? '' : `Mcp-Name: ${name}\r\n`}`;
      head =
        `POST ${this.#path} HTTP/1.1\r\nHost: ${this.#host}\r\nContent-Type: application/json\r\n` +
        `Accept: application/json, text/event-stream\r\n${this.#era === 'modern' ? modern : this.#session}Content-Length: ${length}\r\n\r\n`;
      this.#heads.set(key, head);
    }
    return head;
  }
}

function resultOf(answer) {
  const messages = messagesOf(answer);
  const { result, error } = messages.at(-1) ?? {};
  if (answer.status !== 200 || error !== undefined)
    throw new Error(`status ${answer.status}: ${JSON.stringify(error ?? messages).slice(0, 300)}`);
  return result;
}

/** Opens so many clients; each has a connection and, in the legacy era, a session of its own. */
export async function openClients(url, era, count) {
  const clients = Array.from({ length: count }, () => new Client(url, era));
  await Promise.all(clients.map((client) => client.open()));
  return clients;
}

/** All of the clients make this request again and again, for so long and at least so many times. Latencies in milliseconds. */
export async function load(clients, made, milliseconds, least = 0) {
  const latencies = [];
  const started = performance.now();
  const end = started + milliseconds;
  await Promise.all(
    clients.map(async (client) => {
      for (let now = performance.now(); now < end || latencies.length < least;) {
        await client.call(made);
        const then = performance.now();
        latencies.push(then - now);
        now = then;
      }
    }),
  );
  const took = performance.now() - started;
  const sorted = Float64Array.from(latencies).sort();
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  return { calls: sorted.length, perSecond: (sorted.length / took) * 1000, p50: at(0.5), p99: at(0.99) };
}
