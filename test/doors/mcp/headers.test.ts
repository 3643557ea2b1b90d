import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headerFault, type Mirroring } from '../../../src/doors/mcp/headers.ts';
import {
  headerValue,
  type MirroredArgument,
  mirroredHeaders,
  readHeaderValue,
} from '../../../src/mcp/headers.ts';
import { MODERN_REQUESTS, NAMED_BY } from '../../../src/mcp/modern.ts';
import type { Json, JsonObject } from '../../../src/types.ts';

const MIRRORED: MirroredArgument[] = [
  { header: 'Region', path: ['region'] },
  { header: 'Depth', path: ['where', 'deep'] },
];
const values = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.integer(),
  fc.boolean(),
  fc.double(),
  fc.jsonValue() as fc.Arbitrary<Json>,
);
const args = fc.record(
  { region: values, where: fc.oneof(fc.record({ deep: values }), values), more: values },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;

/** What an honest client sends for a request (mcp-spec 1.8), in Node's lower case. */
function honest(method: string, params: JsonObject): Mirroring {
  const name = params[NAMED_BY[method] ?? ''];
  const headers: Record<string, string> = { 'mcp-protocol-version': 'v', 'mcp-method': method };
  if (typeof name === 'string') headers['mcp-name'] = headerValue(name);
  if (method === 'tools/call')
    for (const [header, value] of Object.entries(
      mirroredHeaders(MIRRORED, params['arguments'] as JsonObject),
    ))
      headers[header.toLowerCase()] = value;
  return { headers, version: 'v', method, params, mirrored: () => MIRRORED };
}

const requests = fc
  .record({
    method: fc.constantFrom(...MODERN_REQUESTS),
    name: fc.string({ unit: 'grapheme' }),
    arguments: args,
  })
  .map(({ method, name, arguments: given }) =>
    honest(method, { ...(NAMED_BY[method] && { [NAMED_BY[method]]: name }), arguments: given }),
  );

describe('Headers of modern requests', () => {
  it('are taken as our own client sends them, whatever the arguments', () => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(headerFault(request)).toBeUndefined();
      }),
    );
  });

  it('are refused when one of them is missing or says something else', () => {
    fc.assert(
      fc.property(requests, fc.nat(), fc.string(), (request, at, other) => {
        const names = Object.keys(request.headers);
        const name = names[at % names.length] as string;
        const without = { ...request.headers };
        delete without[name];
        expect(headerFault({ ...request, headers: without })).toBeDefined();
        // Two spellings may say the same.
        fc.pre(readHeaderValue(other) !== readHeaderValue(String(request.headers[name])));
        fc.pre(!other.startsWith('=?'));
        fc.pre(Number(other) !== Number(request.headers[name]) || other.trim() === '');
        expect(headerFault({ ...request, headers: { ...request.headers, [name]: other } })).toBeDefined();
      }),
    );
  });

  it('of arguments that are not there are refused', () => {
    const request = honest('tools/call', { name: 'a', arguments: {} });
    expect(headerFault({ ...request, headers: { ...request.headers, 'mcp-param-region': 'eu' } })).toContain(
      'Mcp-Param-Region',
    );
    // Those of nothing that the tool wants are nobody's business.
    expect(
      headerFault({ ...request, headers: { ...request.headers, 'mcp-param-other': 'eu' } }),
    ).toBeUndefined();
  });

  it.each<[Json, string, boolean]>([
    [5, '5', true],
    [5, '5.0', true],
    [5, '05', true],
    [5, '5.1', false],
    [5, '5e0', false],
    [5, '0x5', false],
    [5, '', false],
    [true, 'true', true],
    [true, 'True', false],
    ['5', '5.0', false],
    ['true', 'true', true],
    ['', '', true],
    ['ü', '=?base64?w7w=?=', true],
    ['ü', '=?base64?w7w?=', false],
    ['ü', '=?BASE64?w7w=?=', false],
  ])('%j as %j: %s', (region, header, isGood) => {
    const request = honest('tools/call', { name: 'a', arguments: {} });
    const params = { name: 'a', arguments: { region } };
    const fault = headerFault({
      ...request,
      params,
      headers: { ...request.headers, 'mcp-param-region': header },
    });
    expect(fault === undefined).toBe(isGood);
  });
});
