/**
 * Every place where a server's text can enter. A server puts a mark into each; a lock holds what it showed when it was approved,
 * without a mark. What is in no lock reaches no model, and whatever reaches a terminal is drawn.
 */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { createPrinter } from '../../src/cli/print.ts';
import { dialectOf } from '../../src/dialects/index.ts';
import { openHost, openModel, readConfig } from '../../src/index.ts';
import { openServer } from '../../src/servers/index.ts';
import { pinServer, writeLock } from '../../src/trust/lock/index.ts';
import { RULESET } from '../../src/trust/scan/scan.ts';
import type { Ask, DialectId } from '../../src/index.ts';
import type { ServerSpec } from '../../src/types.ts';

const everywhere = fileURLToPath(new URL('../fixtures/trust/everywhere.mjs', import.meta.url));

/**
 * nobody: it is in no lock. model: an approved tool answered it, and answers are data. screen: for the person who watches.
 * person: for whoever is asked.
 */
type Reaches = 'nobody' | 'model' | 'screen' | 'person';

/** What can hold a text in the definition of a tool. */
const MEMBERS =
  'title description schema-title schema-description default enum example output annotation icon execution meta unknown'.split(
    ' ',
  );

/** Kinds of places, and the marks that are put into them. */
const PLACES: { place: string; marks: string[]; reaches: Reaches }[] = [
  {
    place: 'what a server says of itself',
    marks: ['instructions', 'capability', 'info.title', 'info.description', 'info.url', 'info.icon'],
    reaches: 'nobody',
  },
  ...['drift', 'fresh'].map((tool) => ({
    place: `every member of a tool that ${tool === 'drift' ? 'is another one now' : 'nobody approved'}`,
    marks: MEMBERS.map((member) => `${tool}.${member}`),
    reaches: 'nobody' as const,
  })),
  {
    place: 'names of tools and arguments',
    marks: ['m_drift_key', 'm_fresh_key', 'm_fresh_name'],
    reaches: 'nobody',
  },
  { place: 'a list beside its items', marks: ['list.meta'], reaches: 'nobody' },
  ...['prompt', 'resource', 'template'].map((kind) => ({
    place: `a ${kind}`,
    marks: ['title', 'description', 'meta', ...(kind === 'prompt' ? ['argument'] : ['uri'])]
      .map((member) => `${kind}.${member}`)
      .concat(`m_${kind}_name`),
    reaches: 'nobody' as const,
  })),
  { place: 'the answer of an approved tool', marks: ['result.text', 'result.link'], reaches: 'model' },
  { place: 'an answer beside its content', marks: ['result.meta', 'result.block-meta'], reaches: 'nobody' },
  { place: 'the error of an approved tool', marks: ['error.message'], reaches: 'model' },
  { place: 'an error beside its message', marks: ['error.data'], reaches: 'nobody' },
  { place: 'stderr', marks: ['stderr'], reaches: 'nobody' },
  { place: 'noise on stdout', marks: ['noise'], reaches: 'screen' },
  { place: 'progress', marks: ['progress'], reaches: 'nobody' },
  { place: 'log messages', marks: ['log.logger', 'log.data'], reaches: 'nobody' },
  { place: 'notifications that nobody knows', marks: ['updated.uri', 'task.status'], reaches: 'nobody' },
  { place: 'a form for a person', marks: ['ask.message', 'ask.title', 'ask.description'], reaches: 'person' },
  { place: 'a request to our model', marks: ['sampling.prompt'], reaches: 'nobody' },
];

/** Places that the product does not have, and the methods without which nothing can come from there. */
const MISSING: { place: string; because: string; methods: string[] }[] = [
  { place: 'messages of a prompt', because: 'prompts are listed and not gotten', methods: ['prompts/get'] },
  {
    place: 'contents of a resource',
    because: 'resources are listed and not read',
    methods: ['resources/read'],
  },
  { place: 'completions', because: 'nothing completes arguments', methods: ['completion/complete'] },
  {
    place: 'pages of MCP Apps',
    because: 'no page is shown; they come as resources',
    methods: ['resources/read'],
  },
  { place: 'authorization', because: 'headers are configured; no metadata is fetched', methods: [] },
  { place: 'registries and bundles', because: 'servers come from configuration files alone', methods: [] },
];

const CALLS = [
  ...['result', 'error', 'ask', 'sample', 'tell'].map((what) => ({
    name: 'shop__work',
    arguments: { what },
  })),
  { name: 'shop__drift', arguments: {} },
  { name: 'shop__m_fresh_name', arguments: {} },
  { name: 'stranger__work', arguments: {} },
  { name: 'shop__work', arguments: { what: 'crash' } },
];

const DIALECTS: DialectId[] = [
  'anthropic',
  'openai-responses',
  'openai-chat',
  'gemini',
  'gemini-interactions',
];

const UNSAFE = /[\p{Cc}\p{Cf}]/u;
const folder = mkdtempSync(join(tmpdir(), 'midspan-ingress-'));
const file = (name: string): string => join(folder, name);
/** What a model is sent, all of it, in every API's form; what people were shown and asked; what programs heard. */
let transcript = '';
let screen = '';
let asked = '';
let events = '';
const methodsOf = (label: string): string[] => readFileSync(file(`${label}.log`), 'utf8').split('\n');

