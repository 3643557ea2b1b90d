import { PassThrough } from 'node:stream';
import { expect, it, vi } from 'vitest';
import type { TerminalInput } from '../../src/cli/keys.ts';
import { createPrinter } from '../../src/cli/print.ts';
import { askChoices } from '../../src/cli/runs-choose.ts';

const call = (id: string) => ({
  id: 1,
  call: id,
  label: 'mail',
  tool: 'send',
  arguments: '{"to":"a"}',
  started: 0,
  status: 'unknown' as const,
});

/** Types one key after each question. */
async function asked(
  keys: string[],
  given: object,
  isTTY = true,
): Promise<{ choices: object; screen: string }> {
  const stdin: TerminalInput = Object.assign(new PassThrough(), { isTTY, setRawMode: () => undefined });
  let screen = '';
  const sink = { isTTY, columns: 200, write: (text: string) => (screen += text) };
  const print = createPrinter(sink, sink, { NO_COLOR: '1' });
  const { signal } = new AbortController();
  const choices = askChoices({ print, stdin, signal }, ['a', 'b'].map(call), given, 0);
  for (const [index, key] of keys.entries()) {
    await vi.waitFor(() => expect(screen.split('q leave')).toHaveLength(index + 2));
    (stdin as unknown as PassThrough).write(key);
  }
  return { choices: await choices, screen };
}

it('asks for each unknown call, and hears no other key', async () => {
  const { choices, screen } = await asked(['xr', 's'], { by: 'me' });
  expect(choices).toEqual({ by: 'me', retry: ['a'], skip: ['b'] });
  expect(screen).toContain('unknown a: mail/send {"to":"a"}\nIt was running when the host stopped');
});

it('chooses nothing when somebody leaves, by q or Ctrl-C', async () => {
  for (const key of ['q', '\u0003']) expect((await asked(['r', key], {})).choices).toEqual({});
});

it('asks nobody where there is no terminal', async () => {
  expect(await asked([], { skip: ['a'] }, false)).toEqual({ choices: { skip: ['a'] }, screen: '' });
});
