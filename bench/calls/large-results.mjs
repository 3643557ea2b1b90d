// Two results of nine million bytes on the wire, as the members of a result: lines of a log, full of characters that JSON
// escapes, and one image. Both are within what Midspan lets through (8 Mi characters of text, 10 MiB of an image).
const BYTES = 9_000_000;

function log() {
  const line = (at) =>
    `{"time":"2026-11-30T12:00:00.${at % 1000}Z","level":"info","message":"request ${at} was served","path":"/items/${at}"}\n`;
  const text = Array.from({ length: 500 }, (_, at) => line(at)).join('');
  const encoded = JSON.stringify(text).slice(1, -1);
  return `"content":[{"type":"text","text":"${encoded.repeat(Math.ceil(BYTES / encoded.length))}"}]`;
}

function image() {
  return `"content":[{"type":"image","mimeType":"image/png","data":"${'iVBORw0KGgoAAAANSUhEUgAA'.repeat(BYTES / 24)}"}]`;
}

export const LARGE = { log: Buffer.from(log()), image: Buffer.from(image()) };
