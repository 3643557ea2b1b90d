import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallOutcome } from '../../src/host/call.ts';
import { keptResults, LONGEST_SLICE, MAX_KEPT, MAX_KEPT_BYTES, READ_RESULT } from '../../src/host/kept.ts';
import {
  type ContentBlock,
  type Host,
  type HostRunOptions,
  type JsonObject,
  openHost,
  type OpenOptions,
} from '../../src/index.ts';
import { apis } from '../emulators/apis.ts';
import type { EmulatorTurn } from '../emulators/server.ts';
import {
  LONG_TEXT,
  LARGE_PNG,
  LARGE_SVG,
  PAYLOAD,
  PDF,
  SMALL_PNG,
  startLarge,
  SVG,
  WAV,
  ZIP,
} from './large.ts';

let server: Awaited<ReturnType<typeof startLarge>>;
beforeAll(async () => {
  server = await startLarge();
});
afterAll(() => server.close());

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

async function host(options: OpenOptions = {}, config: JsonObject = {}): Promise<Host> {
  const opened = await openHost(
    { policy: 'allow', mcpServers: { big: { url: server.url, ...config } } },
    { env: {}, ...options },
  );
  open.push(opened);
  return opened;
}

const textsOf = ({ result }: CallOutcome): string[] =>
  result.content.map(({ text: value }) => (typeof value === 'string' ? value : ''));
const read = (opened: Host, args: JsonObject): Promise<CallOutcome> =>
  opened.call({ name: READ_RESULT, arguments: args });
const call = { id: 'c', name: 'big__text', arguments: {} };
const text = (value: string): ContentBlock => ({ type: 'text', text: value });

describe('read_result', () => {
  it('is a native function after those of the program, small, and the same whatever is stored', async () => {
    const opened = await host({ natives: [{ name: 'now', run: () => 'now' }] });
    const names = opened.catalog().entries.map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(['now', READ_RESULT, 'big__audio']);
    expect(opened.catalog().why(READ_RESULT)).toBe('read_result is a native function');
    const before = JSON.stringify(opened.tools('anthropic').tools);
    opened.keep?.(text('stored'), call);
    expect(JSON.stringify(opened.tools('anthropic').tools)).toBe(before);
    for (const dialect of [
      'anthropic',
      'openai-responses',
      'openai-chat',
      'gemini',
      'gemini-interactions',
    ] as const) {
      const entry = opened.tools(dialect).report.find(({ name }) => name === READ_RESULT);
      expect([dialect, entry?.status]).toEqual([dialect, 'exact']);
      expect(entry?.tokens).toBeLessThan(150);
    }
  });

  it('is not offered, and nothing is kept, when it is switched off or a function has its name', async () => {
    const off = await host({ readResult: false });
    expect(off.catalog().find(READ_RESULT)).toBeUndefined();
    expect(off.keep).toBeUndefined();
    const own = await host({ natives: [{ name: READ_RESULT, run: () => 'mine' }] });
    expect(own.keep).toBeUndefined();
    expect(textsOf(await read(own, {}))).toEqual(['mine']);
  });

  it('wins its name over a tool of a server', async () => {
    const opened = await host({}, { tools: { alias: { svg: READ_RESULT } } });
    expect(opened.catalog().find(READ_RESULT)?.label).toBeUndefined();
    expect(opened.catalog().owned('big', 'svg')?.name).toBe('big__svg');
  });

  it('gives text out in slices that join to the whole and never part a character', async () => {
    const opened = await host();
    const whole = `a${'\u{1F600}'.repeat(30)}z`;
    const handle = opened.keep?.(text(whole), call) ?? '';
    let [joined, offset] = ['', 0];
    for (;;) {
      const [slice = '', facts = ''] = textsOf(await read(opened, { handle, offset, length: 4 }));
      expect(slice.isWellFormed()).toBe(true);
      joined += slice;
      const next = /are left, from offset (\d+)\]$/.exec(facts)?.[1];
      if (next === undefined) {
        expect(facts).toBe('[text: characters 61 to 62 of 62; nothing is left]');
        break;
      }
      offset = Number(next);
    }
    expect(joined).toBe(whole);
    expect(textsOf(await read(opened, { handle, offset: 9_999 }))).toEqual([
      '[text: characters 62 to 62 of 62; nothing is left]',
    ]);
  });

  it('decodes what is text, whatever it is called, and gives facts and base64 of what is not', async () => {
    const opened = await host();
    const of = async (block: ContentBlock): Promise<string[]> =>
      textsOf(await read(opened, { handle: opened.keep?.(block, call) ?? '' }));
    const svg = Buffer.from(SVG).toString('base64');
    expect(await of({ type: 'image', mimeType: 'image/svg+xml', data: svg })).toEqual([
      SVG,
      expect.stringMatching(/^\[image image\/svg\+xml, \d+ bytes, as text: .*nothing is left\]$/),
    ]);
    const blob = { type: 'resource', resource: { uri: 'x:y', mimeType: 'application/odd', blob: svg } };
    expect((await of(blob))[0]).toBe(SVG);
    expect((await of({ type: 'resource', resource: { uri: 'x:y', text: 'inside' } }))[0]).toBe('inside');
    const [slice, facts] = await of({ type: 'audio', mimeType: 'audio/wav', data: WAV });
    expect([slice, facts]).toEqual([
      WAV.slice(0, 1_000),
      expect.stringContaining(
        'audio audio/wav, 3013 bytes, as base64: characters 0 to 1000 of 4020; 3020 are left',
      ),
    ]);
    expect((await of({ type: 'odd', x: 1 }))[0]).toBe('{"type":"odd","x":1}');
    expect(await of({ type: 'image', mimeType: 'a\nb', data: '' })).toEqual([
      expect.stringContaining('[image, 0 bytes'),
    ]);
  });

  it('checks its arguments and says in words what is gone', async () => {
    const opened = await host();
    expect(await read(opened, {})).toMatchObject({ status: 'refused' });
    for (const wrong of [{ offset: -1 }, { length: LONGEST_SLICE + 1 }, { length: 'all' }]) {
      expect(await read(opened, { handle: 'kept_0', ...wrong })).toMatchObject({ status: 'refused' });
    }
    const outcome = await read(opened, { handle: 'kept_000000000000' });
    expect([outcome.result.isError, textsOf(outcome)]).toEqual([
      true,
      [expect.stringContaining('Nothing is stored under "kept_000000000000"')],
    ]);
  });
});

