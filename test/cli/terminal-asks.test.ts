import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { Answer, Ask } from '../../src/asks/asks.ts';
import { type AskQueue, askQueue } from '../../src/asks/queue.ts';
import type { TerminalInput } from '../../src/cli/keys.ts';
import { createPrinter, type Printer } from '../../src/cli/print.ts';
import { aboutAddress } from '../../src/cli/show-ask.ts';
import { terminalAsks } from '../../src/cli/terminal-asks.ts';

const APPROVE: Ask & { kind: 'approve' } = {
  kind: 'approve',
  label: 'mail',
  tool: 'send',
  message: 'A model wants to call send of mail.',
  arguments: { to: 'a@example.com', text: 'hi\u001B[2J\n\u202Eyob' },
  digest: 'sha256-of-the-definition',
  rule: 'default',
  why: 'No rule matches, and the tool is not labeled as reading.',
};

interface Desk {
  queue: AskQueue;
  print: Printer;
  screen: () => string;
  /** Waits until the screen has shown this since the last wait, then types. */
  on: (shown: string, type: string) => Promise<void>;
  raw: () => boolean[];
  interrupted: () => number;
  ask: (ask?: Ask, signal?: AbortSignal) => Promise<Answer>;
  stdin: TerminalInput;
}

function desk({ guard = 0, waits = false } = {}): Desk {
  const stdin: TerminalInput = Object.assign(new PassThrough(), { isTTY: true });
  const raw: boolean[] = [];
  stdin.setRawMode = (mode) => raw.push(mode);
  let screen = '';
  let seen = 0;
  const sink = { isTTY: true, columns: 200, write: (text: string) => (screen += text) };
  const print = createPrinter(sink, sink, { NO_COLOR: '1' });
  const interrupt = vi.fn();
  const answerer = terminalAsks({ print, stdin, interrupt, guard });
  if (answerer === undefined) throw new Error('there is a terminal');
  const queue = askQueue({ answerers: [answerer], waits });
  return {
    queue,
    print,
    stdin,
    screen: () => screen,
    raw: () => raw,
    interrupted: () => interrupt.mock.calls.length,
    ask: (ask = APPROVE, signal = new AbortController().signal) => queue.ask(ask, { signal }),
    async on(shown, type) {
      await vi.waitFor(() => {
        const at = screen.indexOf(shown, seen);
        expect(at, `${shown} in ${screen}`).toBeGreaterThan(-1);
        seen = at + shown.length;
      });
      (stdin as unknown as PassThrough).write(type);
    },
  };
}

