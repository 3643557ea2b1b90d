import { describe, expect, it, onTestFinished } from 'vitest';
import { COUNTING_KEY, startCounting } from '../emulators/counting.ts';
import { project } from './midspan.ts';

const json = (text: string): unknown => JSON.parse(text);
const second = { command: process.execPath, args: [new URL('server.mjs', import.meta.url).pathname] };

describe('midspan tools --report', () => {
  it('tells every change in words, and first and loudly what had to be left out', async () => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`more${index}`, second]));
    const { midspan } = await project({ ...many, last: { ...second, tools: { allow: ['echo'] } } });
    const { code, out, err } = await midspan(['tools', '--for', 'openai-chat', '--report']);
    expect(code).toBe(0);
    // 1 native function and 6 * 22 + 1 tools, of which the API takes 128.
    expect(out).toMatch(
      /^LEFT OUT \(6\)\n  more20__fail is not shown to the model\n    the API takes at most 128 tools/,
    );
    expect(out).toMatch(/\nADAPTED \(\d+\)\n|\nEXACT \(\d+\)\n/);
    expect(err).toContain('left out last__echo: the API takes at most 128 tools in one request\n');
    expect(err).toMatch(/128 tools, about \d+ tokens in every request\.\n$/);
  });

  it('says why the strict mode could not be had, by the flag or by the configuration', async () => {
    const { midspan } = await project({ other: { ...second, tools: { strict: ['e*'] } } });
    const words = ['tools', '--for', 'gemini', '--strict', 'test__fail', '--json'];
    const { report } = json((await midspan(words)).out) as {
      report: { name: string; label: string | null; tool: string; status: string; changes: string[] }[];
    };
    expect(report.filter(({ changes }) => changes.join().includes('strict')).map(({ name }) => name)).toEqual(
      ['test__fail', 'other__echo'],
    );
    expect(report[0]).toMatchObject({ name: 'read_result', label: null, tool: 'read_result', renamed: {} });
    expect(report[1]).toMatchObject({ name: 'test__echo', label: 'test', tool: 'echo' });
    const strict = json(
      (await midspan(['tools', '--for', 'anthropic', '--strict', 'test__*', '--json'])).out,
    );
    const { tools } = strict as { tools: { name: string; strict?: boolean }[] };
    expect(
      tools.filter((tool) => tool.strict === true).every(({ name }) => /^(test__|other__e)/.test(name)),
    ).toBe(true);
    expect(tools.find(({ name }) => name === 'test__echo')?.strict).toBe(true);
  });

  it('leaves with 2 without an API', async () => {
    const { midspan } = await project();
    expect(await midspan(['tools', '--report'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--report --for anthropic'),
    });
  });
});

describe('midspan cost', () => {
  it('estimates by server, says so, and names what was never used', async () => {
    const { midspan } = await project({ off: { command: 'x', disabled: true } });
    const first = await midspan(['cost', '--for', 'gemini']);
    expect(first.code).toBe(0);
    expect(first.out).toMatch(/test +6 +~\d+ +\d+\.\d % +- +-\n/);
    expect(first.out).toContain('No call was counted yet.');
    expect(first.err).toContain('Tokens with ~ are estimated: no model is named.');
    await midspan(['call', 'test', 'echo', 'text=x']);
    const { out } = await midspan(['cost']);
    expect(out).toContain('Never used of test: fail, hostile, long, refuse, slow.');
    expect(out).toMatch(/Prompt cache: the tools alone are shorter than the 1024 tokens/);
  });

  it('prints every configured server as JSON', async () => {
    const { midspan } = await project({ gone: { command: 'no-such-program-anywhere' } });
    const { code, out, err } = await midspan(['cost', '--for', 'openai-responses', '--json']);
    expect([code, err]).toEqual([0, expect.stringContaining('failed gone: ')]);
    expect(json(out)).toEqual({
      dialect: 'openai-responses',
      exact: false,
      reason: 'no model is named',
      servers: [
        {
          label: 'test',
          state: 'ready',
          tools: 6,
          tokens: expect.any(Number),
          exact: false,
          byTool: expect.arrayContaining([
            { name: 'test__echo', tool: 'echo', status: 'exact', tokens: expect.any(Number), calls: 0 },
          ]),
          unused: ['echo', 'fail', 'hostile', 'long', 'refuse', 'slow'],
          instructions: 0,
        },
        {
          label: 'gone',
          state: 'failed',
          tools: 0,
          tokens: 0,
          exact: true,
          byTool: [],
          unused: [],
          instructions: 0,
        },
      ],
      native: { tools: 1, tokens: expect.any(Number), exact: false, byTool: [expect.any(Object)] },
      overhead: { exact: false },
      total: expect.any(Number),
      cache: {
        write: 1,
        read: 0.1,
        minimum: 1024,
        source: expect.any(String),
        hit: expect.any(Number),
        miss: expect.any(Number),
        difference: expect.any(Number),
        longEnough: false,
      },
      context: { window: 200_000, assumed: true, share: expect.any(Number) },
    });
  });

  it('lets the provider of a model count, and never shows the key', async () => {
    const emulator = await startCounting();
    onTestFinished(() => emulator.close());
    const { midspan } = await project();
    const env = { ANTHROPIC_API_KEY: COUNTING_KEY, ANTHROPIC_BASE_URL: emulator.url };
    const { code, out, err } = await midspan(['cost', '--model', 'anthropic:claude-opus-4-8'], { env });
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/test +6 +\d+ /);
    expect(out).toMatch(/Total for claude-opus-4-8: \d+ tokens in every request; 321 of them/);
    expect(out).toContain('of a context window of 1000000 tokens.');
    const wrong = await midspan(['cost', '--model', 'anthropic:claude-opus-4-8'], {
      env: { ...env, ANTHROPIC_API_KEY: 'sk-wrong-secret' },
    });
    expect(wrong).toMatchObject({ code: 0, err: expect.stringContaining('the provider did not count') });
    expect(wrong.out + wrong.err).not.toContain('sk-wrong-secret');
  });

  it('leaves with 2 for a name of no API, and for an API beside a model', async () => {
    const { midspan } = await project();
    expect(await midspan(['cost', '--model', 'nothing'])).toMatchObject({ code: 2, out: '' });
    expect(await midspan(['cost', '--model', 'openai:gpt-5', '--for', 'gemini'])).toMatchObject({ code: 2 });
  });
});
