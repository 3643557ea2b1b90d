import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_COUNTED } from '../../src/host/cost.ts';
import { type Host, openHost } from '../../src/index.ts';
import { factsOf } from '../../src/models/facts.ts';
import { COUNTING_KEY, countOf, OVERHEAD, startCounting } from '../emulators/counting.ts';
import { startLarge } from './large.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const honest = { command: process.execPath, args: [fixture('servers/honest.mjs')] };
const odd = { command: process.execPath, args: [fixture('host/odd.mjs')] };
const gone = { command: process.execPath, args: ['-e', 'process.exit(3)'] };
const off = { command: 'no-such-command', disabled: true };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

/** In a folder of its own, so that calls are counted. */
async function host(mcpServers: Record<string, object>, env: Record<string, string> = {}): Promise<Host> {
  const path = join(mkdtempSync(join(tmpdir(), 'midspan-cost-')), 'midspan.json');
  writeFileSync(path, JSON.stringify({ policy: 'allow', trust: { mode: 'off' }, mcpServers }));
  const opened = await openHost(path, { env });
  open.push(opened);
  return opened;
}

/** The environment that leads all APIs to one emulator. */
const leadingTo = (url: string): Record<string, string> => ({
  ANTHROPIC_API_KEY: COUNTING_KEY,
  ANTHROPIC_BASE_URL: url,
  OPENAI_API_KEY: COUNTING_KEY,
  OPENAI_BASE_URL: `${url}/v1`,
  GEMINI_API_KEY: COUNTING_KEY,
  GOOGLE_GEMINI_BASE_URL: url,
});

const sum = (list: readonly { tokens: number }[]): number =>
  list.reduce((total, { tokens }) => total + tokens, 0);

describe('the cost of tools', () => {
  it('is estimated by server and tool without a model, for every API, and says so', async () => {
    const opened = await host({ h: honest, odd, gone, off });
    for (const dialect of [
      'anthropic',
      'openai-responses',
      'openai-chat',
      'gemini',
      'gemini-interactions',
    ] as const) {
      const cost = await opened.cost({ dialect });
      const { report } = opened.tools(dialect);
      expect(cost).toMatchObject({ dialect, exact: false, reason: 'no model is named', total: sum(report) });
      expect(cost.servers.map(({ label, state, tools, exact }) => [label, state, tools, exact])).toEqual([
        ['h', 'ready', 9, false],
        ['odd', 'ready', 4, false],
        ['gone', 'failed', 0, true],
        ['off', 'disabled', 0, true],
      ]);
      expect(sum([...cost.servers, cost.native])).toBe(cost.total);
      expect(cost.native.byTool.map(({ name }) => name)).toEqual(['read_result']);
      for (const { byTool, tokens } of cost.servers) expect(sum(byTool)).toBe(tokens);
      expect(cost.cache).toMatchObject({
        miss: Math.round(cost.total * cost.cache.write),
        hit: Math.round(cost.total * cost.cache.read),
        difference: cost.cache.miss - cost.cache.hit,
        longEnough: cost.total >= cost.cache.minimum,
        source: expect.stringMatching(/^https:/) as string,
      });
      expect(cost.context).toEqual({ window: 200_000, assumed: true, share: cost.total / 200_000 });
    }
    const [first] = (await opened.cost()).servers;
    expect(first?.instructions).toBeGreaterThan(3); // 'Use echo to hear yourself.'
  });

  it('names the tools that no call has reached yet', async () => {
    const opened = await host({ h: honest, odd });
    expect((await opened.cost()).countedSince).toBeUndefined();
    await opened.call({ name: 'h__echo', arguments: { text: 'x' } });
    await opened.call({ name: 'odd__silent', arguments: {} });
    const cost = await opened.cost();
    expect(cost.countedSince).toBeGreaterThan(0);
    const [h, other] = cost.servers;
    expect(h?.unused).not.toContain('echo');
    expect(h?.unused).toContain('grow');
    expect(h?.byTool.find(({ tool }) => tool === 'echo')?.calls).toBe(1);
    expect(other?.unused).toEqual(['liar', 'optional', 'remote']);
  });

  it('knows nothing of use where nothing counts, and says nothing is unused', async () => {
    const opened = await openHost({ trust: { mode: 'off' }, mcpServers: { odd } }, { env: {} });
    open.push(opened);
    const [server] = (await opened.cost()).servers;
    expect([server?.unused, server?.byTool[0]?.calls]).toEqual([[], undefined]);
  });
});

