import { describe, expect, it } from 'vitest';
import { firstChanges, firstUseText, plainText, reviewOf, summaryOf } from '../../../src/trust/diff/index.ts';
import type { Identity } from '../../../src/trust/lock/lock.ts';
import type { JsonObject } from '../../../src/types.ts';
import { finding, FORECAST, IDENTITY, POISONED } from './changes.ts';

const first = {
  label: 'weather',
  identity: IDENTITY as Identity,
  surface: {
    serverInfo: { name: 'Weather', version: '1.2.3' },
    instructions: 'Ask for one city at a time.',
    tools: [FORECAST, { ...POISONED, name: 'get_alerts' }] as JsonObject[],
    prompts: [{ name: 'pack' }, { name: 'dress well' }],
    resources: [{ uri: 'weather://stations' }],
    templates: [],
  },
  findings: [finding({ key: 'get_alerts', evidence: '⟨U+200B⟩' })],
  labels: ({ name }: JsonObject) => (name === 'get_forecast' ? (['reads', 'untrusted'] as const) : []),
};

describe('the first look at a server', () => {
  it('shows on one screen all that a model would see, and how the server is reached', async () => {
    await expect(plainText(firstUseText(first))).toMatchFileSnapshot('first-use.txt');
  });

  it('folds and cuts nothing', () => {
    const argv = ['node', ...Array.from({ length: 60 }, (_, index) => `--option-${index}=value`)];
    const instructions = 'one two three '.repeat(400);
    const text = plainText(
      firstUseText({
        ...first,
        identity: { ...first.identity, argv },
        surface: { ...first.surface, instructions },
      }),
    );
    for (const word of argv) expect(text).toContain(word);
    expect(text.split('three').length - 1).toBe(400);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('shows a server without lists as one that says nothing', () => {
    const text = plainText(firstUseText({ ...first, surface: { serverInfo: {} }, findings: [] }));
    expect(text).toContain('0 tools, about 0 tokens in every request');
  });

  it('counts everything as waiting, with the command that approves the server whole', () => {
    const review = reviewOf({ label: 'weather', changes: firstChanges(first), isNew: true });
    expect(summaryOf([review])).toBe('7 items wait for review');
    expect(review.items.every(({ approve }) => approve === 'midspan lock weather')).toBe(true);
    expect(review.items.find(({ key }) => key === 'get_alerts')?.findings).toHaveLength(1);
  });
});
