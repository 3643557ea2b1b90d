import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DialectId, dialectOf } from '../../src/dialects/index.ts';
import { delegate, delegationProblem, isPrivate, providersOf } from '../../src/host/delegation.ts';
import type { ServerSpec } from '../../src/types.ts';

const spec = (
  url: string,
  more: Partial<ServerSpec> & { headers?: Record<string, string>; type?: 'sse' } = {},
): ServerSpec => {
  const { headers = {}, type = 'http', ...rest } = more;
  return { label: 'far', transport: { type, url, headers }, via: 'provider', ...rest };
};
const model = (dialect: DialectId, reach: 'local' | 'internet' = 'internet') => ({
  name: `${dialect}:some-model`,
  dialect: dialectOf(dialect),
  reach,
});
const deps = {
  connect: async () => undefined,
  listed: () => [
    { name: 'far__a', tool: 'a' },
    { name: 'far__b', tool: 'b' },
  ],
};

describe('why a provider cannot have a server', () => {
  const never = { approval: 'never' as const };
  const remote = 'https://mcp.example.com/mcp';

  it.each<[string, DialectId, ServerSpec, RegExp | undefined]>([
    ['https and approvals', 'openai-responses', spec(remote), undefined],
    ['plain http', 'openai-responses', spec('http://mcp.example.com/mcp'), undefined],
    ['a machine here', 'openai-responses', spec('http://localhost:3000/mcp'), /cannot reach localhost/],
    ['HTTP+SSE', 'openai-responses', spec(remote, { type: 'sse' }), undefined],
    ['HTTP+SSE', 'anthropic', spec(remote, { ...never, type: 'sse' }), undefined],
    ['plain http', 'anthropic', spec('http://mcp.example.com/mcp', never), /https addresses only/],
    ['approvals', 'anthropic', spec(remote), /without asking first.*"approval": "never"/],
    [
      'a bearer token',
      'anthropic',
      spec(remote, { ...never, headers: { authorization: 'bearer abc' } }),
      undefined,
    ],
    [
      'another scheme',
      'anthropic',
      spec(remote, { ...never, headers: { Authorization: 'Basic eA==' } }),
      /it needs Authorization/,
    ],
    [
      'another header',
      'anthropic',
      spec(remote, { ...never, headers: { 'X-Key': 'secret-value' } }),
      /it needs X-Key/,
    ],
    ['HTTP+SSE', 'gemini-interactions', spec(remote, { ...never, type: 'sse' }), /Streamable HTTP only/],
    ['headers', 'gemini-interactions', spec(remote, { ...never, headers: { 'X-Key': 'x' } }), undefined],
    ['approvals', 'gemini-interactions', spec(remote), /without asking first/],
    ['anything', 'gemini', spec(remote, never), /has no connector/],
    ['anything', 'openai-chat', spec(remote, never), /has no connector/],
    [
      'a program',
      'openai-responses',
      { label: 'far', transport: { type: 'stdio', command: 'x', args: [], env: {} } },
      /runs on this machine/,
    ],
  ])('%s, %s', (_, dialect, server, reason) => {
    const problem = delegationProblem(server, model(dialect));
    if (reason === undefined) expect(problem).toBeUndefined();
    else expect(problem).toMatch(reason);
    expect(problem ?? '').not.toContain('secret-value');
  });

  it('an API on this machine reaches what is on this machine, without TLS too', () => {
    expect(
      delegationProblem(spec('http://127.0.0.1:1/mcp', never), model('anthropic', 'local')),
    ).toBeUndefined();
  });

  it('a model whose API makes no connections has no connector', () => {
    const { reach: _, ...script } = model('anthropic');
    expect(delegationProblem(spec(remote, never), script)).toContain('has no connector');
  });

  it('names every provider', () => {
    const all = providersOf(spec(remote));
    expect(all.map(({ provider, problem }) => [provider, problem === undefined])).toEqual([
      ['OpenAI', true],
      ['Anthropic', false],
      ['Google', false],
    ]);
  });

  it.each([
    'localhost',
    'a.localhost',
    'nas.local',
    'db',
    '10.1.2.3',
    '127.9.9.9',
    '192.168.0.1',
    '172.31.0.1',
    '169.254.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[fd00::1]',
    '[fe80::1]',
    '[::ffff:7f00:1]',
    'x.internal',
    'localhost.',
  ])('%s is here', (host) => expect(isPrivate(host)).toBe(true));

  it.each([
    'example.com',
    '8.8.8.8',
    '172.32.0.1',
    '192.169.0.1',
    '[2606:4700::1]',
    'local.example.com',
    '100.128.0.1',
  ])('%s is elsewhere', (host) => expect(isPrivate(host)).toBe(false));
});

