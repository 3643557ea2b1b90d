import { describe, expect, it } from 'vitest';
import { diffMarkdown, diffSarif } from '../../../src/trust/diff/index.ts';
import type { Json } from '../../../src/types.ts';
import { change, FORECAST, FULL, finding, POISONED, review } from './changes.ts';

/** Everything that Markdown, HTML and GitHub act on; `EVIL` marks what came from a server. */
const TEXTS = [
  '```\n\n# EVIL\n<img src=x onerror=alert(1)> @octocat #1 https://example.com/EVIL\n',
  '`EVIL` ``EVIL`` ````EVIL```` ~~~EVIL',
  '</details>EVIL<!-- EVIL',
  '[EVIL](javascript:alert(1)) ![EVIL](x) {0} {{EVIL}} [EVIL](1)',
  '| EVIL | --- |\n> EVIL\n- EVIL\n    EVIL\n\n---\nEVIL',
  'EVIL`',
  '`EVIL',
  '\\`EVIL\\',
  '~~~\nEVIL\n~~~',
  '@EVIL',
  'EVIL\r\n\r\n# EVIL',
];

const hostile = (text: string) =>
  review(
    [
      change({
        key: text,
        class: 'text',
        what: text,
        facets: [text],
        renamedFrom: text,
        was: { name: text, description: `was ${text}` },
        now: { name: text, description: `now ${text}`, [text]: text },
        findings: [finding({ key: text, pointer: `/${text}`, evidence: text, decoded: text })],
      }),
      change({ kind: 'resource', key: text, class: 'removed', effect: 'inform' }),
    ],
    { label: text, note: text, reviewed: { at: text, how: 'review', by: text } },
  );

/** What is left of Markdown without its code: fences first (CommonMark 4.5), then spans (6.1). */
function outsideCode(markdown: string): string {
  const kept: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    if (fence === undefined) {
      fence = /^ {0,3}(`{3,}|~{3,})[^`]*$/.exec(line)?.[1];
      if (fence === undefined) kept.push(line);
    } else if (new RegExp(`^ {0,3}${fence[0]}{${fence.length},} *$`).test(line)) fence = undefined;
  }
  expect(fence).toBeUndefined();
  return kept.map((line) => line.replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, '')).join('\n');
}

describe('a diff as Markdown', () => {
  it.each(TEXTS)('keeps what a server says in code (%j)', (text) => {
    const markdown = diffMarkdown([hostile(text)]);
    expect(markdown).toContain('EVIL');
    expect(outsideCode(markdown)).not.toMatch(/EVIL|@|<(?!\/?(details|summary)>)|\]\(/);
  });

  it('reads well where it is nothing but a change', () => {
    const markdown = diffMarkdown([FULL]);
    expect(markdown).toContain(
      '## Midspan: 5 items wait for review, 1 item no longer there\n\n### `weather`\n',
    );
    expect(markdown).toContain('#### WITHHELD: `tool get_forecast` (`text`, `shape`)\n');
    expect(markdown).toContain('```diff\n  │ Get the\n- │ first\n');
    expect(markdown).toMatch(/```sh\nmidspan approve weather get_forecast --digest sha256-\S+\n```/);
    expect(markdown).toContain('<details><summary>No longer there (1)</summary>\n\n- `tool old_radar`\n');
  });

  it('stays shorter than a comment may be, and says what it left out', () => {
    const changes = Array.from({ length: 400 }, (_, index) =>
      change({
        key: `tool_${index}`,
        was: { name: 'x', description: 'short' },
        now: { name: 'x', description: 'long '.repeat(200) },
      }),
    );
    const markdown = diffMarkdown([review(changes)]);
    expect(markdown.length).toBeLessThan(65_536);
    const [, shortened, missing] =
      /(\d+) shown without their text, (\d+) left out\. `midspan diff`/.exec(markdown) ?? [];
    const shown = markdown.split('#### ').length - 1;
    expect(shown + Number(missing)).toBe(400);
    expect(markdown.split('```diff').length - 1 + Number(shortened)).toBe(shown);
  });
});

const LOCK = JSON.stringify(
  {
    lockfileVersion: 1,
    servers: {
      weather: {
        identity: { transport: 'stdio' },
        instructions: { text: 'Ask for one city at a time.' },
        tools: { get_forecast: { definition: FORECAST, digest: 'x' } },
      },
    },
  },
  null,
  2,
);

