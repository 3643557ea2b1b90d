/** Results are data: their bytes are cleaned wherever a model would read them, and nothing is dropped for what it says. */
import { cleanResultText } from '../trust/scan/scan.ts';
import type { ContentBlock, Json, JsonObject, ToolResult } from '../types.ts';

export interface Cleaned {
  result: ToolResult;
  /** It speaks to the model rather than answers: what comes after it deserves a second look. */
  isSuspicious: boolean;
  /** Rules that were met, each once, in order. */
  rules: string[];
}

/** Members of content blocks that hold Base64. In structured content they are members like any other. */
const ENCODED = new Set(['data', 'blob']);

/** Most names and many values: one word of ASCII neither hides nor orders anything. */
const PLAIN_WORD = /^[\w.-]{0,32}$/;

/** The same object where nothing had to be changed. */
export function cleanResult(result: ToolResult): Cleaned {
  const cleaner = newCleaner();
  const content = cleaner.clean(result.content, true) as ContentBlock[];
  const structured = result.structuredContent;
  const structuredContent = structured === undefined ? undefined : cleaner.clean(structured, false);
  const isSame = content === result.content && structuredContent === structured;
  return {
    result: isSame
      ? result
      : { ...result, content, ...(structuredContent !== undefined && { structuredContent }) },
    ...cleaner.found(),
  };
}

/** What a prompt, a resource or a completion says, as blocks: everything of it is for models. */
export function cleanAnswer(result: JsonObject): { result: JsonObject } & Omit<Cleaned, 'result'> {
  const cleaner = newCleaner();
  return { result: cleaner.clean(result, true) as JsonObject, ...cleaner.found() };
}

interface Cleaner {
  /** @param isBlock a content block or in one, where some members hold Base64. */
  clean(value: Json, isBlock: boolean): Json;
  found(): Pick<Cleaned, 'isSuspicious' | 'rules'>;
}

function newCleaner(): Cleaner {
  const rules = new Set<string>();
  let isSuspicious = false;
  const cleanText = (text: string): string => {
    if (PLAIN_WORD.test(text)) return text;
    const cleaned = cleanResultText(text);
    for (const { rule } of cleaned.findings) rules.add(rule);
    isSuspicious ||= cleaned.suspicious;
    return cleaned.text;
  };
  /** What is text is given to models as text, whatever its type says. */
  const cleanEncoded = (base64: string): string => {
    const text = textIn(base64);
    if (text === undefined) return base64;
    const cleaned = cleanText(text);
    return cleaned === text ? base64 : Buffer.from(cleaned).toString('base64');
  };
  const clean = (value: Json, isBlock: boolean): Json => {
    if (typeof value === 'string') return cleanText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => clean(item, isBlock));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    let isChanged = false;
    const members = new Map<string, Json>();
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const key = unused(members, cleanText(name));
      const isEncoded = isBlock && typeof member === 'string' && ENCODED.has(name);
      const cleaned = isEncoded ? cleanEncoded(member) : clean(member, isBlock);
      isChanged ||= key !== name || cleaned !== member;
      members.set(key, cleaned);
    }
    return isChanged ? Object.fromEntries(members) : value;
  };
  return { clean, found: () => ({ isSuspicious, rules: [...rules].sort() }) };
}

/** Two names may be the same when they are cleaned; neither member is dropped. */
function unused(members: ReadonlyMap<string, Json>, name: string): string {
  let free = name;
  for (let count = 2; members.has(free); count += 1) free = `${name} (${count})`;
  return free;
}

/** The text that Base64 says, with or without the head of a data address; undefined for other bytes. */
function textIn(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(
      Buffer.from(base64.replace(/^data:[^,]{0,200};base64,/, ''), 'base64'),
    );
  } catch {
    return undefined;
  }
}