describe('asks on a terminal', () => {
  it('show the server, the tool, the arguments as they are, harmless, and why it asks', async () => {
    const { ask, on, screen } = desk();
    const asked = ask();
    await on('? more', 'y');
    await asked;
    expect(screen()).toBe(
      [
        'approve mail: send',
        '  {',
        '    "to": "a@example.com",',
        '    "text": "hi\\u001b[2J\\n\\u{202e}yob"',
        '  }',
        '  No rule matches, and the tool is not labeled as reading.',
        'y yes, r yes in this run, a always, n no, d never, ? more',
        'yes',
        '',
      ].join('\n'),
    );
  });

  it.each<[string, Answer]>([
    ['y', { action: 'accept', remember: 'once', by: 'terminal' }],
    ['r', { action: 'accept', remember: 'run', by: 'terminal' }],
    ['a', { action: 'accept', remember: 'always', by: 'terminal' }],
    [
      'n',
      {
        action: 'decline',
        remember: 'once',
        reason: 'the person at the terminal said no',
        by: 'terminal',
      },
    ],
    [
      'd',
      {
        action: 'decline',
        remember: 'always',
        reason: 'the person at the terminal said never',
        by: 'terminal',
      },
    ],
  ])('are answered by %s', async (key, wanted) => {
    const { ask, on } = desk();
    const asked = ask();
    await on('? more', key);
    expect(await asked).toEqual(wanted);
  });

  it('tell more at ?, and are not answered by any other key', async () => {
    const { ask, on, screen } = desk();
    const asked = ask();
    await on('? more', 'x\r \u001B[A?');
    await on('? more', '\u001B[A');
    await on('', '?');
    await on('? more', 'n');
    expect((await asked).action).toBe('decline');
    expect(screen()).toContain('  rule        default\n');
    expect(screen()).toContain('  definition  sha256-of-the-definition\n');
    expect(screen()).toMatch(/ {2}digest {6}[\da-f]{64}\n/);
  });

  it.each(['taint', 'protected-path'])('that ask for %s can only be answered once', async (rule) => {
    const { ask, on, screen } = desk();
    const asked = ask({ ...APPROVE, rule });
    await on('y yes, n no, ? more', 'rady');
    expect(await asked).toMatchObject({ action: 'accept', remember: 'once' });
    expect(screen()).not.toContain('always');
  });

  it('are shown one after the other, and what others print waits until they are answered', async () => {
    const { ask, on, print, screen } = desk();
    const first = ask();
    const second = ask({ ...APPROVE, tool: 'other' });
    await vi.waitFor(() => expect(screen()).toContain('? more'));
    print.status('working');
    print.line('a result');
    print.note('a note');
    expect(screen()).not.toMatch(/a result|a note|working|other/);
    await on('? more', 'y');
    expect((await first).action).toBe('accept');
    await on('mail: other', '');
    await on('? more', 'n');
    expect((await second).action).toBe('decline');
    expect(screen().indexOf('a result')).toBeGreaterThan(screen().indexOf('? more'));
    expect(screen().indexOf('a note')).toBeGreaterThan(screen().indexOf('a result'));
    print.status('working');
    expect(screen()).toMatch(/working$/);
  });

  it('do not take keys that were typed before they appeared', async () => {
    const { ask, stdin, screen } = desk({ guard: 50 });
    (stdin as unknown as PassThrough).write('yyy');
    const asked = ask();
    await vi.waitFor(() => expect(screen()).toContain('? more'));
    let isAnswered = false;
    void asked.then(() => {
      isAnswered = true;
    });
    await vi.waitFor(() => {
      (stdin as unknown as PassThrough).write('n');
      expect(isAnswered).toBe(true);
    });
    expect((await asked).action).toBe('decline');
  });

  it('are canceled by Ctrl-C, which ends more than the ask', async () => {
    const { ask, on, interrupted, raw } = desk();
    const asked = ask();
    await on('? more', '\u0003');
    expect(await asked).toEqual({ action: 'cancel', reason: 'canceled by Ctrl-C', by: 'terminal' });
    expect(interrupted()).toBe(1);
    expect(raw()).toEqual([true, false]);
  });

  it('go away when somebody else answers or nobody waits any more, and the next one is shown', async () => {
    const { ask, on, queue, screen, raw } = desk();
    const asker = new AbortController();
    const [first, second, third] = [ask(), ask(APPROVE, asker.signal), ask({ ...APPROVE, tool: 'third' })];
    await vi.waitFor(() => expect(screen()).toContain('? more'));
    const [pending] = queue.pending();
    queue.answer(pending?.id ?? '', pending?.digest ?? '', { action: 'accept' }, 'ann');
    expect(await first).toEqual({ action: 'accept', by: 'ann' });
    asker.abort();
    expect((await second).action).toBe('cancel');
    await on('mail: third', 'n');
    expect((await third).action).toBe('decline');
    expect(screen()).toContain('It waits no longer: answered elsewhere, canceled or too late.');
    await vi.waitFor(() => expect(raw().at(-1)).toBe(false));
  });

  it('are declined with the reason when the terminal goes away', async () => {
    const { ask, stdin, screen } = desk();
    const asked = ask();
    await vi.waitFor(() => expect(screen()).toContain('? more'));
    (stdin as unknown as PassThrough).end();
    expect(await asked).toMatchObject({
      action: 'decline',
      reason: 'terminal could not ask: the terminal is gone',
    });
  });

  it('are not there without a terminal for both keys and questions', () => {
    const sink = { write: () => undefined };
    const terminal = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
    const print = (isTTY: boolean): Printer => createPrinter(sink, { ...sink, isTTY }, {});
    expect(terminalAsks({ print: print(false), stdin: terminal })).toBeUndefined();
    expect(terminalAsks({ print: print(true), stdin: new PassThrough() })).toBeUndefined();
    expect(terminalAsks({ print: print(true), stdin: terminal })?.name).toBe('terminal');
  });
});