interface Sarif {
  version: string;
  $schema: string;
  runs: {
    tool: { driver: { name: string; rules: { id: string; shortDescription: { text: string } }[] } };
    results: {
      ruleId: string;
      ruleIndex: number;
      level: string;
      message: { text: string };
      locations: {
        physicalLocation: {
          artifactLocation: { uri: string };
          region: { startLine: number; startColumn: number };
        };
      }[];
    }[];
  }[];
}

const sarif = (...args: Parameters<typeof diffSarif>): Sarif => diffSarif(...args) as unknown as Sarif;

/** The members that SARIF 2.1.0 requires of what we use, and the types that it gives them. */
function expectSarif(log: Sarif): void {
  expect(log.version).toBe('2.1.0');
  expect(new URL(log.$schema).protocol).toBe('https:');
  expect(noUndefined(log as unknown as Json)).toBe(true);
  for (const { tool, results } of log.runs) {
    expect(tool.driver.name).toBe('Midspan');
    const ids = tool.driver.rules.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const rule of tool.driver.rules) expect(rule.shortDescription.text).not.toBe('');
    for (const { ruleId, ruleIndex, level, message, locations } of results) {
      expect(ids[ruleIndex]).toBe(ruleId);
      expect(['none', 'note', 'warning', 'error']).toContain(level);
      expect(message.text).not.toBe('');
      // No placeholder (3.11.5) and no link (3.11.6) but what is escaped.
      expect(message.text.replace(/\{\{|\}\}/g, '')).not.toMatch(/[{}]/);
      expect(message.text.replace(/\\[\\[\]]/g, '')).not.toMatch(/[[\]]/);
      expect(locations).toHaveLength(1);
      for (const { physicalLocation } of locations) {
        const { artifactLocation, region } = physicalLocation;
        expect(new URL(artifactLocation.uri, 'file:///root/').href).toContain('file:///root/');
        expect(Number.isInteger(region.startLine) && region.startLine >= 1).toBe(true);
        expect(Number.isInteger(region.startColumn) && region.startColumn >= 1).toBe(true);
      }
    }
  }
}

const noUndefined = (value: Json): boolean =>
  JSON.stringify(value) === JSON.stringify(JSON.parse(JSON.stringify(value)));

describe('a diff as SARIF', () => {
  it('has what the specification requires, for an ordinary diff', () => {
    const log = sarif([FULL], { path: 'midspan.lock.json', lockText: LOCK });
    expectSarif(log);
    const results = log.runs[0]?.results ?? [];
    expect(results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
      ['identity', 'error'],
      ['server-text', 'warning'],
      ['text', 'error'],
      ['contract+', 'error'],
      ['U05', 'error'],
      ['P03', 'error'],
      ['renamed', 'error'],
      ['text-small', 'warning'],
      ['removed', 'note'],
    ]);
  });

  it('points at the lines of the lock that hold what was approved', () => {
    const changes = [
      change({
        was: FORECAST,
        now: POISONED,
        findings: [finding({ pointer: '/inputSchema/properties/city/description' })],
      }),
      change({ key: 'brand_new', class: 'new' }),
      change({ kind: 'instructions', key: '' }),
    ];
    const [run] = sarif([review(changes)], { path: 'a b/midspan.lock.json', lockText: LOCK }).runs;
    const lines = LOCK.split('\n');
    const at = (index: number): string => {
      const region = run?.results[index]?.locations[0]?.physicalLocation.region;
      return (lines[(region?.startLine ?? 0) - 1] ?? '').slice((region?.startColumn ?? 0) - 1);
    };
    expect(at(0)).toMatch(/^"instructions": /);
    expect(at(1)).toMatch(/^"description": "Get the first forecast/);
    expect(at(2)).toBe('"description": "Name of the city."');
    expect(at(3)).toBe('"tools": {');
    expect(run?.results[0]?.locations[0]?.physicalLocation.artifactLocation.uri).toBe(
      'a%20b/midspan.lock.json',
    );
  });

  it.each(TEXTS)('stays what it is with hostile text in every field (%j)', (text) => {
    expectSarif(sarif([hostile(text)], { path: text.replace(/^\W+/, ''), lockText: LOCK }));
  });

  it('maps severities', () => {
    const findings = (['critical', 'high', 'medium', 'low'] as const).map((severity) =>
      finding({ severity, rule: severity }),
    );
    const [run] = sarif([review([change({ findings, effect: 'inform' })])], { path: 'x', lockText: '' }).runs;
    expect(run?.results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
      ['text', 'note'],
      ['critical', 'error'],
      ['high', 'error'],
      ['medium', 'warning'],
      ['low', 'note'],
    ]);
  });
});
