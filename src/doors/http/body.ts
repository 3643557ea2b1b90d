/** The body of a request, whole, in bounds. */
import type { IncomingMessage } from 'node:http';

/** Bytes. */
export const BODY_MAX = 4 * 1024 * 1024;

const EMPTY = Buffer.alloc(0);

/** What a client says itself that it sends; undefined where it says nothing. */
const declaredLength = ({ headers }: IncomingMessage): number | undefined => {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
};

/** @returns undefined for one that is too large, of which no more is read; `gone` when the client left before its end. */
export function readBody(request: IncomingMessage, most: number): Promise<Buffer | 'gone' | undefined> {
  if ((declaredLength(request) ?? 0) > most) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (outcome: Buffer | 'gone' | undefined): void => {
      request.off('data', take);
      resolve(outcome);
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > most) {
        request.pause();
        end(undefined);
      } else chunks.push(chunk);
    };
    request.on('data', take);
    request.once('end', () => {
      const [only] = chunks;
      end(only === undefined ? EMPTY : chunks.length === 1 ? only : Buffer.concat(chunks, bytes));
    });
    request.once('close', () => end('gone'));
    request.once('error', () => end('gone'));
  });
}
