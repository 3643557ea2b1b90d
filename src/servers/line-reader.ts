import { LINE_BYTES } from '../mcp/limits.ts';

const LINE_FEED = 10;

export class LineTooLongError extends Error {}

/**
 * Splits a byte stream into lines in linear time: each chunk is scanned once, and a line that spans chunks is put
 * together once, when its end arrives.
 */
export class LineReader {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #pending = 0;

  constructor(limit = LINE_BYTES) {
    this.#limit = limit;
  }

  /**
   * Calls `onLine` for each line that ends in this chunk, without its line feed.
   * @throws LineTooLongError when a line, finished or not, is longer than the limit
   */
  push(chunk: Buffer, onLine: (line: Buffer) => void): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      const line = this.#take(chunk.subarray(start, end));
      start = end + 1;
      onLine(line);
    }
    if (start === chunk.length) return;
    const rest = start === 0 ? chunk : chunk.subarray(start);
    this.#grow(rest.length);
    this.#pieces.push(rest);
  }

  /** The unfinished line at the end of the stream, which may be empty. */
  rest(): Buffer {
    return this.#take(Buffer.alloc(0));
  }

  #take(last: Buffer): Buffer {
    this.#grow(last.length);
    let line = last;
    if (this.#pieces.length > 0) {
      this.#pieces.push(last);
      line = Buffer.concat(this.#pieces, this.#pending);
      this.#pieces = [];
    }
    this.#pending = 0;
    return line;
  }

  #grow(bytes: number): void {
    this.#pending += bytes;
    if (this.#pending > this.#limit) throw new LineTooLongError(`a line of more than ${this.#limit} bytes`);
  }
}
