import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Ask,
  type Asks,
  type Host,
  type HostEvent,
  type Model,
  type NativeFunction,
  openHost,
  openModel,
  type OpenOptions,
  type Run,
} from '../../src/index.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const honest = { command: process.execPath, args: [fixture('servers/honest.mjs')] };
const late = { command: process.execPath, args: [fixture('host/late.mjs')] };
const odd = { command: process.execPath, args: [fixture('host/odd.mjs')] };

const open: Host[] = [];
async function host(mcpServers: Record<string, object>, options: OpenOptions = {}): Promise<Host> {
  const opened = await openHost(
    { policy: 'allow', trust: { mode: 'off' }, mcpServers },
    { env: { ...process.env }, ...options },
  );
  open.push(opened);
  return opened;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

const textOf = (outcome: { result: { content: { [member: string]: unknown }[] } }): string =>
  outcome.result.content.map(({ text }) => String(text)).join('\n');

describe('the catalog', () => {
  it('has natives first, then servers in configuration order, each sorted by name, whoever answered first', async () => {
    const natives: NativeFunction[] = [{ name: 'now', run: () => 'now' }];
    const first = await host({ slow: { ...late, env: { DELAY: '400' } }, quick: late }, { natives });
    const second = await host({ slow: late, quick: { ...late, env: { DELAY: '400' } } }, { natives });
    const names = first.catalog().entries.map(({ name }) => name);
    expect(names).toEqual(['now', 'read_result', 'slow__alpha', 'slow__zeta', 'quick__alpha', 'quick__zeta']);
    expect(JSON.stringify(second.catalog().entries)).toBe(JSON.stringify(first.catalog().entries));
    expect(JSON.stringify(second.tools('anthropic').tools)).toBe(
      JSON.stringify(first.tools('anthropic').tools),
    );
  });

  it('shows what globs allow and do not deny, under aliases, and says why the rest is hidden', async () => {
    const opened = await host({
      h: { ...honest, tools: { allow: ['e*', 'slow', 'fail'], deny: ['f*'], alias: { echo: 'say' } } },
    });
    expect(opened.catalog().entries.map(({ name }) => name)).toEqual(['read_result', 'say', 'h__slow']);
    expect(opened.catalog().why('h__fail')).toContain('denied by `tools.deny`');
    expect(opened.catalog().why('h__image')).toContain('not in `tools.allow`');
    expect(opened.catalog().why('say')).toContain('tool "echo" of server h');
    expect(opened.catalog().why('h__slw')).toContain('like it: h__slow');
    expect(textOf(await opened.call({ name: 'say', arguments: { text: 'hello' } }))).toBe('hello');
    const hidden = await opened.call({ label: 'h', tool: 'fail', arguments: {} });
    expect([hidden.status, textOf(hidden)]).toEqual(['refused', expect.stringContaining('hidden')]);
  });

  it('lets a native function win a name and reports the tool under another', async () => {
    const opened = await host({ h: honest }, { natives: [{ name: 'h__echo', run: () => 'native' }] });
    const renamed = opened.catalog().owned('h', 'echo');
    expect(renamed?.name).toMatch(/^h__echo_[0-9a-f]{8}$/);
    expect(textOf(await opened.call({ name: 'h__echo', arguments: {} }))).toBe('native');
    expect(textOf(await opened.call({ name: renamed?.name ?? '', arguments: { text: 'mcp' } }))).toBe('mcp');
  });

  it('asks for the strict mode where globs of the configuration or the caller say so', async () => {
    const opened = await host(
      { h: { ...honest, tools: { strict: ['ec*', 'none'] } } },
      { strict: ['h__slow', 'read_*'] },
    );
    const asked = opened.catalog().entries.filter(({ strict }) => strict === true);
    expect(asked.map(({ name }) => name)).toEqual(['read_result', 'h__echo', 'h__slow']);
    const report = (name: string, dialect: 'openai-responses' | 'gemini') =>
      opened.tools(dialect).report.find((entry) => entry.name === name);
    const tools = opened.tools('openai-responses').tools;
    expect(tools.filter(({ strict }) => strict === true).map(({ name }) => name)).toContain('h__echo');
    expect(report('h__echo', 'gemini')?.changes).toContain(
      'strict mode was asked for, and the API has none per tool',
    );
  });

  it('is compiled once for each dialect until it changes', async () => {
    const opened = await host({ h: honest });
    const before = opened.tools('anthropic');
    expect(opened.tools('anthropic')).toBe(before);
    const grown = changed(opened);
    await opened.call({ name: 'h__grow', arguments: {} });
    await grown;
    expect(opened.tools('anthropic').tools.length).toBe(before.tools.length + 1);
  });
});

/** Resolves at the next change of the catalog. */
function changed(opened: Host): Promise<void> {
  return new Promise((resolve) => {
    const stop = opened.on((event) => {
      if (event.type !== 'catalog') return;
      stop();
      resolve();
    });
  });
}

describe('a list that cannot be had', () => {
  it('is told once, in words, and is the error of its server', async () => {
    const told: string[] = [];
    const raw = { command: process.execPath, args: [fixture('servers/raw.mjs'), 'list is no list'] };
    const opened = await host(
      { raw },
      { onEvent: (event) => event.type === 'warning' && told.push(event.message) },
    );
    await opened.settled();
    expect(told).toEqual([expect.stringMatching(/^its tools could not be listed: it answered tools\/list/)]);
    expect(opened.servers()[0]?.error?.code).toBe('protocol');
  });
});

describe('a call', () => {
  it('is refused with one line to act on when its arguments do not fit, and never reaches the server', async () => {
    const opened = await host({ h: honest });
    const outcome = await opened.call({ name: 'h__echo', arguments: { text: 7 } });
    expect(outcome).toMatchObject({ status: 'refused', label: 'h', tool: 'echo', result: { isError: true } });
    expect(textOf(outcome)).toMatch(/`text` must be a string/);
  });

  it.each([undefined, null])('without arguments, or with %s for them, has none', async (none) => {
    const opened = await host(
      { honest },
      { natives: [{ name: 'count', run: (args) => Object.keys(args).length }] },
    );
    const given = none === undefined ? {} : { arguments: none };
    expect(textOf(await opened.call({ name: 'count', ...given }))).toBe('0');
    const { status, result } = await opened.call({ name: 'honest__echo', ...given });
    expect([status, result.isError]).toEqual(['refused', true]);
  });

  it('leaves out a null for an optional argument that may not be null, and says so', async () => {
    const warnings: HostEvent[] = [];
    const opened = await host(
      { odd },
      { onEvent: (event) => event.type === 'warning' && warnings.push(event) },
    );
    const outcome = await opened.call({
      name: 'odd__optional',
      arguments: { title: 'x', due: null, note: null },
    });
    expect(JSON.parse(textOf(outcome))).toEqual({ title: 'x', note: null });
    expect(warnings).toEqual([
      { type: 'warning', label: 'odd', message: expect.stringContaining('due') as string },
    ]);
  });

  it('to an unknown name is answered with names that are like it', async () => {
    const opened = await host({ h: honest });
    const outcome = await opened.call({ name: 'h__ecco', arguments: {} });
    expect([outcome.status, textOf(outcome)]).toEqual(['refused', expect.stringContaining('h__echo')]);
    const other = await opened.call({ label: 'x', tool: 'echo', arguments: {} });
    expect(textOf(other)).toContain('there is no server labeled x');
  });

  it('passes progress on and hands error results over as they are', async () => {
    const opened = await host({ h: honest });
    const seen: number[] = [];
    const outcome = await opened.call(
      { name: 'h__slow', arguments: { steps: 3, delay: 1 } },
      { onProgress: ({ progress }) => seen.push(progress) },
    );
    expect([outcome.status, seen]).toEqual(['done', [1, 2, 3]]);
    const failed = await opened.call({ name: 'h__fail', arguments: {} });
    expect([failed.status, failed.result.isError]).toEqual(['done', true]);
  });

  it('that is canceled says so', async () => {
    const opened = await host({ h: honest });
    const cancel = new AbortController();
    const outcome = await opened.call(
      { name: 'h__slow', arguments: { steps: 1000, delay: 20 } },
      { signal: cancel.signal, onProgress: () => cancel.abort() },
    );
    expect([outcome.status, outcome.result.isError]).toEqual(['cancelled', true]);
  });

  it('whose server dies in the middle has an unknown outcome and is not run again', async () => {
    const opened = await host({ h: honest });
    const outcome = await opened.call({ name: 'h__crash', arguments: {} });
    expect([outcome.status, outcome.error?.label]).toEqual(['unknown', 'h']);
    expect(textOf(outcome)).toContain('h: ');
  });

  it('tells when structured content does not keep the output schema', async () => {
    const opened = await host({ odd });
    const broken = await opened.call({ name: 'odd__liar', arguments: {} });
    expect(broken.status).toBe('done');
    expect(textOf(broken)).toMatch(/\[midspan\] .*does not fit its output schema/);
    expect(textOf(await opened.call({ name: 'odd__silent', arguments: {} }))).toContain(
      'gave no structured content',
    );
  });

  it('cannot be checked against a schema that points to the network, and is refused', async () => {
    const opened = await host({ odd });
    const outcome = await opened.call({ name: 'odd__remote', arguments: {} });
    expect([outcome.status, outcome.error?.code]).toEqual(['refused', 'limit']);
  });

  it('to a native function that throws is an error result', async () => {
    const natives: NativeFunction[] = [
      { name: 'broken', run: () => Promise.reject(new Error('it broke')) },
      { name: 'value', run: () => ({ a: 1 }) },
    ];
    const opened = await host({}, { natives });
    expect((await opened.call({ name: 'broken', arguments: {} })).result).toEqual({
      content: [{ type: 'text', text: 'it broke' }],
      isError: true,
    });
    expect((await opened.call({ name: 'value', arguments: {} })).result).toEqual({
      content: [{ type: 'text', text: '{"a":1}' }],
      structuredContent: { a: 1 },
    });
  });
});

describe('what a server asks', () => {
  const answering = (answer: Awaited<ReturnType<Asks['ask']>>): Asks & { asked: Ask[] } => {
    const asked: Ask[] = [];
    return {
      asked,
      async ask(ask) {
        asked.push(ask);
        return answer;
      },
    };
  };

  for (const [era, args] of [
    ['modern', []],
    ['legacy', ['legacy']],
  ] as const) {
    const server = { ...honest, ...(args.length > 0 && { era: 'legacy' }) };

    it(`is declined with nobody there, and the result says so (${era})`, async () => {
      const opened = await host({ h: server });
      expect(opened.servers()[0]?.info?.era).toBe(era);
      expect(textOf(await opened.call({ name: 'h__ask', arguments: {} }))).toMatch(
        /\[midspan\] Server h asked for input.*declined: nobody was there/,
      );
    });

    it(`reaches whoever answers, under the label (${era})`, async () => {
      const asks = answering({ action: 'accept', content: { color: 'red' } });
      const opened = await host({ h: server }, { asks });
      const outcome = await opened.call({ name: 'h__ask', arguments: {} });
      expect(asks.asked).toMatchObject([{ kind: 'form', label: 'h', tool: 'ask' }]);
      expect(textOf(outcome)).toContain('red');
      expect(textOf(outcome)).not.toContain('[midspan]');
    });

    it(`is declined when the answer does not fit the form (${era})`, async () => {
      const opened = await host(
        { h: server },
        { asks: answering({ action: 'accept', content: { color: 7 } }) },
      );
      expect(textOf(await opened.call({ name: 'h__ask', arguments: {} }))).toMatch(
        /did not fit its form \(.*color/,
      );
    });
  }
});

describe('R16: a server that is late', () => {
  it('does not hold up the start, joins when it is ready, and its tools are waited for when called by name', async () => {
    const opened = await host(
      { slow: { ...late, env: { DELAY: '1500' } }, quick: late },
      { startWithin: 200 },
    );
    expect(opened.servers().find(({ label }) => label === 'slow')?.state).toBe('starting');
    const outcome = await opened.call({ name: 'slow__alpha', arguments: {} });
    expect([outcome.status, outcome.label]).toEqual(['done', 'slow']);
  });

  it('that never comes is named, and no tool of another server runs in its place', async () => {
    const opened = await host({
      dead: { command: process.execPath, args: ['-e', 'process.exit(3)'] },
      quick: late,
    });
    const outcome = await opened.call({ name: 'dead__alpha', arguments: {} });
    expect(outcome.status).toBe('refused');
    expect(outcome.label).toBeUndefined();
    expect(textOf(outcome)).toContain('server dead has not listed its tools');
    expect(opened.servers().map(({ label, state }) => [label, state])).toEqual([
      ['dead', 'failed'],
      ['quick', 'ready'],
    ]);
  });
});

describe('a run while the tools change', () => {
  /** A model that makes the server grow in each turn but the last, and takes its next turn when the host has heard of it. */
  function growing(opened: Host, turns: number): Model {
    const path = join(mkdtempSync(join(tmpdir(), 'midspan-host-')), 'script.json');
    const grows = Array.from({ length: turns - 1 }, () => ({ calls: [{ name: 'h__grow' }] }));
    writeFileSync(path, JSON.stringify({ turns: [...grows, { text: 'Grown.' }] }));
    const scripted = openModel(`script:${path}`);
    let heard = Promise.resolve();
    return {
      ...scripted,
      async *stream(request, options) {
        await heard;
        heard = changed(opened);
        return yield* scripted.stream(request, options);
      },
    };
  }

  async function warningsOf(run: Run): Promise<string[]> {
    const warnings: string[] = [];
    for await (const event of run) if (event.type === 'warning') warnings.push(event.message);
    expect((await run.result).reason).toBe('complete');
    return warnings;
  }

  it('goes on with those it began with and warns of it once', async () => {
    const opened = await host({ h: honest });
    const run = opened.run({ model: growing(opened, 3), messages: 'Grow twice.' });
    expect(await warningsOf(run)).toEqual([expect.stringContaining('the change waits for the next run')]);
  });

  it('says nothing of changes to tools that it does not offer', async () => {
    const opened = await host({ h: honest });
    const run = opened.run({ model: growing(opened, 2), messages: 'Grow.', tools: ['h__grow', 'h__echo'] });
    expect(await warningsOf(run)).toEqual([]);
  });
});

describe('calls that reached a server', () => {
  it('are counted by label and tool beside the configuration, the others are not', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'midspan-host-'));
    const path = join(folder, 'midspan.json');
    writeFileSync(path, JSON.stringify({ policy: 'allow', mcpServers: { h: honest } }));
    const opened = await openHost(path, { env: { ...process.env } });
    await opened.call({ name: 'h__echo', arguments: { text: 'one' } });
    await opened.call({ label: 'h', tool: 'echo', arguments: { text: 'two' } });
    await opened.call({ name: 'h__fail', arguments: {} });
    await opened.call({ name: 'h__echo', arguments: {} }); // refused
    await opened.call({ name: 'read_result', arguments: { handle: 'x' } });
    await opened.close();
    const { tools } = JSON.parse(readFileSync(join(folder, '.midspan', 'usage.json'), 'utf8')) as {
      tools: { label: string; tool: string; calls: number }[];
    };
    expect(tools.map(({ label, tool, calls }) => `${label} ${tool} ${calls}`).sort()).toEqual([
      'h echo 2',
      'h fail 1',
    ]);
  });
});