for (const [model, dialect] of [
  ['anthropic:claude-opus-4-8', 'anthropic'],
  ['openai:gpt-5.6', 'openai-responses'],
  ['gemini:gemini-3.8-flash', 'gemini'],
] as const) {
  describe(`counted by the provider of ${model}`, () => {
    it('is exact by server, with what the API adds told apart, in few requests', async () => {
      const emulator = await startCounting();
      open.push(emulator);
      const opened = await host({ h: honest, odd, gone }, leadingTo(emulator.url));
      const cost = await opened.cost({ model });
      expect(cost).toMatchObject({ dialect, model: model.split(':')[1], exact: true });
      expect(cost.reason).toBeUndefined();
      const { tools } = opened.tools(dialect);
      const flat = dialect === 'gemini' ? (tools[0]?.['functionDeclarations'] as typeof tools) : tools;
      const counted = (prefix: string): number =>
        flat
          .filter(({ name }) => (name as string).startsWith(prefix))
          .reduce((total, tool) => total + countOf(tool), 0);
      expect(cost.servers.map(({ tokens, exact }) => [tokens, exact])).toEqual([
        [counted('h__'), true],
        [counted('odd__'), true],
        [0, true],
      ]);
      expect(cost.native.tokens).toBe(counted('read_result'));
      expect(cost.overhead).toMatchObject({ tokens: OVERHEAD, exact: true });
      expect(cost.total).toBe(counted('') + OVERHEAD);
      for (const { byTool, tokens } of cost.servers) {
        expect(Math.abs(sum(byTool) - tokens)).toBeLessThanOrEqual(byTool.length);
      }
      expect(emulator.requests.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 200));
      expect(JSON.stringify(cost)).not.toContain(COUNTING_KEY);
    });

    it('is estimated with the reason when there is no key, or no such endpoint', async () => {
      const keyless = await host({ odd });
      expect(await keyless.cost({ model })).toMatchObject({
        exact: false,
        reason: expect.stringMatching(/^[A-Z]+_API_KEY is not set$/) as string,
      });
      const emulator = await startCounting({ broken: true });
      open.push(emulator);
      const opened = await host({ odd }, leadingTo(emulator.url));
      const cost = await opened.cost({ model });
      expect(cost).toMatchObject({ exact: false, reason: expect.stringContaining('status 404') as string });
      expect(cost.total).toBeGreaterThan(0);
    });
  });
}

describe('counting', () => {
  it('cannot tell the only server and the API apart but by what is published', async () => {
    const emulator = await startCounting();
    open.push(emulator);
    const path = { trust: { mode: 'off' }, mcpServers: { odd } };
    const opened = await openHost(path, { env: leadingTo(emulator.url), readResult: false });
    open.push(opened);
    const known = await opened.cost({ model: 'anthropic:claude-opus-4-8' });
    expect(known.overhead).toMatchObject({ tokens: 290, forced: 410, exact: false });
    const unknown = await opened.cost({ model: 'openai:gpt-5.6' });
    expect(unknown.overhead).toEqual({ exact: false });
    const tokens = opened.tools('openai-responses').tools.reduce((total, tool) => total + countOf(tool), 0);
    expect([unknown.total, unknown.servers[0]?.tokens]).toEqual([tokens + OVERHEAD, tokens + OVERHEAD]);
  });

  it('does not go on without end: the servers after the first are estimated', async () => {
    const emulator = await startCounting();
    const large = await startLarge();
    open.push(emulator, large);
    const many = Array.from({ length: MAX_COUNTED + 1 }, (_, index) => [`s${index}`, { url: large.url }]);
    const opened = await host(Object.fromEntries(many) as Record<string, object>, leadingTo(emulator.url));
    const cost = await opened.cost({ model: 'anthropic:claude-opus-4-8' });
    expect(emulator.requests).toHaveLength(MAX_COUNTED + 2);
    expect(cost).toMatchObject({ exact: false, reason: expect.stringContaining('are estimated') as string });
    // The native function is counted first.
    expect(cost.servers.map(({ exact }) => exact)).toEqual([
      ...Array.from({ length: MAX_COUNTED - 1 }, () => true),
      false,
      false,
    ]);
    expect(cost.overhead).toMatchObject({ tokens: 290, exact: false });
  });

  it('ends with its signal, and refuses a name of no API', async () => {
    const emulator = await startCounting();
    open.push(emulator);
    const opened = await host({ odd }, leadingTo(emulator.url));
    await expect(opened.cost({ model: 'openai:gpt-5.6', signal: AbortSignal.abort() })).rejects.toMatchObject(
      { code: 'cancelled' },
    );
    await expect(opened.cost({ model: 'script:x.json' })).rejects.toMatchObject({ code: 'usage' });
    expect(await opened.cost({ model: 'openai-chat:some' })).toMatchObject({
      dialect: 'openai-chat',
      exact: false,
      reason: 'Chat Completions has no endpoint that counts',
    });
  });
});

describe('the facts of models', () => {
  it('are those of the right row', () => {
    const overhead = (model: string) => factsOf('anthropic', model).overhead?.usual;
    expect(
      [
        'claude-opus-5',
        'claude-opus-5-5',
        'claude-sonnet-5',
        'claude-opus-4-7',
        'claude-haiku-4-5-20251001',
      ].map(overhead),
    ).toEqual([286, undefined, 354, 675, 496]);
    expect(
      ['claude-opus-4-20250514', 'claude-opus-4-1', 'claude-sonnet-4-0', 'claude-fable-5'].map(overhead),
    ).toEqual([313, 313, 313, undefined]);
    const cache = (dialect: Parameters<typeof factsOf>[0], model: string) => {
      const { write, read, minimum } = factsOf(dialect, model).cache;
      return [write, read, minimum];
    };
    expect(cache('anthropic', 'claude-opus-5-5')).toEqual([1.25, 0.05, 512]);
    expect(cache('anthropic', 'claude-haiku-4-5')).toEqual([1.25, 0.1, 4096]);
    expect(cache('openai-responses', 'gpt-5.6')).toEqual([1.25, 0.1, 1024]);
    expect(cache('openai-responses', 'gpt-5')).toEqual([1, 0.1, 1024]);
    expect(cache('openai-chat', 'gpt-4.1')).toEqual([1, 0.25, 1024]);
    expect(cache('gemini', 'gemini-2.5-pro')).toEqual([1, 0.1, 2048]);
    const window = (model: string) => factsOf('anthropic', model).window;
    expect(
      ['claude-haiku-4-5', 'claude-opus-4-8', 'gpt-5.1', 'gpt-5.6', 'gemini-3.8-flash', 'odd'].map(window),
    ).toEqual([200_000, 1_000_000, 400_000, 1_050_000, 1_048_576, undefined]);
  });
});
