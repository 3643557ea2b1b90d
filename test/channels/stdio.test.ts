import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { LINE_BYTES, NOISE_LINES, STDERR_BYTES, WRITE_QUEUE_BYTES } from '../../src/mcp/limits.ts';
import type { Channel } from '../../src/servers/channel.ts';
import { stdioChannel } from '../../src/servers/stdio.ts';
import { failure, fixture, peer, Recorder, until } from './support.ts';

const opened: Channel[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((channel) => channel.close()));
});

async function start(channel: Channel): Promise<Recorder> {
  opened.push(channel);
  const recorder = new Recorder();
  await channel.open(recorder);
  return recorder;
}
const raw = (text: string | Buffer) => peer('raw', Buffer.from(text).toString('base64'));

describe('messages over stdio', () => {
  it('delivers what the server writes, in order, with no origin', async () => {
    const recorder = await start(raw('{"a":1}\n{"a":2}\r\n\n{"a":3}\n'));
    await until(() => recorder.messages.length === 3);
    expect(recorder.messages).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
    expect(recorder.origins).toEqual([undefined, undefined, undefined]);
    expect(recorder.noises).toEqual([]);
  });

  it('carries messages there and back, whatever characters they hold', async () => {
    const channel = peer('echo');
    const recorder = await start(channel);
    const message = { jsonrpc: '2.0', id: 1, text: 'line\nfeed \u2028 \u{1F600} "quoted"' };
    await channel.send(message);
    await until(() => recorder.messages.length === 1);
    expect(recorder.messages[0]?.['echo']).toEqual(message);
  });

  it('sends a message as one line for every reader of lines, those that break at U+0085, U+2028 and U+2029 too', async () => {
    const channel = peer('lines');
    const recorder = await start(channel);
    const text = 'a\u0085b\u2028c\u2029d';
    await channel.send({ id: 1, text });
    await until(() => recorder.messages.length === 1);
    expect(recorder.messages[0]).toEqual({ lines: ['{"id":1,"text":"a\\u0085b\\u2028c\\u2029d"}'] });
  });

  it('writes many messages of one turn at once', async () => {
    const channel = peer('reads');
    const recorder = await start(channel);
    const sends = Array.from({ length: 199 }, (_, id) => channel.send({ jsonrpc: '2.0', id, method: 'x' }));
    await Promise.resolve();
    sends.push(channel.send({ jsonrpc: '2.0', method: 'last' }));
    await Promise.all(sends);
    await until(() => recorder.messages.length === 1);
    expect(recorder.messages[0]).toEqual({ reads: 1, lines: 200 });
  });

  it('keeps lines in order when the pipe is full', async () => {
    const channel = peer('echo');
    const recorder = await start(channel);
    const text = 'z'.repeat(100_000);
    for (let id = 0; id < 60; id += 1) {
      await channel.send({ id, text });
      if (id % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => recorder.messages.length === 60);
    expect(recorder.messages.map((message) => (message['echo'] as { id: number }).id)).toEqual(
      Array.from({ length: 60 }, (_, i) => i),
    );
  });

  it('refuses to queue without bound for a server that does not read', async () => {
    const channel = peer('deaf');
    await start(channel);
    const text = 'q'.repeat(WRITE_QUEUE_BYTES / 4);
    const sends = await Promise.allSettled(Array.from({ length: 5 }, () => channel.send({ text })));
    const error = sends.find((send) => send.status === 'rejected')?.reason;
    expect(error).toMatchObject({ code: 'limit', label: 'peer' });
  });

  it('delivers the messages of a batch one by one and reports what is none', async () => {
    const recorder = await start(raw('[{"a":1},7,{"a":2}]\n"text"\nnull\n{"a":3}\n'));
    await until(() => recorder.messages.length === 3);
    expect(recorder.messages).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
    expect(recorder.noises).toHaveLength(3);
  });

  it('accepts a byte order mark before the first message', async () => {
    const recorder = await start(raw('\uFEFF{"a":1}\n'));
    await until(() => recorder.messages.length === 1);
    expect(recorder.noises).toEqual([]);
  });
});

describe('broken and hostile output', () => {
  it('tolerates noise, then says once that there is too much', async () => {
    const recorder = await start(peer('noisy', String(NOISE_LINES * 3)));
    await until(() => recorder.messages.length === 1);
    expect(recorder.noises[0]).toBe('starting up, step 0');
    expect(recorder.noises).toHaveLength(NOISE_LINES);
    expect(recorder.noises.at(-1)).toContain(`${NOISE_LINES} lines`);
    expect(recorder.endings).toEqual([]);
  });

  it('cleans noise of what a terminal would obey', async () => {
    const recorder = await start(raw('\u001b[2J\u001b]0;owned\u0007red \u202Ealert\n{"a":1}\n'));
    await until(() => recorder.messages.length === 1);
    expect(recorder.noises).toEqual(['red alert']);
  });

  it.each([
    ['a NUL byte', Buffer.from('{"a":"\u0000"}\n')],
    [
      'bytes that are not UTF-8',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xe2, 0x82]), Buffer.from('"}\n')]),
    ],
  ])('stops a server that writes %s', async (what, bytes) => {
    const recorder = await start(raw(bytes));
    const reason = await recorder.ending();
    expect(reason.code).toBe('protocol');
    expect(reason.message).toContain(what);
    expect(recorder.messages).toEqual([]);
  });

  it('stops a server whose line does not end', async () => {
    const channel = peer('endless');
    const recorder = await start(channel);
    const reason = await recorder.ending();
    expect(reason.code).toBe('limit');
    expect(reason.message).toContain(String(LINE_BYTES));
    await expect(channel.send({ a: 1 })).rejects.toBe(reason);
  });

  it('defect 5: a line of 11 MB arrives', async () => {
    const recorder = await start(peer('large', String(11_000_000)));
    await until(() => recorder.messages.length === 1);
    expect(recorder.messages[0]?.['text']).toHaveLength(11_000_000);
  });
});

