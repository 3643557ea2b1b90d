import { describe, expect, it } from 'vitest';
import { type Workplace, workplace } from './support.ts';

/** `first` has ended when `second` begins, since they are calls of two turns; `second` waits at the gate. */
const TURNS = [
  {
    text: 'I begin.',
    calls: [{ id: 'c1', name: 'w__work', arguments: { piece: 'first', password: 'hunter2' } }],
  },
  { calls: [{ id: 'c2', name: 'w__work', arguments: { piece: 'second', waits: true } }] },
  { text: 'It said: {{c2}}' },
];
const RUN = ['run', '--model', 'script:script.json', '--system', 'Be brief.', 'Do the work.'];

interface Listed {
  runs: { id: string; status: string; reason?: string; unknown: number; turns: number; calls: number }[];
}

async function interrupted(
  turns: object[] = TURNS,
  pieces = ['first', 'second'],
): Promise<Workplace & { id: string }> {
  const place = workplace(turns);
  await place.killed(RUN, pieces);
  const { out } = await place.midspan(['runs', '--json']);
  const [run] = (JSON.parse(out) as Listed).runs;
  return { ...place, id: run?.id ?? '' };
}

describe('a run that was killed in the middle of a call', () => {
  it('is listed as interrupted, shown without secrets, and does not go on before somebody has chosen', async () => {
    const { midspan, id, done } = await interrupted();
    const plain = await midspan(['runs']);
    expect(plain.code).toBe(0);
    expect(plain.out).toMatch(/interrupted, 1 unknown +2 +1 +script:script.json +Do the work\./);
    expect(plain.err).toContain(`\`midspan runs resume ${id}\` goes on with it`);

    const shown = await midspan(['runs', 'show', id.slice(0, 4)]);
    expect([shown.code, shown.err]).toEqual([0, '']);
    expect(shown.out).toContain('c1  w__work {"piece":"first","password":"[redacted]"}');
    expect(shown.out).toMatch(/done, \d+ ms/);
    expect(shown.out).toContain('result did first');
    expect(shown.out).toMatch(/c2 {2}w__work .*\n {7}unknown/);
    expect(shown.out).not.toContain('hunter2');
    expect((await midspan(['runs', 'show', id, '--full'])).out).toContain('hunter2');
    const json = await midspan(['runs', 'show', id, '--json']);
    expect(json.out).not.toContain('hunter2');
    expect(JSON.parse(json.out)).toMatchObject({
      run: { id, status: 'interrupted', turns: 2, calls: 1 },
      calls: [{ status: 'done' }, { status: 'unknown' }],
    });

    const { code, err, out } = await midspan(['runs', 'resume', id]);
    expect([code, out]).toEqual([6, '']);
    expect(err).toContain('nobody knows whether they did: c2 (w/work)');
    for (const option of ['--retry c2', '--skip c2', '--retry-all', '--skip-all'])
      expect(err).toContain(option);
    expect(done()).toEqual(['first', 'second']);
  });

  it('runs the call again when told so, and nothing else', async () => {
    const { midspan, id, done, open } = await interrupted();
    open();
    const { code, out } = await midspan(['runs', 'resume', id, '--retry', 'c2']);
    expect([code, out]).toEqual([0, 'It said: did second\n']);
    expect(done()).toEqual(['first', 'second', 'second']);
    const listed = JSON.parse((await midspan(['runs', '--json'])).out) as Listed;
    expect(listed.runs).toMatchObject([
      { id, status: 'ended', reason: 'complete', unknown: 0, turns: 3, calls: 2 },
    ]);
  });

  it('tells the model that the outcome is unknown when told to skip, and does not go on twice', async () => {
    const { midspan, id, done } = await interrupted();
    const { code, out } = await midspan(['runs', 'resume', id, '--skip-all']);
    expect(code).toBe(0);
    expect(out).toContain('It said: The outcome of this call is not known');
    expect(done()).toEqual(['first', 'second']);
    expect((await midspan(['runs', 'show', id])).out).toContain('unknown, then skipped');
    expect((await midspan(['audit'])).out).toContain('call w/work skipped  by the command line');
    const again = await midspan(['runs', 'resume', id, '--skip-all']);
    expect(again.code).toBe(2);
    expect(again.err).toContain('has ended (complete)');
  });

  it('keeps the results of calls of the same turn that had ended', async () => {
    const both = [
      {
        calls: [
          { id: 'c1', name: 'w__work', arguments: { piece: 'first' } },
          { id: 'c2', name: 'w__work', arguments: { piece: 'second', waits: true } },
          { id: 'c3', name: 'w__work', arguments: { piece: 'third' } },
        ],
      },
      { text: '{{c1}}, {{c2}}, {{c3}}' },
    ];
    const { midspan, id, done, open } = await interrupted(both, ['first', 'second', 'third']);
    const unknown = (JSON.parse((await midspan(['runs', '--json'])).out) as Listed).runs[0]?.unknown ?? 0;
    open();
    const { code, out } = await midspan(['runs', 'resume', id, '--retry-all']);
    expect([code, out]).toEqual([0, 'did first, did second, did third\n']);
    // `first` and `third` answer at once, but whether that was heard before the end is a race.
    expect(done()).toHaveLength(3 + unknown);
  });

  it('can be interrupted again, and goes on with what is left', async () => {
    const { midspan, killed, id, done, open } = await interrupted([
      ...TURNS.slice(0, 2),
      { calls: [{ id: 'c3', name: 'w__work', arguments: { piece: 'third', waits: true } }] },
      { text: 'It said: {{c3}}' },
    ]);
    await killed(['runs', 'resume', id, '--skip', 'c2'], ['third']);
    open();
    const wrong = await midspan(['runs', 'resume', id, '--skip', 'c2']);
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('"c2" is no call of the run');
    const { code, out } = await midspan(['runs', 'resume', id, '--retry', 'c3']);
    expect([code, out]).toEqual([0, 'It said: did third\n']);
    expect(done()).toEqual(['first', 'second', 'third', 'third']);
  });
});

it('goes on with a run whose model failed', async () => {
  const { midspan, done, folder } = workplace(TURNS.slice(0, 1));
  expect((await midspan(RUN)).code).toBe(1);
  const [run] = (JSON.parse((await midspan(['runs', '--json'])).out) as Listed).runs;
  expect(run).toMatchObject({ status: 'ended', reason: 'failed' });
  const { writeFileSync } = await import('node:fs');
  writeFileSync(`${folder}/script.json`, JSON.stringify({ turns: [TURNS[0], { text: '{{c1}}' }] }));
  const { code, out } = await midspan(['runs', 'resume', run?.id ?? '']);
  expect([code, out]).toEqual([0, 'did first\n']);
  expect(done()).toEqual(['first']);
});

it('lists nothing and knows no run where nothing was recorded, and makes no file', async () => {
  const { midspan, folder } = workplace([]);
  expect(await midspan(['runs'])).toMatchObject({ code: 0, out: '', err: 'No run is recorded.\n' });
  expect(await midspan(['runs', 'show', 'x'])).toMatchObject({ code: 2 });
  expect(await midspan(['audit', '--verify'])).toMatchObject({ code: 0, out: 'There is no audit yet.\n' });
  const { existsSync } = await import('node:fs');
  expect(existsSync(`${folder}/.midspan/midspan.db`)).toBe(false);
});
