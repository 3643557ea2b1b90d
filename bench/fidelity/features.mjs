// What an MCP server may offer or answer, and how one sees in a request to a model API whether it is still there.
// A judge returns [verdict, words]: `kept`; `told` (not carried, and the model or the caller is told so); `partly`; `lost`.

export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const gif = 'R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==';
const svg = base64('<svg xmlns="http://www.w3.org/2000/svg"><title>MARK-SVG</title></svg>');
const wav = base64('RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0\x80>\0\0\x02\0\x10\0data\0\0\0\0');
const pdf = base64('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n');
const bytes = base64('\x7fELF MARK-BYTES \0\x01\x02\x03');

function base64(text) {
  return Buffer.from(text, 'latin1').toString('base64');
}

const object = (properties, required = Object.keys(properties), more = {}) => ({
  type: 'object',
  properties,
  required,
  ...more,
});
const city = object({ city: { type: 'string' } });
const tool = (name, inputSchema = city, more = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema,
  ...more,
});
const text = (value, more = {}) => ({ type: 'text', text: value, ...more });
const answer = (content, more = {}) => ({ content, ...more });

const count = (words, mark) => words.split(mark).length - 1;
const same = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
const sorted = (value) =>
  typeof value !== 'object' || value === null
    ? value
    : Array.isArray(value)
      ? value.map(sorted)
      : Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((name) => [name, sorted(value[name])]),
        );

/** The call arrived where it belongs, with the arguments that the model meant. */
function arrived({ calls }, feature, then = () => ['kept']) {
  const [label, [first]] = Object.entries(feature.servers)[0];
  const wanted = feature.arrives ?? { server: label, name: first.name, arguments: feature.args };
  const [call] = calls;
  if (call === undefined) return ['lost', 'the call does not reach the server'];
  if (call.server !== wanted.server || call.name !== wanted.name)
    return ['lost', `the call reaches ${call.server} ${call.name}`];
  if (!same(call.arguments, wanted.arguments))
    return [
      'lost',
      `the server gets ${JSON.stringify(call.arguments)} instead of ${JSON.stringify(wanted.arguments)}`,
    ];
  return then();
}

/** A definition that an API may refuse: accepted, still says what it said, and callable. */
const definition = (id, title, inputSchema, args, says = [], more = {}) => ({
  id,
  title,
  group: 'Definitions',
  servers: { one: [tool('look', inputSchema)] },
  args,
  result: answer([text('Done')]),
  judge: (seen, feature) =>
    arrived(seen, feature, () => {
      const all = JSON.stringify(seen.tools[0]);
      const missing = says.filter((word) => !all.includes(word));
      return missing.length === 0 ? ['kept'] : ['lost', `${missing.join(', ')} is gone from the definition`];
    }),
  ...more,
});

const result = (id, title, answered, judge, more = {}) => ({
  id,
  title,
  group: 'Results',
  servers: { one: [tool('look')] },
  args: { city: 'Bern' },
  result: answered,
  judge: (seen) => {
    if (seen.calls.length === 0) return ['lost', 'the call does not reach the server'];
    return judge(seen.after, seen);
  },
  ...more,
});

/** Everything marked is in the text that the model reads. */
const says =
  (...marks) =>
  ({ words }) => {
    const missing = marks.filter((mark) => !words.includes(mark));
    if (missing.length === 0) return ['kept'];
    return missing.length === marks.length ? ['lost', 'gone'] : ['partly', `without ${missing.join(', ')}`];
  };

const medium =
  (type, data, placeholder) =>
  ({ media, words }) => {
    if (media.some((one) => one.data === data)) return ['kept'];
    if (words.includes(data.slice(0, 40))) return ['lost', 'as base64 in the text'];
    return placeholder.test(words) ? ['told', 'a placeholder'] : ['lost', 'gone'];
  };

const failed = (then) => (after, seen) => {
  const [verdict, words] = then(after, seen);
  if (after.isError) return [verdict, words];
  return verdict === 'kept'
    ? ['partly', 'not marked as an error']
    : [verdict, `${words}, and not marked as an error`];
};

const longText = (length) => `MARK-START ${'lorem ipsum '.repeat(length / 12)}`;