function configuration(): { [key: string]: unknown } {
  const server = (label: string): object => ({
    command: process.execPath,
    args: [everywhere],
    era: 'legacy',
    env: { MARKED: '1', LOG: file(`${label}.log`) },
  });
  return {
    policy: 'allow',
    trust: { lock: file('midspan.lock.json'), mode: 'required' },
    mcpServers: { shop: server('shop'), stranger: server('stranger') },
  };
}

/** Pins what the server shows without marks, as a person approved it. */
async function approve(spec: ServerSpec): Promise<void> {
  const { transport } = spec;
  const plain = {
    ...spec,
    transport: { ...transport, env: { MARKED: '0', LOG: file('shop.log') } },
  } as ServerSpec;
  const server = openServer(plain, { clientInfo: { name: 'test', version: '1' }, capabilities: {} });
  try {
    const surface = await server.surface();
    await writeLock(file('midspan.lock.json'), {
      lockfileVersion: 1,
      pin: 'midspan-pin/1',
      ruleset: RULESET,
      servers: { shop: pinServer(spec, folder, surface, { at: '2026-12-01', how: 'review' }) },
    });
  } finally {
    await server.close();
  }
}

beforeAll(async () => {
  for (const label of ['shop', 'stranger']) writeFileSync(file(`${label}.log`), '');
  const config = configuration();
  const [shop] = readConfig(config, { env: process.env, base: folder }).servers;
  await approve(shop!);
  const turns = [...CALLS.map((call) => ({ calls: [call] })), { text: 'Done.' }];
  writeFileSync(file('script.json'), JSON.stringify({ turns }));
  writeFileSync(file('midspan.json'), JSON.stringify(config));
  await asLibrary();
  for (const words of [['run', '--model', `script:${file('script.json')}`, 'go'], ['tools'], ['servers']])
    await onTerminal(words);
}, 60_000);

async function asLibrary(): Promise<void> {
  const asks: Ask[] = [];
  const heard: unknown[] = [];
  const host = await openHost(file('midspan.json'), {
    store: false,
    onEvent: (event) => heard.push(event),
    asks: {
      async ask(ask) {
        asks.push(ask);
        return { action: 'accept', content: { a: 'x' } };
      },
    },
  });
  const model = openModel(`script:${file('script.json')}`);
  try {
    const run = host.run({ model, messages: 'go' });
    for await (const event of run) heard.push(event);
    const { messages, reason } = await run.result;
    expect(reason).toBe('complete');
    transcript = JSON.stringify(
      DIALECTS.map((id) => dialectOf(id).request({ model: 'any', messages, tools: host.tools(id) }).body),
    );
    asked = JSON.stringify(asks);
    events = JSON.stringify(heard);
  } finally {
    await host.close();
  }
}

async function onTerminal(words: string[]): Promise<void> {
  const sink = { write: (text: string) => (screen += text), isTTY: false };
  const context = {
    print: createPrinter(sink, sink, {}),
    stdin: Readable.from([]),
    stdout: process.stdout,
    env: process.env,
    cwd: folder,
    signal: new AbortController().signal,
  };
  await main(words, context);
}

test('every approved call ran, and no other', () => {
  expect(methodsOf('stranger')).toEqual(['']);
  expect(methodsOf('shop').filter((method) => method === 'tools/call').length).toBeGreaterThan(5);
  for (const text of ['"asked"', '"told"', 'Does what is asked for.', 'shop__drift'])
    expect([text, transcript.includes(text)]).toEqual([text, true]);
});

describe.each(PLACES)('$place', ({ marks, reaches }) => {
  test.each(marks)('%s reaches whom it may, and nobody else', (mark) => {
    const within = (text: string): boolean => text.includes(mark.startsWith('m_') ? mark : `<${mark}>`);
    // The scripted model itself calls the tool by its name; what it is given must not tell more of it.
    if (mark !== 'm_fresh_name') expect(within(transcript)).toBe(reaches === 'model');
    if (reaches === 'screen') expect(within(screen)).toBe(true);
    if (reaches === 'person') expect(within(asked)).toBe(true);
  });
});

test('what reaches a model is without bytes that hide or steer', () => {
  const texts = stringsIn(JSON.parse(transcript));
  expect(texts.some((text) => text.includes('<result.text>'))).toBe(true);
  expect(texts.filter((text) => UNSAFE.test(text.replaceAll('\n', '')))).toEqual([]);
});

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, each]) => [key, ...stringsIn(each)])
    : [];
}

test('what reaches a terminal is drawn', () => {
  expect(screen.includes('shop__work')).toBe(true);
  expect(screen.split('\n').filter((line) => UNSAFE.test(line))).toEqual([]);
});

test('programs hear of logs and progress', () => {
  for (const mark of ['progress', 'log.data'])
    expect([mark, events.includes(`<${mark}>`)]).toEqual([mark, true]);
});

describe.each(MISSING)('$place: none, since $because', ({ methods }) => {
  test('nothing is asked for', () => {
    const seen = methodsOf('shop');
    expect(seen).toContain('tools/call');
    for (const method of methods) expect(seen).not.toContain(method);
  });
});
