import { describe, expect, test } from 'vitest';
import { codecFor } from '../../src/mcp/codec.ts';
import { sessionExpired } from '../../src/mcp/legacy.ts';
import { readMessage } from '../../src/mcp/message.ts';
import { MEDIA_MAX, RESULT_BLOCKS_MAX, RESULT_TEXT_MAX } from '../../src/mcp/protocol-limits.ts';
import { readToolResult } from '../../src/mcp/results.ts';
import { safeText } from '../../src/mcp/text.ts';
import { commonVersion, eraOf, latestVersion } from '../../src/mcp/versions.ts';
import { MidspanError } from '../../src/errors.ts';
import type { JsonObject } from '../../src/types.ts';

const identity = { clientInfo: { name: 'us', version: '1' }, capabilities: { elicitation: {} } };
const legacy = codecFor('2025-11-25', identity);
const modern = codecFor('2026-07-28', identity);

describe('method tables', () => {
  test('hold no method that the era lacks', () => {
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe']) {
      expect(legacy.clientRequests.has(method)).toBe(true);
      expect(modern.clientRequests.has(method)).toBe(false);
    }
    for (const method of ['server/discover', 'subscriptions/listen']) {
      expect(legacy.clientRequests.has(method)).toBe(false);
      expect(modern.clientRequests.has(method)).toBe(true);
    }
    expect([...modern.serverRequests]).toEqual([]);
    expect(legacy.serverRequests.has('elicitation/create')).toBe(true);
  });
});

describe('requests', () => {
  test('of the legacy era carry a progress token and nothing else', () => {
    expect(legacy.params({ name: 'a', _meta: { own: 1 } }, 7)).toEqual({
      name: 'a',
      _meta: { own: 1, progressToken: 7 },
    });
    expect(legacy.params({ name: 'a' })).toEqual({ name: 'a' });
  });

  test('of the modern era say who asks, and nobody else can', () => {
    const forged = { 'io.modelcontextprotocol/protocolVersion': '1', traceparent: '00-1-2-01' };
    expect(modern.params({ name: 'a', _meta: forged }, 7)).toEqual({
      name: 'a',
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'us', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
        traceparent: '00-1-2-01',
        progressToken: 7,
      },
    });
  });

  test.each([
    ['tools/call', { name: 'a' }, 'a'],
    ['prompts/get', { name: 'ä' }, '=?base64?w6Q=?='],
    ['resources/read', { uri: 'file:///a' }, 'file:///a'],
    ['tools/list', { name: 'a' }, undefined],
  ])('%s has the headers of its body', (method, params, name) => {
    expect(modern.headers(method, params)).toEqual({
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(name === undefined ? {} : { 'Mcp-Name': name }),
    });
  });
});

describe('modern results', () => {
  test('lose what only their era has, and keep everything else', () => {
    const raw = {
      resultType: 'complete',
      content: [],
      vendor: { a: 1 },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 's' }, own: 1 },
    };
    expect(modern.answer('tools/call', raw)).toEqual({
      kind: 'complete',
      result: { content: [], vendor: { a: 1 }, _meta: { own: 1 } },
    });
    expect(modern.answer('tools/call', { content: [] })).toEqual({
      kind: 'complete',
      result: { content: [] },
    });
  });

  test.each<[JsonObject, number, string]>([
    [{ ttlMs: 500, cacheScope: 'public' }, 500, 'public'],
    [{ ttlMs: -1 }, 0, 'private'],
    [{}, 0, 'private'],
    [{ ttlMs: '5', cacheScope: 'everybody' }, 0, 'private'],
    [{ ttlMs: 1e12, cacheScope: 'private' }, 86_400_000, 'private'],
  ])('of lists have their hints lifted out: %j', (hints, ttlMs, cacheScope) => {
    expect(modern.answer('tools/list', { tools: [], ...hints })).toEqual({
      kind: 'complete',
      result: { tools: [] },
      ttlMs,
      cacheScope,
    });
  });

  test.each<[string, string, JsonObject]>([
    ['an unknown type', 'tools/call', { resultType: 'task' }],
    ['a type that is no text', 'tools/call', { resultType: 7 }],
    ['input_required for a list', 'tools/list', { resultType: 'input_required', requestState: 's' }],
    ['neither questions nor state', 'tools/call', { resultType: 'input_required' }],
    ['a state that is no text', 'tools/call', { resultType: 'input_required', requestState: {} }],
    ['questions that are no object', 'tools/call', { resultType: 'input_required', inputRequests: [] }],
    ['a question without a method', 'tools/call', { resultType: 'input_required', inputRequests: { a: {} } }],
  ])('with %s are invalid', (_what, method, raw) => {
    expect(modern.answer(method, raw).kind).toBe('invalid');
  });

  test('ask for input under their own keys', () => {
    const raw = JSON.parse(
      '{"resultType":"input_required","inputRequests":{"__proto__":{"method":"roots/list"}},"requestState":""}',
    ) as JsonObject;
    const answer = modern.answer('tools/call', raw);
    expect(answer).toMatchObject({ kind: 'input', state: '' });
    expect(Object.entries((answer as { requests: object }).requests)).toEqual([
      ['__proto__', { method: 'roots/list', params: {} }],
    ]);
  });
});

