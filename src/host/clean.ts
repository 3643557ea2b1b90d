/** Results are data: their bytes are cleaned wherever a model would read them, and nothing is dropped for what it says. */
import { cleanResultText } from '../trust/scan/scan.ts';
import type { ContentBlock, Json, ToolResult } from '../types.ts';

export interface Cleaned {
  result: ToolResult;
  /** It speaks to the model rather than answers: what comes after it deserves a second look. */
  isSuspicious: boolean;
  /** Rules that were met, each once, in order. */
  rules: string[];
}

/** Base64: nobody reads it as text. */
const BINARY = new Set(['data', 'blob']);

/** The same object where nothing had to be changed. */
export function cleanResult(result: ToolResult): Cleaned {
  const rules = new Set<string>();
  let isSuspicious = false;
  const clean = (value: Json, key: string): Json => {
    if (typeof value === 'string') {
      if (BINARY.has(key)) return value;
      const cleaned = cleanResultText(value);
      for (const { rule } of cleaned.findings) rules.add(rule);
      isSuspicious ||= cleaned.suspicious;
      return cleaned.text;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => clean(item, key));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    let changed: [string, Json][] | undefined;
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const cleaned = clean(member, name);
      if (cleaned !== member) (changed ??= []).push([name, cleaned]);
    }
    return changed === undefined ? value : { ...value, ...Object.fromEntries(changed) };
  };
  const content = clean(result.content, '') as ContentBlock[];
  const structured = result.structuredContent;
  const structuredContent = structured === undefined ? undefined : clean(structured, '');
  const isSame = content === result.content && structuredContent === structured;
  return {
    result: isSame
      ? result
      : { ...result, content, ...(structuredContent !== undefined && { structuredContent }) },
    isSuspicious,
    rules: [...rules].sort(),
  };
}