describe('the end of a server', () => {
  it('defect 3: is reported with exit code and stderr, after its last words', async () => {
    const recorder = await start(peer('die', '7'));
    const reason = await recorder.ending();
    expect(reason.code).toBe('closed');
    expect(reason.message).toContain('exit code 7');
    expect(reason.message).toContain('Fatal: cannot find module "left-pad"');
    expect(reason.data).toMatchObject({ exitCode: 7 });
    expect(recorder.messages).toEqual([
      { jsonrpc: '2.0', method: 'hello', params: {} },
      { jsonrpc: '2.0', method: 'last words' },
    ]);
  });

  it('defect 3: is noticed although a helper keeps its stdout open', async () => {
    const recorder = await start(peer('heldOpen', 'held-open'));
    const reason = await recorder.ending();
    expect(reason.data).toMatchObject({ exitCode: 3 });
    expect(recorder.messages[0]).toMatchObject({ method: 'hello' });
  });

  it('names the signal that ended it', async () => {
    const recorder = await start(peer('suicide'));
    expect((await recorder.ending()).message).toContain('by SIGKILL');
  });

  it('is reported once, and never after close', async () => {
    const channel = peer('echo');
    const recorder = await start(channel);
    await channel.close();
    expect(recorder.endings).toEqual([]);
    await expect(channel.send({ a: 1 })).rejects.toMatchObject({ code: 'closed' });
  });

  it('is also a stdout that was closed by a server that goes on running', async () => {
    const recorder = await start(peer('closesStdout'));
    expect((await recorder.ending()).message).toContain('closed its output');
  });

  it('leaves an orderly server the time to leave', async () => {
    const note = join(mkdtempSync(join(tmpdir(), 'midspan-')), 'note');
    const channel = peer('orderly', note);
    const recorder = await start(channel);
    await until(() => recorder.messages.length === 1);
    await channel.close();
    expect(readFileSync(note, 'utf8')).toBe('left in good order');
  });
});

