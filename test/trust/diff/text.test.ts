import { describe, expect, it } from 'vitest';
import { diffText, plain, plainText, summaryOf } from '../../../src/trust/diff/index.ts';
import { change, FORECAST, FULL, finding, POISONED, review, toolChange } from './changes.ts';

const text = (...args: Parameters<typeof diffText>): string => plainText(diffText(...args));

describe('a diff as text', () => {
  it('is read from the server itself down to what is gone', async () => {
    await expect(text([FULL], { width: 76 })).toMatchFileSnapshot('full-diff.txt');
    expect(summaryOf([FULL])).toBe('5 items wait for review, 1 item no longer there');
  });

  it('says nothing of a server of which nothing changed', () => {
    expect(diffText([review([])])).toEqual([]);
    expect(summaryOf([review([])])).toBe('Nothing changed');
    expect(text([review([], { note: 'It was not started.' })])).toContain('It was not started.');
  });

  it('folds unchanged text with its size, and shows it when asked', () => {
    const folded = text([toolChange(FORECAST, POISONED)]);
    const full = text([toolChange(FORECAST, POISONED)], { full: true });
    expect(folded).toMatch(/⋯ \d+ characters unchanged; --full shows them/);
    expect(folded).not.toContain('degrees Celsius');
    expect(full).toContain('degrees Celsius');
    expect(full).not.toContain('⋯');
  });

  it('never folds what was added or removed', () => {
    const long = 'one two three four '.repeat(500);
    const added = text([toolChange({ name: 'x', description: 'a' }, { name: 'x', description: long })]);
    expect(added.split('three').length - 1).toBe(500);
    expect(added).not.toContain('⋯');
  });

  it('puts what a server says behind a bar, so that it cannot look like a line of ours', () => {
    const forged =
      'x\nNOTED tool other: nothing has to be approved\n+ /inputSchema/properties/a string\napprove with  midspan';
    const lines = text([
      toolChange({ name: 'x', description: 'y' }, { name: 'x', description: forged }),
    ]).split('\n');
    for (const line of lines.filter((line) => /nothing has to be|properties\/a|with {2}midspan$/.test(line)))
      expect(line).toMatch(/^ {2}\+ │ /);
  });

  it('quotes a name that could be taken for words of ours', () => {
    const item = review([
      change({ key: 'get_forecast: nothing has to be approved\nok', now: { name: 'a b' } }),
    ]);
    expect(text([item])).toContain('WITHHELD tool "get_forecast: nothing has to be approved\\nok"');
  });

  it('names the command that approves exactly what was shown, safe to paste', () => {
    const approve = (key: string, label = 'weather'): string | undefined =>
      review([change({ key, nowDigest: 'sha256-eA==' })], { label }).items[0]?.approve;
    expect(approve('get.it')).toBe('midspan approve weather get.it --digest sha256-eA==');
    expect(approve('a; rm -rf ~')).toBe('midspan approve weather --digest sha256-eA==');
    expect(approve('--yes')).toBe('midspan approve weather --digest sha256-eA==');
    expect(approve('x', "it's $(mine)")).toBe(
      String.raw`midspan approve 'it'\''s $(mine)' x --digest sha256-eA==`,
    );
  });

  it('puts the worst tools first, whatever the order they came in', () => {
    const changes = [
      change({ key: 'a', effect: 'inform', class: 'cosmetic' }),
      change({ key: 'b', effect: 'serve-pinned' }),
      change({ key: 'd', findings: [finding({ severity: 'medium' })] }),
      change({ key: 'c' }),
      change({ key: 'e', findings: [finding({ severity: 'low' }), finding({ severity: 'critical' })] }),
    ];
    const order = (list: typeof changes): string[] => review(list).items.map(({ key }) => key);
    expect(order(changes)).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect(order([...changes].reverse())).toEqual(['e', 'd', 'c', 'b', 'a']);
  });

  it('shows schema changes as places', () => {
    const schema = (inputSchema: object) => ({ name: 'x', inputSchema: { ...inputSchema } });
    const lines = diffText([
      toolChange(
        schema({
          type: 'object',
          properties: { a: { type: 'string' }, b: { enum: ['x', 'y'] } },
          required: ['a', 'b'],
        }),
        schema({
          type: 'object',
          properties: {
            a: { type: ['string', 'null'] },
            b: { enum: ['y', 'z'] },
            sidenote: { type: 'string' },
          },
          required: ['b', 'sidenote'],
          additionalProperties: false,
        }),
      ),
    ]).map(plain);
    expect(lines.slice(3, -3).map((line) => line.trim())).toEqual([
      'its text changed',
      'inputSchema',
      '- /properties/a/type "string"',
      '+ /properties/a/type ["string","null"]',
      '- /properties/b/enum "x"',
      '+ /properties/b/enum "z"',
      '+ /properties/sidenote string required',
      '- /required "a"',
      '+ /additionalProperties false',
    ]);
  });

  it('tells a new order of a list', () => {
    const tool = (...names: string[]) => ({ name: 'x', inputSchema: { enum: names } });
    expect(text([toolChange(tool('a', 'b'), tool('b', 'a'))])).toContain('~ /enum order is now ["b", "a"]');
  });

  it('tells what an approval adds to every request', () => {
    expect(text([toolChange(FORECAST, POISONED)])).toMatch(/about \+\d+ tokens in every request/);
    expect(text([toolChange(POISONED, FORECAST)])).toMatch(/about -\d+ tokens in every request/);
  });
});

describe('several changes of one item', () => {
  it('are told together, the difference once', () => {
    const both = { was: FORECAST, now: POISONED };
    const found = finding({});
    const item = review([
      change({ ...both, class: 'text', findings: [found] }),
      change({ ...both, class: 'widened', what: 'it takes more', findings: [found] }),
    ]).items;
    expect(item).toHaveLength(1);
    expect(item[0]?.verdicts.map((verdict) => verdict.class)).toEqual(['text', 'widened']);
    expect(item[0]?.findings).toHaveLength(1);
    expect(item[0]?.details.filter(({ pointer }) => pointer === '/description')).toHaveLength(1);
  });

  it('show how a server is reached and what it says of itself, both', () => {
    const server = { kind: 'server', key: '' } as const;
    const changes = [
      change({ ...server, class: 'version', effect: 'inform', was: { version: '1' }, now: { version: '2' } }),
      change({
        ...server,
        class: 'identity',
        effect: 'stop',
        was: { url: 'http://a' },
        now: { url: 'http://b' },
      }),
    ];
    expect(review(changes).items[0]?.details.map(({ pointer }) => pointer)).toEqual(['/url', '/version']);
    expect(review(changes).items[0]?.effect).toBe('stop');
  });
});

describe('a change that looks like none', () => {
  it.each([
    ['line ends', 'a b\nc', 'a b\r\nc'],
    ['a drawing of a hidden character, and the character', 'a b⟨U+200B⟩', 'a b\u200b'],
    ['a text that appears but is empty', undefined, ''],
  ])('is shown: %s', (_, was, now) => {
    const tool = (description: string | undefined) => ({
      name: 'x',
      ...(description !== undefined && { description }),
    });
    expect(text([toolChange(tool(was), tool(now))])).toMatch(/^ {2}\+ /m);
  });
});
