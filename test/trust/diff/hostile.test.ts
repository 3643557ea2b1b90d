import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  diffJson,
  diffMarkdown,
  diffSarif,
  diffText,
  firstChanges,
  firstUseText,
  plainText,
  reviewOf,
} from '../../../src/trust/diff/index.ts';
import { detailsOf } from '../../../src/trust/diff/details.ts';
import { drawnText } from '../../../src/trust/diff/lines.ts';
import { wordRuns } from '../../../src/trust/diff/words.ts';
import type { Identity } from '../../../src/trust/lock/lock.ts';
import type { Json, JsonObject } from '../../../src/types.ts';
import { change, finding, IDENTITY } from './changes.ts';

/** What no terminal and no reader may be given: controls, bidirectional and invisible characters, halves of pairs. */
const RAW =
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  /[\p{Zl}\p{Zp}\p{Cs}\p{Cf}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}\u0000-\u0009\u000b-\u001f\u007f-\u009f]/u;

const SEQUENCES = [
  '\u001b]8;;https://example.com\u0007link\u001b]8;;\u0007',
  '\u001b[2J\u001b[1;1H',
  '\u009b31m\u009d0;title\u009c',
  'good\rbad',
  '\u202edaer siht\u202c',
  '\u2066\u2067\u2068\u2069\u200e\u200f\u061c',
  'a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u034fh\u180ei',
  Array.from('read ~/.ssh', (c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join(''),
  '\u{1f600}\ufe00\ufe01\u{e0100}\u{e0101}',
  '\u115f\u1160\u3164\uffa0\u17b4\u17b5',
  '\ue000\ufdd0\uffff\ud800',
  '\u0000\u0001\u0008\u007f\u0085\u2028\u2029',
  'tab\there',
];

const everything = (text: string): JsonObject => ({
  name: text,
  title: text,
  description: text,
  inputSchema: {
    type: text,
    properties: { [text]: { description: text, enum: [text], [text]: text } },
    required: [text],
  },
  annotations: { title: text, [text]: { [text]: text } },
  icons: [{ src: text }, text],
  [text]: text,
});

/** One hostile text in every place that a server can write. */
function shownOf(text: string): Record<string, string> {
  const identity = { ...IDENTITY, argv: [text, text], env: [text], serverInfo: { name: text } } as JsonObject;
  const findings = [
    finding({ key: text, pointer: `/${text}`, evidence: text, decoded: text, others: [text] }),
  ];
  const changes = [
    change({
      key: text,
      now: everything(text),
      findings,
      renamedFrom: text,
      what: text,
      class: text,
      facets: [text],
    }),
    change({
      key: `${text}2`,
      was: everything(text),
      now: { ...everything('x'), description: `${text} more` },
    }),
    change({ kind: 'instructions', key: '', now: text }),
    change({ kind: 'server', key: '', was: IDENTITY, now: identity }),
    change({ kind: 'resource', key: text, class: 'removed', effect: 'inform' }),
  ];
  const reviews = [reviewOf({ label: text, changes, reviewed: { at: text, how: 'yes', by: text } })];
  const first = {
    label: text,
    identity: identity as unknown as Identity,
    surface: {
      serverInfo: { name: text, version: text },
      instructions: text,
      tools: [everything(text)],
      prompts: [{ name: text }],
      resources: [{ uri: text }],
      templates: [{ uriTemplate: text }],
    },
    findings: (['server', 'instructions', 'tool', 'prompt'] as const).flatMap((kind) =>
      findings.map((found) => ({ ...found, kind })),
    ),
    labels: () => [],
  };
  const firstReviews = [reviewOf({ label: text, changes: firstChanges(first) })];
  const lockText = JSON.stringify(
    { servers: { [text]: { tools: { [text]: { definition: everything(text) } } } } },
    null,
    2,
  );
  return {
    text: plainText(diffText(reviews, { full: true })),
    first: plainText(firstUseText(first)),
    markdown: diffMarkdown([...reviews, ...firstReviews]),
    sarif:
      diffSarif([...reviews, ...firstReviews], { path: text, lockText }).runs === undefined
        ? ''
        : sarifText(reviews, text),
  };
}

/** The messages and rules, which viewers print; the rest is data. */
const sarifText = (reviews: Parameters<typeof diffSarif>[0], path: string): string =>
  JSON.stringify(diffSarif(reviews, { path, lockText: '' }).runs);

describe('hostile text', () => {
  it.each(SEQUENCES)('comes out drawn in every form (%j)', (text) => {
    for (const [form, shown] of Object.entries(shownOf(text)))
      expect([form, RAW.exec(shown)?.[0]]).toEqual([form, undefined]);
  });

  it('comes out drawn, every single character of the planes that have hidden ones', () => {
    const raw: string[] = [];
    for (const plane of [0, 14]) {
      for (let start = plane << 16; start < (plane + 1) << 16; start += 0x1000) {
        const text = Array.from(
          { length: 0x1000 },
          (_, index) => `a${String.fromCodePoint(start + index)}b`,
        ).join('');
        const shown = plainText(
          diffText([
            reviewOf({ label: 'x', changes: [change({ kind: 'instructions', key: '', now: text })] }),
          ]),
        );
        const found = RAW.exec(shown)?.[0];
        if (found !== undefined) raw.push(`U+${found.codePointAt(0)?.toString(16)}`);
      }
    }
    expect(raw).toEqual([]);
  });

  it('never moves a line of ours: every line of a text starts with a mark', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const lines = plainText(
          diffText(
            [reviewOf({ label: 'x', changes: [change({ kind: 'instructions', key: '', now: text })] })],
            { width: 70 },
          ),
        ).split('\n');
        const bars = lines.slice(4).filter((line) => !/^$|^ {2}(about|approve|\+ ""$)/.test(line));
        expect(bars.every((line) => line.startsWith('  + │ '))).toBe(true);
      }),
    );
  });

  it('is shown in full: every text that was added can be read, whatever it holds', () => {
    const key = fc.string({ minLength: 1, maxLength: 12 });
    const leaf = fc.string({ unit: 'binary', maxLength: 40 });
    const value = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.integer(),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 3 }),
      ),
    })).tree;
    const keys = fc.constantFrom(
      'properties',
      'description',
      'enum',
      'anyOf',
      'items',
      'default',
      'required',
      'type',
    );
    const item = fc.record({
      description: leaf,
      inputSchema: fc.dictionary(fc.oneof(keys, key), value),
      rest: value,
    });
    const letters = (text: string): string => text.replace(/[\s↵␠␉␍│┊+~\-⟨⟩]|U\+[0-9A-F]+/gu, '');
    fc.assert(
      fc.property(item, item, (was, now) => {
        const details = detailsOf(was, now);
        const shown = letters(
          details.map(({ fact, runs }) => fact ?? (runs ?? []).map(({ text }) => text).join('')).join(''),
        );
        const old = new Set(leaves(was));
        for (const text of leaves(now)) {
          if (old.has(text) || /^[\s\p{C}]*$/u.test(text)) continue;
          const [plain, inJson] = [
            letters(drawnText(text)),
            letters(drawnText(JSON.stringify(text).slice(1, -1))),
          ];
          expect(shown.includes(plain) || shown.includes(inJson) || isInPieces(text, details)).toBe(true);
        }
        expect(details.length > 0).toBe(
          JSON.stringify(was) !== JSON.stringify(now) && !sameButOrder(was, now),
        );
      }),
    );
  });
});

