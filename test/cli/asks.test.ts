import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Project, project, type Terminal } from './midspan.ts';

const CALL = { calls: [{ name: 'test__echo', arguments: { text: 'one\u001B[2J' } }] };

/** Whose policy asks for everything, and a model that calls `echo` in its first turns and then says Done. */
async function asking(turns: object[] = [CALL, { text: 'Done.' }]): Promise<Project> {
  const made = await project();
  const { default: config } = (await import(path.join(made.folder, 'midspan.json'), {
    with: { type: 'json' },
  })) as { default: object };
  await writeFile(path.join(made.folder, 'midspan.json'), JSON.stringify({ ...config, policy: 'ask' }));
  await writeFile(path.join(made.folder, 'script.json'), JSON.stringify({ turns }));
  return made;
}

const RUN = ['run', '--model', 'script:script.json', 'go'];

/** Presses a key until it is heard: right after an ask appears none is. */
async function press({ type, shows }: Terminal, key: string, shown: string): Promise<void> {
  const timer = setInterval(() => type(key), 100);
  try {
    await shows(shown);
  } finally {
    clearInterval(timer);
  }
}

describe('a call that needs a word', () => {
  it('is asked for on the terminal, in full and harmless, and runs after a yes', async () => {
    const { terminal, log } = await asking();
    const screen = terminal(RUN);
    await screen.shows('"text": "one\\u001b[2J"');
    await screen.shows('? more');
    await press(screen, 'y', 'Done.');
    expect((await screen.ended).code).toBe(0);
    expect(await log()).toContain('call echo');
  });

  it('does not run after a no, and the model is told', async () => {
    const { terminal, log } = await asking();
    const screen = terminal(RUN);
    await screen.shows('? more');
    await press(screen, 'n', 'Done.');
    expect((await screen.ended).code).toBe(0);
    expect(await log()).not.toContain('call echo');
  });

  it('is asked for once when the word holds for the run', async () => {
    const { terminal, log } = await asking([CALL, CALL, { text: 'Done.' }]);
    const screen = terminal(RUN);
    await screen.shows('? more');
    await press(screen, 'r', 'Done.');
    expect(((await screen.ended).screen.match(/\? more/g) ?? []).length).toBe(1);
    expect((await log()).filter((line) => line === 'call echo')).toHaveLength(2);
  });

  it('is asked for no more when the word holds for good, until it is taken back', async () => {
    const { terminal, midspan, log } = await asking();
    const screen = terminal(RUN);
    await screen.shows('? more');
    await press(screen, 'a', 'Done.');
    await screen.ended;
    expect((await midspan(RUN)).code).toBe(0);
    expect((await log()).filter((line) => line === 'call echo')).toHaveLength(2);
    expect((await midspan(['policy', 'forget', 'test/echo'])).err).toBe('1 forgotten.\n');
    await midspan(RUN);
    expect((await log()).filter((line) => line === 'call echo')).toHaveLength(2);
  });

  it('ends with the whole command at Ctrl-C', async () => {
    const { terminal, log } = await asking();
    const screen = terminal(RUN);
    await screen.shows('? more');
    screen.type('\u0003');
    expect((await screen.ended).code).toBe(130);
    expect(await log()).not.toContain('call echo');
  });

  it('does not run when nobody is there, and the result says what to do', async () => {
    const { midspan, log } = await asking();
    const { code, out } = await midspan([...RUN, '--json']);
    expect(code).toBe(0);
    expect(out).toContain('echo was not run: the call was not approved: nobody was there to answer');
    expect(out).toContain('midspan policy explain test/echo');
    expect(await log()).not.toContain('call echo');
  });

  it('waits for another process when it is told to, and runs after its answer', async () => {
    const { midspan, log } = await asking();
    const running = midspan([...RUN, '--answers-within', '60']);
    let asks: { id: string; digest: string }[] = [];
    while (asks.length === 0) ({ asks } = JSON.parse((await midspan(['asks', '--json'])).out) as never);
    const [{ id, digest } = { id: '', digest: '' }] = asks;
    expect((await midspan(['answer', id, 'accept', '--digest', digest])).code).toBe(0);
    expect((await running).code).toBe(0);
    expect(await log()).toContain('call echo');
  });
});
