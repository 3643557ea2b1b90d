/** Every row of the era table, over real processes and sockets: what a server says first, and what becomes of it. */
import { describe, expect, test } from 'vitest';
import { endpoint, legacy, methods, modern } from './http-server.ts';
import { fixture, http, open, stdio, verdictsInMemory } from './support.ts';
import type { Answering } from './http-server.ts';
import type { JsonObject } from '../../src/types.ts';

/** The revision that is agreed on, or the code of the error. */
type Outcome = '2026-07-28' | '2025-11-25' | '2025-06-18' | 'protocol' | 'rpc' | 'unreachable' | 'sign-in';

const error = (code: number, supported?: string[]): JsonObject => ({
  error: { code, message: 'no', ...(supported && { data: { supported } }) },
});
const discovered = (supportedVersions: unknown): JsonObject => ({
  result: {
    resultType: 'complete',
    supportedVersions: supportedVersions as string[],
    capabilities: { tools: {} },
  },
});

/** After `server/discover`: the same answers over every transport. */
const answers: [string, JsonObject, Outcome][] = [
  ['a common modern revision', discovered(['2026-07-28']), '2026-07-28'],
  ['a future revision beside it', discovered(['2099-01-01', '2026-07-28', '2025-11-25']), '2026-07-28'],
  ['legacy revisions only', discovered(['2025-03-26', '2025-06-18']), '2025-06-18'],
  ['no common revision', discovered(['2099-01-01']), 'protocol'],
  ['no revision at all', discovered([]), 'protocol'],
  ['revisions that are no list', discovered('2026-07-28'), '2025-11-25'],
  ['a result that is none', { result: {} }, '2025-11-25'],
  ['-32022 with legacy revisions only', error(-32022, ['2025-06-18']), '2025-06-18'],
  ['-32022 without a list', error(-32022), '2025-11-25'],
  ['-32022 with no common revision', error(-32022, ['2099-01-01']), 'protocol'],
  ...[-32601, -32602, -32600, -32603, -32700, -32000, -32001, -32042, 12345, 0].map(
    (code): [string, JsonObject, Outcome] => [String(code), error(code), '2025-11-25'],
  ),
];
/** Those that ask for a repair, and are repeated for ever: never `initialize`. */
const repairs: [string, JsonObject][] = [
  ['-32020', error(-32020)],
  ['-32021', error(-32021)],
  ['-32022 with a common revision', error(-32022, ['2026-07-28', '2025-11-25'])],
];
/** After `initialize`. */
const refusals: [string, JsonObject, Outcome][] = [
  ['-32022 with no common revision', error(-32022, ['2099-01-01']), 'protocol'],
  ['an error that names an older revision', error(-32602, ['2025-06-18']), '2025-06-18'],
  ['an error that names the one we offered', error(-32602, ['2025-11-25']), 'protocol'],
  ['any other error', error(-32603), 'rpc'],
];

async function outcomeOf({ server }: ReturnType<typeof open>): Promise<string> {
  try {
    await server.ready();
    return server.info!.protocolVersion;
  } catch (reason) {
    return (reason as { code: string }).code;
  }
}

describe('a process that answers server/discover', () => {
  const says = (script: object): ReturnType<typeof open> =>
    open(stdio('one', [fixture('says'), JSON.stringify(script)]));
  const said = (answer: JsonObject): object => [{ id: '$id', ...answer }];

  test.each(answers)('with %s', async (_what, answer, outcome) => {
    expect(await outcomeOf(says({ 'server/discover': said(answer) }))).toBe(outcome);
  });

  test.each(repairs)('with %s again and again is refused, and never initialized', async (_what, answer) => {
    const opened = says({ 'server/discover': said(answer), initialize: [{ exit: 1 }] });
    expect(await outcomeOf(opened)).toBe('rpc');
  });

  test.each(refusals)('with an error, and initialize with %s', async (_what, answer, outcome) => {
    const script = { 'server/discover': said(error(-32601)), initialize: said(answer) };
    // The older revision is offered in its turn, and answered the same way.
    expect(await outcomeOf(says(script))).toBe(outcome === '2025-06-18' ? 'protocol' : outcome);
  });

  test('by ending, and initialize by ending, is unreachable', async () => {
    expect(await outcomeOf(says({ 'server/discover': [{ exit: 1 }], initialize: [{ exit: 1 }] }))).toBe(
      'unreachable',
    );
  });
});