describe('what is kept', () => {
  it('has the same short handle for the same content, in any host', () => {
    const [one, two] = [keptResults(), keptResults()];
    const handle = one.keep(text('same'), call);
    expect(handle).toMatch(/^kept_[0-9a-f]{12}$/);
    expect([one.keep(text('same'), call), two.keep(text('same'), { ...call, id: 'other' })]).toEqual([
      handle,
      handle,
    ]);
    expect(one.keep(text('other'), call)).not.toBe(handle);
  });

  it('makes room by count and by bytes, least recently used first', async () => {
    const { keep, native } = keptResults();
    const isThere = async (handle: string | undefined): Promise<boolean> => {
      const options = { signal: new AbortController().signal, onProgress: () => undefined };
      const result = (await native.run({ handle }, options)) as { isError?: boolean };
      return result.isError !== true;
    };
    const handles = Array.from({ length: MAX_KEPT }, (_, index) => keep(text(`text ${index}`), call));
    expect(await isThere(handles[0])).toBe(true); // and now used last
    keep(text('one more'), call);
    expect([await isThere(handles[0]), await isThere(handles[1]), await isThere(handles[2])]).toEqual([
      true,
      false,
      true,
    ]);
    const large = keep(text('x'.repeat(MAX_KEPT_BYTES - 30)), call);
    expect([await isThere(large), await isThere(handles[0])]).toEqual([true, false]);
    expect(keep(text('x'.repeat(MAX_KEPT_BYTES)), call)).toBeUndefined();
    expect(await isThere(large)).toBe(true);
  });

  it('holds neither what read_result returned nor what cannot be written', () => {
    const { keep } = keptResults();
    expect(keep(text('again'), { ...call, name: READ_RESULT })).toBeUndefined();
    const deep = JSON.parse(
      `{"type":"odd","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ) as ContentBlock;
    expect([undefined, expect.any(String)]).toContainEqual(keep(deep, call));
  });
});

for (const api of apis) {
  /** One run: what the API was sent, request by request, as text; and what the run warned of. */
  const converse = async (
    opened: Host,
    script: (sent: string, index: number) => EmulatorTurn,
    options: Partial<HostRunOptions> = {},
  ): Promise<{ sent: string[]; warnings: string }> => {
    const emulator = await api.start((body, index) => script(JSON.stringify(body), index));
    open.push(emulator);
    const run = opened.run({ model: api.model(emulator), messages: 'Go.', ...options });
    const warnings: string[] = [];
    for await (const event of run) if (event.type === 'warning') warnings.push(event.message);
    expect(await run.result).toMatchObject({ reason: 'complete' });
    return { sent: emulator.requests.map(({ body }) => JSON.stringify(body)), warnings: warnings.join('\n') };
  };
  const calling = (...tools: string[]): EmulatorTurn => ({
    calls: tools.map((tool) => ({ name: `big__${tool}` })),
  });
  const handlesIn = (sent: string): string[] =>
    [...sent.matchAll(/stored as (kept_[0-9a-f]{12})/g)].map(([, handle]) => handle ?? '');

  describe(`R14 through a run on ${api.name}`, () => {
    it('cuts 7 MB of text once, and the model reads the end of it by its handle', async () => {
      const { sent } = await converse(await host(), (told, index) => {
        if (index === 0) return calling('text');
        if (index === 2) return { text: 'Read.' };
        const [handle = ''] = handlesIn(told);
        return { calls: [{ name: READ_RESULT, arguments: { handle, offset: LONG_TEXT.length - 8 } }] };
      });
      expect(sent[1]?.length).toBeLessThan(300_000);
      expect(sent[1]).toMatch(/the first 262 kB of 7\.0 MB are shown; the whole is stored as kept_/);
      expect(sent[1]).not.toContain('The end.');
      expect(sent[2]).toContain('The end.');
      // What was sent before is sent again as it was: a prompt cache stays good.
      expect(handlesIn(sent[2] ?? '')).toEqual(handlesIn(sent[1] ?? ''));
      expect(handlesIn(sent[2] ?? '')).toHaveLength(1);
    });

    it('survives 31 MB of text, which the host withholds in words', async () => {
      const { sent, warnings } = await converse(await host(), (_, index) =>
        index === 0 ? calling('huge-text') : { text: 'A pity.' },
      );
      expect(sent[1]?.length).toBeLessThan(10_000);
      expect(sent[1]).toContain('Ask it for less');
      expect(warnings).toBe('');
    });

    it('carries what the API takes and names a handle and the facts of all else', async () => {
      const opened = await host();
      const { sent, warnings } = await converse(opened, (_, index) =>
        index === 0
          ? calling('image', 'large-image', 'audio', 'zip', 'svg', 'large-svg', 'pdf')
          : { text: 'Seen.' },
      );
      const told = sent[1] ?? '';
      expect(told).toContain(SMALL_PNG);
      expect(told).toContain('größer');
      const contents = await Promise.all(
        handlesIn(told).map(async (handle) => textsOf(await read(opened, { handle, length: 40 }))[0]),
      );
      for (const [what, whole] of [
        ['image image/png 8.0 MB', LARGE_PNG],
        ['audio audio/wav 3 kB', WAV],
        ['file file:///all.zip application/zip 104 B', ZIP],
        ['image image/svg+xml', LARGE_SVG],
        ['file file:///report.pdf application/pdf', PDF],
      ] as const) {
        if (told.includes(whole)) continue;
        expect(told).toContain(`[${what}`);
        expect(warnings).toContain(what);
        expect(contents).toContain(whole.slice(0, 40));
      }
    });

    it('counts a payload once that stands in text and in structured content', async () => {
      const { sent } = await converse(await host(), (_, index) =>
        index === 0 ? calling('payload') : { text: 'Seen.' },
      );
      expect(sent[1]?.split(PAYLOAD.rows.at(-1)?.name ?? '')).toHaveLength(2);
    });

    it('names no handle to a model that is not offered the function', async () => {
      const script = (_: string, index: number) => (index === 0 ? calling('zip') : { text: 'Seen.' });
      const { sent } = await converse(await host(), script, { tools: ['big__*'] });
      expect(sent[1]).toContain('application/zip 104 B cannot be shown]');
      const named = await converse(await host(), script, { tools: ['big__*', READ_RESULT] });
      expect(handlesIn(named.sent[1] ?? '')).toHaveLength(1);
    });

    it("takes the caller's own way of keeping before the host's", async () => {
      const { sent } = await converse(
        await host(),
        (_, index) => (index === 0 ? calling('zip') : { text: 'Seen.' }),
        { results: { keep: () => 'my-own-handle' } },
      );
      expect(sent[1]).toContain('stored as my-own-handle');
    });
  });
}
