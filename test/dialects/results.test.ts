import { describe, expect, it } from 'vitest';
import {
  anthropic,
  gemini,
  openaiResponses,
  type CallResult,
  type JsonObject,
} from '../../src/dialects/index.ts';
import { call, dialects, pdf, png, resultOf, svg, text, wav, type PerDialect } from './support.ts';

const other = { id: 'call_2', name: 'hear', arguments: {} };

/** The messages of results; the handle is always the same. */
function messages(id: string, results: CallResult[]): JsonObject[] {
  const dialect = dialects.find((one) => one.id === id);
  return dialect?.results(results, { keep: () => 'mem://1' }).messages ?? [];
}

/** The one result of a call in each API's shape, from what it holds. */
const carriers: PerDialect<(content: unknown, flag?: object) => JsonObject[]> = {
  anthropic: (content, flag) => [
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'call_1', content, ...flag } as JsonObject],
    },
  ],
  'openai-responses': (output) => [{ type: 'function_call_output', call_id: 'call_1', output } as JsonObject],
  'openai-chat': (content) => [{ role: 'tool', tool_call_id: 'call_1', content } as JsonObject],
  gemini: (functionResponse) => [
    {
      role: 'user',
      parts: [{ functionResponse: { id: 'call_1', name: 'look', ...(functionResponse as object) } }],
    },
  ],
  'gemini-interactions': (result, flag) => [
    { type: 'function_result', call_id: 'call_1', name: 'look', result, ...flag } as JsonObject,
  ],
};

/** What a result that is nothing but one text looks like. */
function oneText(id: keyof PerDialect<unknown>, value: string): JsonObject[] {
  const content: PerDialect<unknown> = {
    anthropic: [{ type: 'text', text: value }],
    'openai-responses': value,
    'openai-chat': value,
    gemini: { response: { output: value } },
    'gemini-interactions': value,
  };
  return carriers[id](content[id]);
}