/** No context window holds millions of characters. */
function shortened({ words }) {
  if (words.length > 2_000_000) return ['lost', 'sent whole: more than any context window'];
  if (words.includes('MARK-START'))
    return words.includes('[truncated') ? ['told', 'cut, with a notice'] : ['lost', 'cut without a notice'];
  return /withheld|too (?:large|long)/.test(words) ? ['told', 'withheld, with a notice'] : ['lost', 'gone'];
}

const many = (number) =>
  Array.from({ length: number }, (_, at) => tool(`tool_${String(at).padStart(3, '0')}`));
const count130 = many(130);
const count600 = many(600);

const offered =
  (number) =>
  ({ tools, losses, calls }) => {
    if (tools.length >= number)
      return calls.length > 0 ? ['kept'] : ['lost', 'the call does not reach the server'];
    const words = `${tools.length} of ${number} are offered`;
    return losses.some((loss) => /at most \d+ tools/.test(loss))
      ? ['told', `${words}, the rest is reported`]
      : ['lost', words];
  };

const strictSchema = object(
  {
    title: { type: 'string' },
    due: { type: 'string', format: 'date' },
    status: { enum: ['onTrack', 'late'] },
    note: { type: ['string', 'null'] },
  },
  ['title'],
);

export const features = [
  definition(
    'name-characters',
    'a name with characters that APIs refuse (`get docs.v2/é`)',
    city,
    { city: 'Bern' },
    [],
    {
      servers: { one: [tool('get docs.v2/é')] },
    },
  ),
  definition('name-long', 'a name of 90 characters', city, { city: 'Bern' }, [], {
    servers: { one: [tool('x'.repeat(86) + '_end')] },
  }),
  definition('name-digit', 'a name that starts with a digit', city, { city: 'Bern' }, [], {
    servers: { one: [tool('2fa_code')] },
  }),
  {
    id: 'name-twice',
    title: 'the same name on two servers',
    group: 'Definitions',
    servers: { one: [tool('search')], two: [tool('search')] },
    args: { city: 'Bern' },
    callAll: true,
    result: answer([text('Done')]),
    judge({ calls, tools }) {
      if (tools.length < 2) return ['lost', `${tools.length} of 2 tools is offered`];
      const reached = new Set(calls.map(({ server }) => server));
      return reached.size === 2 ? ['kept'] : ['lost', `only ${[...reached].join(', ')} is reached`];
    },
  },
  definition('no-description', 'a title and no description', city, { city: 'Bern' }, ['MARK-TITLE'], {
    servers: { one: [{ name: 'look', title: 'MARK-TITLE', inputSchema: city }] },
  }),
  definition(
    'root-union',
    'a union at the root of the schema (`oneOf`)',
    {
      type: 'object',
      properties: { id: { type: 'string' }, url: { type: 'string' } },
      oneOf: [{ required: ['id'] }, { required: ['url'] }],
    },
    { url: 'https://example.com/' },
    ['"id"', '"url"'],
  ),
  definition(
    'root-all-of',
    'an `allOf` with a `$ref` at the root',
    {
      type: 'object',
      allOf: [{ $ref: '#/$defs/base' }, { properties: { url: { type: 'string' } } }],
      $defs: {
        base: { type: 'object', properties: { mark_base: { type: 'string' } }, required: ['mark_base'] },
      },
    },
    { mark_base: 'a' },
    ['mark_base', '"url"'],
  ),
  definition(
    'ref-defs',
    'a `$ref` into `$defs`',
    object({ place: { $ref: '#/$defs/place' } }, ['place'], {
      $defs: { place: object({ mark_inner: { type: 'string' } }) },
    }),
    { place: { mark_inner: 'a' } },
    ['mark_inner'],
  ),
  definition(
    'ref-properties',
    'a `$ref` into `properties`, with a description beside it',
    object({
      first: object({ mark_inner: { type: 'string' } }),
      steps: { type: 'array', items: { $ref: '#/properties/first', description: 'MARK-BESIDE' } },
    }),
    { first: { mark_inner: 'a' }, steps: [{ mark_inner: 'b' }] },
    ['mark_inner', 'MARK-BESIDE'],
  ),
  definition(
    'ref-recursive',
    'a recursive schema',
    object({ tree: { $ref: '#/$defs/node' } }, ['tree'], {
      $defs: {
        node: object(
          { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          ['name', 'children'],
        ),
      },
    }),
    { tree: { name: 'a', children: [{ name: 'b', children: [] }] } },
    ['children'],
  ),
  definition(
    'property-keys',
    'property keys that APIs refuse (`filter[id]`, `$top`)',
    object({ 'filter[id]': { type: 'string' }, $top: { type: 'integer' } }),
    { 'filter[id]': 'a', $top: 3 },
  ),
  definition(
    'draft-07',
    'draft-07: `$schema`, a tuple, a boolean `exclusiveMinimum`',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...object({
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
        size: { type: 'number', minimum: 0, exclusiveMinimum: true },
      }),
    },
    { pair: ['a', 1], size: 2 },
    ['pair', 'size'],
  ),
  definition(
    'types',
    'type lists, `const`, a tagged union, a two-dimensional array',
    object({
      mode: { const: 'MARK-CONST' },
      limit: { type: ['integer', 'null'] },
      item: {
        oneOf: [
          object({ kind: { const: 'a' }, x: { type: 'string' } }),
          object({ kind: { const: 'b' }, y: { type: 'number' } }),
        ],
      },
      values: {
        type: 'array',
        items: {
          type: 'array',
          items: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] },
        },
      },
    }),
    { mode: 'MARK-CONST', limit: null, item: { kind: 'b', y: 1 }, values: [['a', 1, null]] },
    ['MARK-CONST', '"y"'],
  ),
  definition(
    'bare',
    'an object without `properties`, an array without `items`',
    { type: 'object', properties: { any: { type: 'object' }, list: { type: 'array' } } },
    { any: { a: 1 }, list: [1] },
    ['"any"', '"list"'],
  ),
  definition('no-arguments', 'a tool without arguments (`{"type":"object"}`)', { type: 'object' }, {}),
  definition(
    'open-map',
    'an open object (`additionalProperties`)',
    object({ labels: { type: 'object', properties: {}, additionalProperties: { type: 'string' } } }),
    { labels: { anything: 'goes' } },
    [],
    {
      judge: (seen, feature) =>
        arrived(seen, feature, () =>
          seen.tools[0].schema.properties.labels.additionalProperties === false
            ? ['lost', 'closed: the model may give no member']
            : ['kept'],
        ),
    },
  ),
  definition(
    'bounds',
    'bounds and patterns',
    object({
      size: { type: 'integer', exclusiveMinimum: 4171 },
      code: { type: 'string', pattern: '^MARK[0-9]+$', minLength: 6 },
    }),
    { size: 4172, code: 'MARK10' },
    ['417', 'MARK'],
  ),
  definition('optional', 'optional arguments stay optional', strictSchema, { title: 'a' }, [], {
    judge: (seen, feature) =>
      arrived(seen, feature, () => {
        const [{ strict, schema }] = seen.tools;
        if (seen.api === 'openai-responses' && strict === undefined)
          return ['lost', '`strict` is left out: the API makes them required and the model sends null'];
        return (schema.required ?? []).length > 1 ? ['lost', 'they are required'] : ['kept'];
      }),
  }),
  definition('optional-strict', 'optional arguments under strict', strictSchema, { title: 'a' }, [], {
    strict: true,
    apis: ['anthropic', 'openai-responses', 'openai-chat'],
    judge(seen, feature) {
      if (seen.tools[0]?.strict !== true) return ['lost', 'the tool is not strict'];
      // null stays where the server's schema allows it.
      const [call] = seen.calls;
      const { note, ...others } = call?.arguments ?? {};
      return note === undefined || note === null
        ? arrived({ ...seen, calls: [{ ...call, arguments: others }] }, feature)
        : ['lost', 'the note is changed'];
    },
  }),
  definition('bad-neighbor', 'a malformed tool in the same list', city, { city: 'Bern' }, [], {
    servers: { one: [tool('good'), { name: 'bad', inputSchema: 'none' }] },
  }),
  {
    id: 'tools-130',
    title: '130 tools, listed on three pages',
    group: 'Definitions',
    carried: ['anthropic', 'gemini', 'gemini-interactions'],
    servers: { one: count130 },
    page: 50,
    args: { city: 'Bern' },
    result: answer([text('Done')]),
    judge: offered(130),
  },
  {
    id: 'tools-600',
    title: '600 tools',
    group: 'Definitions',
    carried: ['anthropic'],
    servers: { one: count600 },
    args: { city: 'Bern' },
    result: answer([text('Done')]),
    judge: offered(600),
  },
  {
    id: 'no-tools',
    title: 'a server without tools',
    group: 'Definitions',
    servers: { one: [] },
    args: {},
    noCall: true,
    result: answer([]),
    judge: ({ tools }) => (tools.length === 0 ? ['kept'] : ['lost', `${tools.length} tools`]),
  },

  {
    id: 'two-calls',
    title: 'two calls in one turn, answered in call order',
    group: 'Calls',
    servers: { one: [tool('first'), tool('second')] },
    args: { city: 'Bern' },
    callAll: true,
    result: answer([text('MARK-RESULT')]),
    judge({ after, calls }) {
      if (calls.length !== 2) return ['lost', `${calls.length} of 2 calls are run`];
      const found = count(after.words, 'MARK-RESULT');
      if (found !== 2) return ['lost', `${found} of 2 results are sent`];
      // Gemini matches by name and order where there is no id.
      return after.ids.every((id) => id === null) || same(after.ids, after.wantedIds)
        ? ['kept']
        : ['partly', 'in another order'];
    },
  },
  {
    id: 'broken-json',
    title: 'arguments that are broken JSON',
    group: 'Calls',
    apis: ['openai-responses', 'openai-chat'],
    servers: { one: [tool('look')] },
    rawArgs: '{"city": "Bern',
    result: answer([text('Done')]),
    judge({ calls, after }) {
      if (calls.length > 0) return ['lost', `run with ${JSON.stringify(calls[0].arguments)}`];
      return after.isTold ? ['kept'] : ['lost', 'the model is not told'];
    },
  },
  {
    id: 'empty-arguments',
    title: 'arguments that are an empty text',
    group: 'Calls',
    apis: ['openai-responses', 'openai-chat'],
    servers: { one: [tool('look', { type: 'object', properties: {} })] },
    args: {},
    rawArgs: '',
    result: answer([text('Done')]),
    judge: arrived,
  },
  {
    id: 'unknown-tool',
    title: 'a call of a tool that does not exist',
    group: 'Calls',
    servers: { one: [tool('look')] },
    args: {},
    callName: 'look_elsewhere',
    result: answer([text('Done')]),
    judge({ calls, after }) {
      if (calls.length > 0) return ['lost', `${calls[0].name} is run instead`];
      return after.isTold ? ['kept'] : ['lost', 'the model is not told'];
    },
  },
  result(
    'protocol-error',
    'the server answers with a JSON-RPC error',
    undefined,
    failed(says('MARK-FAILURE')),
    {
      group: 'Calls',
      failure: { code: -32000, message: 'MARK-FAILURE' },
    },
  ),

  result('text', 'text', answer([text('MARK-TEXT')]), says('MARK-TEXT')),
  result('texts', 'two texts, kept apart', answer([text('MARK-ONE'), text('MARK-TWO')]), (after) =>
    after.words.includes('MARK-ONEMARK-TWO')
      ? ['partly', 'run together']
      : says('MARK-ONE', 'MARK-TWO')(after),
  ),
  result(
    'png',
    'an image (png)',
    answer([text('MARK-TEXT'), { type: 'image', data: png, mimeType: 'image/png' }]),
    medium('image', png, /image/i),
  ),
  result(
    'gif',
    'an image (gif)',
    answer([{ type: 'image', data: gif, mimeType: 'image/gif' }]),
    medium('image', gif, /image/i),
    {
      carried: ['anthropic', 'openai-responses', 'openai-chat', 'gemini-interactions'],
    },
  ),
  result(
    'svg',
    'an image (svg), at least as text',
    answer([{ type: 'image', data: svg, mimeType: 'image/svg+xml' }]),
    (after) =>
      after.words.includes('MARK-SVG') ? ['kept', 'as text'] : medium('image', svg, /image/i)(after),
  ),
  result(
    'audio',
    'audio (wav)',
    answer([{ type: 'audio', data: wav, mimeType: 'audio/wav' }]),
    medium('audio', wav, /audio/i),
    {
      carried: ['gemini'],
    },
  ),
  result(
    'embedded-text',
    'an embedded text resource, with its address',
    answer([
      {
        type: 'resource',
        resource: { uri: 'file:///MARK-URI.md', mimeType: 'text/markdown', text: 'MARK-BODY' },
      },
    ]),
    says('MARK-BODY', 'MARK-URI'),
  ),
  result(
    'embedded-json',
    'an embedded JSON resource, with its address',
    answer([
      {
        type: 'resource',
        resource: { uri: 'file:///MARK-URI.json', mimeType: 'application/json', text: '{"a":"MARK-BODY"}' },
      },
    ]),
    says('MARK-BODY', 'MARK-URI'),
  ),
  result(
    'embedded-pdf',
    'an embedded PDF',
    answer([
      { type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: pdf } },
    ]),
    medium('file', pdf, /pdf/i),
    { carried: ['anthropic', 'openai-responses', 'gemini'] },
  ),
  result(
    'embedded-bytes',
    'an embedded binary of another type',
    answer([
      text('MARK-TEXT'),
      {
        type: 'resource',
        resource: { uri: 'file:///a.bin', mimeType: 'application/octet-stream', blob: bytes },
      },
    ]),
    medium('file', bytes, /a\.bin|octet/i),
    { carried: [] },
  ),
  result(
    'resource-link',
    'a link to a resource, with its name',
    answer([{ type: 'resource_link', uri: 'file:///MARK-URI.csv', name: 'MARK-NAME', mimeType: 'text/csv' }]),
    says('MARK-URI', 'MARK-NAME'),
  ),
  result(
    'structured',
    'structured content alone',
    answer([], { structuredContent: { value: 'MARK-DATA' } }),
    says('MARK-DATA'),
  ),
  result(
    'structured-mirrored',
    'structured content and the same as text: once',
    answer([text('{"value":"MARK-DATA"}')], { structuredContent: { value: 'MARK-DATA' } }),
    ({ words }) => (count(words, 'MARK-DATA') > 1 ? ['partly', 'twice'] : says('MARK-DATA')({ words })),
  ),
  result(
    'structured-other',
    'structured content and another text: both',
    answer([text('MARK-SUMMARY')], { structuredContent: { value: 'MARK-DATA' } }),
    says('MARK-SUMMARY', 'MARK-DATA'),
  ),
  result(
    'error',
    'a failure (`isError`)',
    answer([text('MARK-TEXT')], { isError: true }),
    failed(says('MARK-TEXT')),
  ),
  result(
    'error-structured',
    'a failure with structured content alone',
    answer([], { isError: true, structuredContent: { why: 'MARK-DATA' } }),
    failed(says('MARK-DATA')),
  ),
  result(
    'error-image',
    'a failure with an image',
    answer([text('MARK-TEXT'), { type: 'image', data: png, mimeType: 'image/png' }], { isError: true }),
    failed(medium('image', png, /image/i)),
  ),
  result(
    'audience',
    'what is for the user only stays away from the model',
    answer([text('MARK-MODEL'), text('MARK-USER', { annotations: { audience: ['user'] } })]),
    ({ words }) =>
      words.includes('MARK-USER') ? ['lost', 'it is sent to the model'] : says('MARK-MODEL')({ words }),
  ),
  result(
    'unknown-block',
    'a block of an unknown type beside a text',
    answer([text('MARK-TEXT'), { type: 'hologram', data: 'x' }]),
    (after) =>
      after.words.includes('MARK-TEXT')
        ? /hologram/.test(after.words)
          ? ['told', 'the text, and a word about the block']
          : ['partly', 'the block is gone without a word']
        : ['lost', 'the text is gone too'],
    { carried: [] },
  ),
  result('empty', 'an empty result', answer([]), () => ['kept']),
  result('long', 'a text of 6 MB', answer([text(longText(6_000_000))]), shortened, { carried: [] }),
  result('huge', 'a text of 12 MB', answer([text(longText(12_000_000))]), shortened, { carried: [] }),
];
