import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, labelSources, suggestLabels } from '../../../src/trust/policy/policy.ts';
import type { JsonObject, ToolLabel } from '../../../src/types.ts';

const READING = { readOnlyHint: true };
const URL_SCHEMA = { type: 'object', properties: { url: { type: 'string' } } };

describe('suggested labels', () => {
  it.each<[string, JsonObject | undefined, ToolLabel[]]>([
    ['list_directory', READING, ['reads']],
    ['getWeather', READING, ['reads']],
    ['list_directory', undefined, []],
    ['list_directory', { readOnlyHint: false }, []],
    ['list_directory', { readOnlyHint: true, destructiveHint: true }, ['destroys']],
    ['echo', READING, []],
    ['get_and_delete', READING, ['destroys']],
    ['search_and_replace', READING, ['untrusted']],
    ['read_file', READING, ['reads', 'private']],
    ['read_issue', READING, ['reads', 'untrusted']],
    ['search', { readOnlyHint: true, openWorldHint: true }, ['reads', 'untrusted']],
    ['get_mail', READING, ['untrusted', 'private', 'sends']],
    ['send-email', undefined, ['untrusted', 'private', 'sends']],
    ['deleteBranch', undefined, ['destroys']],
    ['run_tests', { destructiveHint: true }, ['destroys']],
    ['POST_MESSAGE', undefined, ['untrusted', 'private', 'sends']],
    ['constructor', undefined, []],
    ['', READING, []],
  ])('for %s with %j are %j', (name, annotations, wanted) => {
    expect(suggestLabels({ name, inputSchema: {}, ...(annotations && { annotations }) })).toEqual(wanted);
  });

  it('take reading an address for a way to let data leave', () => {
    expect(suggestLabels({ name: 'fetch', annotations: READING, inputSchema: URL_SCHEMA })).toEqual([
      'untrusted',
      'sends',
    ]);
    const byFormat = { properties: { where: { type: 'string', format: 'uri' } } };
    expect(suggestLabels({ name: 'open', inputSchema: byFormat })).toEqual(['sends']);
    expect(suggestLabels({ name: 'fetch', annotations: READING, inputSchema: {} })).toEqual([
      'reads',
      'untrusted',
    ]);
  });

  it('are none for what is no definition', () => {
    expect(suggestLabels({})).toEqual([]);
    expect(suggestLabels({ name: 1, annotations: 'x', inputSchema: [] })).toEqual([]);
  });
});

describe('labels that count', () => {
  it('come from the lock and from every glob of the policy that matches', () => {
    const policy = {
      ...DEFAULT_POLICY,
      labels: [
        { tools: 'a/*', labels: ['reads' as const, 'private' as const] },
        { tools: '*/read', labels: ['private' as const] },
        { tools: 'b/*', labels: ['sends' as const] },
      ],
    };
    expect(labelSources(policy, { label: 'a', tool: 'read', labels: ['reads'] })).toEqual([
      { label: 'reads', from: 'lock' },
      { label: 'reads', from: { glob: 'a/*' } },
      { label: 'private', from: { glob: 'a/*' } },
      { label: 'private', from: { glob: '*/read' } },
    ]);
  });
});
