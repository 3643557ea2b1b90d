import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { apis } from '../emulators/apis.ts';
import { emulator } from '../delegation/support.ts';
import type { EmulatorScript } from '../emulators/server.ts';
import { type Project, project } from './midspan.ts';

const turns = {
  good: [
    {
      text: 'Looking.',
      calls: [
        { name: 'test__echo', arguments: { text: 'one' } },
        { name: 'test__fail', arguments: {} },
      ],
    },
    { text: 'Done \u001B[2Jwith it.' },
  ],
  slow: [{ calls: [{ name: 'test__slow', arguments: {} }] }, { text: 'never' }],
};

async function scripted(name: keyof typeof turns): Promise<Project> {
  const made = await project();
  await writeFile(path.join(made.folder, 'script.json'), JSON.stringify({ turns: turns[name] }));
  return made;
}

/** What a run says of a configuration that has its checks turned off, as that of these tests has. */
const UNCHECKED =
  'warning Definitions are neither compared nor scanned: `trust.mode` is `off` in the configuration.\n';

const events = (out: string): { type: string; [member: string]: unknown }[] =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });

describe('midspan run', () => {
  it('prints one event a line and ends with the reason', async () => {
    const { midspan } = await scripted('good');
    const { code, out, err } = await midspan(['run', '--model', 'script:script.json', '--json', 'go']);
    expect([code, err]).toEqual([0, UNCHECKED]);
    const all = events(out);
    expect(all.filter(({ type }) => type === 'call.started')).toHaveLength(2);
    expect(all.at(-1)).toMatchObject({ type: 'end', reason: 'complete', turns: 2, calls: 2 });
  });

  it('writes the answer to stdout and everything else beside it', async () => {
    const { midspan } = await scripted('good');
    const { code, out, err } = await midspan(['run', '--model', 'script:script.json', 'go']);
    expect(code).toBe(0);
    expect(out).toBe('Looking.\nDone \\x1b[2Jwith it.\n');
    expect(err).toContain('call  test__echo {"text":"one"}');
    expect(err).toMatch(/error test__fail, \d+ ms/);
    expect(err).toContain('2 turns, 2 calls');
  });

  it('takes the prompt from standard input, with a dash or with nothing', async () => {
    const { midspan } = await scripted('good');
    for (const words of [['-'], []]) {
      const { code } = await midspan(['run', '--model', 'script:script.json', ...words], { input: 'go' });
      expect(code).toBe(0);
    }
    expect(await midspan(['run', '--model', 'script:script.json'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('there is no prompt'),
    });
  });

  it('keeps its limits and leaves with 1 when one is reached', async () => {
    const { midspan } = await scripted('good');
    const { code, out } = await midspan([
      'run',
      '--model',
      'script:script.json',
      '--max-turns',
      '1',
      '--json',
      'go',
    ]);
    expect(code).toBe(1);
    expect(events(out).at(-1)).toMatchObject({ type: 'end', reason: 'max-turns' });
    expect(await midspan(['run', '--model', 'script:script.json', '--max-turns', 'x', 'go'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('It must be a whole number.'),
    });
  });

  it('leaves with 2 for a model that does not exist', async () => {
    const { midspan } = await scripted('good');
    const { code, out, err } = await midspan(['run', '--model', 'nonsense', 'go']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('"nonsense" does not name a model');
  });

  it('cancels the call and the run at Ctrl-C, and still ends with its reason', async () => {
    const { terminal, log } = await scripted('slow');
    const { shows, type, ended } = terminal(['run', '--model', 'script:script.json', '--json', 'go']);
    await shows('call.progress');
    type('\u0003');
    await shows('Canceling. Press Ctrl-C again to leave at once.');
    await shows('"type":"end","reason":"aborted"');
    expect((await ended).code).toBe(130);
    const lines = await log();
    expect(lines).toContain('cancelled');
    expect(existsSync(`/proc/${(lines[0] ?? '').split(' ')[1]}`)).toBe(false);
  });

  it('stops working when nobody reads on', async () => {
    const { shell, log } = await scripted('slow');
    const { code, out } = await shell('midspan run --model script:script.json --json go | head -1');
    expect([code, out.split('\n')]).toEqual([0, [expect.stringContaining('"type"'), '']]);
    expect(existsSync(`/proc/${((await log())[0] ?? '').split(' ')[1]}`)).toBe(false);
  });
});

async function chat(script: EmulatorScript) {
  const api = apis.find(({ name }) => name === 'openai-chat');
  if (api === undefined) throw new Error('there is no emulator of Chat Completions');
  return emulator(api, script);
}

describe('midspan run without a model', () => {
  /** Nothing is looked for on the ports of this machine. */
  const nowhere = { MIDSPAN_LOCAL_PORTS: '' };

  it('takes the one that MIDSPAN_MODEL names, and says so', async () => {
    const { midspan } = await scripted('good');
    const env = { ...nowhere, MIDSPAN_MODEL: 'script:script.json' };
    const { code, out, err } = await midspan(['run', 'go'], { env });
    expect([code, out]).toEqual([0, 'Looking.\nDone \\x1b[2Jwith it.\n']);
    expect(err).toContain('model script:script.json (MIDSPAN_MODEL is set)');
  });

  it('takes that of the server at the base URL, and keeps stdout clean', async () => {
    const { url, key, requests } = await chat([{ text: 'Hello.' }]);
    const { midspan } = await project();
    const env = { ...nowhere, OPENAI_API_KEY: key, OPENAI_MODEL: 'some-model' };
    const words = ['run', '--base-url', `${url}/v1`, '--json', 'go'];
    const { code, out, err } = await midspan(words, { env });
    expect(code).toBe(0);
    expect(err).toBe(`model openai-chat:some-model (the base URL and OPENAI_MODEL are set)\n${UNCHECKED}`);
    expect(events(out).at(-1)).toMatchObject({ type: 'end', reason: 'complete' });
    expect(requests.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
  });

  it('lists what to set when there is none, and leaves with 2', async () => {
    const { midspan } = await project();
    const { code, out, err } = await midspan(['run', 'go'], { env: nowhere });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('there is no model: none is named or configured, and no local server answers');
    expect(err).toContain(
      'set one of MIDSPAN_MODEL, ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENAI_BASE_URL',
    );
  });
});

describe('what midspan run asks of a model', () => {
  it('is a choice, no parallel calls and a limit of rounds', async () => {
    const again = { calls: [{ name: 'test__echo', arguments: { text: 'x' } }] };
    const { url, key, requests } = await chat(() => again);
    const { midspan } = await project();
    const words = ['run', '--model', 'openai-chat:some-model', '--base-url', `${url}/v1`, '--json'];
    const asking = ['--choice', 'test__echo', '--no-parallel', '--max-rounds', '3', 'go'];
    const { code, out } = await midspan([...words, ...asking], { env: { OPENAI_API_KEY: key } });
    expect(code).toBe(1);
    expect(events(out).at(-1)).toMatchObject({ type: 'end', reason: 'loop', turns: 3 });
    expect(requests[0]?.body).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'test__echo' } },
      parallel_tool_calls: false,
    });
    expect(requests[1]?.body).toMatchObject({ tool_choice: 'auto' });
  });

  it('is nothing that is not there', async () => {
    const { midspan } = await scripted('good');
    const { code, err } = await midspan([
      'run',
      '--model',
      'script:script.json',
      '--choice',
      'test__ecko',
      'go',
    ]);
    expect(code).toBe(2);
    expect(err).toContain('nor a tool that is there; did you mean "test__echo"?');
  });

  it('comes from a model whose form the help lists', async () => {
    const { midspan } = await project();
    const { out } = await midspan(['run', '--help']);
    for (const form of ['anthropic', 'openai', 'openai-chat', 'gemini', 'gemini-interactions'])
      expect(out).toContain(`  ${form}:<model>`);
    expect(out).toContain('script:<file>');
  });
});
