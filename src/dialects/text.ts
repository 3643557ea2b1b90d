/** Text on its way to a model: valid Unicode, counted and cut in bytes. */

const encoder = new TextEncoder();

/** Model APIs refuse a whole request for half a surrogate pair. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}

export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** The longest start of a text that fits into a number of bytes, cut between characters. */
export function firstBytes(text: string, bytes: number): string {
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, bytes)));
  return text.slice(0, read);
}

/** Server-controlled words inside a line of ours: one line, bounded. */
export function oneLine(text: string, most = 500): string {
  const line = wellFormed(text)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length <= most ? line : `${line.slice(0, most)}...`;
}

/** A size for people, from bytes. */
export function readableSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
