import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { apis } from '../emulators/apis.ts';
import type { EmulatorScript } from '../emulators/server.ts';
import { emulator, honestOverHttp } from '../delegation/support.ts';
import { type Project, project } from './midspan.ts';

interface Way {
  id: string;
  problem?: string;
  tokens?: { count: number; exact: boolean };
  measured?: { milliseconds: number; turns: number; calls: number; reason: string };
  notMeasured?: string;
  loses: string[];
}

const waysOf = (out: string): Record<string, Way> =>
  Object.fromEntries((JSON.parse(out) as { ways: Way[] }).ways.map((way) => [way.id, way]));

async function withRemote(more: object): Promise<Project> {
  return project({ far: { url: await honestOverHttp(), ...more } });
}

async function openai(script: EmulatorScript): Promise<Record<string, string>> {
  const api = apis.find(({ name }) => name === 'openai');
  if (api === undefined) throw new Error('there is no emulator of OpenAI');
  const { url, key } = await emulator(api, script);
  return { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` };
}

describe('midspan compare', () => {
  it('estimates and says what is lost, without a key or a prompt', async () => {
    const { midspan } = await withRemote({});
    const { code, out } = await midspan(['compare', 'far', '--model', 'openai:gpt-6-astra', '--json']);
    expect(code).toBe(0);
    const result = JSON.parse(out) as Record<string, unknown>;
    expect(result).toMatchObject({
      label: 'far',
      model: 'openai:gpt-6-astra',
      dialect: 'openai-responses',
      tools: 9,
    });
    const { native, host, provider } = waysOf(out);
    expect(native?.tokens).toEqual({ count: expect.any(Number), exact: false });
    expect(native?.tokens?.count).toBeGreaterThan(100);
    expect(host?.tokens).toEqual(native?.tokens);
    expect(host?.notMeasured).toBe('there is no key: OPENAI_API_KEY is not set');
    expect(provider?.problem).toContain('OpenAI cannot reach 127.0.0.1');
    expect(provider?.loses).toContain('images in results: text only');
    expect(host?.loses.join()).not.toContain('images');
    expect(result['features']).toContainEqual({
      name: 'approval of each call',
      native: { kept: 'yours' },
      host: expect.objectContaining({ kept: 'partly' }),
      provider: { kept: 'yes' },
    });
  });

  it('measures a real run on each way, where the configuration leaves the server to the provider', async () => {
    const { midspan, folder } = await withRemote({ via: 'provider', approval: 'never' });
    const env = await openai((body) => {
      const text = JSON.stringify(body);
      if (text.includes('function_call_output')) return { text: 'Heard.' };
      if (text.includes('"type":"mcp"'))
        return { mcp: [{ server: 'far', tool: 'echo', arguments: { text: 'x' } }], text: 'Heard.' };
      return { calls: [{ name: 'far__echo', arguments: { text: 'x' } }] };
    });
    const words = ['compare', 'far', '--model', 'openai:gpt-6-astra', '--prompt', 'Echo x.'];
    const { code, out, err } = await midspan([...words, '--json'], { env });
    expect([code, err]).toEqual([0, '']);
    const { native, host, provider } = waysOf(out);
    expect(native?.measured).toMatchObject({ turns: 1, reason: 'max-calls' });
    expect(host?.measured).toMatchObject({ turns: 2, calls: 1, reason: 'complete' });
    expect(provider?.measured).toMatchObject({ turns: 1, calls: 1, reason: 'complete' });
    expect(provider?.tokens).toEqual({ count: expect.any(Number), exact: false });
    const people = await midspan(words, { env });
    expect(people.out).toMatch(/measured +\d+ ms, 1 turns.+\d+ ms, 2 turns, 1 calls/);
    expect(people.out).toMatch(/images in results +yes +yes +no/);
    const store = await readFile(path.join(folder, '.midspan', 'usage.json'), 'utf8').catch(() => '{}');
    expect(store).not.toContain(env['OPENAI_API_KEY']);
  });

  it('does not measure what waits for a person, or what the configuration does not allow', async () => {
    const env = await openai(() => ({ text: 'Nothing to do.' }));
    const words = ['compare', 'far', '--model', 'openai:gpt-6-astra', '--prompt', 'Go.', '--json'];
    const asked = waysOf((await (await withRemote({ via: 'provider' })).midspan(words, { env })).out);
    expect(asked['provider']?.notMeasured).toContain('wait for a person');
    const own = waysOf((await (await withRemote({})).midspan(words, { env })).out);
    expect(own['provider']?.notMeasured).toContain('does not leave the server to a provider');
    expect(own['host']?.measured).toMatchObject({ reason: 'complete' });
  });

  it('knows servers and models that cannot be compared', async () => {
    const { midspan } = await project();
    const stdio = await midspan(['compare', 'test', '--model', 'anthropic:claude-opus-5-5', '--json']);
    expect(waysOf(stdio.out)['provider']?.problem).toContain('runs on this machine');
    const chat = await midspan(['compare', 'test', '--model', 'openai-chat:some', '--json']);
    expect(waysOf(chat.out)['provider']?.problem).toContain('has no connector');
    expect((await midspan(['compare', 'nobody', '--model', 'openai:gpt-6-astra'])).code).toBe(2);
    expect((await midspan(['compare', 'test', '--model', 'nonsense'])).code).toBe(2);
  });
});

describe('a server that is left to providers', () => {
  it('is shown by midspan servers with the providers that can have it, and why others cannot', async () => {
    const { midspan } = await project({
      far: { url: 'https://127.0.0.1:9/mcp', via: 'provider', timeouts: { start: 1000 } },
    });
    const { out, err, code } = await midspan(['servers', '--json']);
    const { servers } = JSON.parse(out) as { servers: { label: string; providers?: object[] }[] };
    expect(servers.find(({ label }) => label === 'test')?.providers).toBeUndefined();
    expect(servers.find(({ label }) => label === 'far')?.providers).toMatchObject([
      { dialect: 'openai-responses', provider: 'OpenAI', problem: expect.stringContaining('cannot reach') },
      { dialect: 'anthropic', provider: 'Anthropic' },
      { dialect: 'gemini-interactions', provider: 'Google' },
    ]);
    expect([code, err]).toEqual([4, '']);
    expect((await midspan(['servers'])).err).toContain("far is left to the model's provider in runs:");
  });

  it('is called by midspan call without a question, and by the provider in midspan run', async () => {
    const { midspan, folder } = await withRemote({ via: 'provider', approval: 'never' });
    const called = await midspan(['call', 'far', 'echo', 'text=hi']);
    expect([called.code, called.out]).toEqual([0, 'hi\n']);
    await writeFile(path.join(folder, 'prompt.txt'), 'Go.');
    const env = await openai(() => ({
      mcp: [{ server: 'far', tool: 'echo', arguments: { text: 'hi' } }],
      text: 'Said.',
    }));
    const { code, out, err } = await midspan(['run', '--model', 'openai:gpt-6-astra', 'Go.'], { env });
    expect([code, out]).toEqual([0, 'Said.\n']);
    expect(err).toContain('call  far__echo {"text":"hi"}, by the provider');
    expect(err).toContain('far: OpenAI connects to it itself');
  });
});