describe('what a provider is given', () => {
  const url = 'https://mcp.example.com/mcp';
  const given = async (server: ServerSpec, dialect: DialectId) =>
    (await delegate([{ approval: 'never', ...server }], model(dialect), deps)).servers[0];

  it('has names to keep and names to leave out where the API takes them', async () => {
    expect(await given(spec(url, { tools: { deny: ['b'] } }), 'anthropic')).toMatchObject({ denied: ['b'] });
    expect(await given(spec(url, { tools: { deny: ['b'] } }), 'openai-responses')).toMatchObject({
      allowed: ['a', 'b'],
    });
    expect(await given(spec(url, { tools: { allow: ['a', 'b'], deny: ['b'] } }), 'anthropic')).toMatchObject({
      allowed: ['a'],
    });
    expect(await given(spec(url), 'openai-responses')).not.toHaveProperty('allowed');
  });

  it('is nothing, with the reason, when filters need a list that there is not', async () => {
    const failing = { ...deps, listed: () => ({ failure: 'it is failed' }) };
    const { servers, warnings } = await delegate(
      [spec(url, { approval: 'never', tools: { allow: ['a*'] } })],
      model('anthropic'),
      failing,
    );
    expect(servers).toEqual([]);
    expect(warnings.join()).toContain('could not be: it is failed');
  });

  it('comes with a warning of what has no effect, and of models that may refuse', async () => {
    const server = spec(url, {
      approval: 'never',
      era: 'legacy',
      timeouts: { call: 1 },
      tools: { alias: { a: 'b' } },
    });
    const gemini = { ...model('gemini-interactions'), name: 'gemini-interactions:gemini-3.8-flash' };
    const { warnings } = await delegate([server], gemini, deps);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/`tools.alias`, `era`, `timeouts` of its configuration have no effect/);
    expect(warnings[0]).toContain('first had no connector for gemini-3.8-flash');
  });

  it('has a name that its API takes, another for each label, and the same in every run', async () => {
    const forms: [DialectId, RegExp][] = [
      ['openai-responses', /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/],
      ['anthropic', /^[a-zA-Z0-9_-]{1,64}$/],
      ['gemini-interactions', /^[a-z][a-z0-9_]{0,63}$/],
    ];
    const label = fc.string({
      minLength: 1,
      maxLength: 100,
      unit: fc.constantFrom('a', 'A', '-', '_', '.', ' ', '7', 'é'),
    });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(label, { minLength: 1, maxLength: 5 }), async (labels) => {
        const specs = labels.map((each) => ({ ...spec(url), approval: 'never' as const, label: each }));
        for (const [dialect, form] of forms) {
          const { servers, labels: back } = await delegate(specs, model(dialect), deps);
          expect(servers.map(({ name }) => back.get(name))).toEqual(labels);
          for (const { name } of servers) expect(name).toMatch(form);
          const again = await delegate(specs.toReversed(), model(dialect), deps);
          expect(again.servers.map(({ name }) => name).sort()).toEqual(
            servers.map(({ name }) => name).sort(),
          );
        }
      }),
      { numRuns: 60 },
    );
  });
});
