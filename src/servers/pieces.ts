/** Bytes gathered from chunks and put together once, at a cost per byte that does not depend on the size of the chunks. */

/** A chunk costs about a hundred bytes whatever is in it: so many are joined before they outweigh what they carry. */
const JOINED = 1024;

export class Pieces {
  #chunks: Buffer[] = [];
  /** Chunks at the end that were not joined yet. */
  #loose = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    this.#loose += 1;
    if (this.#loose < JOINED) return;
    this.#chunks.push(Buffer.concat(this.#chunks.splice(-this.#loose)));
    this.#loose = 0;
  }

  /** Everything so far, which is forgotten here. */
  take(): Buffer {
    const [first] = this.#chunks;
    const whole =
      this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks, this.#length);
    this.#chunks = [];
    this.#loose = 0;
    this.#length = 0;
    return whole;
  }
}
