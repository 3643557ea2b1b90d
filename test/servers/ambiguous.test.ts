/** Definitions that can be read in two ways, over real pipes and sockets: none of the two readings gets through. */
import { describe, expect, test } from 'vitest';
import { endpoint, legacy } from './http-server.ts';
import { fixture, http, open, stdio } from './support.ts';
import type { Opened } from './support.ts';

/** How a server that answers a method with exactly these bytes is reached; `"$id"` stands for the id. */
type Way = (method: string, answer: string) => Promise<Opened>;

const overHttp =
  (type: string, frame: (text: string) => string): Way =>
  async (method, text) => {
    const { url } = await endpoint((received, answer) => {
      if (received.message.method !== method) return legacy(received, answer);
      answer.response
        .writeHead(200, { 'content-type': type })
        .end(frame(text.replaceAll('"$id"', JSON.stringify(received.message.id))));
    });
    return open(http('odd', url, { era: 'legacy' }));
  };

const WAYS: [string, Way][] = [
  [
    'stdio',
    async (method, text) =>
      open(stdio('odd', [fixture('says'), JSON.stringify({ [method]: [`${text}\n`] })], { era: 'legacy' })),
  ],
  ['HTTP with JSON', overHttp('application/json', (text) => text)],
  ['HTTP with an event stream', overHttp('text/event-stream', (text) => `data: ${text}\n\n`)],
];

const list = (items: string, more = ''): string =>
  `{"jsonrpc":"2.0","id":"$id","result":{"tools":[${items}]${more}}}`;
const GOOD = '{"name":"good","inputSchema":{"type":"object"}}';

describe.each(WAYS)('over %s', (_way, reach) => {
  test('a tool that can be read in two ways is left out alone, and named', async () => {
    const evil = [
      '{"name":"double","description":"kind","description":"evil","inputSchema":{}}',
      '{"name":"cased","description":"kind","De\u017fcription":"evil","inputSchema":{}}',
      '{"name":"cut","title":"\\ud83d","inputSchema":{}}',
      '{"name":"proto","inputSchema":{"properties":{"__proto__":{"description":"evil"}}}}',
      '{"name":"large","inputSchema":{"maximum":9223372036854775807}}',
    ];
    const { server, warnings } = await reach('tools/list', list([GOOD, ...evil].join()));
    expect((await server.listTools()).map(({ name }) => name)).toEqual(['good']);
    expect(warnings()).toEqual([
      'left out the tool "double": it can be read in two ways: it has the member "description" twice in one object',
      expect.stringMatching(
        /^left out the tool "cased": .* a member "De\u017fcription", which other readers take/,
      ),
      'left out the tool "cut": it can be read in two ways: it has a lone surrogate',
      'left out the tool "proto": it can be read in two ways: it has a member "__proto__"',
      expect.stringMatching(/^left out the tool "large": .* the number "9223372036854775807"/),
    ]);
  });

  test.each([
    ['two lists', list(GOOD, `,"tools":[]`)],
    ['a second list by case', list(GOOD, `,"Tools":[${GOOD}]`)],
    ['a second result by case', list(GOOD).replace('"result"', '"RESULT":{"tools":[]},"result"')],
  ])('a list with %s is refused, and missing in the surface', async (_what, text) => {
    const { server, warnings } = await reach('tools/list', text);
    await expect(server.listTools()).rejects.toThrow(/list of tools can be read in two ways/);
    expect(await server.surface()).not.toHaveProperty('tools');
    expect(warnings()).toEqual([expect.stringMatching(/list of tools cannot be had: .* two ways/)]);
  });

  test('instructions that can be read in two ways are left out, and a doubled opening is refused', async () => {
    const opening = (members: string): string =>
      `{"jsonrpc":"2.0","id":"$id","result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s"},${members}}}`;
    const { server, warnings } = await reach('initialize', opening('"instructions":"\\udc00"'));
    await server.ready();
    expect(server.info).toMatchObject({ serverInfo: { name: 's' } });
    expect(server.info).not.toHaveProperty('instructions');
    expect(warnings()).toEqual([
      'left out its instructions, which can be read in two ways: a lone surrogate',
    ]);
    const { server: other } = await reach('initialize', opening('"instructions":"a","instructions":"b"'));
    await expect(other.ready()).rejects.toThrow(
      /can be read in two ways: it has the member "instructions" twice/,
    );
  });
});

test('results are data: what they hold twice is read like JSON.parse reads it', async () => {
  const text = '{"jsonrpc":"2.0","id":"$id","result":{"content":[],"structuredContent":{"a":1,"a":2}}}';
  const { server } = await WAYS[0]![1]('tools/call', text);
  expect(await server.callTool('echo', {})).toMatchObject({ structuredContent: { a: 2 } });
});
