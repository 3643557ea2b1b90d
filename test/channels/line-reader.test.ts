import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LineReader } from '../../src/servers/line-reader.ts';

afterEach(() => vi.restoreAllMocks());

function cut(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}

describe('reading lines', () => {
  it('gives the same lines however the bytes are cut', () => {
    const byte = fc.oneof(fc.constant(10), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(
        fc.array(byte, { maxLength: 200 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (bytes, sizes) => {
          const input = Buffer.from(bytes);
          const reader = new LineReader();
          const lines: string[] = [];
          let turn = 0;
          for (let at = 0; at < input.length;) {
            const size = sizes[turn++ % sizes.length] ?? 1;
            reader.push(input.subarray(at, at + size), (line) => lines.push(line.toString('latin1')));
            at += size;
          }
          reader.push(Buffer.from('\n'), (line) => lines.push(line.toString('latin1')));
          expect(lines).toEqual(input.toString('latin1').split('\n'));
        },
      ),
    );
  });

  it('defect 5: a line of 9 MB in pieces of 64 kB is scanned once and copied once', () => {
    const length = 9_000_000;
    const chunks = cut(Buffer.concat([Buffer.alloc(length, 'x'), Buffer.from('\n')]), 65_536);
    const indexOf = vi.spyOn(Buffer.prototype, 'indexOf');
    const concat = vi.spyOn(Buffer, 'concat');
    const lines: number[] = [];
    const reader = new LineReader();
    for (const chunk of chunks) reader.push(chunk, (line) => lines.push(line.length));
    const scanned = indexOf.mock.contexts.reduce((sum: number, chunk) => sum + (chunk as Buffer).length, 0);
    expect(lines).toEqual([length]);
    expect(scanned).toBeLessThanOrEqual(length + 65_536);
    expect(concat).toHaveBeenCalledTimes(1);
  });

  it('holds a line that comes in single bytes in few pieces, and copies it twice at most', () => {
    const length = 300_000;
    const concat = vi.spyOn(Buffer, 'concat');
    const lines: number[] = [];
    const reader = new LineReader();
    const byte = Buffer.from('x');
    for (let count = 0; count < length; count += 1) reader.push(byte, () => undefined);
    reader.push(Buffer.from('\n'), (line) => lines.push(line.length));
    expect(lines).toEqual([length]);
    expect(Math.max(...concat.mock.calls.map(([pieces]) => pieces.length))).toBeLessThan(2048);
    const copied = concat.mock.results.reduce((sum: number, { value }) => sum + (value as Buffer).length, 0);
    expect(copied).toBeLessThanOrEqual(2 * length);
  });

  it('refuses a line over the limit, finished or not, and no other', () => {
    const lines: string[] = [];
    const push = (...chunks: string[]) => {
      const reader = new LineReader(5);
      for (const chunk of chunks) reader.push(Buffer.from(chunk), (line) => lines.push(line.toString()));
    };
    push('12345\n12345\n', '123', '45\n');
    expect(lines).toEqual(['12345', '12345', '12345']);
    expect(() => push('123456\n')).toThrow('more than 5 bytes');
    expect(() => push('123', '456')).toThrow('more than 5 bytes');
  });
});
