import { LINE_BYTES } from '../mcp/limits.ts';
import { Pieces } from './pieces.ts';

const LINE_FEED = 10;

export class LineTooLongError extends Error {}

/**
 * Splits a byte stream into lines in linear time: each chunk is scanned once, and a line that spans chunks is put
 * together once, when its end arrives.
 */
export class LineReader {
  readonly #limit: number;
  readonly #pieces = new Pieces();

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
    if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start));
  }

  #take(last: Buffer): Buffer {
    if (this.#pieces.length === 0 && last.length <= this.#limit) return last;
    this.#keep(last);
    return this.#pieces.take();
  }

  #keep(piece: Buffer): void {
    if (this.#pieces.length + piece.length > this.#limit)
      throw new LineTooLongError(`a line of more than ${this.#limit} bytes`);
    this.#pieces.push(piece);
  }
}
