import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/canonical.ts';
import {
  type Lock,
  parseToolPin,
  pinServer,
  sameSurface,
  type ServerPin,
  toolPinText,
} from '../../../src/trust/lock/index.ts';
import type { Json, JsonObject, ServerSpec } from '../../../src/types.ts';

const tool = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, unheardOf: 1 };
const pinOf = (transport: ServerSpec['transport'], tools: JsonObject[] = [tool]): ServerPin =>
  pinServer(
    { label: 'x', transport },
    undefined,
    { serverInfo: { name: 'x', version: '1.0.0' }, tools },
    { at: '2026-11-30', how: 'review' },
  );
const remote = pinOf({ type: 'http', url: 'https://mcp.example.com/v1', headers: { 'X-Key': 'secret' } });
const lock: Lock = {
  lockfileVersion: 1,
  pin: 'midspan-pin/1',
  ruleset: 'x',
  servers: {
    remote,
    packaged: pinOf({ type: 'stdio', command: 'npx', args: ['-y', '@acme/none@1.2.3'], env: {} }),
    script: pinOf({ type: 'stdio', command: 'node', args: ['server.mjs'], env: {} }),
    plain: pinOf({ type: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} }),
  },
};
const sha = (value: Json): string =>
  `sha256-${createHash('sha256').update(canonicalJson(value)).digest('base64')}`;

describe("ToolPin's mcp-lock.json", () => {
  it('is written for packages and servers behind https, names what it has no room for, and is read again', () => {
    const { text, leftOut } = toolPinText(lock);
    expect(leftOut).toEqual(['script', 'plain']);
    expect(text).not.toContain('secret"');
    expect(text).not.toMatch(/x-key/i);
    const entries = parseToolPin(text);
    expect(entries.map(({ name, target }) => [name, target['type']])).toEqual([
      ['remote', 'remote'],
      ['packaged', 'package'],
    ]);
    expect(entries[1]?.target).toMatchObject({ identifier: '@acme/none', version: '1.2.3' });
  });

  it('pins names, descriptions and input schemas by the plain digest of the draft', () => {
    const [entry] = parseToolPin(toolPinText(lock).text);
    const { unheardOf: _unheardOf, ...covered } = tool;
    expect(entry?.surface?.hash).toBe(sha([covered]));
    if (entry === undefined) throw new Error('there is an entry');
    expect(sameSurface(entry, remote)).toBe(true);
    const { transport } = {
      transport: { type: 'http', url: 'https://mcp.example.com/v1', headers: {} },
    } as const;
    expect(sameSurface(entry, pinOf(transport, [{ ...tool, description: 'Looks twice.' }]))).toBe(false);
    const { surface: _surface, ...bare } = entry;
    expect(sameSurface(bare as typeof entry, remote)).toBeUndefined();
  });

  it.each([
    ['a document of version 2', () => '{"lockfileVersion":2,"servers":{}}', 'is not mcp-lock/1'],
    ['an edited entry', (text: string) => text.replace('"1.0.0"', '"1.0.1"'), 'entries[0]'],
    ['an entry that stands twice', (text: string) => twice(text), 'entries[1] twice'],
    [
      'a double member',
      (text: string) => text.replace('"entries"', '"specVersion": 1, "entries"'),
      'twice in one',
    ],
    [
      'members that are one after normalization',
      (text: string) => text.replace('"entries"', '"\\u00e9": 1, "e\\u0301": 2, "entries"'),
      'NFC',
    ],
    [
      'a server without TLS',
      (text: string) => changed(text, { url: 'http://mcp.example.com/v1' }),
      'is not mcp-lock/1',
    ],
    [
      'a header in the place of a secret',
      (text: string) => changed(text, { headerSecretNames: ['x-key'] }),
      'is not mcp-lock/1',
    ],
    [
      'an image without its digest',
      (text: string) => changed(text, { type: 'package', registryType: 'oci', identifier: 'acme/x:latest' }),
      'is not mcp-lock/1',
    ],
    [
      'a coverage that nobody knows',
      (text: string) => text.replace('"inputSchema"', '"annotations"'),
      'is not mcp-lock/1',
    ],
  ])('is refused: %s', (_what, spoil, says) => {
    expect(() => parseToolPin(spoil(toolPinText(lock).text))).toThrow(says);
  });
});

/** The first entry with other members in its target, whole by its digest. */
function changed(text: string, target: JsonObject): string {
  const { specVersion, entries } = JSON.parse(text) as { specVersion: number; entries: JsonObject[] };
  const { integrity: _integrity, ...entry } = entries[0] ?? {};
  const other = { ...entry, target: { ...(entry['target'] as JsonObject), ...target } };
  return JSON.stringify({ specVersion, entries: [{ ...other, integrity: sha(other) }] });
}

function twice(text: string): string {
  const document = JSON.parse(text) as { entries: Json[] };
  return JSON.stringify({ ...document, entries: [document.entries[0], document.entries[0]] });
}