describe.each(dialects)('results in $id', ({ id }) => {
  const expectOne = (result: CallResult, content: PerDialect<unknown>, flag?: object): void => {
    expect(messages(id, [result])).toEqual(carriers[id](content[id], flag));
  };

  it('carry one text', () => {
    expect(messages(id, [resultOf([text('Sunny')])])).toEqual(oneText(id, 'Sunny'));
  });

  it('keep the boundaries of several texts where the API has any', () => {
    expectOne(resultOf([text('a'), text('b')]), {
      anthropic: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      'openai-responses': [
        { type: 'input_text', text: 'a' },
        { type: 'input_text', text: 'b' },
      ],
      'openai-chat': 'a\n\nb',
      gemini: { response: { output: 'a\n\nb' } },
      'gemini-interactions': [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    });
  });

  it('may be empty', () => {
    const empty = resultOf([]);
    if (id === 'anthropic') {
      expect(messages(id, [empty])).toEqual([
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1' }] },
      ]);
    } else {
      expectOne(empty, {
        anthropic: undefined,
        'openai-responses': '',
        'openai-chat': '',
        gemini: { response: {} },
        'gemini-interactions': '',
      });
    }
  });

  it('carry an image in the best place', () => {
    const image = { type: 'image', data: png, mimeType: 'image/png' };
    const address = `data:image/png;base64,${png}`;
    const made = messages(id, [resultOf([text('Look:'), image])]);
    const name = 'image image/png 70 B';
    const inside: PerDialect<unknown> = {
      anthropic: [
        { type: 'text', text: 'Look:' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
      ],
      'openai-responses': [
        { type: 'input_text', text: 'Look:' },
        { type: 'input_image', image_url: address },
      ],
      'openai-chat': `Look:\n\n[${name} follows below]`,
      gemini: {
        response: { output: 'Look:' },
        parts: [{ inlineData: { mimeType: 'image/png', data: png } }],
      },
      'gemini-interactions': [
        { type: 'text', text: 'Look:' },
        { type: 'image', data: png, mime_type: 'image/png' },
      ],
    };
    const after =
      id === 'openai-chat'
        ? [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'Image returned by the tool look (call call_1):' },
                { type: 'image_url', image_url: { url: address } },
              ],
            },
          ]
        : [];
    expect(made).toEqual([...carriers[id](inside[id]), ...after]);
  });

  it('trust the bytes of an image more than its declared type, and take data addresses and lines', () => {
    const lines = `data:image/jpeg;base64,${png.slice(0, 40)}\n${png.slice(40)}`;
    const wrong = messages(id, [resultOf([{ type: 'image', data: lines, mimeType: 'image/jpeg' }])]);
    expect(wrong).toEqual(messages(id, [resultOf([{ type: 'image', data: png, mimeType: 'image/png' }])]));
  });

  it('carry an image in an embedded resource as an image', () => {
    const resource = {
      type: 'resource',
      resource: { uri: 'file:///a.png', mimeType: 'image/png', blob: png },
    };
    expect(JSON.stringify(messages(id, [resultOf([resource])]))).toContain(png);
  });

  it('show a vector image as the text that it is', () => {
    const made = messages(id, [resultOf([{ type: 'image', data: svg, mimeType: 'image/svg+xml' }])]);
    expect(made).toEqual(oneText(id, `image image/svg+xml:\n${atob(svg)}`));
  });

  it.each([
    ['image/tiff', { type: 'image', data: 'AAAA', mimeType: 'image/tiff' }, 'image image/tiff 3 B'],
    [
      'a file of an unknown type',
      { type: 'resource', resource: { uri: 'file:///a.bin', blob: 'AAAA' } },
      'file file:///a.bin application/octet-stream 3 B',
    ],
    ['a block of the future', { type: 'hologram', data: 'x' }, 'block of the unknown type hologram'],
    ['an image without data', { type: 'image', mimeType: 'image/png' }, 'malformed image block'],
    [
      'an image that is not base64',
      { type: 'image', data: '?!', mimeType: 'image/png' },
      'malformed image block',
    ],
    ['a text without text', { type: 'text' }, 'malformed text block'],
    [
      'a resource without content',
      { type: 'resource', resource: { uri: 'a:b' } },
      'malformed resource block',
    ],
  ])('put a placeholder with a handle in the place of %s, and keep the rest', (_what, block, name) => {
    const dialect = dialects.find((one) => one.id === id);
    const kept: unknown[] = [];
    const made = dialect?.results([resultOf([text('before'), block])], {
      keep: (one, of) => {
        kept.push([one, of]);
        return 'mem://1';
      },
    });
    expect(kept).toEqual([[block, call]]);
    expect(JSON.stringify(made?.messages)).toContain(`[${name} stored as mem://1]`);
    expect(JSON.stringify(made?.messages)).toContain('before');
    expect(made?.losses).toEqual([`look (call_1): ${name} became a placeholder`]);
    const alone = dialect?.results([resultOf([block])]);
    expect(alone?.messages).toEqual(oneText(id, `[${name} cannot be shown]`));
  });

  it('carry audio where the API takes it, and a placeholder elsewhere', () => {
    const audio = resultOf([{ type: 'audio', data: wav, mimeType: 'audio/wav' }]);
    const made = messages(id, [audio]);
    if (id === 'gemini') {
      expect(made).toEqual([
        {
          role: 'user',
          parts: [
            {
              functionResponse: {
                id: 'call_1',
                name: 'look',
                response: { output: '[audio audio/wav 24 B follows below]' },
              },
            },
            { text: 'Audio returned by the tool look (call call_1):' },
            { inlineData: { mimeType: 'audio/wav', data: wav } },
          ],
        },
      ]);
    } else {
      expect(made).toEqual(oneText(id, '[audio audio/wav 24 B stored as mem://1]'));
    }
  });

  it('show an embedded text with its address', () => {
    const resource = {
      type: 'resource',
      resource: { uri: 'file:///a.md', mimeType: 'text/markdown', text: '# A' },
    };
    expect(messages(id, [resultOf([resource])])).toEqual(
      oneText(id, 'Resource file:///a.md (text/markdown):\n# A'),
    );
  });

  it('show text in a blob as text', () => {
    const resource = {
      type: 'resource',
      resource: { uri: 'a:b', mimeType: 'application/json', blob: btoa('{"a":1}') },
    };
    expect(messages(id, [resultOf([resource])])).toEqual(
      oneText(id, 'Resource a:b (application/json):\n{"a":1}'),
    );
  });

  it('carry a PDF where the API takes documents', () => {
    const resource = {
      type: 'resource',
      resource: { uri: 'file:///b/a.pdf', mimeType: 'application/pdf', blob: pdf },
    };
    const placeholder = '[file file:///b/a.pdf application/pdf 15 B stored as mem://1]';
    expectOne(resultOf([resource]), {
      anthropic: [
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: pdf },
          title: 'file:///b/a.pdf',
        },
      ],
      'openai-responses': [
        { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
      ],
      'openai-chat': placeholder,
      gemini: { response: {}, parts: [{ inlineData: { mimeType: 'application/pdf', data: pdf } }] },
      'gemini-interactions': placeholder,
    });
  });

  it('show a link in one line', () => {
    const link = {
      type: 'resource_link',
      uri: 'https://example.com/a',
      name: 'a',
      title: 'The\nA',
      mimeType: 'text/html',
      size: 12_300,
      description: 'All about\u0000 A.',
    };
    expect(messages(id, [resultOf([link])])).toEqual(
      oneText(id, 'Resource: The A - https://example.com/a (text/html, 12 kB) All about A.'),
    );
    const bare = { type: 'resource_link', uri: 'a:b' };
    expect(messages(id, [resultOf([bare])])).toEqual(oneText(id, 'Resource: a:b'));
  });

  it('never hold an app page', () => {
    const page = { type: 'resource', resource: { uri: 'ui://app', mimeType: 'text/html', text: '<h1>' } };
    const link = { type: 'resource_link', uri: 'ui://app', name: 'app' };
    const made = messages(id, [resultOf([page, link, text('Done')])]);
    expect(made).toEqual(oneText(id, 'Done'));
  });

  it('leave out what is for the user only', () => {
    const forUser = { ...text('secret'), annotations: { audience: ['user'] } };
    const forBoth = { ...text('shared'), annotations: { audience: ['user', 'assistant'] } };
    expect(messages(id, [resultOf([forUser, forBoth])])).toEqual(oneText(id, 'shared'));
    expect(messages(id, [resultOf([forUser])])).toEqual(
      oneText(id, '[the result is meant for the user only]'),
    );
    const resource = { uri: 'a:b', text: 'secret', annotations: { audience: ['user'] } };
    expect(JSON.stringify(messages(id, [resultOf([{ type: 'resource', resource }])]))).not.toContain(
      'secret',
    );
  });

  it('mark an error by the flag or by the fixed substitute', () => {
    expectOne(
      resultOf([text('No such city')], { isError: true }),
      {
        anthropic: [{ type: 'text', text: 'No such city' }],
        'openai-responses': '[tool error] No such city',
        'openai-chat': '[tool error] No such city',
        gemini: { response: { error: 'No such city' } },
        'gemini-interactions': 'No such city',
      },
      { is_error: true },
    );
  });

  it('mark an error without any words', () => {
    if (id !== 'anthropic') {
      expectOne(
        resultOf([], { isError: true }),
        {
          anthropic: [],
          'openai-responses': '[tool error]',
          'openai-chat': '[tool error]',
          gemini: { response: { error: '' } },
          'gemini-interactions': '',
        },
        { is_error: true },
      );
    } else {
      expect(messages(id, [resultOf([], { isError: true })])).toEqual([
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', is_error: true }] },
      ]);
    }
  });

  it('show an error that has only structured content (R12)', () => {
    const made = JSON.stringify(
      messages(id, [resultOf([], { isError: true, structuredContent: { code: 'E7' } })]),
    );
    expect(made).toContain('E7');
    expect(made).toMatch(/is_error|\[tool error\]|"error"/);
  });

  it('show structured content once when the text does not say it', () => {
    const structured = { temperature: 21, unit: 'C' };
    const json = JSON.stringify(structured);
    const native: PerDialect<unknown> = {
      anthropic: [{ type: 'text', text: json }],
      'openai-responses': json,
      'openai-chat': json,
      gemini: { response: { output: structured } },
      'gemini-interactions': structured,
    };
    expectOne(resultOf([], { structuredContent: structured }), native);
    const words = JSON.stringify(
      messages(id, [resultOf([text('21 degrees')], { structuredContent: structured })]),
    );
    expect(words).toContain('21 degrees');
    expect(words.match(/temperature/g)).toHaveLength(1);
  });

  it.each([
    [
      'the same JSON in another order and spacing',
      ['{ "unit": "C",\n "temperature": 21 }'],
      { temperature: 21, unit: 'C' },
    ],
    ['a wrapped text', ['sunny'], { result: 'sunny' }],
    ['a wrapped list, one text per item', ['{"a":1}', '{"a":2}'], { result: [{ a: 1 }, { a: 2 }] }],
    ['a list, one text per item', ['1', 'x'], [1, 'x']],
    ['the JSON among other texts', ['Here:', '{"a":1}'], { a: 1 }],
  ])('do not repeat structured content that the text says: %s', (_what, texts, structuredContent) => {
    const said = messages(id, [resultOf(texts.map(text), { structuredContent })]);
    const bare = messages(id, [resultOf(texts.map(text))]);
    const gave = JSON.stringify(said);
    expect(gave.length).toBeLessThanOrEqual(JSON.stringify(bare).length + 40);
    if (texts.length > 1) expect(said).toEqual(bare);
  });

  it('do not take another value for what the text says', () => {
    const made = JSON.stringify(
      messages(id, [resultOf([text('{"a":1}')], { structuredContent: { a: 1, b: 2 } })]),
    );
    expect(made.replaceAll('\\', '')).toContain('"b":2');
  });

  it('cut text at the budget with a notice that names where the whole is', () => {
    const dialect = dialects.find((one) => one.id === id);
    const kept: unknown[] = [];
    const options = {
      maxText: 10,
      keep: (block: unknown) => {
        kept.push(block);
        return 'mem://1';
      },
    };
    const made = dialect?.results(
      [resultOf([text('12345'), text('67é\u{1F600}0'), text('never shown')])],
      options,
    );
    const shown = JSON.stringify(made?.messages);
    expect(shown).toContain('67é');
    expect(shown).not.toContain('\u{1F600}');
    expect(shown).not.toContain('never shown');
    expect(shown).toContain('[truncated: the first 10 B of 25 B are shown; the whole is stored as mem://1]');
    expect(kept).toEqual([text('12345\n\n67é\u{1F600}0\n\nnever shown')]);
    expect(made?.losses).toEqual(['look (call_1): the text was cut to 10 bytes']);
  });

  it('bound 31 MB of text, and keep the image beside it (R14)', () => {
    const huge = resultOf([
      text('x'.repeat(31_000_000)),
      { type: 'image', data: png, mimeType: 'image/png' },
    ]);
    const bytes = JSON.stringify(messages(id, [huge]));
    expect(bytes.length).toBeLessThan(270_000);
    expect(bytes).toContain(png);
  });

  it('make half surrogate pairs valid, which APIs refuse', () => {
    expect(messages(id, [resultOf([text('a\uD800b\u{1F600}')])])).toEqual(oneText(id, 'a\uFFFDb\u{1F600}'));
  });

  it('survive a result that is not as it should be', () => {
    const odd = { call, result: { content: [null, 7, 'x', {}], structuredContent: deep(20_000) } } as never;
    expect(messages(id, [odd]).length).toBeGreaterThan(0);
    expect(messages(id, [{ call, result: {} } as never]).length).toBeGreaterThan(0);
  });

  it('are none for no calls', () => {
    expect(messages(id, [])).toEqual([]);
  });
});

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

