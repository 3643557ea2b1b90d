/** Requests over HTTP to the emulated APIs, which refuse what the real ones refuse. */
import { Agent } from 'undici';
import type { Call, Compiled, DialectId, Message } from '../../src/dialects/index.ts';
import type { CatalogEntry } from '../../src/host/catalog.ts';
import { startAnthropic } from '../emulators/anthropic.ts';
import { startGemini } from '../emulators/gemini.ts';
import { startInteractions } from '../emulators/gemini-interactions.ts';
import { startChat } from '../emulators/openai-chat.ts';
import { startResponses } from '../emulators/openai-responses.ts';
import type { Emulator, EmulatorTurn } from '../emulators/server.ts';
import { sampleArguments } from './samples.ts';
import { compileFor, definitionsIn, isStrict, type Subject } from './subjects.ts';

interface Api {
  start(script: (body: object) => EmulatorTurn): Promise<Emulator>;
  model: string;
  path: string;
  headers(key: string): Record<string, string>;
}

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

export const APIS: Record<DialectId, Api> = {
  anthropic: {
    start: startAnthropic,
    model: 'claude-opus-5-5',
    path: '/v1/messages',
    headers: (key) => ({ ...bearer(key), 'anthropic-version': '2026-10-21' }),
  },
  'openai-responses': {
    start: startResponses,
    model: 'gpt-6.2-astra',
    path: '/v1/responses',
    headers: bearer,
  },
  'openai-chat': { start: startChat, model: 'gpt-5.2', path: '/v1/chat/completions', headers: bearer },
  gemini: {
    start: startGemini,
    model: 'gemini-3.8-flash',
    path: '/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse',
    headers: (key) => ({ 'x-goog-api-key': key }),
  },
  'gemini-interactions': {
    start: startInteractions,
    model: 'gemini-3.8-flash',
    path: '/v1beta/interactions',
    headers: (key) => ({ 'x-goog-api-key': key }),
  },
};

export interface RequestCounts {
  requests: number;
  /** Largest number of tools in one accepted request. */
  mostTools: number;
  /** Tools that a request had no room for, by the report. */
  overLimit: number;
}

const IN_FLIGHT = 4;
/** Calls of one turn in the conversations that are sent. */
const MOST_CALLS = 20;

/** Every tool alone; all tools of each server, with calls and results; all tools of all servers. */
export async function checkRequests(
  subject: Subject,
  entries: readonly CatalogEntry[],
  problems: string[],
): Promise<RequestCounts> {
  const counts: RequestCounts = { requests: 0, mostTools: 0, overLimit: 0 };
  const api = APIS[subject.dialect.id];
  const emulator = await api.start(() => ({ text: 'Understood.' }));
  const agent = new Agent({ connections: IN_FLIGHT });

  const send = async (
    what: string,
    list: readonly CatalogEntry[],
    turn: readonly CatalogEntry[],
  ): Promise<void> => {
    const compiled = compileFor(subject, list);
    // What is not strict after all has been sent as it is already.
    if (subject.strict && list.length === 1 && !definitionsIn(compiled).some(isStrict)) return;
    checkLimit(subject, what, compiled, problems, counts);
    const { body } = subject.dialect.request({
      model: api.model,
      messages: conversationOf(turn),
      tools: compiled,
    });
    const answer = await agent.request({
      origin: emulator.url,
      path: api.path,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...api.headers(emulator.key) },
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200)
      problems.push(`${subject.name}: ${what}: HTTP ${answer.statusCode} ${text.slice(0, 300)}`);
    else counts.mostTools = Math.max(counts.mostTools, definitionsIn(compiled).length);
    counts.requests++;
  };

  try {
    const waiting = entries.map((entry) => () => send(entry.name, [entry], []));
    for (const label of new Set(entries.map((entry) => entry.label))) {
      const own = entries.filter((entry) => entry.label === label);
      waiting.push(() => send(`all tools of ${label}`, own, own.slice(0, MOST_CALLS)));
    }
    waiting.push(() => send('all tools of all servers', entries, entries.slice(0, MOST_CALLS)));
    const queue = waiting.values();
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        for (const next of queue) await next();
      }),
    );
  } finally {
    await agent.close();
    await emulator.close();
  }
  return counts;
}

function checkLimit(
  { name, maxTools }: Subject,
  what: string,
  compiled: Compiled,
  problems: string[],
  counts: RequestCounts,
): void {
  const given = compiled.report.length;
  const left = compiled.report.filter(({ status }) => status === 'left out');
  const told = left.filter(({ changes }) =>
    changes.some((change) => change.includes(`at most ${maxTools} tools`)),
  );
  const expected = Math.max(0, given - maxTools);
  if (left.length !== expected || told.length !== expected)
    problems.push(
      `${name}: ${what}: ${left.length} of ${given} tools left out, ${told.length} for the limit of ${maxTools}`,
    );
  counts.overLimit = Math.max(counts.overLimit, left.length);
}

/** A question, and where tools are given, a turn that calls each of them, with its results. */
function conversationOf(tools: readonly CatalogEntry[]): Message[] {
  const question: Message = { role: 'user', content: 'What can you do?' };
  if (tools.length === 0) return [question];
  const calls = tools.map(({ name, definition }, at): Call => ({
    id: `call_${at}`,
    name,
    arguments: sampleArguments(definition.inputSchema)[0] ?? {},
  }));
  const results = calls.map((call, at) => ({
    call,
    result: { content: [{ type: 'text', text: `Result ${at}` }], isError: at % 3 === 2 },
  }));
  return [question, { role: 'assistant', text: 'Let me see.', calls }, { role: 'tool', results }];
}
