/** What the texts and definitions of one server name, gathered once for each content. */
import { isObject } from '../../schema/keywords.ts';
import type { Item, Json, JsonObject, Surface, ToolLabel } from '../../types.ts';
import { suggestLabels } from '../policy/labels.ts';
import { nameKey } from './across-names.ts';
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
  defines: ReadonlySet<string>;
  description: string;
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
    if (leaf.place === 'name' || !MAY_NAME.test(leaf.raw)) continue;
    const view = viewOf(leaf);
    for (const match of view.text.matchAll(WORD)) words.push(...wordsAt(match, view, leaf));
    for (const match of view.text.matchAll(BEFORE_SERVER)) {
      const [, text = ''] = match;
      serverWords.push({
        key: nameKey(text),
        text,
        view,
        leaf,
        start: match.index,
        end: match.index + text.length,
      });
    }
  }
  const { description } = item.value;
  return {
    item: { kind: item.kind, key: item.key },
    words,
    serverWords,
    defines: defined(item.value),
    description: typeof description === 'string' ? description.slice(0, 16_384) : '',
    labels: item.kind === 'tool' ? suggestLabels(item.value) : [],
  };
}

/** Anything that is not one plain word. */
const MAY_NAME = /[_.-]|[a-z][A-Z]|\b(?:server|mcp|tools?)\b/i;
/** Words with a joint inside: `send_email`, `send-email`, `mail.send`, `sendEmail`. */
const WORD =
  /[A-Za-z0-9]+(?:[_.-]+[A-Za-z0-9]+)+|[a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*/g;
const MAX_NAME = 128;
const BEFORE_SERVER =
  /([\p{L}\p{N}][\p{L}\p{N}_.-]{2,60})['"`]? (?:mcp )?(?:server|mcp|tools?|connector|integration)\b/giu;

/** The word, and its parts where it is written with its server: `mail.send_email`, `mail__send_email`. */
function wordsAt(match: RegExpExecArray, view: View, leaf: Leaf): Word[] {
  const [whole] = match;
  const found: Word[] = [];
  const add = (text: string, offset: number): void => {
    if (text.length < 6 || text.length > MAX_NAME) return;
    const start = match.index + offset;
    found.push({ key: nameKey(text), text, view, leaf, start, end: start + text.length });
  };
  add(whole, 0);
  for (const joint of ['__', '.']) {
    const at = whole.lastIndexOf(joint);
    if (at > 0) add(whole.slice(at + joint.length), at + joint.length);
  }
  return found;
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