describe('an endpoint that answers server/discover', () => {
  test.each(answers)('with %s', async (_what, answer, outcome) => {
    for (const status of [200, 400]) {
      const { url } = await endpoint((each, answering) =>
        each.message.method === 'server/discover'
          ? answering.json(answer, 'error' in answer ? status : 200)
          : legacy(each, answering),
      );
      expect(await outcomeOf(open(http('web', url)))).toBe(outcome);
    }
  });

  test.each(repairs)('with %s again and again is refused, and never initialized', async (_what, answer) => {
    const { url, received } = await endpoint((each, answering) =>
      each.message.method === 'server/discover' ? answering.json(answer, 400) : legacy(each, answering),
    );
    expect(await outcomeOf(open(http('web', url)))).toBe('rpc');
    expect(new Set(methods(received))).toEqual(new Set(['server/discover']));
  });

  test.each(refusals)('with 404, and initialize with %s', async (_what, answer, outcome) => {
    const { url } = await endpoint((each, answering) => {
      if (each.message.method === 'server/discover') return answering.plain(404);
      const again = each.message.params?.protocolVersion === '2025-06-18';
      if (each.message.method === 'initialize' && !again) return answering.json(answer);
      legacy(each, answering);
    });
    expect(await outcomeOf(open(http('web', url)))).toBe(outcome);
  });

  const statuses: [number, Outcome][] = [
    ...[400, 404, 405, 406, 410, 415, 422].map((status): [number, Outcome] => [status, '2025-11-25']),
    ...[401, 403, 407].map((status): [number, Outcome] => [status, 'sign-in']),
    ...[300, 302, 304, 408, 425, 429, 500, 502, 503, 504].map((status): [number, Outcome] => [
      status,
      'unreachable',
    ]),
  ];
  test.each(statuses)('with HTTP %i', async (status, outcome) => {
    const { url } = await endpoint((each, answer) =>
      each.message.method === 'server/discover' ? answer.plain(status) : legacy(each, answer),
    );
    const verdicts = verdictsInMemory();
    expect(await outcomeOf(open(http('web', url), { verdicts }))).toBe(outcome);
    expect(verdicts.all.size).toBe(outcome === '2025-11-25' ? 1 : 0);
  });

  const later: [string, (answer: Answering) => void, Outcome][] = [
    ['401', (answer) => answer.plain(401), 'sign-in'],
    ['503', (answer) => answer.plain(503), 'unreachable'],
    ['410', (answer) => answer.plain(410), 'protocol'],
    ['a broken connection', ({ response }) => void response.destroy(), 'unreachable'],
  ];
  test.each(later)('with 404, and initialize with %s', async (_what, say, outcome) => {
    const { url } = await endpoint((each, answer) =>
      each.message.method === 'initialize' ? say(answer) : answer.plain(404),
    );
    const verdicts = verdictsInMemory();
    expect(await outcomeOf(open(http('web', url), { verdicts }))).toBe(outcome);
    expect(verdicts.all.size).toBe(0);
  });

  test('by breaking the connection is unreachable, and keeps no verdict', async () => {
    const { url } = await endpoint((_each, { response }) => void response.destroy());
    expect(await outcomeOf(open(http('web', url)))).toBe('unreachable');
  });

  test('with a repair that works is modern', async () => {
    let asked = 0;
    const { url, received } = await endpoint((each, answer) => {
      asked += 1;
      return asked === 1 ? answer.json(error(-32020), 400) : modern(each, answer);
    });
    expect(await outcomeOf(open(http('web', url)))).toBe('2026-07-28');
    expect(methods(received)).toEqual(['server/discover', 'server/discover']);
  });
});