describe('results of one turn', () => {
  const image = { type: 'image', data: png, mimeType: 'image/png' };
  const both = [resultOf([image]), resultOf([text('b')], {}, other)];

  it('stand in one Anthropic user message, in call order', () => {
    expect(messages('anthropic', both)).toMatchObject([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1' },
          { type: 'tool_result', tool_use_id: 'call_2' },
        ],
      },
    ]);
  });

  it('are Chat tool messages first and one user message with the images after all of them', () => {
    expect(messages('openai-chat', both).map(({ role }) => role)).toEqual(['tool', 'tool', 'user']);
  });

  it('are as many Gemini responses as calls, with media after them for models before 3', () => {
    const { messages: old } = gemini.results(both, { model: 'gemini-2.5-flash' });
    expect(old).toEqual([
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'call_1',
              name: 'look',
              response: { output: '[image image/png 70 B follows below]' },
            },
          },
          { functionResponse: { id: 'call_2', name: 'hear', response: { output: 'b' } } },
          { text: 'Image returned by the tool look (call call_1):' },
          { inlineData: { mimeType: 'image/png', data: png } },
        ],
      },
    ]);
  });

  it('put media of an Anthropic error after all results, because an error may hold text only', () => {
    const failed = resultOf([text('failed'), image], { isError: true });
    expect(messages('anthropic', [failed, both[1] as CallResult])).toEqual([
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'call_1',
            content: [
              { type: 'text', text: 'failed' },
              { type: 'text', text: '[image image/png 70 B follows below]' },
            ],
            is_error: true,
          },
          { type: 'tool_result', tool_use_id: 'call_2', content: [{ type: 'text', text: 'b' }] },
          { type: 'text', text: 'Image returned by the tool look (call call_1):' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
        ],
      },
    ]);
  });

  it('hold no text block without a visible character for Anthropic', () => {
    expect(messages('anthropic', [resultOf([text('  \n'), text('a')])])).toEqual([
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: [text('a')] }] },
    ]);
  });

  it('turn an image over the limit of the API into a placeholder, in Anthropic sooner than in Responses', () => {
    const large = resultOf([
      { type: 'image', data: png.slice(0, 20) + 'A'.repeat(6_000_000), mimeType: 'image/png' },
    ]);
    const first = (made: { messages: JsonObject[] }): string => JSON.stringify(made.messages).slice(0, 400);
    expect(first(anthropic.results([large]))).toContain('cannot be shown');
    expect(first(openaiResponses.results([large]))).toContain('input_image');
  });

  it('give no gif to Gemini', () => {
    const gif = resultOf([{ type: 'image', data: 'R0lGODlhAQAB', mimeType: 'image/gif' }]);
    expect(JSON.stringify(gemini.results([gif]).messages)).toContain('image image/gif 9 B cannot be shown');
  });
});