describe('an address that a server wants opened', () => {
  it('is shown in full, with where it leads to, and opened by the person alone', async () => {
    const { ask, on, screen } = desk();
    const url = `http://bank.example@xn--bnk-5cd.example:8443/${'x'.repeat(300)}?next=1`;
    const asked = ask({ kind: 'url', label: 'shop', message: 'Please\npay', url });
    await on('y I open it myself, n no, ? more', 'n');
    expect((await asked).action).toBe('decline');
    expect(screen()).toContain(`  ${url}\n`);
    expect(screen()).toContain('It says: Please\\npay');
    expect(screen()).toContain('It leads to xn--bnk-5cd.example:8443');
    expect(screen()).toContain(
      'which is shown as \u0430bnk.example: letters of several scripts may look alike.',
    );
    expect(screen()).toContain('What stands before the @ is a name or password, not where it leads to.');
    expect(screen()).toContain('It is not encrypted on its way.');
  });

  it('says nothing more about a plain one', () => {
    expect(aboutAddress('https://example.com/x')).toEqual(['It leads to example.com']);
    expect(aboutAddress('nonsense')).toEqual(['It is no address that can be opened.']);
  });
});

describe('a form', () => {
  const form: Ask = {
    kind: 'form',
    label: 'shop',
    tool: 'order',
    message: 'Where to?',
    schema: {
      type: 'object',
      properties: {
        city: { type: 'string', title: 'City', minLength: 2 },
        size: { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'] },
        count: { type: 'integer', minimum: 1, default: 1 },
        gift: { type: 'boolean' },
        colors: { type: 'array', items: { type: 'string', enum: ['red', 'blue'] } },
        pin: { type: 'string', description: 'Your card number' },
      },
      required: ['city', 'size'],
    },
  };

  it('is filled field by field, checked as it goes, and shown before it is sent', async () => {
    const { ask, on, screen } = desk();
    const asked = ask(form);
    await on('y fill it in', 'y');
    await on('city: ', 'X\n');
    await on('city: ', '\n');
    await on('city is needed', '');
    await on('city: ', 'Rome\nnot for the next\n');
    await on('size: ', 'large\n');
    await on('count: ', '0\n');
    await on('count: ', '\n');
    await on('gift: ', 'perhaps\n');
    await on('gift: ', 'yes\n');
    await on('colors: ', 'red, blue\n');
    await on('pin: ', '\n');
    await on('y send this to the server', 'y');
    expect(await asked).toEqual({
      action: 'accept',
      content: { city: 'Rome', size: 'l', count: 1, gift: true, colors: ['red', 'blue'] },
      by: 'terminal',
    });
    expect(screen()).toContain('shop: order');
    expect(screen()).toContain('  size (one of s (Small), l (Large))\n');
    expect(screen()).toContain('  count (a whole number, default 1, may be left empty)\n');
    expect(screen()).toContain('It sounds like a secret, and a server must not ask for one in a form.');
  });

  it('is declined before or after it was filled, and canceled by Ctrl-C', async () => {
    const one = desk();
    const before = one.ask(form);
    await one.on('n decline', 'n');
    expect(await before).toMatchObject({ action: 'decline' });
    const after = one.ask({ ...form, schema: { properties: { a: { type: 'string' } } } });
    await one.on('n decline', 'y');
    await one.on('a: ', 'x\n');
    await one.on('n decline', 'n');
    expect(await after).toMatchObject({ action: 'decline' });
    const canceled = one.ask(form);
    await one.on('n decline', '\u0003');
    expect(await canceled).toMatchObject({ action: 'cancel' });
    expect(one.interrupted()).toBe(1);
  });
});
