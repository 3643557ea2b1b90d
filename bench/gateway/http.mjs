// A keep-alive HTTP/1.1 client on a bare socket, one request at a time: so cheap that it is not what is measured.
import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

export class Connection {
  #host;
  #port;
  #socket;
  #rest = Buffer.alloc(0);
  #answer;
  #settle;

  constructor(url) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
  }

  /** Sends one request; resolves with `{ status, head, chunks, bytes }` when its answer has ended. */
  async exchange(head, body) {
    this.#socket ??= await this.#open();
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      socket.cork();
      socket.write(head, 'latin1');
      for (const piece of body) socket.write(piece);
      socket.uncork();
    });
  }

  close() {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open() {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
      socket.once('connect', () => resolve(socket));
      socket.on('error', reject);
      socket.on('data', (chunk) => this.#read(chunk));
      socket.on('close', () => {
        if (this.#socket === socket) this.#socket = undefined;
        this.#fail(new Error('the connection was closed'));
      });
    });
  }

  #fail(error) {
    this.#settle?.reject(error);
    this.#settle = this.#answer = undefined;
  }

  #read(chunk) {
    let data = chunk;
    if (this.#rest.length > 0) {
      data = Buffer.concat([this.#rest, chunk]);
      this.#rest = Buffer.alloc(0);
    }
    while (data.length > 0) {
      const after = this.#answer === undefined ? this.#readHead(data) : this.#readBody(data);
      if (after === undefined) {
        this.#rest = data;
        return;
      }
      data = after;
    }
  }

  /** What follows the head; undefined while it is not whole. */
  #readHead(data) {
    const end = data.indexOf(HEAD_END);
    if (end === -1) return undefined;
    const head = data.latin1Slice(0, end + 2);
    const status = Number(head.slice(9, 12));
    const after = data.subarray(end + 4);
    if (status < 200) return after;
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
    this.#answer = {
      status,
      head,
      chunks: [],
      bytes: 0,
      left: isChunked ? 0 : Number(length ?? 0),
      isChunked,
    };
    if (!isChunked && this.#answer.left === 0) this.#done();
    return after;
  }

  #readBody(data) {
    const answer = this.#answer;
    if (answer.left === 0) return this.#readChunkSize(data, answer);
    const piece = data.length <= answer.left ? data : data.subarray(0, answer.left);
    answer.left -= piece.length;
    answer.chunks.push(piece);
    answer.bytes += piece.length;
    if (answer.left === 0 && !answer.isChunked) this.#done();
    return data.subarray(piece.length);
  }

  #readChunkSize(data, answer) {
    // The end of the chunk before it stands in front of every size but the first.
    const start = answer.bytes === 0 ? 0 : LINE_END.length;
    const end = data.indexOf(LINE_END, start);
    if (end === -1) return undefined;
    const size = Number.parseInt(data.latin1Slice(start, end), 16);
    if (size > 0) {
      answer.left = size;
      return data.subarray(end + LINE_END.length);
    }
    if (data.length < end + HEAD_END.length) return undefined;
    this.#done();
    return data.subarray(end + HEAD_END.length);
  }

  #done() {
    const { resolve } = this.#settle;
    const answer = this.#answer;
    this.#settle = this.#answer = undefined;
    resolve(answer);
  }
}

/** The JSON-RPC messages of an answer, parsed. */
export function messagesOf({ head, chunks }) {
  const text = Buffer.concat(chunks).toString('utf8');
  if (text === '') return [];
  if (!/\r\ncontent-type: *text\/event-stream/i.test(head)) return [JSON.parse(text)];
  return text
    .split(/\r?\n\r?\n/)
    .map((event) =>
      event
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(line[5] === ' ' ? 6 : 5))
        .join('\n'),
    )
    .filter((data) => data !== '')
    .map((data) => JSON.parse(data));
}
