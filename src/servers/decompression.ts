import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { COMPRESSION_FREE_BYTES, COMPRESSION_RATIO } from '../mcp/limits.ts';

/** The content encodings that we offer. */
export const ACCEPT_ENCODING = 'gzip, deflate, br';

const CREATE: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A stream that undoes a content encoding; undefined for one that we did not offer. */
export function decompressor(encoding: string): Transform | undefined {
  const name = encoding.trim().toLowerCase();
  return Object.hasOwn(CREATE, name) ? CREATE[name]?.() : undefined;
}

/** Whether a body has grown beyond what honest texts do. */
export function isBomb(compressed: number, decompressed: number): boolean {
  return decompressed > COMPRESSION_FREE_BYTES && decompressed > COMPRESSION_RATIO * compressed;
}
