/**
 * What of MCP is left on each of three ways between a model and a server: function definitions that a program of one's own
 * runs, this host, and the connector of the model's provider. Data; where APIs differ, by dialect.
 */
import type { DialectId } from '../dialects/dialect.ts';

export type WayId = 'native' | 'host' | 'provider';

/** `yours`: as good as the program that runs the functions. */
export type Kept = 'yes' | 'partly' | 'no' | 'yours';

export interface Cell {
  kept: Kept;
  /** What is lost, or how it is done. */
  note?: string;
}

export interface Feature {
  /** For people. */
  name: string;
  native: Cell;
  host: Cell;
  provider: Cell;
}

type ByDialect = Cell | (Partial<Record<DialectId, Cell>> & { others: Cell });

const yes: Cell = { kept: 'yes' };
const yours: Cell = { kept: 'yours' };
const no = (note?: string): Cell => ({ kept: 'no', ...(note !== undefined && { note }) });
const partly = (note: string): Cell => ({ kept: 'partly', note });

/** No API of functions takes more of a result than this, whoever runs them. */
const images: ByDialect = {
  'openai-chat': partly('as a user message after the results'),
  gemini: partly('before Gemini 3 beside the result'),
  others: yes,
};
const audio: ByDialect = {
  gemini: partly('beside the result'),
  others: no('the API takes none in a result'),
};
const resourcesInResults: ByDialect = partly('as text and links; files where the API takes them');

const ROWS: readonly { name: string; native: ByDialect; host: ByDialect; provider: ByDialect }[] = [
  {
    name: 'servers on this machine (stdio)',
    native: yours,
    host: yes,
    provider: no('it starts no programs'),
  },
  {
    name: 'servers on this network',
    native: yours,
    host: yes,
    provider: no('only addresses that the internet can reach'),
  },
  {
    name: 'HTTP+SSE servers',
    native: yours,
    host: yes,
    provider: { 'gemini-interactions': no('Streamable HTTP only'), others: yes },
  },
  {
    name: 'plain http addresses',
    native: yours,
    host: yes,
    provider: { anthropic: no('https only'), others: yes },
  },
  {
    name: 'custom headers',
    native: yours,
    host: yes,
    provider: { anthropic: no('nothing but a bearer token'), others: yes },
  },
  {
    name: 'a choice of tools',
    native: yours,
    host: yes,
    provider: { anthropic: yes, others: partly('by names to keep, which takes a listing for globs') },
  },
  {
    name: 'approval of each call',
    native: yours,
    host: partly('for servers with `via: "provider"` that it connects to itself'),
    provider: { 'openai-responses': yes, others: no('it calls without asking') },
  },
  {
    name: 'definitions seen before the model sees them',
    native: yours,
    host: yes,
    provider: no('the provider lists them itself; a change is not noticed'),
  },
  {
    name: 'definitions that the API refuses are repaired or left out alone',
    native: yours,
    host: yes,
    provider: partly('as the provider does it, without a report'),
  },
  { name: 'arguments checked against the schema', native: yours, host: yes, provider: no() },
  {
    name: 'the mark of an error',
    native: { anthropic: yours, gemini: yours, 'gemini-interactions': yours, others: partly('as text') },
    host: { anthropic: yes, gemini: yes, 'gemini-interactions': yes, others: partly('as text') },
    provider: { 'gemini-interactions': no(), others: yes },
  },
  {
    name: 'images in results',
    native: images,
    host: images,
    provider: { 'gemini-interactions': yes, others: no('text only') },
  },
  {
    name: 'audio in results',
    native: audio,
    host: { gemini: partly('beside the result'), others: partly('a handle and its facts in its place') },
    provider: { 'gemini-interactions': partly('typed, not confirmed'), others: no('text only') },
  },
  {
    name: 'embedded resources and links in results',
    native: resourcesInResults,
    host: resourcesInResults,
    provider: { 'gemini-interactions': partly('as typed content'), others: no('text only') },
  },
  {
    name: 'structured content',
    native: yours,
    host: { gemini: yes, 'gemini-interactions': yes, others: partly('as JSON text, once') },
    provider: { 'gemini-interactions': yes, others: no('only what the text repeats') },
  },
  { name: 'results within a size', native: yours, host: yes, provider: no('the provider decides') },
  { name: 'resources', native: yours, host: no('tools alone'), provider: no('tools alone') },
  { name: 'prompts', native: yours, host: no('tools alone'), provider: no('tools alone') },
  { name: 'questions of the server (elicitation)', native: yours, host: yes, provider: no() },
  {
    name: 'progress',
    native: yours,
    host: yes,
    provider: { 'openai-responses': partly('that a call runs'), others: no() },
  },
  {
    name: 'changes of the list of tools',
    native: yours,
    host: partly('for the next run, with a warning in this one'),
    provider: no('listed once in a conversation'),
  },
  {
    name: 'cancelling and time limits of a call',
    native: yours,
    host: yes,
    provider: no('only the whole answer'),
  },
  {
    name: 'a record of each call',
    native: yours,
    host: yes,
    provider: partly('told afterwards, in the words of the provider'),
  },
  {
    name: 'credentials stay here',
    native: yours,
    host: yes,
    provider: no('they go to the provider with every request'),
  },
];

/** Every feature with what becomes of it on each way, for one API. */
export function featuresOf(dialect: DialectId): Feature[] {
  const cell = (of: ByDialect): Cell => ('others' in of ? (of[dialect] ?? of.others) : of);
  return ROWS.map(({ name, native, host, provider }) => ({
    name,
    native: cell(native),
    host: cell(host),
    provider: cell(provider),
  }));
}
