/** A modern server over HTTP whose tools answer with what is too large, or of a kind that few model APIs take. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../src/types.ts';

const SENTENCE = 'All work and no play makes Jack a dull boy. ';
export const LONG_TEXT = `${SENTENCE.repeat(160_000)}The end.`; // 7 MB
/** More than the host takes from a server. */
const HUGE_TEXT = SENTENCE.repeat(700_000); // 31 MB
export const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><title>größer</title></svg>';
export const LARGE_SVG = `<svg>${'<path d="M0 0"/>'.repeat(60_000)}</svg>`;
const base64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64');
const PNG_HEAD = Buffer.from('89504e470d0a1a0a', 'hex');
/** Larger than some APIs take. */
export const LARGE_PNG = base64(Buffer.concat([PNG_HEAD, Buffer.alloc(8_000_000)]));
export const SMALL_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const WAV = base64(
  Buffer.concat([Buffer.from('RIFF\x10\x80\x00\x00WAVE'), Buffer.alloc(3_000, 0x90)]),
);
export const PDF = base64(Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.from([0xff, 0xfe, 0x80, 0])]));
export const ZIP = base64(Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(100, 0xfe)]));
export const PAYLOAD = { rows: Array.from({ length: 200 }, (_, index) => ({ index, name: `row ${index}` })) };

const resource = (uri: string, mimeType: string, blob: string): JsonObject => ({
  type: 'resource',
  resource: { uri, mimeType, blob },
});

const RESULTS: Record<string, () => JsonObject> = {
  audio: () => ({ content: [{ type: 'audio', mimeType: 'audio/wav', data: WAV }] }),
  image: () => ({ content: [{ type: 'image', mimeType: 'image/png', data: SMALL_PNG }] }),
  'large-image': () => ({ content: [{ type: 'image', mimeType: 'image/png', data: LARGE_PNG }] }),
  'large-svg': () => ({ content: [{ type: 'image', mimeType: 'image/svg+xml', data: base64(LARGE_SVG) }] }),
  payload: () => ({
    content: [{ type: 'text', text: JSON.stringify(PAYLOAD, null, 2) }],
    structuredContent: PAYLOAD,
  }),
  pdf: () => ({ content: [resource('file:///report.pdf', 'application/pdf', PDF)] }),
  svg: () => ({ content: [{ type: 'image', mimeType: 'image/svg+xml', data: base64(SVG) }] }),
  text: () => ({ content: [{ type: 'text', text: LONG_TEXT }] }),
  'huge-text': () => ({ content: [{ type: 'text', text: HUGE_TEXT }] }),
  zip: () => ({ content: [resource('file:///all.zip', 'application/zip', ZIP)] }),
};

const ANSWERS: Record<string, (params: JsonObject) => JsonObject | undefined> = {
  'server/discover': () => ({
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    ttlMs: 60_000,
    cacheScope: 'private',
  }),
  'tools/list': () => ({
    tools: Object.keys(RESULTS).map((name) => ({ name, inputSchema: { type: 'object', properties: {} } })),
    ttlMs: 60_000,
    cacheScope: 'private',
  }),
  'tools/call': ({ name }) => RESULTS[name as string]?.(),
};

export async function startLarge(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const message = JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonObject;
      const result = ANSWERS[message['method'] as string]?.((message['params'] ?? {}) as JsonObject);
      if (message['id'] === undefined || result === undefined) return response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(
        JSON.stringify({ jsonrpc: '2.0', id: message['id'], result: { resultType: 'complete', ...result } }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
