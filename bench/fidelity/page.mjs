// docs/fidelity.md: one table per API, made for people. The same measurements give the same bytes.

const SIGNS = { kept: '✓', told: '○', partly: '◐', lost: '✗', refused: '⛔', uncertain: '?', throws: '⚡' };

const APIS = {
  anthropic: 'Anthropic Messages',
  'openai-responses': 'OpenAI Responses',
  'openai-chat': 'OpenAI Chat Completions',
  gemini: 'Gemini generateContent',
  'gemini-interactions': 'Gemini Interactions',
};

const LEGEND = `| sign | meaning |
|---|---|
| ✓ | kept: the API accepts the request, and what the server said is in it |
| ○ | not carried, and the model or the caller is told so (a placeholder, a notice, a report) |
| ◐ | kept in part |
| ✗ | lost without a word, or sent in a form that no model can use |
| ⛔ | the API refuses the whole request |
| ? | sent as the API's documents do not allow; whether it refuses or ignores that is not documented, and not counted as kept |
| ⚡ | the library throws, and the run ends |
| · | the API cannot carry it: ○ is the most that is possible |`;

export function page(rows, columns) {
  const parts = [
    '# Fidelity',
    'What becomes of MCP tools and results on the way to a model, in Midspan and in other libraries for TypeScript.',
    '`npm run bench:fidelity` makes this page. It fails when Midspan loses anything that the API can carry.',
    '## How it is made',
    `One MCP server (Streamable HTTP, 2025-06-18) offers the tools and answers the calls; it is the same for every library.
Each library connects with its own MCP client, or with the official one where it takes one, and runs its own loop against
an emulator of the model API. The emulators check requests as the real APIs do (names, schemas, order and pairing of
results, sizes; test/emulators), and play a model that calls the tool with the arguments its definition asks
for and then answers. What a real API lets pass and an emulator does not is taken out before the check
(bench/fidelity/front.mjs). Every cell is read from the recorded requests and from the calls that reached the server. Libraries
are used as their documentation shows, with nothing switched on but what a row asks for. No real API was asked.`,
    versions(columns),
    '## Legend',
    LEGEND,
    '## In short',
    summary(rows, columns),
    ...Object.keys(APIS).map((api) => section(api, rows, columns)),
  ];
  return `${parts.join('\n\n')}\n`;
}

function versions(columns) {
  const packages = new Map(
    columns.flatMap(({ peer, packages }) =>
      Object.entries(packages).map((one) => [`${peer} ${one[0]}`, [peer, ...one]]),
    ),
  );
  const byPeer = new Map();
  for (const [peer, name, version] of packages.values())
    byPeer.set(peer, [...(byPeer.get(peer) ?? []), `${name} ${version}`]);
  return `Versions: ${[...byPeer].map(([peer, list]) => `${peer} (${list.join(', ')})`).join('; ')}.`;
}

/** Rows that are kept, or told where no more is possible. */
function summary(rows, columns) {
  const lines = columns.map((column) => {
    const own = rows.filter(({ cells }) => cells.has(column));
    const good = own.filter(({ feature, cells }) => isBest(feature, column, cells.get(column))).length;
    const counts = Object.keys(SIGNS).map(
      (verdict) => own.filter(({ cells }) => cells.get(column).verdict === verdict).length,
    );
    return `| ${column.peer} | ${APIS[column.api]} | ${good} of ${own.length} | ${counts.join(' | ')} |`;
  });
  return [
    '"As far as possible" counts what is kept, and what is told where the API cannot carry it.',
    '',
    `| library | API | as far as possible | ${Object.values(SIGNS).join(' | ')} |`,
    `|---|---|---|${'---|'.repeat(Object.keys(SIGNS).length)}`,
    ...lines,
  ].join('\n');
}

function isBest(feature, column, { verdict }) {
  return verdict === 'kept' || (verdict === 'told' && !isCarried(feature, column.api));
}

const isCarried = (feature, api) => feature.carried === undefined || feature.carried.includes(api);

function section(api, rows, columns) {
  const own = columns.filter((column) => column.api === api);
  const lines = [];
  let group;
  for (const { feature, cells } of rows) {
    if (!own.some((column) => cells.has(column))) continue;
    if (feature.group !== group) {
      group = feature.group;
      lines.push(`| **${group}** | ${own.map(() => '').join(' | ')} |`);
    }
    const limit = isCarried(feature, api) ? '' : ' ·';
    lines.push(
      `| ${cellText(feature.title)}${limit} | ${own.map((column) => shown(cells.get(column))).join(' | ')} |`,
    );
  }
  return [
    `## ${APIS[api]}`,
    '',
    `| | ${own.map(({ peer }) => peer).join(' | ')} |`,
    `|---|${'---|'.repeat(own.length)}`,
    ...lines,
  ].join('\n');
}

function shown({ verdict, words }) {
  return words === undefined ? SIGNS[verdict] : `${SIGNS[verdict]} ${cellText(words)}`;
}

function cellText(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}