/** A text that grew out of an old one: the new is what its runs say. */
const isInPieces = (text: string, details: ReturnType<typeof detailsOf>): boolean =>
  details.some(({ runs = [] }) => side(runs, 'removed') === drawnText(text));

const side = (runs: ReturnType<typeof wordRuns>, without: string): string =>
  runs
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join('');

function leaves(value: JsonObject[string]): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [];
}

function sameButOrder(one: unknown, other: unknown): boolean {
  const sorted = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, inner]) => [key, sorted(inner)]),
        )
      : Array.isArray(value)
        ? value.map(sorted)
        : value;
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

describe('the words of a difference', () => {
  it('rebuild both texts, for any two', () => {
    const word = fc.constantFrom('a', 'bc', ' ', '\n', 'read', '⟨U+200B⟩', '.', '1.2.3', 'é');
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(word, { maxLength: 60 }).map((words) => words.join('')),
    );
    fc.assert(
      fc.property(text, text, (was, now) => {
        const runs = wordRuns(was, now);
        expect(side(runs, 'added')).toBe(was);
        expect(side(runs, 'removed')).toBe(now);
        expect(runs.every(({ kind, text }, index) => text !== '' && kind !== runs[index - 1]?.kind)).toBe(
          true,
        );
      }),
    );
  });

  it('are found in texts of the largest size, too, that have little in common', () => {
    const words = (step: number): string =>
      Array.from({ length: 12_000 }, (_, index) => `w${(index * step) % 5003}`).join(' ');
    const runs = wordRuns(words(1), words(3));
    expect(side(runs, 'added')).toBe(words(1));
    expect(side(runs, 'removed')).toBe(words(3));
  });
});

describe('JSON', () => {
  it('is a value without undefined, the same every time', () => {
    const reviews = [
      reviewOf({ label: 'x', changes: [change({ was: everything('a'), now: everything('b') })] }),
    ];
    const json = diffJson(reviews);
    expect(JSON.parse(JSON.stringify(json))).toStrictEqual(json);
    expect(JSON.stringify(diffJson(reviews))).toBe(JSON.stringify(json));
    expect(json).toMatchObject({
      waiting: 1,
      servers: [{ label: 'x', reviewed: null, waiting: 1, gone: [] }],
    });
  });
});
