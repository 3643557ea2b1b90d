/** What the texts and definitions of one server name, gathered once for each content. */
import { isObject } from '../../schema/keywords.ts';
import type { Item, Json, JsonObject, Surface, ToolLabel } from '../../types.ts';
import { suggestLabels } from '../policy/labels.ts';
import { collisionKey, nameKey } from './across-names.ts';
import { leavesOf, surfaceItems, viewOf } from './walk.ts';
import type { Leaf, View } from './rule.ts';

/** A word of a text that may be a name. */
export interface Word {
  key: string;
  text: string;
  view: View;
  leaf: Leaf;
  start: number;
  end: number;
}

export interface GatheredItem {
  item: Item;
  words: Word[];
  /** Words before `server`, `tools` and the like. */
  serverWords: Word[];
  /** Keys of everything that the item itself defines: its name, properties, values to choose from. */
  defines: () => ReadonlySet<string>;
  /** Of a tool: what names that stand for the same have in common. */
  collisionKey: string;
  /** Words of the description, three at a time. */
  triples: () => ReadonlySet<string>;
  labels: readonly ToolLabel[];
}

export interface Gathered {
  items: readonly GatheredItem[];
  serverName: string;
}

const byObject = new WeakMap<JsonObject, GatheredItem>();
let byContent = new Map<string, GatheredItem>();
let contentSize = 0;
/** Characters of definitions that are remembered by content. */
const MAX_CONTENT = 16 * 1024 * 1024;

export function gather(surface: Surface): Gathered {
  const { name } = surface.serverInfo;
  return {
    serverName: typeof name === 'string' ? name.slice(0, 200) : '',
    items: surfaceItems(surface).map((item) => remembered(item)),
  };
}

function remembered(item: Item & { value: JsonObject }): GatheredItem {
  const known = byObject.get(item.value);
  if (known !== undefined) return known;
  const content = `${item.kind} ${JSON.stringify(item.value)}`;
  const gathered = byContent.get(content) ?? gatherItem(item);
  if (!byContent.has(content)) {
    if ((contentSize += content.length) > MAX_CONTENT) [byContent, contentSize] = [new Map(), content.length];
    byContent.set(content, gathered);
  }
  byObject.set(item.value, gathered);
  return gathered;
}

function gatherItem(item: Item & { value: JsonObject }): GatheredItem {
  const words: Word[] = [];
  const serverWords: Word[] = [];
  for (const leaf of leavesOf(item)) {
    // A single word is a name or value of the item's own.
    if (leaf.place === 'name' || !/\s/.test(leaf.raw)) continue;
    const isPlain = /^[\s\x20-\x7e]*$/.test(leaf.raw);
    const [mayName, mayNameServer] = isPlain
      ? [JOINT.test(leaf.raw), SERVER_WORD.test(leaf.raw)]
      : [true, true];
    if (!mayName && !mayNameServer) continue;
    const view = viewOf(leaf);
    const wordOf = ([text, start]: [string, number]): Word => ({
      key: nameKey(text),
      text,
      view,
      leaf,
      start,
      end: start + text.length,
    });
    if (mayName) for (const name of namesIn(view.text)) words.push(wordOf(name));
    if (mayNameServer) for (const name of namesOfServersIn(view.text)) serverWords.push(wordOf(name));
  }
  const { description } = item.value;
  let defines: Set<string> | undefined;
  let triples: Set<string> | undefined;
  return {
    item: { kind: item.kind, key: item.key },
    words,
    serverWords,
    defines: () => (defines ??= defined(item.value)),
    collisionKey: item.kind === 'tool' ? collisionKey(item.key) : '',
    triples: () => (triples ??= triplesOf(description)),
    labels: item.kind === 'tool' ? suggestLabels(item.value) : [],
  };
}

const MAX_NAME = 128;
const WORD = /[A-Za-z0-9][A-Za-z0-9_.-]{5,}/g;
const JOINT = /[A-Za-z0-9][_.-]+[A-Za-z0-9]|[a-z0-9][A-Z]/;

/**
 * Words with a joint inside: `send_email`, `send-email`, `sendEmail`; and the last part of one that is written with its
 * server: `mail.send_email`, `mail__send_email`.
 */
function* namesIn(text: string): Generator<[string, number]> {
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (word.length > MAX_NAME) continue;
    const whole = word.replace(/[_.-]+$/, '');
    if (!JOINT.test(whole)) continue;
    yield [whole, index];
    for (const joint of ['__', '.']) {
      const at = whole.lastIndexOf(joint);
      const last = whole.slice(at + joint.length);
      if (at > 0 && last.length >= 6) yield [last, index + at + joint.length];
    }
  }
}

const SERVER_WORD = /\b(?:server|mcp|tools?|connector|integration)\b/i;
const SERVER = new RegExp(SERVER_WORD, 'gi');
const WORD_BEFORE = /([\p{L}\p{N}][\p{L}\p{N}_.-]{2,60})['"`]? (?:mcp )?$/iu;

/** The word before `server`, `tools` and the like. */
function* namesOfServersIn(text: string): Generator<[string, number]> {
  for (const { index } of text.matchAll(SERVER)) {
    const from = Math.max(0, index - 70);
    const before = WORD_BEFORE.exec(text.slice(from, index));
    if (before !== null) yield [before[1]!, from + before.index];
  }
}

/** Names of members, and texts short enough to be a name, wherever values stand. */
function defined(value: JsonObject): Set<string> {
  const names = new Set<string>();
  const pending: Json[] = [value];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (typeof at === 'string') {
      if (at.length <= MAX_NAME && !at.includes(' ')) names.add(nameKey(at));
    } else if (Array.isArray(at)) pending.push(...at.slice(0, 2_000));
    else if (isObject(at)) {
      for (const [name, member] of Object.entries(at)) {
        names.add(nameKey(name));
        const isProse = typeof member === 'string' && (name === 'description' || name === 'title');
        if (member !== undefined && !isProse) pending.push(member);
      }
    }
  }
  return names;
}

function triplesOf(text: Json | undefined): Set<string> {
  if (typeof text !== 'string') return new Set();
  const words =
    text
      .slice(0, 16_384)
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.slice(2).map((word, at) => `${words[at]} ${words[at + 1]} ${word}`));
}
