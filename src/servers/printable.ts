import { NOISE_CHARACTERS } from '../mcp/limits.ts';

/* eslint-disable no-control-regex */
const ESCAPE_SEQUENCES =
  /\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[\u001B\u009B][[\]()#;?]*(?:\d{1,4}(?:;\d{0,4})*)?[\d@-~]/g;
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
const INVISIBLE = /[\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;

/** Text of a server, safe for a terminal: no escape sequences, control characters, or characters that reorder or hide. */
export function printable(text: string): string {
  return text
    .replace(ESCAPE_SEQUENCES, '')
    .replace(/\r\n?/g, '\n')
    .replace(CONTROLS, '')
    .replace(INVISIBLE, '');
}

/** What is shown of something that is no message. */
export function noiseOf(text: string): string {
  return printable(text.slice(0, 4 * NOISE_CHARACTERS)).slice(0, NOISE_CHARACTERS);
}

/** The end of a stream, in bounded memory. */
export class Tail {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #dropped = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    // Twice the limit before cutting: the copy is then paid once per `limit` bytes, not once per chunk.
    if (this.#bytes > 2 * this.#limit || this.#chunks.length > 1024) this.#compact();
  }

  text(): string {
    this.#compact();
    const text = this.#chunks[0]?.toString('utf8') ?? '';
    return this.#dropped ? text.slice(text.indexOf('\n') + 1) : text;
  }

  #compact(): void {
    const all = Buffer.concat(this.#chunks, this.#bytes);
    const cut = all.length > this.#limit;
    this.#dropped ||= cut;
    this.#chunks = [cut ? Buffer.from(all.subarray(all.length - this.#limit)) : all];
    this.#bytes = this.#chunks[0]?.length ?? 0;
  }
}
