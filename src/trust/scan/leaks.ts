/**
 * Whether a call carries what another server's private result said (R07). The memory is bounded: the oldest texts go first.
 * Shared passages are found over blocks of fixed length, in time linear in the arguments.
 */
import { isObject } from '../../schema/keywords.ts';
import { pointer } from '../../schema/reference.ts';
import type { Json, JsonObject } from '../../types.ts';
import type { Explained } from './rule.ts';

export const LEAK: Explained = {
  id: 'R07',
  title: 'an argument that repeats a private result of another server',
  tier: 'soft',
  severity: 'high',
  why: 'A text that tricks a model makes it read something private with one server and send it out with another.',
  example: 'a mail whose body holds the lines of a private file, perhaps as Base64',
  advice: 'Look at what goes out and to whom, then allow this call alone.',
};

/** Shared characters from which a passage counts. */
export const SHARED_CHARACTERS = 24;
const BLOCK = SHARED_CHARACTERS / 2;
const MAX_TEXT = 256 * 1024;
const MAX_MEMORY = 1024 * 1024;
const MAX_ARGUMENT = 1024 * 1024;

export interface Source {
  label: string;
  tool: string;
}

/** What private results said, in one run or conversation. */
export interface PrivateTexts {
  /** Keeps the start of a result's text. */
  add(from: Source, text: string): void;
  /** The source of a passage that `text` shares, and how long it is; sources of `except` do not count. */
  shares(text: string, except: string): (Source & { length: number }) | undefined;
}

export interface Leak {
  from: Source;
  /** Into the arguments. */
  pointer: string;
  /** Characters of the passage. */
  length: number;
  /** `text`, or how it was encoded. */
  how: 'text' | 'base64' | 'hex' | 'percent';
}

export function privateTexts(): PrivateTexts {
  let kept: (Source & { text: string })[] = [];
  let size = 0;
  let blocks = new Map<string, { at: number; in: Source & { text: string } }>();

  const index = (entry: Source & { text: string }): void => {
    for (let at = 0; at + BLOCK <= entry.text.length; at += BLOCK) {
      const block = entry.text.slice(at, at + BLOCK);
      if (new Set(block).size >= 5) blocks.set(block, { at, in: entry });
    }
  };
  return {
    add({ label, tool }, raw) {
      const text = plain(raw.slice(0, MAX_TEXT));
      if (text.length < SHARED_CHARACTERS) return;
      const entry = { label, tool, text };
      kept.push(entry);
      size += text.length;
      if (size <= MAX_MEMORY) return index(entry);
      while (size > MAX_MEMORY / 2 && kept.length > 1) size -= kept.shift()!.text.length;
      blocks = new Map();
      for (const one of kept) index(one);
    },
    shares(raw, except) {
      const text = plain(raw.slice(0, MAX_ARGUMENT));
      for (let at = 0; at + BLOCK <= text.length; at++) {
        const block = blocks.get(text.slice(at, at + BLOCK));
        if (block === undefined || block.in.label === except) continue;
        const length = sharedLength(text, at, block.in.text, block.at);
        if (length >= SHARED_CHARACTERS) return { label: block.in.label, tool: block.in.tool, length };
      }
      return undefined;
    },
  };
}

const plain = (text: string): string => text.normalize('NFKC').replace(/\s+/g, ' ');

function sharedLength(a: string, atA: number, b: string, atB: number): number {
  let before = 0;
  while (
    before < SHARED_CHARACTERS &&
    atA > before &&
    atB > before &&
    a[atA - before - 1] === b[atB - before - 1]
  )
    before++;
  let after = 0;
  while (
    after < MAX_TEXT &&
    atA + after < a.length &&
    atB + after < b.length &&
    a[atA + after] === b[atB + after]
  )
    after++;
  return before + after;
}

/** The passages of private results of other servers than `to` that the arguments of a call carry, one for each argument. */
export function leaks(args: JsonObject, to: { label: string }, texts: PrivateTexts): Leak[] {
  return leavesOf(args).flatMap(({ tokens, text }) => {
    for (const [how, view] of viewsOf(text)) {
      const shared = texts.shares(view, to.label);
      if (shared === undefined) continue;
      const { length, ...from } = shared;
      return [{ from, pointer: pointer(tokens), length, how }];
    }
    return [];
  });
}

function leavesOf(args: JsonObject): { tokens: string[]; text: string }[] {
  const found: { tokens: string[]; text: string }[] = [];
  const pending: [Json | undefined, string[]][] = [[args, []]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, tokens] = next;
    if (typeof value === 'string') found.push({ tokens, text: value });
    else if (Array.isArray(value)) value.forEach((item, at) => pending.push([item, [...tokens, String(at)]]));
    else if (isObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        found.push({ tokens: [...tokens, name], text: name });
        pending.push([item, [...tokens, name]]);
      }
    }
  }
  return found.reverse();
}

/** The text, and what the encoded runs in it say. */
function* viewsOf(text: string): Generator<[Leak['how'], string]> {
  yield ['text', text];
  const start = text.slice(0, MAX_ARGUMENT);
  for (const [run] of start.matchAll(/[A-Za-z0-9+/_-]{32,}={0,2}/g)) {
    yield ['base64', Buffer.from(run, 'base64').toString('utf8')];
    if (/^(?:[0-9a-f]{2})+$/i.test(run)) yield ['hex', Buffer.from(run, 'hex').toString('utf8')];
  }
  if (/(?:%[0-9a-f]{2}|\+)/i.test(start)) yield ['percent', percentDecoded(start)];
}

function percentDecoded(text: string): string {
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
  return bytes;
}
