import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { project } from './midspan.ts';

const json = (text: string): unknown => JSON.parse(text);

describe('midspan', () => {
  it('shows help with examples for itself and every command, and its version', async () => {
    const { midspan } = await project();
    for (const words of [
      ['--help'],
      ['servers', '--help'],
      ['tools', '--help'],
      ['cost', '--help'],
      ['call', '--help'],
      ['run', '--help'],
    ]) {
      const { code, out, err } = await midspan(words);
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain('Examples:\n  $ midspan ');
    }
    expect(await midspan(['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it('leaves with 2 for a wrong command line and says what was probably meant', async () => {
    const { midspan } = await project();
    expect(await midspan([])).toMatchObject({ code: 2, out: '' });
    expect(await midspan(['tolls'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('Did you mean tools?'),
    });
    expect(await midspan(['tools', '--fro', 'x'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--for'),
    });
    expect(await midspan(['tools', '--for', 'x'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('anthropic'),
    });
    expect(await midspan(['run', 'x'])).toMatchObject({ code: 2, err: expect.stringContaining('--model') });
  });

  it('does not say that nothing is recorded when no run was asked for', async () => {
    const { midspan } = await project();
    const { code, err } = await midspan(['runs', '--limit', '0']);
    expect(code).toBe(2);
    expect(err).toContain('at least 1');
  });

  it('leaves with 2 for a wrong configuration, and starts nothing', async () => {
    const { midspan, log } = await project({ bad: { comand: 'x' } });
    const { code, out, err } = await midspan(['servers']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('mcpServers.bad.comand: unknown key; did you mean "command"?');
    expect(await log()).toEqual([]);
  });
});

describe('midspan servers', () => {
  it('leaves with 4 when a server is up but its tools cannot be listed, and says so once', async () => {
    const raw = fileURLToPath(new URL('../fixtures/servers/raw.mjs', import.meta.url));
    const { midspan } = await project({ raw: { command: process.execPath, args: [raw, 'list is no list'] } });
    for (const words of [['servers'], ['tools']]) {
      const { code, err } = await midspan(words);
      expect(code).toBe(words[0] === 'servers' ? 4 : 0);
      expect(err.match(/^warning/gm)).toHaveLength(1);
      expect(err).toContain('raw: it answered tools/list with something that is not a list of tools');
    }
  });

  it('says what every server is, as JSON', async () => {
    const { midspan, folder } = await project({ off: { command: 'x', disabled: true } });
    const { code, out, err } = await midspan(['servers', '--json']);
    expect([code, err]).toEqual([0, '']);
    expect(json(out)).toEqual({
      config: { path: path.join(folder, 'midspan.json'), format: 'midspan' },
      servers: [
        {
          label: 'test',
          status: 'ready',
          transport: 'stdio',
          era: 'legacy',
          protocolVersion: '2025-11-25',
          name: 'test',
          version: '1',
          tools: 6,
          tokens: expect.any(Number),
        },
        { label: 'off', status: 'disabled', transport: 'stdio' },
      ],
      totals: { tools: 6, tokens: expect.any(Number) },
    });
  });

  it('leaves with 4 when one cannot be reached, and shows the others', async () => {
    const { midspan } = await project({ gone: { command: 'no-such-program-anywhere' } });
    const { code, out, err } = await midspan(['servers']);
    expect(code).toBe(4);
    expect(out).toMatch(/test +ready +stdio +legacy +2025-11-25 +6/);
    expect(out).toMatch(/gone +failed/);
    expect(err).toContain('gone: ');
    const asJson = json((await midspan(['servers', '--json'])).out) as { servers: { error?: object }[] };
    expect(asJson.servers[1]?.error).toEqual({
      code: 'unreachable',
      message: expect.stringContaining('gone: '),
    });
  });
});

describe('midspan tools', () => {
  it('prints definitions as an API takes them', async () => {
    const { midspan } = await project();
    const anthropic = json((await midspan(['tools', '--for', 'anthropic', '--json'])).out) as {
      tools: { name: string; input_schema: { type: string } }[];
    };
    expect(Object.keys(anthropic)).toEqual(['dialect', 'tools', 'report']);
    expect(anthropic.tools.map(({ name }) => name)).toEqual([
      'read_result',
      'test__echo',
      'test__fail',
      'test__hostile',
      'test__long',
      'test__refuse',
      'test__slow',
    ]);
    expect(anthropic.tools.every(({ input_schema }) => input_schema.type === 'object')).toBe(true);
    const openai = json((await midspan(['tools', '--for', 'openai-responses', '--json'])).out);
    expect(openai).toMatchObject({
      tools: [{}, { type: 'function', name: 'test__echo' }, {}, {}, {}, {}, {}],
    });
    const mcp = json((await midspan(['tools', '--for', 'mcp', '--json'])).out);
    expect(mcp).toMatchObject({
      dialect: 'mcp',
      tools: [{ name: 'read_result' }, { name: 'test__echo', inputSchema: {} }, {}, {}, {}, {}, {}],
    });
    const plain = json((await midspan(['tools', '--json'])).out);
    expect(plain).toMatchObject({
      tools: [{ label: null }, { name: 'test__echo', label: 'test', tool: 'echo' }, {}, {}, {}, {}, {}],
      hidden: [],
    });
  });

  it('says why a name is shown or not', async () => {
    const { midspan } = await project();
    expect((await midspan(['tools', '--why', 'test__echo'])).out).toContain('test__echo is shown');
    expect(json((await midspan(['tools', '--why', 'test__ecko', '--json'])).out)).toEqual({
      name: 'test__ecko',
      why: expect.stringContaining('test__echo'),
    });
  });

  it('prints what it has and tells beside it what is missing', async () => {
    const { midspan } = await project({ gone: { command: 'no-such-program-anywhere' } });
    const { code, out, err } = await midspan(['tools']);
    expect(code).toBe(0);
    expect(out).toContain('test__echo');
    expect(err).toContain('failed gone: ');
  });

  it('shows hostile text in full and lets none of it act', async () => {
    const { midspan } = await project();
    const shown = await Promise.all(
      [
        ['tools'],
        ['tools', '--for', 'mcp'],
        ['tools', '--json'],
        ['call', 'test', 'hostile'],
        ['call', 'test', 'hostile', '--json'],
      ].map((words) => midspan(words)),
    );
    for (const { out } of shown) {
      expect(out).toContain('fake line');
      expect(out).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}|\u200B/u);
    }
    // Definitions are shown as they are, drawn; results lose such bytes on their way through the host.
    expect(shown[0]?.out).toContain('\\u{202e}');
    expect(shown[3]?.out).toBe('first\n\nfake linetxt\n');
  });
});

describe('midspan call', () => {
  it('types arguments by the schema and starts only the server that it needs', async () => {
    const { midspan, folder } = await project({ gone: { command: 'no-such-program-anywhere' } });
    await writeFile(path.join(folder, 'a.txt'), 'from a file');
    const { code, out, err } = await midspan([
      'call',
      'test',
      'echo',
      'text=@a.txt',
      'times=2',
      'list=1',
      'list=2.5',
      '--json',
    ]);
    expect([code, err]).toEqual([0, '']);
    expect(json(out)).toMatchObject({ structuredContent: { text: 'from a file', times: 2, list: [1, 2.5] } });
  });

  it('takes arguments as JSON, also from standard input', async () => {
    const { midspan } = await project();
    const direct = await midspan(['call', 'test', 'echo', '--args', '{"text":"x"}']);
    expect(direct).toMatchObject({ code: 0, out: '{"text":"x"}\n' });
    const piped = await midspan(['call', 'test', 'echo', 'times=3', '--args', '-'], {
      input: '{"text":"y"}',
    });
    expect(piped).toMatchObject({ code: 0, out: '{"text":"y","times":3}\n' });
  });

  it('leaves with 5 for a tool error and prints it', async () => {
    const { midspan } = await project();
    expect(await midspan(['call', 'test', 'fail'])).toMatchObject({ code: 5, out: 'it went wrong\n' });
    const asJson = await midspan(['call', 'test', 'fail', '--json']);
    expect(asJson).toMatchObject({ code: 5, err: '' });
    expect(json(asJson.out)).toEqual({ content: [{ type: 'text', text: 'it went wrong' }], isError: true });
    expect(await midspan(['call', 'test', 'refuse'])).toMatchObject({
      code: 5,
      out: '',
      err: expect.stringContaining('the server will not'),
    });
  });

  it.each<[string[], number, string]>([
    [['tset', 'echo'], 2, 'Configured are: test, gone'],
    [['test', 'ecko'], 2, 'the server has no tool "ecko"; did you mean "echo"?'],
    [['test', 'echo', 'times=x', 'text=y'], 2, 'times must be an integer'],
    [['test', 'echo'], 2, 'text'],
    [['gone', 'x'], 4, 'gone: '],
  ])('leaves with its own code for %j', async (words, code, message) => {
    const { midspan } = await project({ gone: { command: 'no-such-program-anywhere' } });
    expect(await midspan(['call', ...words])).toMatchObject({
      code,
      out: '',
      err: expect.stringContaining(message),
    });
  });
});

describe('pipes', () => {
  it('end quietly when the reader leaves', async () => {
    const { shell, log } = await project();
    expect(await shell('midspan call test long | head -1')).toEqual({
      code: 0,
      out: 'a line of the result\n',
      err: '',
    });
    const [, pid] = ((await log())[0] ?? '').split(' ');
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  it('get the whole result', async () => {
    const { shell } = await project();
    expect((await shell('midspan call test long | wc -l')).out.trim()).toBe('10000');
  });
});