describe('openHost', () => {
  it('reads nothing but what it is given, remembers eras beside a configuration file, and closes after a failure', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'midspan-host-'));
    await expect(openHost(join(folder, 'none.json'))).rejects.toMatchObject({ code: 'config' });
    await expect(host({ h: honest }, { natives: [{ name: '9', run: () => '' }] })).rejects.toMatchObject({
      code: 'usage',
    });
    await expect(host({ h: honest }, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no');
  });

  it.each([null, 5, true])('refuses %s in the place of a configuration in words', async (source) => {
    await expect(openHost(source as unknown as object)).rejects.toMatchObject({ code: 'usage' });
  });

  it.each([
    [{}, 'model'],
    [{ model: 5, messages: 'x' }, 'model'],
    [{ model: 'openai:x', baseUrl: 'http://127.0.0.1:9' }, 'messages'],
    [{ model: 'openai:x', baseUrl: 'http://127.0.0.1:9', messages: { role: 'user' } }, 'messages'],
  ])('refuses to run %j in words', async (options, what) => {
    const opened = await host({});
    expect(() => opened.run(options as unknown as Parameters<Host['run']>[0])).toThrow(
      expect.objectContaining({ code: 'usage', what: expect.stringContaining(what) as string }) as Error,
    );
  });

  it('shows disabled servers as such and does not start them', async () => {
    const opened = await host({ off: { command: 'no-such-command', disabled: true } });
    expect(opened.servers()).toEqual([{ label: 'off', state: 'disabled' }]);
  });
});
