import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { askQueue } from '../../src/asks/queue.ts';
import { main } from '../../src/cli/main.ts';
import { createPrinter } from '../../src/cli/print.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import type { Ask } from '../../src/asks/asks.ts';
import { pinServer, writeLock } from '../../src/trust/lock/index.ts';

interface Ended {
  code: number;
  out: string;
  err: string;
}

interface Desk {
  folder: string;
  midspan: (...words: string[]) => Promise<Ended>;
  /** The same on a terminal, where keys are typed once the screen has shown something. */
  terminal: (shown: string, keys: string, ...words: string[]) => Promise<Ended>;
  store: () => Store;
}

const SERVER = { command: 'node', args: ['none.mjs'] };

async function desk(policy?: unknown, more: object = {}): Promise<Desk> {
  const folder = await mkdtemp(path.join(tmpdir(), 'midspan-policy-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(
    path.join(folder, 'midspan.json'),
    JSON.stringify({ mcpServers: { files: SERVER, mail: SERVER, 'mail/old': SERVER }, policy, ...more }),
  );
  const start = async (
    stdin: PassThrough & { isTTY?: boolean },
    words: string[],
    screen: string[],
  ): Promise<Ended> => {
    let out = '';
    const isTTY = stdin.isTTY === true;
    const print = createPrinter(
      { write: (text: string) => (out += text) },
      { isTTY, columns: 200, write: (text: string) => screen.push(text) },
      { NO_COLOR: '1' },
    );
    const { signal } = new AbortController();
    const code = await main(words, {
      print,
      stdin,
      stdout: process.stdout,
      env: { HOME: folder },
      cwd: folder,
      signal,
    });
    return { code, out, err: screen.join('') };
  };
  return {
    folder,
    midspan: (...words) => start(new PassThrough(), words, []),
    async terminal(shown, keys, ...words) {
      const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
      const screen: string[] = [];
      let isOver = false;
      const ended = start(stdin, words, screen).finally(() => {
        isOver = true;
      });
      await vi.waitFor(() => expect(screen.join('') + (isOver ? shown : '')).toContain(shown));
      // Keys are not heard at once.
      await vi.waitFor(
        () => {
          stdin.write(keys);
          expect(isOver).toBe(true);
        },
        { interval: 50, timeout: 5000 },
      );
      return ended;
    },
    store() {
      const store = openStore(path.join(folder, '.midspan'));
      onTestFinished(() => store.close());
      return store;
    },
  };
}

const RULES = {
  labels: { 'files/read*': ['reads', 'private'], 'mail/*': ['sends'] },
  rules: [
    { tools: ['files/write'], arguments: { required: ['path'] }, action: 'allow', reason: 'our own folder' },
    { tools: ['mail/old/*'], action: 'deny' },
  ],
};

describe('midspan policy explain', () => {
  it('says what decides, by which labels, and what would be after strangers and private data', async () => {
    const { midspan } = await desk(RULES);
    expect((await midspan('policy', 'explain', 'files/write', 'path=a.txt')).out).toBe(
      [
        'files/write  allow by rules[0]',
        '  rules[0] of the policy allows it: our own folder.',
        '  rules[0]  allow  files/write; arguments {"required":["path"]} (our own folder)',
        '  no labels',
        '  after text of strangers and private data: ask by taint',
        '',
      ].join('\n'),
    );
    expect((await midspan('policy', 'explain', 'files/read_text')).out).toBe(
      [
        'files/read_text  allow by default',
        '  It is labeled as reading alone.',
        '  labels',
        '    reads  from policy.labels "files/read*"',
        '    private  from policy.labels "files/read*"',
        '',
      ].join('\n'),
    );
  });

  it('takes what was seen as given, and arguments as JSON or as words', async () => {
    const { midspan } = await desk({ ...RULES, default: 'allow' });
    const explain = async (...words: string[]): Promise<{ action: string; rule: string }> =>
      JSON.parse((await midspan('policy', 'explain', ...words, '--json')).out) as never;
    expect(await explain('mail/send')).toMatchObject({
      label: 'mail',
      tool: 'send',
      action: 'allow',
      rule: 'default',
      why: 'No rule matches, and the default allows it.',
      labels: [{ label: 'sends', from: { glob: 'mail/*' } }],
      locked: false,
      seen: { untrusted: false, private: false },
      tainted: { action: 'ask', rule: 'taint' },
    });
    expect(await explain('mail/send', '--untrusted')).toMatchObject({ action: 'allow' });
    expect(await explain('mail/send', '--untrusted', '--private')).toMatchObject({
      action: 'ask',
      rule: 'taint',
    });
    for (const words of [['{"path":".env"}'], ['path=.env'], ['--args', '{"path":".env"}']])
      expect(await explain('files/write', ...words)).toMatchObject({
        arguments: { path: '.env' },
        action: 'ask',
        rule: 'protected-path',
      });
  });

  it('finds the server of a name with slashes, and says when there is none', async () => {
    const { midspan } = await desk(RULES);
    const old = JSON.parse((await midspan('policy', 'explain', 'mail/old/x', '--json')).out) as object;
    expect(old).toMatchObject({ label: 'mail/old', tool: 'x', action: 'deny', rule: 'rules[1]' });
    const wrong = await midspan('policy', 'explain', 'fils/read');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('there is no server labeled "fils"; did you mean "files"?');
    const bare = await midspan('policy', 'explain', 'files');
    expect(bare.err).toContain('"files" is a server; a rule is about one of its tools');
    expect((await midspan('policy', 'explain')).code).toBe(2);
    const unknown = await midspan('policy', 'explian');
    expect([unknown.code, unknown.err]).toEqual([
      2,
      expect.stringContaining('has no command "explian"; did you mean "explain"?'),
    ]);
    expect((await midspan('policy', 'explain', 'files/x', '--args', '[]')).code).toBe(2);
  });
});

describe('what the lock says of a tool', () => {
  it('counts: its labels, hints, digest, and the types of its arguments', async () => {
    const { midspan, folder, store } = await desk(RULES);
    const send = {
      name: 'send',
      description: 'Sends mail.',
      inputSchema: { type: 'object', properties: { zip: { type: 'string' } } },
      annotations: { readOnlyHint: false, openWorldHint: true },
    };
    const spec = {
      label: 'mail',
      transport: { type: 'stdio' as const, command: 'node', args: ['none.mjs'], env: {}, cwd: folder },
    };
    const surface = { serverInfo: { name: 'mail', version: '1' }, tools: [send] };
    const pin = pinServer(spec, folder, surface, { at: '2026-12-01', how: 'review' });
    await writeLock(path.join(folder, 'midspan.lock.json'), {
      lockfileVersion: 1,
      pin: 'midspan-pin/1',
      ruleset: 'x',
      servers: { mail: pin },
    });
    const { digest } = pin.tools['send'] ?? { digest: '' };
    store().remembered.set({ label: 'mail', tool: 'send', digest, action: 'allow', by: 'ann' });
    const explained = await midspan('policy', 'explain', 'mail/send', 'zip=01234', '--json');
    expect(JSON.parse(explained.out)).toMatchObject({
      arguments: { zip: '01234' },
      action: 'allow',
      rule: 'remembered',
      locked: true,
      digest,
      hints: { readOnlyHint: false },
      labels: expect.arrayContaining([
        { label: 'sends', from: 'lock' },
        { label: 'sends', from: { glob: 'mail/*' } },
        { label: 'untrusted', from: 'lock' },
      ]),
    });
    const { out, err } = await midspan('policy', 'explain', 'mail/send');
    expect(out).toContain('  the server says openWorldHint true, readOnlyHint false\n');
    expect(err).toBe('');
    expect((await midspan('policy')).out).toMatch(/mail\/send +untrusted, sends +lock\n/);
  });
});

describe('midspan policy', () => {
  it('lists rules, the default, labels and what is remembered, and takes that back', async () => {
    const { midspan, store } = await desk(RULES);
    const { remembered } = store();
    remembered.set({ label: 'mail', tool: 'send', digest: 'd1', action: 'allow', by: 'ann' });
    remembered.set({ label: 'mail', tool: 'send', digest: 'd2', action: 'deny', by: undefined });
    remembered.set({ label: 'files', tool: 'write', digest: 'd1', action: 'allow', by: 'ann' });
    const { out } = await midspan('policy');
    const day = new Date().toISOString().slice(0, 10);
    expect(out.split('\n')).toEqual([
      'rules[0]  allow  files/write; arguments {"required":["path"]} (our own folder)',
      'rules[1]  deny  mail/old/*',
      'default  tools labeled as reading alone are allowed, everything else asks',
      '',
      'TOOLS        LABELS          FROM',
      'files/read*  reads, private  configuration',
      'mail/*       sends           configuration',
      '',
      'REMEMBERED   ANSWER  BY',
      `files/write  always  ann, ${day}`,
      `mail/send    always  ann, ${day}`,
      `mail/send    never   somebody, ${day}`,
      '',
    ]);
    expect(JSON.parse((await midspan('policy', '--json')).out)).toMatchObject({
      rules: RULES.rules,
      default: 'reads',
      protectedPaths: [],
      locked: [],
      remembered: [{ label: 'files' }, { digest: 'd1' }, { digest: 'd2', action: 'deny' }],
    });
    expect((await midspan('policy', 'forget', 'mail/send', '--json')).out).toBe('{"forgotten":2}\n');
    expect((await midspan('policy', 'forget', 'files')).err).toBe('1 forgotten.\n');
    expect((await midspan('policy', 'forget', 'files')).err).toBe('Nothing was remembered of files.\n');
  });

  it('makes no store when there is nothing to show', async () => {
    const { midspan, folder } = await desk();
    expect((await midspan('policy')).code).toBe(0);
    expect((await midspan('asks')).err).toBe('Nothing waits for an answer.\n');
    expect((await midspan('policy', 'forget', 'x')).code).toBe(0);
    const { existsSync } = await import('node:fs');
    expect(existsSync(path.join(folder, '.midspan'))).toBe(false);
  });
});

describe('midspan asks and midspan answer', () => {
  const ASK: Ask & { kind: 'approve' } = {
    kind: 'approve',
    label: 'mail',
    tool: 'send',
    message: 'A model wants to call send of mail.',
    arguments: { text: 'a\u001B[2J' },
    digest: 'sha256-x',
    rule: 'default',
    why: 'No rule matches.',
  };
  const { signal } = new AbortController();

  async function waiting(
    ask: Ask = ASK,
  ): Promise<Desk & { asked: Promise<object>; id: string; digest: string }> {
    const own = await desk();
    const queue = askQueue({ store: own.store().asks });
    onTestFinished(() => queue.close());
    const asked = queue.ask(ask, { signal });
    const [pending] = queue.pending();
    return { ...own, asked, id: pending?.id ?? '', digest: pending?.digest ?? '' };
  }

  it('show what waits in another process, and answer it by its digest', async () => {
    const { midspan, asked, id, digest } = await waiting();
    const shown = await midspan('asks');
    expect(shown.out).toContain(`${id}  300 s left\n`);
    expect(shown.out).toContain(
      'approve mail: send\n  {\n    "text": "a\\u001b[2J"\n  }\n  No rule matches.\n',
    );
    expect(shown.out).toContain(`midspan answer ${id} accept --digest ${digest}\n`);
    const { asks } = JSON.parse((await midspan('asks', '--json')).out) as { asks: object[] };
    expect(asks).toMatchObject([{ id, digest, ask: ASK }]);
    const answered = await midspan('answer', id, 'accept', '--digest', digest, '--remember', 'run', '--json');
    expect(JSON.parse(answered.out)).toEqual({ id, digest, action: 'accept', remember: 'run' });
    expect(await asked).toMatchObject({ action: 'accept', remember: 'run', by: expect.any(String) });
    const again = await midspan('answer', id, 'decline', '--digest', digest);
    expect(again.code).toBe(2);
    expect(again.err).toContain(`${id} was answered already, by `);
    expect((await midspan('asks', '--json')).out).toBe('{"asks":[]}\n');
  });

  it('answer nothing but what was shown', async () => {
    const { midspan, id, digest } = await waiting();
    const bare = await midspan('answer', id, 'accept');
    expect(bare.code).toBe(2);
    expect(bare.err).toContain('an answer names what it answers');
    const other = await midspan('answer', id, 'accept', '--digest', `${digest.slice(1)}0`);
    expect(other.err).toContain(`${id} is not what has this digest`);
    const wrong = await midspan('answer', 'nothing', 'accept', '--digest', digest);
    expect(wrong.err).toContain('nothing with the id "nothing" waits for an answer');
    expect((await midspan('answer', id, 'perhaps')).code).toBe(2);
    expect(((await midspan('asks', '--json')).out.match(/"id"/g) ?? []).length).toBe(1);
  });

  it('are confirmed by a key on a terminal', async () => {
    const { terminal, asked, id } = await waiting();
    const no = await terminal('y yes, n no', 'n', 'answer', id, 'accept');
    expect(no.code).toBe(1);
    expect(no.err).toContain('Nothing was answered.');
    const yes = await terminal('y yes, n no', 'y', 'answer', id, 'decline', '--reason', 'not today');
    expect(yes.code).toBe(0);
    expect(yes.err).toContain('approve mail: send');
    expect(await asked).toMatchObject({ action: 'decline', reason: 'not today' });
  });

  it('are not remembered where each call must be asked for', async () => {
    const { midspan, id, digest } = await waiting({ ...ASK, rule: 'taint' });
    const answered = await midspan('answer', id, 'accept', '--digest', digest, '--remember', 'always');
    expect(answered.code).toBe(2);
    expect(answered.err).toContain('what asks for taint is asked each time');
  });

  it('fill a form by its content', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const { midspan, asked, id, digest } = await waiting({
      kind: 'form',
      label: 'shop',
      message: 'Where to?',
      schema,
    });
    expect((await midspan('asks')).out).toContain('  city (text)\n');
    const bare = await midspan('answer', id, 'accept', '--digest', digest);
    expect(bare.err).toContain('a form is accepted by its content');
    const good = await midspan('answer', id, 'accept', '--digest', digest, '--content', '{"city":"Rome"}');
    expect(good.code).toBe(0);
    expect(await asked).toMatchObject({ action: 'accept', content: { city: 'Rome' } });
  });

  it('do not show a row that somebody changed in the store', async () => {
    const { midspan, store } = await desk();
    store().asks.insert({
      id: 'forged',
      digest: 'd',
      ask: JSON.stringify(ASK),
      created: Date.now(),
      deadline: Date.now() + 60_000,
    });
    expect((await midspan('asks', '--json')).out).toBe('{"asks":[]}\n');
    expect((await midspan('answer', 'forged', 'accept', '--digest', 'd')).code).toBe(2);
  });
});