describe('messages', () => {
  test.each<[JsonObject, string]>([
    [{ jsonrpc: '2.0', id: 1, result: {} }, 'result'],
    [{ jsonrpc: '2.0', id: 'a', error: { code: 1, message: 'm' } }, 'error'],
    [{ jsonrpc: '2.0', id: null, error: { code: 1, message: 'm' } }, 'error'],
    [{ jsonrpc: '2.0', method: 'm' }, 'notification'],
    [{ jsonrpc: '2.0', method: 'm', id: 0 }, 'request'],
    [{ jsonrpc: '2.0', method: 'm', id: null }, 'malformed'],
    [{ jsonrpc: '2.0', method: 'm', params: [] }, 'malformed'],
    [{ jsonrpc: '2.0', method: 7 }, 'malformed'],
    [{ jsonrpc: '1.0', id: 1, result: {} }, 'malformed'],
    [{ id: 1, result: {} }, 'malformed'],
    [{ jsonrpc: '2.0', id: 1 }, 'malformed'],
    [{ jsonrpc: '2.0', id: 1, result: null }, 'malformed'],
    [{ jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: 'm' } }, 'malformed'],
    [{ jsonrpc: '2.0', id: 1, error: { code: 1.5, message: 'm' } }, 'malformed'],
    [{ jsonrpc: '2.0', id: 1, error: 'no' }, 'malformed'],
    [{ jsonrpc: '2.0', id: {}, result: {} }, 'malformed'],
    [{}, 'malformed'],
  ])('%j is a %s', (raw, kind) => {
    expect(readMessage(raw).kind).toBe(kind);
  });
});

describe('an expired session', () => {
  const error = (status: number | undefined, code: number | undefined, message: string): MidspanError =>
    new MidspanError({
      code: code === undefined ? 'protocol' : 'rpc',
      what: message,
      data: { status, code },
    });
  test.each([
    [404, undefined, 'nothing here', true],
    [404, -32603, 'Internal error', true],
    [404, -32601, 'Method not found', false],
    [400, undefined, 'Bad Request: No valid session ID provided', true],
    [400, -32000, 'Bad Request: Server not initialized', true],
    [400, -32602, 'Invalid arguments', false],
    [undefined, -32600, 'Session not found', true],
    [undefined, -32600, 'Invalid request', false],
    [undefined, -32000, 'Session expired', false],
    [undefined, -32603, 'the user session expired in our database', false],
    [503, undefined, 'Session not found', false],
  ])('%s %s %s: %s', (status, code, message, expired) => {
    expect(sessionExpired(error(status, code, message))).toBe(expired);
  });
});

describe('tool results', () => {
  const read = (raw: JsonObject): [unknown, string[]] => {
    const notes: string[] = [];
    return [readToolResult(raw, (note) => notes.push(note)), notes];
  };

  test('that are in order are passed on as the same object', () => {
    const raw = { content: [{ type: 'text', text: 'a' }], structuredContent: null, isError: false };
    expect(read(raw)[0]).toBe(raw);
  });

  test.each<[string, JsonObject]>([
    ['an audio block without data', { type: 'audio', mimeType: 'audio/wav' }],
    ['a resource without content', { type: 'resource', resource: { uri: 'a:b' } }],
    ['a link without an address', { type: 'resource_link', name: 'a' }],
    ['a block without a type', { text: 'a' }],
    [
      'an image that is too large',
      { type: 'image', mimeType: 'image/png', data: 'A'.repeat((MEDIA_MAX / 3) * 4 + 8) },
    ],
  ])('lose %s', (_what, block) => {
    const [result, notes] = read({ content: [{ type: 'text', text: 'kept' }, block] });
    expect(result).toEqual({ content: [{ type: 'text', text: 'kept' }] });
    expect(notes).toHaveLength(1);
  });

  test('are bounded in text, structured content included, and in number of blocks', () => {
    const blocks = Array.from({ length: RESULT_BLOCKS_MAX + 1 }, () => ({ type: 'text', text: '' }));
    expect(read({ content: blocks.slice(1) })[0]).not.toHaveProperty('isError');
    expect(read({ content: blocks })[0]).toMatchObject({ isError: true });
    expect(read({ content: [], structuredContent: ['x'.repeat(RESULT_TEXT_MAX)] })[0]).toMatchObject({
      isError: true,
    });
  });

  test('lose members of the wrong type with a note', () => {
    const [result, notes] = read({ content: [], isError: 'yes', _meta: 7, vendor: 1 });
    expect(result).toEqual({ content: [], vendor: 1 });
    expect(notes).toEqual([
      'isError was left out: it is not a boolean',
      '_meta was left out: it is not an object',
    ]);
    expect(read({ content: [], isError: null, _meta: null })).toEqual([{ content: [] }, []]);
  });
});

test('text of a server cannot steer a terminal or hide anything', () => {
  expect(safeText('a\u001b[2J\u202eb\u200b\n\tc\u{e0041}\ud800', 100)).toBe(
    'a\\u{1b}[2J\\u{202e}b\\u{200b} c\\u{e0041}\\u{d800}',
  );
  expect(safeText('x'.repeat(50), 10)).toBe(`${'x'.repeat(10)}…`);
});

test('revisions are data', () => {
  expect(latestVersion('modern')).toBe('2026-07-28');
  expect(latestVersion('legacy')).toBe('2025-11-25');
  expect(eraOf('2024-11-05')).toBe('legacy');
  expect(eraOf('1999-01-01')).toBeUndefined();
  expect(commonVersion(['2025-03-26', 7, '2025-06-18'], 'legacy')).toBe('2025-06-18');
  expect(commonVersion('2025-03-26', 'legacy')).toBeUndefined();
});