describe('stderr', () => {
  it('is kept within its bound, the end of it, safe for a terminal', async () => {
    const channel = peer('floodStderr');
    const recorder = await start(channel);
    await until(() => recorder.messages.length === 1);
    const tail = await until(() => channel.stderrTail().includes('1999 eee') && channel.stderrTail());
    expect(tail.length).toBeLessThanOrEqual(STDERR_BYTES);
    expect(tail).toMatch(/^\d+ e/);
  });

  it('does not show a secret of the configuration', async () => {
    const channel = stdioChannel({
      label: 'leaky',
      transport: {
        type: 'stdio',
        command: process.execPath,
        args: ['-e', 'console.error("bad key " + process.env.API_KEY); process.exit(1)'],
        env: { API_KEY: 'sk-very-secret' },
      },
    });
    const recorder = await start(channel);
    const reason = await recorder.ending();
    expect(reason.message).toContain('bad key [redacted]');
    expect(JSON.stringify(reason.data) + channel.stderrTail()).not.toContain('sk-very-secret');
  });
});

describe('starting', () => {
  const stdio = (command: string, more: object = {}) =>
    stdioChannel({ label: 'tool', transport: { type: 'stdio', command, args: [], env: {}, ...more } });

  it('explains a command that is not there', async () => {
    const error = await failure(stdio('npx-that-is-not-there').open(new Recorder()));
    expect(error).toMatchObject({ code: 'unreachable', label: 'tool' });
    expect(error.message).toContain('"npx-that-is-not-there" was not found');
    expect(error.message).toContain('PATH');
  });

  it('explains a file that is not executable', async () => {
    const error = await failure(stdio(fixture('peer.mjs')).open(new Recorder()));
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain('may not be executed');
  });

  it('explains a working directory that is not there', async () => {
    const error = await failure(stdio(process.execPath, { cwd: '/no/such/folder' }).open(new Recorder()));
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain('/no/such/folder');
  });

  it('can be cancelled', async () => {
    const error = await failure(peer('echo').open(new Recorder(), AbortSignal.abort()));
    expect(error.code).toBe('cancelled');
  });

  it('defect 6: passes on what programs need, and none of our other variables', async () => {
    const channel = stdioChannel({
      label: 'env',
      transport: {
        type: 'stdio',
        command: process.execPath,
        args: [fixture('peer.mjs'), 'environment'],
        env: { OWN: '1' },
      },
      environment: {
        PATH: process.env['PATH'],
        HOME: '/home/x',
        LANG: 'C.UTF-8',
        LC_TIME: 'C',
        TMPDIR: '/tmp',
        https_proxy: 'http://proxy:1',
        NODE_EXTRA_CA_CERTS: '',
        XDG_CONFIG_HOME: '/home/x/.config',
        ANTHROPIC_API_KEY: 'secret',
        SHELL: '() { :; }; evil',
      },
    });
    const recorder = await start(channel);
    await until(() => recorder.messages.length === 1);
    const names = Object.keys(recorder.messages[0]?.['environment'] as object);
    expect(names.sort()).toEqual(
      [
        'HOME',
        'LANG',
        'LC_TIME',
        'NODE_EXTRA_CA_CERTS',
        'OWN',
        'PATH',
        'TMPDIR',
        'XDG_CONFIG_HOME',
        'https_proxy',
      ].sort(),
    );
  });

  it('defect 6: a Windows shim is run by cmd.exe with every argument quoted', () => {
    const [command, args] = JSON.parse(
      execFileSync(process.execPath, [fixture('windows-shim.mjs')], { encoding: 'utf8' }),
    );
    expect(command).toBe('cmd.exe');
    expect(args.slice(0, 3)).toEqual(['/d', '/s', '/c']);
    expect(args[3]).toContain('npx');
    expect(args[3]).toContain('^"a^ b^&c^"');
    expect(args[3]).toContain('^%PATH^%');
  });
});
