import { describe, expect, test } from 'vitest';
import { afterDiscover, afterInitialize } from '../../src/mcp/detect.ts';
import type { Decision, Observation } from '../../src/mcp/detect.ts';

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const error = (code: number, data?: object): Observation & { saw: 'error' } => ({
  saw: 'error',
  code,
  data: data as never,
});
const status = (code: number): Observation & { saw: 'status' } => ({ saw: 'status', status: code });
const initialize: Decision = { to: 'initialize', version: LEGACY };

describe('the era table: after server/discover', () => {
  const rows: [string, Observation, Decision][] = [
    [
      'a common modern revision: modern',
      { saw: 'result', versions: [MODERN] },
      { to: 'modern', version: MODERN, again: false },
    ],
    [
      'a future one beside it: the common one',
      { saw: 'result', versions: ['2099-01-01', MODERN, LEGACY] },
      { to: 'modern', version: MODERN, again: false },
    ],
    [
      'legacy revisions only: initialize with the best',
      { saw: 'result', versions: ['2025-03-26', '2025-06-18'] },
      { to: 'initialize', version: '2025-06-18' },
    ],
    [
      'no common revision: refuse',
      { saw: 'result', versions: ['2099-01-01'] },
      { to: 'refuse', offered: ['2099-01-01'] },
    ],
    ['a result that is none: initialize', { saw: 'result', versions: undefined }, initialize],
    ['-32020: modern, repair', error(-32020), { to: 'modern', version: MODERN, again: true }],
    [
      '-32021: modern, repair',
      error(-32021, { requiredCapabilities: {} }),
      { to: 'modern', version: MODERN, again: true },
    ],
    [
      '-32022 with a common revision: modern, in that one',
      error(-32022, { supported: [MODERN, LEGACY] }),
      { to: 'modern', version: MODERN, again: true },
    ],
    [
      '-32022 with legacy revisions only: initialize with the best',
      error(-32022, { supported: ['2025-06-18'] }),
      { to: 'initialize', version: '2025-06-18' },
    ],
    ['-32022 without a list is not the modern error: initialize', error(-32022), initialize],
    ['-32601: initialize', error(-32601), initialize],
    ['-32602: initialize', error(-32602), initialize],
    ['-32600: initialize', error(-32600), initialize],
    ['-32000: initialize', error(-32000), initialize],
    ['-32001, a pre-release code: initialize', error(-32001), initialize],
    ['any other code: initialize', error(12345), initialize],
    ...[400, 404, 405, 406, 410, 415, 422].map((code): [string, Observation, Decision] => [
      `HTTP ${code} without JSON-RPC: initialize`,
      status(code),
      initialize,
    ]),
    ['stdio silence: initialize', { saw: 'silence' }, initialize],
    ['stdio exit: respawn', { saw: 'exit' }, { to: 'respawn' }],
    ...[401, 403].map((code): [string, Observation, Decision] => [
      `HTTP ${code}: sign in`,
      status(code),
      { to: 'sign-in' },
    ]),
    ...[500, 502, 503, 429, 408, 302].map((code): [string, Observation, Decision] => [
      `HTTP ${code}: no verdict`,
      status(code),
      { to: 'outage' },
    ]),
    ['reset, TLS, DNS, HTTP time-out: no verdict', { saw: 'outage' }, { to: 'outage' }],
  ];
  test.each(rows)('%s', (_row, seen, decision) => {
    expect(afterDiscover(seen, MODERN)).toEqual(decision);
  });
});

describe('the era table: after initialize', () => {
  const rows: [string, Exclude<Observation, { saw: 'result' }>, Decision][] = [
    [
      '-32022: modern after all',
      error(-32022, { supported: [MODERN] }),
      { to: 'modern', version: MODERN, again: true },
    ],
    [
      '-32022 without a list: modern after all',
      error(-32022),
      { to: 'modern', version: MODERN, again: true },
    ],
    [
      '-32022 without a common revision: refuse',
      error(-32022, { supported: ['2099-01-01'] }),
      { to: 'refuse', offered: ['2099-01-01'] },
    ],
    [
      'an error that names an older revision: initialize with that',
      error(-32602, { supported: ['2024-11-05'] }),
      { to: 'initialize', version: '2024-11-05' },
    ],
    [
      'an error that names the one we offered: refuse',
      error(-32602, { supported: [LEGACY] }),
      { to: 'refuse', offered: [LEGACY] },
    ],
    ['any other error: refuse', error(-32603), { to: 'refuse', offered: undefined }],
    ...[400, 404, 405].map((code): [string, Exclude<Observation, { saw: 'result' }>, Decision] => [
      `HTTP ${code} without JSON-RPC: HTTP+SSE`,
      status(code),
      { to: 'sse' },
    ]),
    ['HTTP 401: sign in', status(401), { to: 'sign-in' }],
    ['HTTP 503: no verdict', status(503), { to: 'outage' }],
    ['HTTP 410: refuse', status(410), { to: 'refuse', offered: undefined }],
    ['exit: no verdict', { saw: 'exit' }, { to: 'outage' }],
    ['outage: no verdict', { saw: 'outage' }, { to: 'outage' }],
  ];
  test.each(rows)('%s', (_row, seen, decision) => {
    expect(afterInitialize(seen, LEGACY)).toEqual(decision);
  });
});
